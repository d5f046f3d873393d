/*
 * A run directory as `kblat run` leaves it (files/rundir/reader.h), made up: for tests of what reads
 * one. Latencies are drawn from a log-normal distribution with a tail, by a generator of its own,
 * so that every run of a test sees the same.
 */
#ifndef KBLAT_TESTS_UNIT_FIXTURE_RUN_H
#define KBLAT_TESTS_UNIT_FIXTURE_RUN_H

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "files/rundir/manifest.h"
#include "files/rundir/reader.h"
#include "judge/analysis/histogram.h"
#include "judge/analysis/statistics.h"
#include "report/report.h"
#include "tests/unit/tap.h"

#ifndef FIXTURE_REPS
#define FIXTURE_REPS 8
#endif

struct fixture_point {
	const char *transport, *qp, *poll; /* qp NULL: the transport has none */
	int64_t size_bytes;
	unsigned reps, messages;
	double median_ns, spread, tail,
	    comp_share;		      /* tail: share of messages that take ten times as long; comp_share 0:
						     * no completion was asked for */
	unsigned lost;		      /* of each repetition */
	const char *outcome, *why;    /* NULL: completed */
	const char *reason, *warning; /* NULL: none */
};

/* Of a kernel with a pacer. */
struct fixture_pacing {
	int64_t rate_hz, steps;
	double missed_share, unsent_share;
};

/* What a point records besides. */
struct fixture_with {
	bool t_send, t_hw;
};

struct fixture_run {
	const char *name, *title, *host, *device, *driver, *software, *status, *spec;
	const char *reason; /* NULL: the run is valid */
	const struct fixture_point *points;
	size_t count;
	bool no_summary;		     /* killed */
	const struct fixture_pacing *pacing; /* one for each point; NULL: none has a pacer */
	const struct fixture_with *with;     /* one for each point; NULL: all record the usual */
};

static uint64_t fixture_seed = 1;

/* xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled
 * (2016). */
static double fixture_uniform(void)
{
	fixture_seed ^= fixture_seed >> 12;
	fixture_seed ^= fixture_seed << 25;
	fixture_seed ^= fixture_seed >> 27;
	return ((double)(fixture_seed * UINT64_C(2685821657736338717) >> 11) + 0.5) / 9007199254740992.0;
}

static double fixture_normal(void)
{
	return sqrt(-2 * log(fixture_uniform())) * cos(6.283185307179586 * fixture_uniform());
}

static int64_t fixture_latency(const struct fixture_point *p, double share)
{
	double ns = p->median_ns * share * exp(p->spread * fixture_normal());

	return (int64_t)(fixture_uniform() < p->tail ? ns * (3 + 9 * fixture_uniform()) : ns);
}

/* Without json_write's care for the disk: there are hundreds of them. */
static void fixture_save(char *path, json_t *value)
{
	if (!value || json_dump_file(value, path, JSON_COMPACT)) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
	json_decref(value);
	free(path);
}

static void fixture_mkdirs(char *path)
{
	struct err e = ERR_INIT;

	if (fs_mkdirs(path, &e)) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	free(path);
}

static json_t *fixture_params(const struct fixture_run *run, unsigned id)
{
	const struct fixture_point *p = &run->points[id];
	json_t *params = json_pack("{ss ss ss* ss sI si sI si sI si}", "kernel", "oneway", "transport", p->transport,
				   "qp", p->qp, "poll", p->poll, "size_bytes", (json_int_t)p->size_bytes, "messages",
				   (int)p->messages, "pause_ns", (json_int_t)0, "burst", (int)p->messages, "limit_ns",
				   (json_int_t)10000, "repetitions", (int)p->reps);

	json_object_set_new(params, "depth", json_integer(128));
	json_object_set_new(params, "check", json_false());
	if (p->qp)
		json_object_set_new(params, "port", json_integer(1));
	json_object_set_new(params, "t_send", json_boolean(run->with && run->with[id].t_send));
	json_object_set_new(params, "t_hw", json_boolean(run->with && run->with[id].t_hw));
	if (run->pacing)
		json_object_set_new(params, "rate_hz", json_integer(run->pacing[id].rate_hz));
	return params;
}

#define FIXTURE_SERIES 5

struct fixture_series {
	const char *name, *label, *column, *minus;
	double share;	  /* of the point's latency; 0: the point's own comp_share */
	const char *with; /* recorded only where this is; NULL: always */
};

static struct fixture_series fixture_series[FIXTURE_SERIES] = {
    {"lat_ns", "t_lat", "t_recv", "t_subm", 1, NULL},
    {"comp_lat_ns", "t_comp", "t_comp", "t_subm", 0, NULL},
    {"send_lat_ns", "t_send", "t_recv", "t_send", .8, "t_send"},
    {"hw_lat_ns", "t_hw", "t_hw", "t_subm", .7, "t_hw"},
    {"hw_comp_lat_ns", "t_hw_comp", "t_hw_comp", "t_subm", .6, "t_hw"},
};

static bool fixture_has(const json_t *params, const struct fixture_series *s)
{
	return !s->with || json_is_true(json_object_get(params, s->with));
}

static size_t fixture_entries(const struct fixture_point *p, const struct fixture_series *s)
{
	return s->share > 0 || p->comp_share > 0 ? p->messages : 0;
}

/* One series of a repetition, and what it adds to that of all repetitions. */
static void fixture_rep_series(const struct fixture_point *p, const struct fixture_series *s, int64_t *values,
			       json_t *data)
{
	struct span span = {values, NULL, fixture_entries(p, s)};
	struct histogram h;
	struct stats st;
	struct err e = ERR_INIT;

	for (unsigned i = 0; i < p->messages; i++)
		values[i] = fixture_latency(p, s->share > 0 ? s->share : p->comp_share);
	for (unsigned i = 0; s->share > 0 && i < p->lost; i++)
		values[(i + 1) * 37 % p->messages] = NEVER;
	stats_compute(&span, 1, 10000, &st, &e);
	histogram_compute(&span, 1, 4096, &h, &e);
	json_object_set_new(json_object_get(data, "metrics"), s->name, statistics_json(&st));
	json_object_set_new(json_object_get(data, "histograms"), s->name, histogram_json(&h));
	histogram_free(&h);
}

static json_t *fixture_metrics(const struct fixture_point *p, const json_t *params,
			       int64_t *values[FIXTURE_SERIES][FIXTURE_REPS])
{
	json_t *metrics = json_object();
	struct span spans[FIXTURE_REPS];
	struct err e = ERR_INIT;
	struct stats st;

	for (int s = 0; s < FIXTURE_SERIES; s++) {
		if (!fixture_has(params, &fixture_series[s]))
			continue;
		for (unsigned r = 0; r < p->reps; r++)
			spans[r] = (struct span){values[s][r], NULL, fixture_entries(p, &fixture_series[s])};
		stats_compute(spans, p->reps, 10000, &st, &e);
		json_object_set_new(metrics, fixture_series[s].name, statistics_json(&st));
	}
	return metrics;
}

static void fixture_reps(const char *dir, const struct fixture_point *p, const json_t *params,
			 int64_t *values[FIXTURE_SERIES][FIXTURE_REPS])
{
	for (unsigned r = 0; r < p->reps; r++) {
		json_t *data = json_pack("{si s{} s{}}", "schema", 1, "metrics", "histograms");

		for (int s = 0; s < FIXTURE_SERIES; s++) {
			if (!fixture_has(params, &fixture_series[s]))
				continue;
			values[s][r] = calloc(p->messages, sizeof(int64_t));
			fixture_rep_series(p, &fixture_series[s], values[s][r], data);
		}
		fixture_mkdirs(fs_path("%s/rep-%02u", dir, r));
		fixture_save(fs_path("%s/rep-%02u/data.json", dir, r), data);
	}
}

static json_t *fixture_strings(const char *text)
{
	return text ? json_pack("[s]", text) : json_array();
}

/* Returns the point's summary. */
static json_t *fixture_one_point(const char *dir, const struct fixture_run *run, unsigned id)
{
	const struct fixture_point *p = &run->points[id];
	int64_t *values[FIXTURE_SERIES][FIXTURE_REPS] = {{NULL}};
	bool measured = !p->outcome;
	json_t *summary, *params = fixture_params(run, id);

	fixture_mkdirs(fs_path("%s", dir));
	fixture_save(fs_path("%s/params.json", dir), fixture_params(run, id));
	fixture_save(fs_path("%s/point.json", dir),
		     json_pack("{si si ss ss s{s{ss* ss* ss*}}}", "schema", 1, "id", (int)id, "outcome",
			       measured ? "completed" : p->outcome, "why", p->why ? p->why : "", "granted", "source",
			       "device", p->qp ? run->device : NULL, "driver", p->qp ? run->driver : NULL, "software",
			       p->qp ? run->software : NULL));
	if (measured)
		fixture_reps(dir, p, params, values);
	summary = json_pack("{si so sb so so so s{si si} s[]}", "id", (int)id, "params", params, "valid",
			    measured && !p->reason, "reasons", fixture_strings(measured ? p->reason : p->why),
			    "warnings", fixture_strings(p->warning), "metrics",
			    measured ? fixture_metrics(p, params, values) : json_object(), "in_flight", "p50", 96,
			    "max", 127, "reps");
	if (run->pacing)
		json_object_set_new(summary, "pacing",
				    json_pack("{sI sf sf}", "steps", (json_int_t)run->pacing[id].steps, "missed_share",
					      run->pacing[id].missed_share, "unsent_share",
					      run->pacing[id].unsent_share));
	for (int s = 0; s < FIXTURE_SERIES; s++)
		for (unsigned r = 0; r < FIXTURE_REPS; r++)
			free(values[s][r]);
	return summary;
}

static json_t *fixture_columns(void)
{
	static const char *const columns[][3] = {{"t_subm", "source", NULL}, {"t_comp", "source", NULL},
						 {"t_recv", "sink", NULL},   {"t_send", "sink", "t_send"},
						 {"t_hw", "sink", "t_hw"},   {"t_hw_comp", "source", "t_hw"}};
	json_t *all = json_array();

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_array_append_new(
		    all, json_pack("{ss ss ss*}", "name", columns[i][0], "side", columns[i][1], "with", columns[i][2]));
	return all;
}

static void fixture_points(const char *dir, const struct fixture_run *run)
{
	json_t *points = json_array(), *resolved = json_array(), *kernel, *series = json_array();

	for (unsigned i = 0; i < run->count; i++) {
		char *point = fs_path("%s/points/%04u", dir, i);

		json_array_append_new(points, fixture_one_point(point, run, i));
		json_array_append_new(resolved, json_pack("{si so}", "id", (int)i, "params", fixture_params(run, i)));
		free(point);
	}
	for (int s = 0; s < FIXTURE_SERIES; s++)
		json_array_append_new(series,
				      json_pack("{ss ss ss ss ss*}", "name", fixture_series[s].name, "label",
						fixture_series[s].label, "column", fixture_series[s].column, "minus",
						fixture_series[s].minus, "with", fixture_series[s].with));
	kernel = json_pack("{so so}", "columns", fixture_columns(), "series", series);
	if (!run->no_summary)
		fixture_save(fs_path("%s/summary.json", dir),
			     json_pack("{si sb so sO}", "schema", 1, "valid", !run->reason, "reasons",
				       fixture_strings(run->reason), "points", points));
	json_decref(points);
	fixture_save(fs_path("%s/resolved.json", dir),
		     json_pack("{si ss ss s{so} so}", "schema", 1, "name", run->name, "variant", "full", "kernels",
			       "oneway", kernel, "points", resolved));
}

static json_t *fixture_state(const char *governor, int interrupts)
{
	return json_pack("{si sI s{ss ss ss ss ss ss ss ss si}}", "schema", 1, "cost_ns", (json_int_t)41000000, "keys",
			 "identity.kernel", "6.1.0-56-amd64", "identity.os.PRETTY_NAME", "Debian GNU/Linux 12",
			 "cpu.model", "Intel(R) Xeon(R) CPU E5-2643 v4 @ 3.40GHz", "frequency.policy0.governor",
			 governor, "clock.source", "tsc", "pm_qos.cpu_dma_latency_us", "2000000000", "identity.cmdline",
			 "quiet isolcpus=2,3", "irq.irqbalance", "!ENOENT", "irq.count.24.cpu0", interrupts);
}

static void fixture_states(const char *dir, const struct fixture_run *run)
{
	char *state = fs_path("%s/state/%s", dir, run->host);

	fixture_mkdirs(fs_path("%s/before", state));
	fixture_mkdirs(fs_path("%s/after", state));
	fixture_save(fs_path("%s/before/state.json", state), fixture_state("performance", 17));
	fixture_save(fs_path("%s/after/state.json", state), fixture_state("powersave", 1720));
	fixture_save(fs_path("%s/changes.json", state),
		     json_pack("{si s[{ss ss ss ss}{ss si si si ss}]}", "schema", 1, "changed", "key",
			       "frequency.policy0.governor", "before", "performance", "after", "powersave", "class",
			       "warn", "key", "irq.count.24.cpu0", "before", 17, "after", 1720, "delta", 1703, "class",
			       "volatile"));
	free(state);
}

static json_t *fixture_clock(void)
{
	return json_pack("{ss sb ss sf sf sf sf sf sf sb si sb ss}", "source", "tsc", "invariant", 1,
			 "kernel_clocksource", "tsc", "hz", 3400000123.5, "residual_ns", 12.25, "drift_ppm", 0.04,
			 "cost_ns", 9.3, "cost_end_ns", 15.1, "stamp_ns", 9.9, "monotonic", 1, "skew_ns", 21, "good", 1,
			 "why", "");
}

/* Make it at `dir`, which must not be there yet. */
static void fixture_run_make(const char *dir, const struct fixture_run *run)
{
	char *spec;
	json_t *all;

	fixture_mkdirs(fs_path("%s", dir));
	fixture_points(dir, run);
	fixture_states(dir, run);
	spec = fs_path("%s/spec.yaml", dir);
	tap_file(spec, run->spec, strlen(run->spec));
	free(spec);
	all = json_pack("{si ss ss ss ss s[sss] ss ss ss ss s{sIsIsI} s{s{ss s[sss]}} so sb so s[s] s{sisisisisi}}",
			"schema", 1, "name", run->name, "title", run->title, "status", run->status, "variant", "full",
			"argv", "kblat", "run", "experiments/it's here", "version", "0.1.0", "commit", "0123456789ab",
			"started_utc", "2025-03-01T10:11:12Z", "ended_utc", "2025-03-01T10:12:40Z", "t0",
			"monotonic_ns", (json_int_t)1, "realtime_ns", (json_int_t)2, "tai_ns", (json_int_t)3, "hosts",
			run->host, "boot_id", "0badcafe", "roles", "coordinator", "source", "sink", "clock",
			fixture_clock(), "valid", !run->reason, "reasons", fixture_strings(run->reason), "warnings",
			"no invariant TSC, but a good fit", "points", "completed", (int)run->count, "failed", 0,
			"impossible", 0, "interrupted", 0, "total", (int)run->count);
	fixture_save(fs_path("%s/run.json", dir), all);
	fixture_save(fs_path("%s/log.jsonl", dir), json_object());
	if (!run->no_summary && manifest_write(dir, NULL))
		note("%s: no manifest", dir);
}

/* Make the run ROOT/NAME and its report. The caller frees its directory. */
static inline char *fixture_run_report(const char *root, const struct fixture_run *run)
{
	char *dir = fs_path("%s/%s", root, run->name), *html = NULL;
	struct err e = ERR_INIT;
	struct run opened;

	fixture_run_make(dir, run);
	if (run_open(dir, &opened, &e) || report_make(&opened, 1, &html, &e))
		note("%s", e.text);
	run_close(&opened);
	free(html);
	return dir;
}

/* A file of it below derived/; NULL: there is none. */
static inline char *fixture_derived(const char *dir, const char *name)
{
	char *path = fs_path("%s/derived/%s", dir, name), *text = NULL;
	struct err e = ERR_INIT;
	size_t size;

	if (!access(path, F_OK))
		fs_read(path, 64 << 20, &text, &size, &e);
	free(path);
	return text;
}

/* How often `what` is in the text. */
static inline size_t fixture_count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; at && (at = strstr(at, what)); at++)
		n++;
	return n;
}

#endif
