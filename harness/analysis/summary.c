#include "analysis/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/notes.h"
#include "analysis/point_summary.h"
#include "analysis/summary_csv.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "rundir/reader.h"

static json_t *host_names(const json_t *run)
{
	json_t *names = json_array(), *host;
	const char *name;

	json_object_foreach (json_object_get(run, "hosts"), name, host) {
		json_array_append_new(names, json_string(name));
	}
	return names;
}

static json_t *summary_assemble(const json_t *run, const json_t *resolved, json_t *points)
{
	json_t *reasons = notes_of_points(points, "reasons", NOTES_BY_TEXT);
	json_t *warnings = notes_of_points(points, "warnings", NOTES_BY_TEXT);

	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:b, s:o, s:o, s:O*, s:o}", "schema", 1, "name",
			 json_text(resolved, "name"), "title", json_text(run, "title"), "variant",
			 json_text(resolved, "variant"), "hosts", host_names(run), "valid", !json_array_size(reasons),
			 "reasons", reasons, "warnings", warnings, "named", json_object_get(resolved, "named"),
			 "points", points);
}

/* `last`: the id of the previous point. */
static json_t *build_point(const struct point_context *c, const json_t *resolved, size_t index, long long *last,
			   struct err *e)
{
	struct layout layout;
	json_t *point = NULL;

	if (layout_read(c->run_path, resolved, index, &layout, e))
		return NULL;
	if (layout.id <= *last)
		err_set(e, -EINVAL, STATUS_USAGE, c->run_path, NULL,
			"resolved.json: the ids of its points are not ascending");
	else
		point = point_summary(c, &layout, e);
	*last = layout.id;
	layout_free(&layout);
	return point;
}

static json_t *build_points(const struct point_context *c, const json_t *resolved, struct err *e)
{
	json_t *points = json_array();
	long long last = -1;

	for (size_t i = 0; i < json_array_size(json_object_get(resolved, "points")); i++) {
		json_t *point = build_point(c, resolved, i, &last, e);

		if (!point) {
			json_decref(points);
			return NULL;
		}
		json_array_append_new(points, point);
	}
	return points;
}

/* The clock of a host other than the coordinator's. */
static const json_t *clock_of_role(const json_t *run, const char *role)
{
	const json_t *host;
	const char *name;

	json_object_foreach (json_object_get(run, "hosts"), name, host) {
		if (json_has_string(json_object_get(host, "roles"), role) && json_object_get(host, "clock"))
			return json_object_get(host, "clock");
	}
	return NULL;
}

json_t *summary_build(const char *run_path, const json_t *run, const json_t *resolved, struct err *e)
{
	struct point_context c = {
	    .run_path = run_path,
	    .clock = json_object_get(run, "clock"),
	    .far_clock = {clock_of_role(run, "source"), clock_of_role(run, "sink")},
	    .state = {run_state(run_path, run, "source"), run_state(run_path, run, "sink")},
	};
	json_t *points = build_points(&c, resolved, e);

	json_decref(c.state[0]);
	json_decref(c.state[1]);
	return points ? summary_assemble(run, resolved, points) : NULL;
}

json_t *summary_of_run(const struct run *run, struct err *e)
{
	if (run->sealed && run->summary)
		return json_incref(run->summary);
	return summary_build(run->path, run->run, run->resolved, e);
}

static int write_csv(const char *run_path, const json_t *summary, struct err *e)
{
	char *path = fs_path("%s/summary.csv", run_path), *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = out ? summary_csv(summary, out) : -ENOMEM;

	if (out && fclose(out) && !rc)
		rc = -ENOMEM;
	rc = rc ? err_sys(e, rc, path, "write") : fs_write(path, text, size, e);
	free(text);
	free(path);
	return rc;
}

static int summary_write_point(const char *run_path, const json_t *point, struct err *e)
{
	unsigned id = (unsigned)json_integer_value(json_object_get(point, "id"));
	char *dir = layout_point_dir(run_path, id), *path = fs_path("%s/summary.json", dir);
	int rc = fs_is_missing(dir) ? 0 : json_write(path, point, e);

	free(path);
	free(dir);
	return rc;
}

int summary_write(const char *run_path, const json_t *summary, struct err *e)
{
	char *path = fs_path("%s/summary.json", run_path);
	int rc = json_write(path, summary, e);
	const json_t *point;
	size_t i;

	free(path);
	if (!rc)
		rc = write_csv(run_path, summary, e);
	json_array_foreach (json_object_get(summary, "points"), i, point) {
		if (!rc)
			rc = summary_write_point(run_path, point, e);
	}
	return rc;
}
