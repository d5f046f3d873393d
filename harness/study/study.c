#include "study/study.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/codec.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"

#define NAME_MAX_LEN 255
#define MOST	     (1LL << 52) /* of any number */
#define STATUS_MOST  255	 /* of an exit status */

const char *const cell_states[CELL_STATES] = {
    [CELL_PENDING] = "pending", [CELL_RUNNING] = "running",	    [CELL_COMPLETED] = "completed",
    [CELL_FAILED] = "failed",	[CELL_INTERRUPTED] = "interrupted", [CELL_IMPOSSIBLE] = "impossible",
    [CELL_SKIPPED] = "skipped",
};

const char *const study_statuses[STUDY_STATUSES] = {
    [STUDY_RUNNING] = "RUNNING", [STUDY_COMPLETED] = "COMPLETED",     [STUDY_PARTIAL] = "PARTIAL",
    [STUDY_FAILED] = "FAILED",	 [STUDY_INTERRUPTED] = "INTERRUPTED",
};

/* --- lists of words --- */

void words_add(struct words *w, char *word)
{
	w->word = or_abort(reallocarray(w->word, w->count + 2, sizeof(*w->word)));
	w->word[w->count++] = word;
	w->word[w->count] = NULL;
}

void words_copy(struct words *w, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		words_add(w, fs_path("%s", texts[i]));
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->word[i]);
	free(w->word);
	*w = (struct words){NULL, 0};
}

/* --- cells --- */

bool cell_is_left(const struct cell *c)
{
	return c->state != CELL_COMPLETED && c->state != CELL_SKIPPED;
}

void cell_set_state(struct cell *c, enum cell_state state, const char *why)
{
	char *copy = fs_path("%s", why);

	free(c->why);
	c->why = copy;
	c->state = state;
}

void cell_clear_points(struct cell *c)
{
	for (size_t i = 0; i < c->point_count; i++) {
		free(c->point[i].metric);
		free(c->point[i].why);
	}
	free(c->point);
	c->point = NULL;
	c->point_count = 0;
}

struct cell *study_add_cell(struct study *s)
{
	s->cell = grow_or_abort(s->cell, s->count, sizeof(*s->cell));
	s->cell[s->count] = (struct cell){.why = fs_path("%s", ""), .exit_status = -1, .took_s = NAN};
	return &s->cell[s->count++];
}

/* --- the study --- */

size_t study_count(const struct study *s, enum cell_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += s->cell[i].state == state;
	return count;
}

void study_set_answer(struct study *s, json_t *answer)
{
	json_decref(s->answer);
	s->answer = answer;
}

double study_left_s(const struct study *s)
{
	const double limit_s = s->request ? s->request->budget_s : 0;

	return limit_s > 0 ? limit_s - (double)(monotonic_ms() - s->began_ms) / 1000 : INFINITY;
}

/* --- names and paths --- */

static bool has_controls(const char *text)
{
	while (*text && !iscntrl((unsigned char)*text))
		text++;
	return *text;
}

bool study_is_name(const char *text)
{
	return *text && *text != '.' && *text != '-' && !strchr(text, '/') && strlen(text) <= NAME_MAX_LEN &&
	       !has_controls(text);
}

/* Does this path lead to something below the directory that it is relative to? */
static bool is_path_below(const char *path)
{
	if (!*path || has_controls(path))
		return false;
	for (;;) {
		const size_t n = strcspn(path, "/");

		if (!n || (n == 1 && *path == '.') || (n == 2 && !strncmp(path, "..", 2)))
			return false;
		if (!path[n])
			return true;
		path += n + 1;
	}
}

const char *study_check_name(const char *text)
{
	return study_is_name(text) ? NULL : "is not a name";
}

static const char *check_absolute(const char *path)
{
	return *path == '/' ? NULL : "is not an absolute path";
}

static const char *check_below(const char *path)
{
	return is_path_below(path) ? NULL : "leads out of its directory";
}

/* --- the record of the study --- */

static const struct codec option_rows[] = {
    CODEC(study_options, quick),
    CODEC(study_options, mask),
    CODEC(study_options, no_state),
    CODEC_LISTED("set", study_options, set.word, set.count, codec_texts),
    CODEC_LISTED("only", study_options, only.word, only.count, codec_texts),
    CODEC(study_options, source),
    CODEC(study_options, sink),
    CODEC(study_options, profile_path),
    CODEC(study_options, at_once, .most = HOSTS_MAX),
    {0},
};

static json_t *encode_kind(const void *study, const void *none)
{
	(void)none;
	return json_string(((const struct study *)study)->kind->name);
}

static const char *decode_kind(void *study, const json_t *value, void *none)
{
	(void)none;
	return strcmp(json_string_value(value) ?: "", ((struct study *)study)->kind->name) ? "is another one" : NULL;
}

static json_t *encode_count(const void *study, const void *none)
{
	(void)none;
	return json_integer((json_int_t)((const struct study *)study)->count);
}

static const struct codec host_rows[] = {CODEC(study_host, name), CODEC(study_host, address), {0}};

static const char *decode_hosts(void *study, const json_t *list, void *none)
{
	const json_t *one;
	size_t i;

	(void)none;
	json_array_foreach (list, i, one)
		if (study_hosts_add(&((struct study *)study)->hosts, json_text(one, "name"), json_text(one, "address"),
				    NULL))
			return "has one that is none, or that is there twice";
	return !list || json_is_array(list) || json_is_null(list) ? NULL : "is not a list";
}

static json_t *encode_plan(const void *study, const void *none)
{
	const struct study *s = study;

	(void)none;
	return s->plan && s->kind->plan_to_json ? s->kind->plan_to_json(s->plan) : NULL;
}

static const struct codec study_rows[] = {
    CODEC_SCHEMA,
    CODEC_BY("kind", encode_kind, decode_kind),
    CODEC(study, name, .flags = CODEC_NEEDED, .check = study_check_name),
    CODEC(study, title, .flags = CODEC_CLEAN),
    CODEC(study, spec, .flags = CODEC_NEEDED, .check = check_absolute),
    CODEC(study, status, CODEC_WORDS(study_statuses), .flags = CODEC_NEEDED),
    CODEC(study, argv, .flags = CODEC_NEEDED | CODEC_ARRAY),
    CODEC(study, version, .flags = CODEC_CLEAN),
    CODEC(study, commit, .flags = CODEC_CLEAN),
    CODEC(study, started_utc, .flags = CODEC_CLEAN),
    CODEC(study, ended_utc),
    CODEC_NESTED("options", study, options, option_rows, .flags = CODEC_NEEDED),
    CODEC_AS("cells", study, planned, .most = MOST, .flags = CODEC_UNWRITTEN),
    CODEC_BY("cells", encode_count, NULL),
    CODEC_LISTED("hosts", study, hosts.item, hosts.count, host_rows, .flags = CODEC_OPTIONAL | CODEC_UNREAD),
    CODEC_BY("hosts", NULL, decode_hosts, .flags = CODEC_UNWRITTEN),
    CODEC_BY("plan", encode_plan, NULL),
    CODEC(study, answer, .flags = CODEC_UNREAD),
    CODEC_FREED(study, parent),
    CODEC_FREED(study, path),
    {0},
};

json_t *study_to_json(const struct study *s)
{
	return codec_encode(study_rows, s, NULL);
}

/* What is wrong first is said. */
static int study_refuse(const char *why, const char *where, struct err *e)
{
	return why ? err_set(e, -EINVAL, STATUS_USAGE, where, NULL,
			     "it is not a record of a study that this kblat can read: %s", why)
		   : 0;
}

int study_from_json(struct study *s, const json_t *j, const char *where, struct err *e)
{
	const int rc = study_refuse(codec_decode(study_rows, s, j, NULL), where, e);

	return rc || !s->kind->plan_from_json ? rc : s->kind->plan_from_json(s, json_object_get(j, "plan"), where, e);
}

/* --- the record of a cell --- */

static json_t *encode_index(const void *cell, const void *study)
{
	return json_integer((const struct cell *)cell - ((const struct study *)study)->cell);
}

static json_t *encode_ends(const void *cell, const void *study)
{
	const struct cell *c = cell;
	const struct study_host *host = ((const struct study *)study)->hosts.item;

	return c->name ? NULL : json_pack("{s:s, s:s}", "source", host[c->source].name, "sink", host[c->sink].name);
}

/* The index of the host of that name, which is often the one at `likely`; their number if there is none. */
static size_t find_host(const struct study_hosts *h, const char *name, size_t likely)
{
	size_t i = 0;

	if (likely < h->count && !strcmp(h->item[likely].name, name))
		return likely;
	while (i < h->count && strcmp(h->item[i].name, name) != 0)
		i++;
	return i;
}

static const char *decode_ends(void *cell, const json_t *j, void *study)
{
	struct cell *c = cell;
	const struct study_hosts *h = &((struct study *)study)->hosts;

	if (c->name)
		return NULL;
	c->source = find_host(h, json_text(j, "source"), c->source);
	c->sink = find_host(h, json_text(j, "sink"), c->sink);
	return c->source == h->count ? "'source' is none of its hosts"
	       : c->sink == h->count ? "'sink' is none of its hosts"
				     : NULL;
}

static bool has_place(const void *cell)
{
	const struct cell *c = cell;

	return c->stage || !c->name;
}

static bool has_own_spec(const void *cell)
{
	return ((const struct cell *)cell)->spec;
}

static json_t *encode_expected(const void *cell, const void *study)
{
	json_t *j = json_object();

	(void)study;
	forecast_to_json(&((const struct cell *)cell)->expected, j);
	return j;
}

static const char *decode_expected(void *cell, const json_t *j, void *study)
{
	const double all_s = json_number_or_nan(j, "expected_s"), paced_s = json_number_or_nan(j, "paced_s");

	(void)study;
	if (!json_object_get(j, "expected_s") || !json_object_get(j, "paced_s"))
		return NULL;
	if (!(all_s >= 0 && all_s <= (double)MOST && paced_s >= 0 && paced_s <= (double)MOST))
		return "'expected_s' or 'paced_s' is not a number in its range";
	((struct cell *)cell)->expected = (struct forecast){.paced_s = paced_s,
							    .rest_s = fmax(0, all_s - paced_s),
							    .is_former = !strcmp(json_text(j, "basis"), "former run")};
	return NULL;
}

static const struct codec earlier_rows[] = {{.kind = CODEC_TEXT, .check = check_below}, {0}};

static const struct codec number_rows[] = {
    CODEC(cell_point, id, .most = MOST),
    CODEC(cell_point, metric, .flags = CODEC_CLEAN),
    CODEC(cell_point, p50, .most = MOST),
    CODEC(cell_point, p99, .most = MOST),
    CODEC(cell_point, valid),
    CODEC(cell_point, why, .flags = CODEC_CLEAN),
    {0},
};

static const struct codec cell_rows[] = {
    CODEC_BY("cell", encode_index, NULL),
    CODEC(cell, name, .flags = CODEC_OPTIONAL, .check = study_check_name),
    CODEC_BY(NULL, encode_ends, decode_ends),
    CODEC(cell, stage, .flags = CODEC_OPTIONAL, .check = study_check_name),
    CODEC(cell, block, .most = MOST, .given = has_place),
    CODEC(cell, spec, .flags = CODEC_OPTIONAL, .check = check_absolute),
    CODEC_LISTED("set", cell, set.word, set.count, codec_texts, .flags = CODEC_OPTIONAL),
    CODEC(cell, environment, .flags = CODEC_OPTIONAL, .check = study_check_name),
    CODEC(cell, points, .most = MOST, .given = has_own_spec),
    CODEC(cell, messages, .most = MOST, .given = has_own_spec),
    CODEC_BY(NULL, encode_expected, decode_expected, .given = has_own_spec),
    CODEC(cell, state, CODEC_WORDS(cell_states), .flags = CODEC_NEEDED),
    CODEC(cell, run, .check = check_below),
    CODEC_LISTED("earlier", cell, earlier.word, earlier.count, earlier_rows),
    CODEC(cell, exit_status, .most = STATUS_MOST, .otherwise = -1, .flags = CODEC_LESS_IS_NULL),
    CODEC(cell, why, .flags = CODEC_CLEAN),
    CODEC(cell, took_s, .most = MOST),
    CODEC_LISTED("numbers", cell, point, point_count, number_rows, .flags = CODEC_OPTIONAL),
    {0},
};

json_t *study_cell_to_json(const struct study *s, size_t i)
{
	return codec_encode(cell_rows, &s->cell[i], s);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Is it the same run of the plan? */
static bool is_same_cell(const struct cell *a, const struct cell *b)
{
	return is_same_text(a->name, b->name) && a->source == b->source && a->sink == b->sink &&
	       is_same_text(a->stage, b->stage) && a->block == b->block && is_same_text(a->spec, b->spec) &&
	       is_same_text(a->environment, b->environment);
}

int study_cell_from_json(struct study *s, const json_t *j, const char *where, struct err *e)
{
	const json_t *number = json_object_get(j, "cell");
	const json_int_t at = json_is_integer(number) ? json_integer_value(number) : -1;
	struct cell *to = at >= 0 && (size_t)at < s->count ? &s->cell[at] : NULL;
	struct cell c = {.source = to ? to->source : 0, .sink = to ? to->sink : 0};
	const char *why = codec_decode(cell_rows, &c, j, s);

	if (json_is_integer(number) && at < 0)
		why = "'cell' is not an integer in its range";
	else if (!to && (at < 0 || (size_t)at > s->count || s->kind->cells))
		why = "'cell' is not the number of one of its cells";
	else if (!why && to && !is_same_cell(to, &c))
		why = "'cell' has become another one";
	if (!why) {
		struct cell old = *(to = to ? to : study_add_cell(s));

		*to = c;
		c = old;
	}
	codec_free(cell_rows, &c);
	return study_refuse(why, where, e);
}

/* --- the end --- */

void study_free(struct study *s)
{
	for (size_t i = 0; i < s->count; i++)
		codec_free(cell_rows, &s->cell[i]);
	free(s->cell);
	if (s->plan && s->kind->plan_free)
		s->kind->plan_free(s->plan);
	codec_free(study_rows, s);
	if (s->log)
		fclose(s->log);
	if (s->lock >= 0)
		close(s->lock);
	*s = (struct study){.lock = -1};
}
