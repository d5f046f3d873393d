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
#include "measure/run/run.h"
#include "measure/run/seal.h"

#define KERNEL	 "imported"
#define LIMIT_NS 10000

/* Names become those of folders, of runs and of hosts. */
static int import_check_name(const char *what, const char *name, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (*name && *name != '.' && *name != '-' && !name[strspn(name, allowed)] && strlen(name) < READING_NAME_MAX)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, what, NULL,
		       "'%.60s' is not a name of letters, digits, '.', '_' and '-'", name);
}

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

static json_t *import_resolved(const char *name, const char *title, json_t *params, json_t *traits)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:{s:{s:[{s:s, s:s}], s:[{s:s, s:s, s:s}]}},"
			 " s:[{s:i, s:o, s:o}], s:[], s:[], s:[], s:{}}",
			 "schema", 1, "name", name, "title", title, "variant", "full", "kernels", KERNEL, "columns",
			 "name", SAMPLES_COLUMN, "side", "source", "series", "name", "lat_ns", "label", "latency",
			 "column", SAMPLES_COLUMN, "points", "id", 0, "params", params, "traits", traits, "named",
			 "claims", "bookkeeping", "defaults");
}

static json_t *import_run(const struct import_request *q, const struct reading *r, const char *name, const char *title,
			  const char *file)
{
	/* A comparison resolves no less than a tick (judge/compare/compare_verdict.c). */
	const int64_t hz = r->clock_hz ? r->clock_hz : 1000000000 / (r->resolution_ns ? r->resolution_ns : 1);
	char utc[32];

	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:n, s:{s:i, s:I, s:i},"
			 " s:{s:{s:s, s:[s]}}, s:{s:s, s:I, s:I, s:b}, s:b, s:[], s:[]}",
			 "schema", 1, "name", name, "title", title, "source", file, "status", "RUNNING", "variant",
			 "full", "argv", describe_command(q->argc, q->argv), "version", kblat_version, "commit",
			 kblat_commit, "started_utc", utc_now(utc, sizeof(utc), 0), "ended_utc", "t0", "monotonic_ns",
			 0, "realtime_ns", (json_int_t)r->started_ns, "tai_ns", 0, "hosts",
			 choose(q->host, r->host, "unknown"), "boot_id", choose(q->boot, r->boot, "unknown"), "roles",
			 "source", "clock", "source", q->format->name, "hz", (json_int_t)hz, "bin_ppm",
			 (json_int_t)r->bin_ppm, "common", 1, "valid", 0, "reasons", "warnings");
}

/* --- the directory --- */

struct import {
	const struct import_request *request;
	const char *file;
	struct reading reading;
	struct samples samples;
	struct rundir dir;
};

/* Read into a directory of the format's name; what the file says is known only at its end. */
static int import_begin(struct import *i, struct err *e)
{
	const struct import_request *q = i->request;
	char *text = fs_path("# The samples of another program, imported from a file of the format %s.\n"
			     "# They were not measured by a spec.\n",
			     q->format->name);
	const struct rundir_head head = {.name = q->name ? q->name : q->format->name,
					 .title = "",
					 .text = text,
					 .length = strlen(text),
					 .imported = true};
	int rc = rundir_create(&i->dir, q->out, &head, json_object(), json_object(), e);

	free(text);
	i->samples.run_path = i->dir.path;
	return rc;
}

static int import_write_point(struct import *i, struct err *e)
{
	json_t *point = json_pack("{s:i, s:i, s:s, s:s, s:{}, s:{}}", "schema", 1, "id", 0, "outcome", "completed",
				  "why", "", "granted", "placement");
	const json_t *params = json_object_get(json_array_get(json_object_get(i->dir.resolved, "points"), 0), "params");
	int rc = rundir_write(&i->dir, "points/0000/point.json", point, e);

	if (!rc)
		rc = rundir_write(&i->dir, "points/0000/params.json", params, e);
	json_decref(point);
	return rc;
}

/* The documents of the run, now that the file has been read. */
static int import_describe(struct import *i, struct err *e)
{
	const struct import_request *q = i->request;
	const struct reading *r = &i->reading;
	const char *name = choose(q->name, r->name, q->format->name);
	char *title = fs_path("samples of another program (%s)", q->format->name);
	int rc = import_check_name("--name", name, e) ?: import_check_name("--host", choose(q->host, r->host, "unknown"), e)
		     ?: import_check_name("--boot", choose(q->boot, r->boot, "unknown"), e);

	if (!rc) {
		json_decref(i->dir.resolved);
		json_decref(i->dir.run);
		i->dir.resolved = import_resolved(name, title, describe_point(q, r), describe_traits(r));
		i->dir.run = import_run(q, r, name, title, i->file);
		json_object_set_new(i->dir.run, "points", json_pack("{s:i, s:i}", "completed", 1, "total", 1));
		rc = rundir_write(&i->dir, "resolved.json", i->dir.resolved, e) ?: import_write_point(i, e);
	}
	free(title);
	return rc;
}

static int import_seal(struct import *i, char **path, struct err *e)
{
	struct summary *summary = NULL;
	int rc = 0;

	for (unsigned rep = 0; !rc && rep < i->samples.reps; rep++)
		rc = seal_repetition(i->dir.path, i->dir.resolved, 0, rep, e);
	if (!rc)
		rc = seal_run(&i->dir, "COMPLETED", &summary, e);
	if (!rc)
		*path = or_abort(strdup(i->dir.path));
	seal_free_summary(summary);
	return rc;
}

/* The time of the run is that of its file, unless the file says it. */
static int import_open(struct import *i, struct err *e)
{
	struct stat st;

	i->reading.in = fopen(i->file, "re");
	if (!i->reading.in)
		return err_sys(e, -errno, i->file, "open");
	if (fstat(fileno(i->reading.in), &st))
		return err_sys(e, -errno, i->file, "read");
	if (S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, STATUS_USAGE, i->file, NULL, "it is a directory, not a file of samples");
	i->reading.started_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return 0;
}

int import_file(const struct import_request *request, const char *file, char **path, struct err *e)
{
	struct import i = {.request = request, .file = file};
	int rc;

	i.reading.path = file;
	i.reading.column = request->column;
	i.reading.unit = request->unit;
	i.reading.to = &i.samples;
	rc = import_open(&i, e);
	if (!rc)
		rc = import_begin(&i, e);
	if (!rc)
		rc = format_read(request->format, &i.reading, e);
	samples_close(&i.samples);
	if (!rc)
		rc = import_describe(&i, e);
	if (!rc)
		rc = import_seal(&i, path, e);
	if (i.reading.in)
		fclose(i.reading.in);
	if (rc && i.dir.path)
		fs_remove_tree(i.dir.path, NULL);
	rundir_close(&i.dir);
	return rc;
}
