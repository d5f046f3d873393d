#include "pairs/pairs_child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "campaign/campaign_child.h"
#include "campaign/child_words.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "pairs/pairs_words.h"
#include "run/channel.h"

#define PRINTED_MAX (1 << 20)
#define WHY_MAX	    300

/* --- start --- */

static void add_filled(json_t *words, const struct pairs *p, size_t pair, const char *flag, const char *text,
		       const struct pairs_host *host)
{
	char *filled = pairs_words_fill(text, pairs_record_source(p, pair), pairs_record_sink(p, pair), host);

	child_words_add(words, flag, filled);
	free(filled);
}

json_t *pairs_child_words(const struct pairs *p, size_t pair)
{
	const json_t *options = json_object_get(p->j, "options"), *value;
	json_t *words = json_array();
	size_t i;

	child_words_add_flags(words, options);
	json_array_append_new(words, json_string("--quiet"));
	if (!json_is_true(json_object_get(options, "state")))
		json_array_append_new(words, json_string("--no-state"));
	json_array_foreach (json_object_get(options, "set"), i, value)
		add_filled(words, p, pair, "--set", json_string_value(value), NULL);
	child_words_add_each(words, "--only", json_object_get(options, "only"));
	child_words_add(words, "--profile-path", json_text(options, "profile_path"));
	add_filled(words, p, pair, "--source", json_text(options, "source"), pairs_record_source(p, pair));
	add_filled(words, p, pair, "--sink", json_text(options, "sink"), pairs_record_sink(p, pair));
	return words;
}

int pairs_child_begin(struct pairs_child *c, const struct pairs *p, size_t pair, struct err *e)
{
	char *runs = fs_path("%s/runs", p->path), **argv;
	json_t *words = json_pack("[s, s, s, s, s]", "kblat", "run", json_text(p->j, "spec"), "--out", runs);
	json_t *more = pairs_child_words(p, pair);

	json_array_extend(words, more);
	argv = child_words_argv(words);
	*c = (struct pairs_child){.pair = pair,
				  .out = memfd_create("kblat-pair-out", MFD_CLOEXEC),
				  .complaints = memfd_create("kblat-pair-err", MFD_CLOEXEC),
				  .began_ms = monotonic_ms()};
	if (c->out < 0 || c->complaints < 0)
		c->pid = err_sys(e, -errno, "kblat", "make memory for what a run prints");
	else
		c->pid = campaign_child_start(argv, c->out, c->complaints, e);
	free(argv);
	json_decref(more);
	json_decref(words);
	free(runs);
	return c->pid < 0 ? c->pid : 0;
}

/* --- end --- */

/* The last line of a file, without control characters. */
static char *pairs_child_last_line(int fd)
{
	char *text = NULL, *line, *clean;
	size_t size = 0;

	if (lseek(fd, 0, SEEK_SET) < 0 || fs_read_fd(fd, PRINTED_MAX, &text, &size))
		return fs_path("%s", "");
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	clean = or_abort(malloc(strlen(line) + 1));
	text_clean(line, strlen(line), clean, strlen(line) + 1);
	free(text);
	return clean;
}

/* The points of the run's summary: for each the first series, which represents it. */
static json_t *pairs_child_points(const struct pairs *p, const json_t *line)
{
	char *path = fs_path("%s/%s/summary.json", p->path, json_text(line, "run"));
	struct err ignored = ERR_INIT;
	json_t *summary = *json_text(line, "run") ? json_read(path, &ignored) : NULL, *list = json_array();
	const json_t *point;
	size_t i;

	json_array_foreach (json_object_get(summary, "points"), i, point) {
		json_t *metrics = json_object_get(point, "metrics");
		void *first = json_object_iter(metrics);
		const json_t *values = first ? json_object_iter_value(first) : NULL;
		const json_t *reason = json_array_get(json_object_get(point, "reasons"), 0);
		const char *why = json_text_or(point, "why", "");

		json_array_append_new(
		    list, json_pack("{s:O*, s:s, s:O*, s:O*, s:O*, s:s}", "id", json_object_get(point, "id"), "metric",
				    first ? json_object_iter_key(first) : "", "p50", json_object_get(values, "p50"),
				    "p99", json_object_get(values, "p99"), "valid", json_object_get(point, "valid"),
				    "why", *why || !json_is_string(reason) ? why : json_string_value(reason)));
	}
	json_decref(summary);
	free(path);
	return list;
}

json_t *pairs_child_line(const struct pairs *p, size_t pair, const char *state, const char *why)
{
	return json_pack("{s:I, s:I, s:s, s:s, s:s, s:n, s:n, s:s, s:f, s:[]}", "pair", (json_int_t)pair, "round",
			 (json_int_t)p->pair[pair].round, "source", pairs_record_source(p, pair)->name, "sink",
			 pairs_record_sink(p, pair)->name, "state", state, "run", "exit_status", "why", why, "took_s",
			 0.0, "points");
}

static const char *pairs_child_state(int status)
{
	if (status == STATUS_OK || status == STATUS_NO)
		return "completed";
	if (child_is_interrupted())
		return "interrupted";
	return status == STATUS_IMPOSSIBLE ? "impossible" : "failed";
}

/* Why the pair failed: the reason of its first point that was not completed, otherwise its last
 * error message. Truncated between characters, because JSON does not accept partial ones. */
static char *pairs_child_why(const json_t *points, int complaints)
{
	char *line = pairs_child_last_line(complaints), *cut = or_abort(malloc(WHY_MAX + 1));
	const char *why = line;
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (why == line && *json_text(point, "why"))
			why = json_text(point, "why");
	text_clean(why, strlen(why), cut, WHY_MAX + 1);
	free(line);
	return cut;
}

json_t *pairs_child_end(struct pairs_child *c, const struct pairs *p, int status)
{
	json_t *line = pairs_child_line(p, c->pair, pairs_child_state(status), ""), *points;
	char *printed = pairs_child_last_line(c->out), *why;

	child_words_note_run(line, p->path, printed);
	points = pairs_child_points(p, line);
	why = pairs_child_why(points, c->complaints);
	if (strcmp(json_text(line, "state"), "completed") != 0)
		json_object_set_new(line, "why", json_string(why));
	json_object_set_new(line, "points", points);
	json_object_set_new(line, "exit_status", json_integer(status));
	json_object_set_new(line, "took_s", json_real((double)(monotonic_ms() - c->began_ms) / 1000));
	free(why);
	free(printed);
	close(c->out);
	close(c->complaints);
	*c = (struct pairs_child){0};
	return line;
}
