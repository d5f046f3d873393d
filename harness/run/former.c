#include "run/former.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "rundir/layout.h"

#define RUNS_MAX 16 /* only the newest; older ones are less representative of this machine */

/* The identity of a point: its settings without those that determine how long to measure. The caller frees. */
static char *key_of(const json_t *params, const json_t *resolved)
{
	json_t *telling = json_object(), *value;
	const char *key;
	char *text;

	json_object_foreach ((json_t *)params, key, value)
		if (!layout_is_bookkeeping(resolved, key))
			json_object_set(telling, key, value);
	text = json_dumps(telling, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(telling);
	return text;
}

/* --- from run directories --- */

static const json_t *params_of(const json_t *resolved, json_int_t id)
{
	const json_t *p;
	size_t i;

	json_array_foreach (json_object_get(resolved, "points"), i, p)
		if (json_integer_value(json_object_get(p, "id")) == id)
			return json_object_get(p, "params");
	return NULL;
}

/* If a point is already known, that is from a newer run, and is kept. */
static void note_point(struct former *f, const json_t *resolved, const json_t *line)
{
	const json_t *took = json_object_get(line, "took_ms");
	const json_t *params = params_of(resolved, json_integer_value(json_object_get(line, "id")));
	char *key;

	if (!json_is_integer(took) || !json_is_object(params) || strcmp(json_text(line, "outcome"), "completed") != 0)
		return;
	key = key_of(params, resolved);
	if (key && !json_object_get(f->points, key))
		json_object_set_new(f->points, key,
				    json_pack("{s:O, s:O}", "params", (json_t *)params, "took_ms", (json_t *)took));
	free(key);
}

static void read_log(struct former *f, const char *run, const json_t *resolved)
{
	char *path = fs_path("%s/log.jsonl", run), *text = NULL, *rest, *line;
	size_t size;

	if (!fs_read(path, 1 << 24, &text, &size, NULL)) {
		rest = text;
		while ((line = strsep(&rest, "\n"))) {
			json_t *j = json_loads(line, 0, NULL);

			if (!strcmp(json_text(j, "event"), "point"))
				note_point(f, resolved, j);
			json_decref(j);
		}
	}
	free(text);
	free(path);
}

static void read_run(struct former *f, const char *run)
{
	struct err ignored = ERR_INIT;
	char *path = fs_path("%s/resolved.json", run);
	json_t *resolved = json_read(path, &ignored);

	if (resolved)
		read_log(f, run, resolved);
	json_decref(resolved);
	free(path);
}

/* --- finding runs --- */

/* A run's name ends in its time and a number: "-20261121T093000Z-0a1b2c3d". */
#define STAMP "-[0-9]*T[0-9]*Z-????????"

static const char *stamp_of(const char *path)
{
	const size_t length = strlen(path), stamp = strlen("20261121T093000Z-0a1b2c3d");

	return length < stamp ? path : path + length - stamp;
}

static int newest_first(const void *a, const void *b)
{
	return strcmp(stamp_of(*(char *const *)b), stamp_of(*(char *const *)a));
}

/* Symbolic links below `runs` are not followed, as fs_read() makes sure. If a path contains special
 * characters of glob(), no runs are found. */
void former_open(struct former *f, const char *runs, const char *name)
{
	char *real = runs ? realpath(runs, NULL) : NULL;
	char *beside = fs_path("%s/%s" STAMP, real ? real : "", name);
	char *in_campaigns = fs_path("%s/*" STAMP "/%s" STAMP, real ? real : "", name);
	glob_t found = {0};

	f->points = json_object();
	if (real) {
		glob(beside, 0, NULL, &found);
		glob(in_campaigns, GLOB_APPEND, NULL, &found);
		if (found.gl_pathc)
			qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv), newest_first);
		for (size_t i = 0; i < found.gl_pathc && i < RUNS_MAX; i++)
			read_run(f, found.gl_pathv[i]);
		globfree(&found);
	}
	free(in_campaigns);
	free(beside);
	free(real);
}

void former_close(struct former *f)
{
	json_decref(f->points);
	f->points = NULL;
}

/* --- for a point --- */

static const json_t *find_former(const struct former *f, const struct point *p)
{
	json_t *resolved = json_pack("{s:o}", "bookkeeping", setting_bookkeeping());
	char *key = key_of(p->params, resolved);
	const json_t *found = key ? json_object_get(f->points, key) : NULL;

	free(key);
	json_decref(resolved);
	return found;
}

struct forecast former_forecast(const struct former *f, const struct point *p)
{
	const struct forecast t = forecast_point(p);
	const json_t *found = find_former(f, p);
	struct err ignored = ERR_INIT;
	struct forecast corrected = t;
	struct point former;

	if (!found)
		return t;
	if (!point_load(&former, p->id, json_object_get(found, "params"), &ignored))
		corrected = forecast_correct(t, forecast_point(&former),
					     (double)json_integer_value(json_object_get(found, "took_ms")) / 1000);
	point_free(&former);
	return corrected;
}
