#include "study/study_json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"

#define SCHEMA	     1
#define NAME_MAX_LEN 255
#define MOST	     (1LL << 52) /* of any number */
#define STATUS_MOST  255	 /* of an exit status */

/* --- to JSON --- */

static json_t *words_to_json(const struct words *w)
{
	return json_texts((const char *const *)w->word, w->count);
}

static json_t *number_to_json(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

static json_t *options_to_json(const struct study_options *o)
{
	return json_pack("{s:b, s:b, s:b, s:o, s:o, s:s?, s:s?, s:s?, s:I}", "quick", o->quick, "mask", o->mask,
			 "no_state", o->no_state, "set", words_to_json(&o->set), "only", words_to_json(&o->only),
			 "source", o->source, "sink", o->sink, "profile_path", o->profile_path, "at_once",
			 (json_int_t)o->at_once);
}

static json_t *hosts_to_json(const struct study_hosts *h)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->count; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "name", h->item[i].name, "address", h->item[i].address));
	return list;
}

json_t *study_to_json(const struct study *s)
{
	json_t *j = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:O, s:s, s:s, s:s, s:s?, s:o, s:I}", "schema", SCHEMA,
			      "kind", s->kind->name, "name", s->name, "title", s->title, "spec", s->spec, "status",
			      study_statuses[s->status], "argv", s->argv, "version", s->version, "commit", s->commit,
			      "started_utc", s->started_utc, "ended_utc", s->ended_utc, "options",
			      options_to_json(&s->options), "cells", (json_int_t)s->count);

	if (s->hosts.count)
		json_object_set_new(j, "hosts", hosts_to_json(&s->hosts));
	if (s->plan && s->kind->plan_to_json)
		json_object_set_new(j, "plan", s->kind->plan_to_json(s->plan));
	json_object_set(j, "answer", s->answer ? s->answer : json_null());
	return j;
}

static void set_text(json_t *j, const char *key, const char *text)
{
	if (text)
		json_object_set_new(j, key, json_string(text));
}

static json_t *numbers_to_json(const struct cell *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->point_count; i++) {
		const struct cell_point *p = &c->point[i];

		json_array_append_new(list, json_pack("{s:I, s:s, s:o, s:o, s:b, s:s}", "id", p->id, "metric",
						      p->metric, "p50", number_to_json(p->p50), "p99",
						      number_to_json(p->p99), "valid", p->valid, "why", p->why));
	}
	return list;
}

static void what_to_json(const struct study *s, const struct cell *c, json_t *j)
{
	set_text(j, "name", c->name);
	if (!c->name) {
		set_text(j, "source", s->hosts.item[c->source].name);
		set_text(j, "sink", s->hosts.item[c->sink].name);
	}
	set_text(j, "stage", c->stage);
	if (c->stage || !c->name)
		json_object_set_new(j, "block", json_integer((json_int_t)c->block));
	set_text(j, "spec", c->spec);
	if (c->set.count)
		json_object_set_new(j, "set", words_to_json(&c->set));
	set_text(j, "environment", c->environment);
	if (!c->spec)
		return;
	json_object_set_new(j, "points", json_integer((json_int_t)c->points));
	json_object_set_new(j, "messages", json_integer((json_int_t)c->messages));
	forecast_to_json(&c->expected, j);
}

json_t *study_cell_to_json(const struct study *s, size_t i)
{
	const struct cell *c = &s->cell[i];
	json_t *j = json_pack("{s:I}", "cell", (json_int_t)i);

	what_to_json(s, c, j);
	set_text(j, "state", cell_states[c->state]);
	json_object_set_new(j, "run", c->run ? json_string(c->run) : json_null());
	json_object_set_new(j, "earlier", words_to_json(&c->earlier));
	json_object_set_new(j, "exit_status", c->exit_status < 0 ? json_null() : json_integer(c->exit_status));
	set_text(j, "why", c->why);
	json_object_set_new(j, "took_s", number_to_json(c->took_s));
	if (c->point_count)
		json_object_set_new(j, "numbers", numbers_to_json(c));
	return j;
}

/* --- from JSON: values --- */

/* An object that is being read; the first thing that is wrong with it stays. */
struct reader {
	const json_t *object;
	const char *where;
	struct err *e;
	int rc;
};

static void reader_refuse(struct reader *r, const char *key, const char *why)
{
	if (!r->rc)
		r->rc = err_set(r->e, -EINVAL, STATUS_USAGE, r->where, NULL,
				"it is not a record of a study that this kblat can read: '%s' %s", key, why);
}

/* The value; NULL if there is none, or if it is null. */
static const json_t *take(const struct reader *r, const char *key)
{
	const json_t *value = json_object_get(r->object, key);

	return json_is_null(value) ? NULL : value;
}

/* A copy; NULL: there is none. */
static char *take_text(struct reader *r, const char *key)
{
	const json_t *value = take(r, key);

	if (value && !json_is_string(value))
		reader_refuse(r, key, "is not a text");
	return json_is_string(value) ? fs_path("%s", json_string_value(value)) : NULL;
}

static char *take_needed_text(struct reader *r, const char *key)
{
	char *text = take_text(r, key);

	if (!text || !*text)
		reader_refuse(r, key, "is missing");
	return text ? text : fs_path("%s", "");
}

/* A text that is only shown. */
static char *take_shown_text(struct reader *r, const char *key)
{
	char *text = take_text(r, key), *clean;

	if (!text)
		return fs_path("%s", "");
	clean = or_abort(malloc(strlen(text) + 1));
	text_clean(text, strlen(text), clean, strlen(text) + 1);
	free(text);
	return clean;
}

static bool take_flag(struct reader *r, const char *key)
{
	const json_t *value = take(r, key);

	if (value && !json_is_boolean(value))
		reader_refuse(r, key, "is neither true nor false");
	return json_is_true(value);
}

static json_int_t take_integer(struct reader *r, const char *key, json_int_t most, json_int_t otherwise)
{
	const json_t *value = take(r, key);

	if (value && (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > most))
		reader_refuse(r, key, "is not an integer in its range");
	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static double take_number(struct reader *r, const char *key)
{
	const json_t *value = take(r, key);
	const double number = json_number_value(value);

	if (value && (!json_is_number(value) || !(number >= 0) || number > (double)MOST))
		reader_refuse(r, key, "is not a number in its range");
	return value ? number : NAN;
}

static struct words take_words(struct reader *r, const char *key)
{
	const json_t *list = take(r, key);
	struct words w = {NULL, 0};

	if (list && (!json_is_array(list) || !words_from_json(&w, list)))
		reader_refuse(r, key, "is not a list of texts");
	return w;
}

/* One of `count` words. */
static unsigned take_choice(struct reader *r, const char *key, const char *const *words, unsigned count)
{
	const char *text = json_text(r->object, key);
	unsigned i = 0;

	while (i < count && strcmp(words[i], text) != 0)
		i++;
	if (i == count)
		reader_refuse(r, key, "is none of the words that it can be");
	return i < count ? i : 0;
}

/* --- from JSON: names and paths --- */

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

static void check_name(struct reader *r, const char *key, const char *text)
{
	if (text && !study_is_name(text))
		reader_refuse(r, key, "is not a name");
}

static void check_absolute(struct reader *r, const char *key, const char *path)
{
	if (path && *path != '/')
		reader_refuse(r, key, "is not an absolute path");
}

static void check_below(struct reader *r, const char *key, const char *path)
{
	if (path && !is_path_below(path))
		reader_refuse(r, key, "leads out of its directory");
}

/* --- from JSON: the study --- */

static void read_options(struct study_options *o, struct reader *outer)
{
	struct reader r = {take(outer, "options"), outer->where, outer->e, outer->rc};

	if (!json_is_object(r.object))
		reader_refuse(&r, "options", "is not an object");
	*o = (struct study_options){.quick = take_flag(&r, "quick"),
				    .mask = take_flag(&r, "mask"),
				    .no_state = take_flag(&r, "no_state"),
				    .set = take_words(&r, "set"),
				    .only = take_words(&r, "only"),
				    .source = take_text(&r, "source"),
				    .sink = take_text(&r, "sink"),
				    .profile_path = take_text(&r, "profile_path"),
				    .at_once = (long)take_integer(&r, "at_once", HOSTS_MAX, 0)};
	outer->rc = r.rc;
}

static void read_hosts(struct study_hosts *h, struct reader *r)
{
	const json_t *list = take(r, "hosts"), *one;
	size_t i;

	if (list && !json_is_array(list))
		reader_refuse(r, "hosts", "is not a list");
	json_array_foreach (list, i, one)
		if (!r->rc && study_hosts_add(h, json_text(one, "name"), json_text(one, "address"), NULL))
			reader_refuse(r, "hosts", "has one that is none, or that is there twice");
}

int study_from_json(struct study *s, const json_t *j, const char *where, struct err *e)
{
	struct reader r = {j, where, e, 0};

	if (take_integer(&r, "schema", MOST, 0) != SCHEMA)
		reader_refuse(&r, "schema", "is not 1");
	if (strcmp(json_text(j, "kind"), s->kind->name) != 0)
		reader_refuse(&r, "kind", "is another one");
	s->name = take_needed_text(&r, "name");
	s->title = take_shown_text(&r, "title");
	s->spec = take_needed_text(&r, "spec");
	s->status = take_choice(&r, "status", study_statuses, STUDY_STATUSES);
	s->argv = json_incref(json_object_get(j, "argv"));
	s->version = take_shown_text(&r, "version");
	s->commit = take_shown_text(&r, "commit");
	s->started_utc = take_shown_text(&r, "started_utc");
	s->ended_utc = take_text(&r, "ended_utc");
	s->planned = (size_t)take_integer(&r, "cells", MOST, 0);
	check_name(&r, "name", s->name);
	check_absolute(&r, "spec", s->spec);
	if (!json_is_array(s->argv))
		reader_refuse(&r, "argv", "is not a list");
	read_options(&s->options, &r);
	read_hosts(&s->hosts, &r);
	if (!r.rc && s->kind->plan_from_json)
		r.rc = s->kind->plan_from_json(s, take(&r, "plan"), where, e);
	return r.rc;
}

/* --- from JSON: a cell --- */

static void read_numbers(struct cell *c, struct reader *outer)
{
	const json_t *list = take(outer, "numbers"), *one;
	size_t i;

	if (list && !json_is_array(list))
		reader_refuse(outer, "numbers", "is not a list");
	json_array_foreach (list, i, one) {
		struct reader r = {one, outer->where, outer->e, outer->rc};

		c->point = grow_or_abort(c->point, c->point_count, sizeof(*c->point));
		c->point[c->point_count++] = (struct cell_point){.id = take_integer(&r, "id", MOST, 0),
								 .metric = take_shown_text(&r, "metric"),
								 .why = take_shown_text(&r, "why"),
								 .p50 = take_number(&r, "p50"),
								 .p99 = take_number(&r, "p99"),
								 .valid = take_flag(&r, "valid")};
		outer->rc = r.rc;
	}
}

/* The index of the host of that name; it is often the one at `likely`. */
static size_t take_host(struct reader *r, const char *key, const struct study_hosts *h, size_t likely)
{
	const char *name = json_text(r->object, key);

	if (likely < h->count && !strcmp(h->item[likely].name, name))
		return likely;
	for (size_t i = 0; i < h->count; i++)
		if (!strcmp(h->item[i].name, name))
			return i;
	reader_refuse(r, key, "is none of its hosts");
	return 0;
}

static void read_what(const struct study *s, const struct cell *before, struct cell *c, struct reader *r)
{
	const double expected_s = take_number(r, "expected_s"), paced_s = take_number(r, "paced_s");

	c->name = take_text(r, "name");
	check_name(r, "name", c->name);
	if (!c->name) {
		c->source = take_host(r, "source", &s->hosts, before ? before->source : 0);
		c->sink = take_host(r, "sink", &s->hosts, before ? before->sink : 0);
	}
	c->stage = take_text(r, "stage");
	check_name(r, "stage", c->stage);
	c->block = (size_t)take_integer(r, "block", MOST, 0);
	c->spec = take_text(r, "spec");
	check_absolute(r, "spec", c->spec);
	c->set = take_words(r, "set");
	c->environment = take_text(r, "environment");
	check_name(r, "environment", c->environment);
	c->points = (size_t)take_integer(r, "points", MOST, 0);
	c->messages = (unsigned long long)take_integer(r, "messages", MOST, 0);
	if (!isnan(expected_s) && !isnan(paced_s))
		c->expected = (struct forecast){.paced_s = paced_s,
						.rest_s = fmax(0, expected_s - paced_s),
						.is_former = !strcmp(json_text(r->object, "basis"), "former run")};
}

static void read_outcome(struct cell *c, struct reader *r)
{
	c->state = take_choice(r, "state", cell_states, CELL_STATES);
	c->why = take_shown_text(r, "why");
	c->run = take_text(r, "run");
	check_below(r, "run", c->run);
	c->earlier = take_words(r, "earlier");
	for (size_t i = 0; i < c->earlier.count; i++)
		check_below(r, "earlier", c->earlier.word[i]);
	c->exit_status = (int)take_integer(r, "exit_status", STATUS_MOST, -1);
	c->took_s = take_number(r, "took_s");
	read_numbers(c, r);
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
	struct reader r = {j, where, e, 0};
	const size_t at = (size_t)take_integer(&r, "cell", MOST, MOST);
	struct study read = {.kind = s->kind, .lock = -1};
	struct cell *c = study_add_cell(&read), *to = at < s->count ? &s->cell[at] : NULL;

	if (!to && (at > s->count || s->kind->cells))
		reader_refuse(&r, "cell", "is not the number of one of its cells");
	free(c->why);
	read_what(s, to, c, &r);
	read_outcome(c, &r);
	if (!r.rc && to && !is_same_cell(to, c))
		reader_refuse(&r, "cell", "has become another one");
	if (!r.rc) {
		struct cell old = *(to = to ? to : study_add_cell(s));

		*to = *c;
		*c = old;
	}
	study_free(&read);
	return r.rc;
}
