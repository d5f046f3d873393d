#include "measure/import/import.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/version.h"
#include "files/rundir/writer.h"
#include "measure/import/formats.h"
#include "measure/run/host_state.h"
#include "measure/run/run.h"
#include "measure/run/seal.h"

#define KERNEL	 "imported"
#define LIMIT_NS 10000

/* What was asked for, or what the file says. */
static const char *choose(const char *asked, const char *said, const char *otherwise)
{
	return asked ? asked : *said ? said : otherwise;
}

static json_t *describe_point(const struct import_request *q, const struct reading *r)
{
	const int64_t limit = q->limit_ns ? q->limit_ns : r->limit_ns ? r->limit_ns : LIMIT_NS;

	return json_pack("{s:s, s:s, s:s, s:I}", "kernel", KERNEL, "transport", "foreign", "format", q->format->name,
			 "limit_ns", (json_int_t)limit);
}

static json_t *describe_traits(const struct reading *r)
{
	return json_pack("{s:b, s:b, s:b, s:{s:b, s:b, s:I, s:I}}", "reliable", 0, "own_clock", 1, "device", 0, "rules",
			 "foreign", 1, "unordered", (int)r->is_unordered, "resolution_ns", (json_int_t)r->resolution_ns,
			 "resolution_ppm", (json_int_t)r->bin_ppm);
}

static json_t *import_resolved(const struct reading *r, const char *name, const char *title, json_t *params,
			       json_t *traits)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:{s:{s:[{s:s, s:s}], s:[{s:s, s:s, s:s}]}},"
			 " s:[{s:i, s:o, s:o}], s:[], s:[], s:[], s:{}}",
			 "schema", 1, "name", name, "title", title, "variant", "full", "kernels", KERNEL, "columns",
			 "name", SAMPLES_COLUMN, "side", "source", "series", "name", r->series ? r->series : "lat_ns",
			 "label", r->series ? r->label : "latency", "column", SAMPLES_COLUMN, "points", "id", 0,
			 "params", params, "traits", traits, "named", "claims", "bookkeeping", "defaults");
}

/* What was run for it. */
static void import_describe_command(const struct import_request *q, struct run_record *r)
{
	const char *sysroot = machine_state_sysroot();
	size_t count = 0;

	while (q->command && q->command[count])
		count++;
	if (count)
		r->command = json_texts(q->command, count);
	if (count && sysroot)
		r->sysroot = json_outside_text(sysroot);
	if (q->environment)
		r->environment = fs_path("%s", q->environment);
}

static struct run_record import_record(const struct import *i, const char *name, const char *title)
{
	const struct import_request *q = i->request;
	const struct reading *r = &i->reading;
	/* A comparison resolves no less than a tick (judge/compare/compare_verdict.c). */
	const int64_t step = r->resolution_ns ? r->resolution_ns : 1, steps = step < 1000000000 ? 1000000000 / step : 1;
	const int64_t hz = r->clock_hz && (step == 1 || r->clock_hz < steps) ? r->clock_hz : steps;
	struct run_record record = describe_run(name, title, i->source, false, q->argc, q->argv);

	free(record.started_utc);
	record.started_utc = fs_path("%s", i->started_utc);
	record.t0.realtime_ns = r->started_ns;
	run_record_add_host(&record, choose(q->host, r->host, "unknown"), choose(q->boot, r->boot, "unknown"), "source",
			    NULL);
	record.clock = json_pack("{s:s, s:I, s:I, s:b}", "source", q->format->name, "hz", (json_int_t)hz, "bin_ppm",
				 (json_int_t)r->bin_ppm, "common", 1);
	import_describe_command(q, &record);
	return record;
}

/* --- the directory --- */

/* It has the format's name; what the file says is known only at its end. */
int import_create(struct import *i, const struct import_request *q, struct err *e)
{
	char *text = fs_path("# The samples of another program, imported from a file of the format %s.\n"
			     "# They were not measured by a spec.\n",
			     q->format->name);
	const struct rundir_head head = {.name = q->name ? q->name : q->format->name,
					 .title = "",
					 .text = text,
					 .length = strlen(text),
					 .imported = true};
	int rc;

	*i = (struct import){
	    .request = q, .source = "", .reading = {.column = q->column, .unit = q->unit}, .samples = {.reps = 0}};
	utc_now(i->started_utc, sizeof(i->started_utc), 0);
	rc = rundir_create(&i->dir, q->out, &head, json_object(), &(struct run_record){.name = NULL}, e);
	free(text);
	i->samples.run_path = i->dir.path;
	return rc;
}

/* The time of the run is that of its file, unless something else says it. */
static int import_open(struct import *i, struct err *e)
{
	struct stat st;

	i->reading.in = fopen(i->source, "re");
	if (!i->reading.in)
		return err_sys(e, -errno, i->source, "open");
	if (fstat(fileno(i->reading.in), &st))
		return err_sys(e, -errno, i->source, "read");
	if (S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, STATUS_USAGE, i->source, NULL, "it is a directory, not a file of samples");
	i->reading.started_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return 0;
}

/* In the log of the run, too. */
static void import_say_skipped(struct import *i)
{
	char *skipped = reading_skipped(&i->reading), *text;

	if (!skipped)
		return;
	rundir_log(&i->dir, "skipped", json_pack("{s:s}", "what", skipped));
	text = fs_path("%s: skipped: %s", i->reading.path, skipped);
	if (i->request->say)
		i->request->say(text);
	free(text);
	free(skipped);
}

int import_take(struct import *i, const char *file, struct err *e)
{
	int rc;

	i->source = file;
	i->reading.path = i->shown ? i->shown : file;
	i->reading.to = &i->samples;
	rc = import_open(i, e);
	if (!rc)
		rc = format_read(i->request->format, &i->reading, e);
	samples_close(&i->samples);
	if (i->reading.in)
		fclose(i->reading.in);
	i->reading.in = NULL;
	if (!rc)
		import_say_skipped(i);
	return rc;
}

/* The documents of the run, now that the file has been read. */
static int import_describe(struct import *i, const char *outcome, const char *why, struct err *e)
{
	const struct import_request *q = i->request;
	const struct reading *r = &i->reading;
	const char *name = choose(q->name, r->name, q->format->name);
	char *title = fs_path("samples of another program (%s)", q->format->name);
	int rc = rundir_check_name("--name", name, e)
		     ?: rundir_check_name("--host", choose(q->host, r->host, "unknown"), e)
		     ?: rundir_check_name("--boot", choose(q->boot, r->boot, "unknown"), e);

	if (!rc) {
		json_decref(i->dir.resolved);
		run_record_free(&i->dir.record);
		i->dir.resolved = import_resolved(r, name, title, describe_point(q, r), describe_traits(r));
		i->dir.record = import_record(i, name, title);
		i->dir.record.points = json_pack("{s:i, s:i}", outcome, 1, "total", 1);
		rc = rundir_write(&i->dir, "resolved.json", i->dir.resolved, e)
			 ?: rundir_write_point(&i->dir, outcome, why, e);
	}
	free(title);
	return rc;
}

/* What was read before it failed says nothing. */
static void import_drop_samples(struct import *i)
{
	char *points = fs_path("%s/points", i->dir.path);

	fs_remove_tree(points, NULL);
	free(points);
	i->samples.reps = 0;
}

int import_seal(struct import *i, const char *outcome, const char *why, char **path, struct err *e)
{
	const bool completed = !strcmp(outcome, "completed"), failed = !strcmp(outcome, "failed");
	struct summary *summary = NULL;
	int rc;

	if (!completed)
		import_drop_samples(i);
	rc = import_describe(i, outcome, why, e);
	for (unsigned rep = 0; !rc && rep < i->samples.reps; rep++)
		rc = seal_repetition(i->dir.path, i->dir.resolved, 0, rep, e);
	if (!rc)
		rc = seal_run(&i->dir, completed ? "COMPLETED" : failed ? "FAILED" : "INTERRUPTED", &summary, e);
	if (!rc) {
		*path = or_abort(strdup(i->dir.path));
		rundir_close(&i->dir);
	}
	seal_free_summary(summary);
	return rc;
}

void import_free(struct import *i)
{
	samples_close(&i->samples);
	if (i->dir.path)
		fs_remove_tree(i->dir.path, NULL);
	rundir_close(&i->dir);
}

int import_file(const struct import_request *request, const char *file, char **path, struct err *e)
{
	struct import i;
	int rc = import_create(&i, request, e);

	if (!rc)
		rc = import_take(&i, file, e);
	if (!rc)
		rc = import_seal(&i, "completed", "", path, e);
	import_free(&i);
	return rc;
}
