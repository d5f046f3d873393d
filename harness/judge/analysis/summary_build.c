#include "judge/analysis/summary_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/reader.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/notes.h"
#include "judge/analysis/point_summary.h"
#include "judge/analysis/summary_json.h"

static json_t *host_names(const json_t *run)
{
	json_t *names = json_array(), *host;
	const char *name;

	json_object_foreach (json_object_get(run, "hosts"), name, host) {
		json_array_append_new(names, json_string(name));
	}
	return names;
}

static void summary_conclude(struct summary *s, const json_t *run, const json_t *resolved)
{
	const json_t *named = json_object_get(resolved, "named");

	s->name = fs_path("%s", json_text(resolved, "name"));
	s->title = fs_path("%s", json_text(run, "title"));
	s->variant = fs_path("%s", json_text(resolved, "variant"));
	s->hosts = host_names(run);
	s->reasons = notes_of_points(s, NOTES_REASONS, NOTES_BY_TEXT);
	s->warnings = notes_of_points(s, NOTES_WARNINGS, NOTES_BY_TEXT);
	s->valid = !json_array_size(s->reasons);
	s->named = json_is_array(named) ? json_incref((json_t *)named) : NULL;
}

/* `last`: the id of the previous point. */
static int build_point(const struct point_context *c, const json_t *resolved, size_t index, long long *last,
		       struct summary *s, struct err *e)
{
	struct layout layout;
	int rc = layout_read(c->run_path, resolved, index, &layout, e);

	if (rc)
		return rc;
	if (layout.id <= *last)
		rc = err_set(e, -EINVAL, STATUS_USAGE, c->run_path, NULL,
			     "resolved.json: the ids of its points are not ascending");
	else
		rc = point_summary(c, &layout, &s->points[s->point_count], e);
	s->point_count += !rc;
	*last = layout.id;
	layout_free(&layout);
	return rc;
}

static struct summary *build_points(const struct point_context *c, const json_t *resolved, struct err *e)
{
	const size_t count = json_array_size(json_object_get(resolved, "points"));
	struct summary *s = or_abort(calloc(1, sizeof(*s)));
	long long last = -1;

	s->points = or_abort(calloc(count + 1, sizeof(*s->points)));
	for (size_t i = 0; i < count; i++)
		if (build_point(c, resolved, i, &last, s, e)) {
			summary_free(s);
			return NULL;
		}
	return s;
}

/*
 * A look is rough, and others rarely come for one point alone: to each point that was looked at belongs what others
 * took of it and of those beside it.
 */
static void take_neighbours(struct summary *s)
{
	double *own = or_abort(calloc(s->point_count + 1, sizeof(*own)));

	for (size_t i = 0; i < s->point_count; i++)
		own[i] = number_value(s->points[i].taken);
	for (size_t i = 0; i < s->point_count; i++) {
		struct summary_point *p = &s->points[i];
		double sum = 0;
		int known = 0;

		if (!number_is_known(p->taken))
			continue;
		for (size_t k = i ? i - 1 : 0; k <= i + 1 && k < s->point_count; k++) {
			sum += isnan(own[k]) ? 0 : own[k];
			known += !isnan(own[k]);
		}
		p->taken = number_real(sum / known);
		if (summary_is_disturbed(p))
			json_array_append_new(
			    p->warnings,
			    json_sprintf("others took %.0f %% of the time of the CPUs that it was measured on",
					 100 * sum / known));
	}
	free(own);
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

struct summary *summary_build(const char *run_path, const json_t *run, const json_t *resolved, struct err *e)
{
	struct point_context c = {
	    .run_path = run_path,
	    .clock = json_object_get(run, "clock"),
	    .far_clock = {clock_of_role(run, "source"), clock_of_role(run, "sink")},
	    .state = {run_state(run_path, run, "source"), run_state(run_path, run, "sink")},
	};
	struct summary *s = build_points(&c, resolved, e);

	json_decref(c.state[0]);
	json_decref(c.state[1]);
	if (s) {
		take_neighbours(s);
		summary_conclude(s, run, resolved);
	}
	return s;
}

void summary_doubt(struct summary *s, const struct run *run)
{
	struct err why = ERR_INIT;

	if (!sealed_unchanged(run, &why))
		return;
	s->valid = false;
	json_array_append_new(s->reasons, json_string(why.text));
	for (size_t i = 0; i < s->point_count; i++) {
		s->points[i].valid = false;
		json_array_append_new(s->points[i].reasons, json_string("the run is not as it was sealed"));
	}
}

struct summary *summary_of_run(const struct run *run, struct err *e)
{
	if (run->sealed && run->summary) {
		struct summary *s = summary_decode(run->summary);

		summary_doubt(s, run);
		return s;
	}
	return summary_build(run->path, run->run, run->resolved, e);
}

/* --- files --- */

static int write_csv(const char *run_path, const struct summary *summary, struct err *e)
{
	char *path = fs_path("%s/summary.csv", run_path), *text = NULL;
	size_t size = 0;
	FILE *out = or_abort(open_memstream(&text, &size));
	int rc = summary_csv(summary, out);

	if (fclose(out) && !rc)
		rc = -ENOMEM;
	rc = rc ? err_sys(e, rc, path, "write") : fs_write(path, text, size, e);
	free(text);
	free(path);
	return rc;
}

static int write_json(char *path, json_t *value, struct err *e)
{
	int rc = json_write(path, value, e);

	json_decref(value);
	free(path);
	return rc;
}

static int summary_write_point(const char *run_path, const struct summary_point *point, struct err *e)
{
	char *dir = layout_point_dir(run_path, (unsigned)point->id);
	int rc = fs_is_missing(dir) ? 0 : write_json(fs_path("%s/summary.json", dir), summary_encode_point(point), e);

	free(dir);
	return rc;
}

int summary_write(const char *run_path, const struct summary *summary, struct err *e)
{
	int rc = write_json(fs_path("%s/summary.json", run_path), summary_encode(summary), e);

	if (!rc)
		rc = write_csv(run_path, summary, e);
	for (size_t i = 0; !rc && i < summary->point_count; i++)
		rc = summary_write_point(run_path, &summary->points[i], e);
	return rc;
}
