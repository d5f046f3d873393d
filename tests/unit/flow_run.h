/*
 * A sealed run directory whose points have flows, made up, whose truth is known:
 *
 *   0  two repetitions. "large": rate over udp, 100 steps 10 us apart, posted 10 ns late, latency
 *      5000 + i ns; step 4 is missed, 30 and 31 are lost. "small": round trips over shmem, 300 of
 *      them, 2000 + i ns. In the second repetition they begin further apart
 *   1  no flows: "small" alone
 *   2  flows, and one of them failed before a repetition was whole: that one is not kept
 */
#ifndef KBLAT_TESTS_UNIT_FLOW_RUN_H
#define KBLAT_TESTS_UNIT_FLOW_RUN_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "files/rundir/manifest.h"
#include "judge/analysis/reduce.h"
#include "summary_documents.h"

#define FLOW_RUN_STEPS	100
#define FLOW_RUN_TRIPS	300
#define FLOW_RUN_MISSED 4
#define FLOW_RUN_LOST	30 /* and the next */

static void flow_run_check(int rc, const char *what)
{
	if (!rc)
		return;
	printf("Bail out! cannot make %s\n", what);
	exit(1);
}

/* Takes both. */
static void flow_run_save(char *path, json_t *value)
{
	flow_run_check(value ? json_write(path, value, NULL) : -1, path);
	json_decref(value);
	free(path);
}

static void flow_run_column(const char *dir, const char *name, const int64_t *data, size_t count)
{
	char *path = fs_path("%s/%s.npy", dir, name);

	flow_run_check(npy_write(path, data, count, NULL), path);
	free(path);
}

static json_t *flow_run_side(int posted, int missed)
{
	json_t *side = json_object();

#define X(counter, help) json_object_set_new(side, #counter, json_integer(0));
#include "common/counters.def"
#undef X
	json_object_set_new(side, "posted", json_integer(posted));
	json_object_set_new(side, "missed", json_integer(missed));
	json_object_set_new(side, "locked", json_integer(1));
	return side;
}

static void flow_run_counters(const char *dir, int posted, int missed)
{
	flow_run_save(fs_path("%s/counters.json", dir),
		      json_pack("{s:i, s:o, s:o, s:{}}", "schema", 1, "source", flow_run_side(posted, missed), "sink",
				flow_run_side(0, 0), "device"));
}

static void flow_run_large(const char *dir, int64_t start)
{
	int64_t due[FLOW_RUN_STEPS], posted[FLOW_RUN_STEPS], received[FLOW_RUN_STEPS];

	for (int i = 0; i < FLOW_RUN_STEPS; i++) {
		due[i] = start + 10000 * i;
		posted[i] = i == FLOW_RUN_MISSED ? NEVER : due[i] + 10;
		received[i] = i == FLOW_RUN_MISSED || i / 2 == FLOW_RUN_LOST / 2 ? NEVER : posted[i] + 5000 + i;
	}
	flow_run_check(fs_mkdirs(dir, NULL), dir);
	flow_run_column(dir, "t_due", due, FLOW_RUN_STEPS);
	flow_run_column(dir, "t_subm", posted, FLOW_RUN_STEPS);
	flow_run_column(dir, "t_recv", received, FLOW_RUN_STEPS);
	flow_run_counters(dir, FLOW_RUN_STEPS - 1, 1);
}

static void flow_run_small(const char *dir, int64_t start)
{
	int64_t posted[FLOW_RUN_TRIPS], back[FLOW_RUN_TRIPS];

	for (int i = 0; i < FLOW_RUN_TRIPS; i++) {
		posted[i] = start + 3000 * i;
		back[i] = posted[i] + 2000 + i;
	}
	flow_run_check(fs_mkdirs(dir, NULL), dir);
	flow_run_column(dir, "t_subm", posted, FLOW_RUN_TRIPS);
	flow_run_column(dir, "t_back", back, FLOW_RUN_TRIPS);
	flow_run_counters(dir, FLOW_RUN_TRIPS, 0);
}

static json_t *flow_run_kernels(void)
{
	static const char text[] =
	    "{'pingpong': {'columns': [{'name': 't_subm', 'side': 'source'}, {'name': 't_back', 'side': 'source'}],"
	    "  'series': [{'name': 'half_rtt_ns', 'label': 't_rtt/2', 'column': 't_back', 'minus': 't_subm', 'divide': "
	    "2},"
	    "             {'name': 'rtt_ns', 'label': 't_rtt', 'column': 't_back', 'minus': 't_subm'}]},"
	    " 'rate': {'columns': [{'name': 't_due', 'side': 'source'}, {'name': 't_subm', 'side': 'source'},"
	    "                      {'name': 't_recv', 'side': 'sink'}],"
	    "  'series': [{'name': 'lat_ns', 'label': 't_lat', 'column': 't_recv', 'minus': 't_subm', 'among': "
	    "'t_subm'},"
	    "             {'name': 'pace_ns', 'label': 't_pace', 'column': 't_subm', 'minus': 't_due', 'among': "
	    "'t_subm'}]}}";
	char *json = fs_path("%s", text);
	json_t *kernels;

	for (char *p = json; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	kernels = json_loads(json, 0, NULL);
	free(json);
	return kernels;
}

static json_t *flow_run_params(bool flows)
{
	if (!flows)
		return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i}", "kernel", "pingpong", "transport", "shmem",
				 "poll", "busy", "messages", FLOW_RUN_TRIPS, "size_bytes", 32, "limit_ns", 10000,
				 "repetitions", 2);
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:i, s:i, s:i}", "flows",
			 "large small", "until", "all", "repetitions", 2, "large.kernel", "rate", "large.transport",
			 "udp", "large.poll", "event", "large.messages", FLOW_RUN_STEPS, "large.rate_hz", 100000,
			 "large.missed_limit_ppm", 100000, "large.limit_ns", 5000, "small.kernel", "pingpong",
			 "small.transport", "shmem", "small.poll", "busy", "small.messages", FLOW_RUN_TRIPS,
			 "small.size_bytes", 32, "small.limit_ns", 10000);
}

static json_t *flow_run_point(int id, bool flows)
{
	json_t *point = json_pack("{s:i, s:o}", "id", id, "params", flow_run_params(flows));

	if (id == 2)
		json_object_set_new(json_object_get(point, "params"), "small.size_bytes", json_integer(64));
	json_object_set_new(point, "traits",
			    flows ? json_pack("{s:{s:b, s:b, s:b}, s:{s:b, s:b, s:b}}", "large", "reliable", 0,
					      "own_clock", 0, "device", 0, "small", "reliable", 1, "own_clock", 0,
					      "device", 0)
				  : json_pack("{s:b, s:b, s:b}", "reliable", 1, "own_clock", 0, "device", 0));
	return point;
}

static json_t *flow_run_resolved(void)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:[o, o, o], s:[s, s, s, s], s:[s, s]}", "schema", 1, "name",
			 "flows", "title", "Two flows", "variant", "full", "kernels", flow_run_kernels(), "points",
			 flow_run_point(0, true), flow_run_point(1, false), flow_run_point(2, true), "named", "flows",
			 "large.kernel", "small.kernel", "kernel", "bookkeeping", "messages", "repetitions");
}

static json_t *flow_run_run(void)
{
	return json_pack(
	    "{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:[s], s:{s:{s:s, s:[s, s]}}, s:{s:s, s:b, s:b, s:b}, s:b, s:[], "
	    "s:[], s:{s:i}}",
	    "schema", 1, "name", "flows", "title", "Two flows", "status", "FAILED", "variant", "full", "version",
	    "0.1.0", "started_utc", "2026-01-01T00:00:00Z", "argv", "kblat", "hosts", "alpha", "boot_id", "boot",
	    "roles", "source", "sink", "clock", "source", "tsc", "good", 1, "invariant", 1, "common", 1, "valid", 0,
	    "reasons", "warnings", "t0", "realtime_ns", 1);
}

static void flow_run_outcome(const char *dir, int id, const char *outcome, const char *why)
{
	flow_run_save(fs_path("%s/points/%04d/point.json", dir, id),
		      json_pack("{s:i, s:i, s:s, s:s, s:{}, s:{s:{s:{}, s:{s:b}}, s:{s:{}, s:{}}}}", "schema", 1, "id",
				id, "outcome", outcome, "why", why, "granted", "placement", "small", "source", "sink",
				"shared_cpu", 1, "large", "source", "sink"));
}

static void flow_run_rep(const char *dir, int id, int rep, const char *flow, void (*fill)(const char *, int64_t),
			 int64_t start)
{
	char *path = fs_path("%s/points/%04d/rep-%02d%s%s", dir, id, rep, *flow ? "/" : "", flow);

	fill(path, start);
	free(path);
}

/* As it is before sealing, without what is derived. */
static void flow_run_measure(const char *dir)
{
	char *half = fs_path("%s/points/0002/rep-00/small", dir);
	json_t *resolved = flow_run_resolved(), *point;
	size_t i;

	for (int rep = 0; rep < 2; rep++) {
		flow_run_rep(dir, 0, rep, "large", flow_run_large, rep ? 490 : 240);
		flow_run_rep(dir, 0, rep, "small", flow_run_small, rep ? 100 : 0);
		flow_run_rep(dir, 1, rep, "", flow_run_small, 0);
	}
	flow_run_rep(dir, 2, 0, "large", flow_run_large, 0);
	flow_run_check(fs_mkdirs(half, NULL), half);
	flow_run_outcome(dir, 0, "completed", "");
	flow_run_outcome(dir, 1, "completed", "");
	flow_run_outcome(dir, 2, "failed", "small sink: it was killed");
	json_array_foreach (json_object_get(resolved, "points"), i, point)
		flow_run_save(fs_path("%s/points/%04zu/params.json", dir, i),
			      json_incref(json_object_get(point, "params")));
	flow_run_save(fs_path("%s/resolved.json", dir), resolved);
	flow_run_save(fs_path("%s/run.json", dir), flow_run_run());
	free(half);
	half = fs_path("%s/state/alpha/before", dir);
	flow_run_check(fs_mkdirs(half, NULL), half);
	flow_run_save(fs_path("%s/state.json", half),
		      json_pack("{s:i, s:{s:s}}", "schema", 1, "keys", "identity.kernel", "6.1"));
	free(half);
}

static json_t *flow_run_summary(const char *dir)
{
	json_t *run = flow_run_run(), *resolved = flow_run_resolved();
	struct err e = ERR_INIT;
	json_t *summary = document_build(dir, run, resolved, &e);

	flow_run_check(!summary, e.text);
	json_decref(run);
	json_decref(resolved);
	return summary;
}

/* Write run.json, which says the same as the summary. Takes `run`. */
static void flow_run_conclude(const char *dir, json_t *run, const json_t *summary)
{
	json_object_set(run, "reasons", json_object_get(summary, "reasons"));
	json_object_set(run, "warnings", json_object_get(summary, "warnings"));
	flow_run_save(fs_path("%s/run.json", dir), run);
}

/* Make it at `dir`, an empty directory, or make good what was changed there. */
static void flow_run_make(const char *dir)
{
	json_t *resolved = flow_run_resolved(), *run = flow_run_run(), *summary;
	char *half = fs_path("%s/points/0002/rep-00", dir);
	struct err e = ERR_INIT;

	flow_run_measure(dir);
	flow_run_check(fs_remove_tree(half, &e), e.text);
	free(half);
	summary = flow_run_summary(dir);
	flow_run_conclude(dir, run, summary);
	for (unsigned rep = 0; rep < 2; rep++)
		for (unsigned id = 0; id < 2; id++)
			flow_run_check(reduce_write(dir, resolved, id, rep, &e), e.text);
	flow_run_check(document_write(dir, summary, &e), e.text);
	flow_run_check(manifest_write(dir, &e), e.text);
	json_decref(resolved);
	json_decref(summary);
}

#endif
