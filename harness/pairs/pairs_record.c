#include "pairs/pairs_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign/campaign_directory.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/version.h"
#include "run/describe.h"
#include "rundir/writer.h"

#define LOG_MAX ((size_t)1 << 30)

static char *pairs_file(const struct pairs *p, const char *name)
{
	return fs_path("%s/%s", p->path, name);
}

void pairs_record_schedule(struct pairs *p)
{
	const size_t hosts = p->hosts.count;
	size_t n = 0;

	p->count = pairs_schedule_pairs(hosts);
	p->pair = or_abort(calloc(p->count + 1, sizeof(*p->pair)));
	for (size_t round = 0; round < pairs_schedule_rounds(hosts); round++)
		for (size_t place = 0; place < pairs_schedule_places(hosts); place++)
			if (pairs_schedule_at(hosts, round, place, &p->pair[n].two))
				p->pair[n++].round = round;
}

static int pairs_open_log(struct pairs *p, struct err *e)
{
	char *path = pairs_file(p, "pairs.jsonl");

	p->log = fopen(path, "ae");
	if (!p->log)
		err_sys(e, -errno, path, "open");
	free(path);
	return p->log ? 0 : -EIO;
}

/* --- a new record --- */

static json_t *hosts_json(const struct pairs_hosts *h)
{
	json_t *j = json_array();

	for (size_t i = 0; i < h->count; i++)
		json_array_append_new(j,
				      json_pack("{s:s, s:s}", "name", h->item[i].name, "address", h->item[i].address));
	return j;
}

static json_t *pairs_options_json(const struct pairs_options *o)
{
	return json_pack("{s:b, s:o, s:o, s:s, s:s, s:s?, s:b, s:b, s:I}", "quick", o->overrides.quick, "set",
			 json_texts(o->overrides.set, o->overrides.set_count), "only",
			 json_texts(o->overrides.only, o->overrides.only_count), "source",
			 o->source ? o->source : PAIRS_LAUNCHER, "sink", o->sink ? o->sink : PAIRS_LAUNCHER,
			 "profile_path", o->profile_path, "mask", o->mask, "state", o->state, "at_once",
			 (json_int_t)o->at_once);
}

int pairs_record_begin(struct pairs *p, const struct pairs_options *o, const char *spec_name, const char *spec_path,
		       const char *parent, struct err *e)
{
	char utc[32], *name = fs_path("%s-pairs", spec_name);
	int rc;

	p->j = json_pack("{s:i, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:n, s:o, s:o, s:I, s:I, s:n}", "schema", 1, "name",
			 spec_name, "spec", spec_path, "status", "RUNNING", "argv", describe_command(o->argc, o->argv),
			 "version", kblat_version, "commit", kblat_commit, "started_utc", utc_now(utc, sizeof(utc), 0),
			 "ended_utc", "options", pairs_options_json(o), "hosts", hosts_json(&p->hosts), "rounds",
			 (json_int_t)pairs_schedule_rounds(p->hosts.count), "pairs", (json_int_t)p->count, "answer");
	rc = directory_make(parent, name, &p->path, &p->lock, e);
	rc = rc ?: pairs_record_save(p, e) ?: pairs_open_log(p, e);
	free(name);
	return rc;
}

/* --- resuming --- */

static int pairs_read_hosts(struct pairs *p, const char *file, struct err *e)
{
	const json_t *host;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(p->j, "hosts"), i, host)
		rc = rc ?: pairs_hosts_add(&p->hosts, json_text(host, "name"), json_text(host, "address"), e);
	if (!rc && (json_integer_value(json_object_get(p->j, "schema")) != 1 || p->hosts.count < 2 ||
		    !*json_text(p->j, "spec") || !json_is_object(json_object_get(p->j, "options"))))
		rc = err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			     "it is not a measurement of pairs in a format that this kblat can read");
	return rc;
}

/* Lines that are not about a pair are ignored, such as an incomplete last one of a kblat that was killed. */
static void take_line(struct pairs *p, const char *text)
{
	json_t *line = json_loads(text, 0, NULL);
	const json_t *pair = json_object_get(line, "pair");
	const size_t i = (size_t)json_integer_value(pair);

	if (!json_is_integer(pair) || i >= p->count ||
	    strcmp(json_text(line, "source"), pairs_record_source(p, i)->name) != 0 ||
	    strcmp(json_text(line, "sink"), pairs_record_sink(p, i)->name) != 0) {
		json_decref(line);
		return;
	}
	json_decref(p->pair[i].line);
	p->pair[i].line = line;
}

static int pairs_read_log(struct pairs *p, struct err *e)
{
	char *path = pairs_file(p, "pairs.jsonl"), *text = NULL, *rest;
	size_t size;
	int rc = fs_is_missing(path) ? 0 : fs_read(path, LOG_MAX, &text, &size, e);

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		take_line(p, line);
	free(text);
	free(path);
	return rc;
}

/* Read everything else in the directory. */
static int pairs_read_all(struct pairs *p, struct err *e)
{
	char *file = pairs_file(p, "pairs.json");
	int rc = pairs_read_hosts(p, file, e);

	free(file);
	if (rc)
		return rc;
	pairs_record_schedule(p);
	return pairs_read_log(p, e);
}

int pairs_record_open(struct pairs *p, const char *dir, struct err *e)
{
	char *file;

	p->path = realpath(dir, NULL);
	if (!p->path)
		return err_sys(e, -errno, dir, "open");
	file = pairs_file(p, "pairs.json");
	p->j = json_read(file, e);
	free(file);
	return p->j ? pairs_read_all(p, e) : -EINVAL;
}

int pairs_record_resume(struct pairs *p, const char *dir, struct err *e)
{
	int rc;

	p->path = realpath(dir, NULL);
	if (!p->path)
		return err_sys(e, -errno, dir, "continue it");
	rc = directory_resume(p->path, "pairs.json", &p->lock, &p->j, e) ?: pairs_read_all(p, e) ?: pairs_open_log(p, e);
	/* Terminate an incomplete last line. */
	if (!rc)
		fputc('\n', p->log);
	return rc;
}

/* --- lines --- */

int pairs_record_add(struct pairs *p, size_t i, json_t *line, struct err *e)
{
	char *text = or_abort(json_dumps(line, JSON_COMPACT));

	json_decref(p->pair[i].line);
	p->pair[i].line = line;
	fprintf(p->log, "%s\n", text);
	free(text);
	return fflush(p->log) ? err_sys(e, -errno, p->path, "write pairs.jsonl of") : 0;
}

int pairs_record_save(const struct pairs *p, struct err *e)
{
	char *path = pairs_file(p, "pairs.json");
	int rc = json_write_mode(path, p->j, DIRECTORY_FILE_MODE, e);

	if (!rc && p->log && fsync(fileno(p->log)))
		rc = err_sys(e, -errno, p->path, "write pairs.jsonl of");
	free(path);
	return rc;
}

void pairs_record_close(struct pairs *p)
{
	for (size_t i = 0; p->pair && i < p->count; i++)
		json_decref(p->pair[i].line);
	free(p->pair);
	pairs_hosts_free(&p->hosts);
	if (p->log)
		fclose(p->log);
	if (p->lock >= 0)
		close(p->lock);
	json_decref(p->j);
	free(p->path);
}

const struct pairs_host *pairs_record_source(const struct pairs *p, size_t i)
{
	return &p->hosts.item[p->pair[i].two.source];
}

const struct pairs_host *pairs_record_sink(const struct pairs *p, size_t i)
{
	return &p->hosts.item[p->pair[i].two.sink];
}

bool pairs_record_is(const struct pairs *p, size_t i, const char *state)
{
	return !strcmp(json_text(p->pair[i].line, "state"), state);
}

size_t pairs_record_count(const struct pairs *p, const char *state)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		count += pairs_record_is(p, i, state);
	return count;
}
