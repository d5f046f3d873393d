#include "measure/run/forecast.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "files/rundir/layout.h"

/* Orders of magnitude, measured with short points on an ordinary machine. docs/spec.md names them. */
#define RUN_S	      0.5  /* calibration, the machine's state before and after, sealing */
#define POINT_S	      0.1  /* starting, connecting and ending endpoints */
#define REPETITION_S  0.01 /* arming, files */
#define LOOKS_S	      0.2  /* at what others take of a point's CPUs, if claims are judged by it */
#define REDUCE_NS     100  /* storing and reducing a message's stamps */
#define COPY_NS_A_KIB 200

/* --- one repetition --- */

static int64_t way_ns(const struct flow *f)
{
	const struct transport_typical *t = &f->transport->typical;

	return f->common.poll == POLL_EVENT ? t->sleeping_ns : t->latency_ns;
}

/* In virtual time, pauses take no time, and every message takes a little. */
static struct forecast forecast_messages(const struct flow *f, int64_t messages, bool warm_up)
{
	struct kernel_demand d = f->kernel->demand(f->kernel_settings, messages, warm_up);
	const int64_t both = f->config.size + transport_answer_bytes(&f->config);
	const double copy_ns = (double)both / 2 / 1024 * COPY_NS_A_KIB;
	struct forecast t = {.messages = (double)messages};
	double limit_s = (double)d.limit_ns / 1e9, waits_s;

	if (f->transport->has_own_clock)
		d = (struct kernel_demand){.posts = messages};
	t.paced_s = (double)d.paced_ns / 1e9;
	waits_s = ((double)d.posts * ((double)f->transport->typical.post_ns + copy_ns) +
		   (double)d.ways * ((double)way_ns(f) + copy_ns)) /
		  1e9;
	if (d.limit_ns && t.paced_s + waits_s > limit_s) {
		t.messages *= limit_s / (t.paced_s + waits_s);
		t.paced_s = fmin(t.paced_s, limit_s);
		waits_s = limit_s - t.paced_s;
	}
	t.rest_s = waits_s + t.messages * REDUCE_NS / 1e9;
	return t;
}

/* Flows are measured at the same time: the one that takes longest counts, or the one that ends first. */
static struct forecast forecast_repetition(const struct point *p, bool warm_up)
{
	struct forecast t = {0};
	bool found = false;

	for (size_t i = 0; i < p->flow_count; i++) {
		const struct flow *f = &p->flow[i];
		int64_t messages = f->config.schedule.messages;
		struct forecast own;

		if (warm_up && f->common.warmup < messages)
			messages = f->common.warmup;
		if (!messages)
			continue;
		own = forecast_messages(f, messages, warm_up);
		if (!found || (forecast_seconds(&own) > forecast_seconds(&t)) == (p->until == UNTIL_ALL))
			t = own;
		found = true;
	}
	t.rest_s += found ? REPETITION_S : 0;
	return t;
}

/* --- a point --- */

void forecast_add(struct forecast *sum, struct forecast t, double times)
{
	sum->paced_s += t.paced_s * times;
	sum->rest_s += t.rest_s * times;
	sum->messages += t.messages * times;
}

struct forecast forecast_point(const struct point *p)
{
	const double starts = (double)(p->fresh ? p->repetitions : p->rounds);
	struct forecast t = {.rest_s = POINT_S * starts};
	const bool untraced = point_explains(p);
	bool control = false;

	for (size_t i = 0; i < p->flow_count; i++)
		control |= kernel_has_control(p->flow[i].kernel, p->flow[i].kernel_settings);
	forecast_add(&t, forecast_repetition(p, true), starts);
	forecast_add(&t, forecast_repetition(p, false), (double)p->repetitions + control + untraced);
	return t;
}

struct forecast forecast_correct(struct forecast t, struct forecast former, double took_s)
{
	const double rest_s = took_s - former.paced_s;

	t.rest_s *= rest_s > 0 && former.rest_s > 0 ? rest_s / former.rest_s : 0;
	t.is_former = true;
	return t;
}

double forecast_left_s(struct forecast done, struct forecast left, double passed_s)
{
	const double rest_s = passed_s - done.paced_s;

	return left.paced_s + left.rest_s * (done.rest_s > 0 ? fmax(0, rest_s) / done.rest_s : 1);
}

/* --- for people and programs --- */

/* Rounded to milliseconds, because forecasts are not more accurate. */
static double rounded(double seconds)
{
	return round(seconds * 1000) / 1000;
}

void forecast_to_json(const struct forecast *t, json_t *object)
{
	json_object_set_new(object, "expected_s", json_real(rounded(forecast_seconds(t))));
	json_object_set_new(object, "paced_s", json_real(rounded(t->paced_s)));
	json_object_set_new(object, "basis", json_string(t->is_former ? "former run" : "assumptions"));
}

char *forecast_text(double seconds, char *buf, size_t size)
{
	const long long s = llround(seconds), minutes = llround(seconds / 60);

	if (llround(seconds * 1000) < 1000)
		snprintf(buf, size, "%lld ms", llround(seconds * 1000));
	else if (s < 60)
		snprintf(buf, size, "%lld s", s);
	else if (s < 3600)
		snprintf(buf, size, "%lld min %lld s", s / 60, s % 60);
	else
		snprintf(buf, size, "%lld h %lld min", minutes / 60, minutes % 60);
	return buf;
}

char *forecast_sentence(const struct forecast *t, char *buf, size_t size)
{
	char all[FORECAST_TEXT_MAX / 2], least[FORECAST_TEXT_MAX / 2];

	snprintf(buf, size, "about %.20s (at least %.20s)", forecast_text(forecast_seconds(t), all, sizeof(all)),
		 forecast_text(t->paced_s, least, sizeof(least)));
	return buf;
}

/* --- what a former run of the same point took --- */

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
static void note_point(struct earlier_runs *f, const json_t *resolved, const json_t *line)
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

static void read_log(struct earlier_runs *f, const char *run, const json_t *resolved)
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

static void read_run(struct earlier_runs *f, const char *run)
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
void earlier_runs_open(struct earlier_runs *f, const char *runs, const char *name)
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

void earlier_runs_close(struct earlier_runs *f)
{
	json_decref(f->points);
	f->points = NULL;
}

/* --- for a point --- */

static const json_t *find_earlier(const struct earlier_runs *f, const struct point *p)
{
	json_t *resolved = json_pack("{s:o}", "bookkeeping", setting_bookkeeping());
	char *key = key_of(p->params, resolved);
	const json_t *found = key ? json_object_get(f->points, key) : NULL;

	free(key);
	json_decref(resolved);
	return found;
}

/* A point's forecast, corrected if a former run had the same point. */
static struct forecast forecast_by_earlier_runs(const struct earlier_runs *f, const struct point *p)
{
	const struct forecast t = forecast_point(p);
	const json_t *found = find_earlier(f, p);
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

#define ENVIRONMENT_S 2.0 /* applying and restoring a profile with kbtune */
#define SEAL_NS	      150 /* computing checksums of a message's stamps */

/* Of a point with claims: each look is at the next flow. */
static double looks_s(const struct point *p)
{
	size_t waiting = 0;

	for (size_t i = 0; i < p->flow_count; i++)
		waiting += flow_may_wait(&p->flow[i]);
	return LOOKS_S * (double)waiting / (double)p->flow_count;
}

struct forecast forecast_run(const struct spec *spec, const char *runs, struct forecast *each)
{
	struct forecast sum = {.rest_s = spec->point_count ? RUN_S : 0, .is_former = spec->point_count > 0};
	struct earlier_runs earlier;
	const char *applied = "";

	earlier_runs_open(&earlier, runs, spec->name);
	for (size_t i = 0; i < spec->point_count; i++) {
		const char *environment = spec->point[i].environment;
		struct forecast t = forecast_by_earlier_runs(&earlier, &spec->point[i]);

		if (spec->claims.count && !t.is_former)
			t.rest_s += looks_s(&spec->point[i]);
		if (each)
			each[i] = t;
		forecast_add(&sum, t, 1);
		sum.rest_s += t.messages * SEAL_NS / 1e9;
		if (*environment && strcmp(environment, applied) != 0)
			sum.rest_s += ENVIRONMENT_S;
		applied = environment;
		sum.is_former &= t.is_former;
	}
	earlier_runs_close(&earlier);
	return sum;
}
