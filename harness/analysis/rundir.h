/*
 * A run directory as read: what a run left behind, and what can be concluded from it alone. Layout:
 * docs/run-directory.md.
 *
 *   resolved.json   {"schema": 1, "name", "variant": "full"|"quick", "kernels": {"oneway": {"columns": [{"name":
 * "t_subm", "side": "source"}, ...], "series": [{"name": "lat_ns", "label": "t_lat", "column": "t_recv", "minus":
 * "t_subm"}, ...]}}, "points": [{"id": 0, "params": {flat settings, keys with units}}, ...]} run.json        {"schema":
 * 1, "name", "title", "status": RUNNING|COMPLETED|FAILED|INTERRUPTED, "variant", "argv": [], "version", "commit",
 *                    "started_utc", "ended_utc", "t0": {"monotonic_ns", "realtime_ns", "tai_ns"}, "hosts": {...},
 * "clock": {...}, "valid": bool, "reasons": [], "warnings": [], "points": {"completed", "failed", "impossible",
 * "interrupted", "total"}} points/<nnnn>/params.json    that point's params points/<nnnn>/point.json     {"schema": 1,
 * "id", "outcome": "completed"|"failed"|"impossible"|"interrupted", "why": "" or the error, "granted": {what the
 * transport really gave}, "placement": {"source": {...}, "sink": {...}}} points/<nnnn>/rep-<nn>/<column>.npy,
 * counters.json, data.json points/<nnnn>/rep-<nn>/counters.json  {"schema": 1, "source": {counter: integer, ...},
 * "sink": {...}, "device": {...}} points/<nnnn>/rep-<nn>/data.json      {"schema": 1, "metrics": {"lat_ns": {...}},
 * "histograms": {"lat_ns": {...}}}
 */
#ifndef KBLAT_ANALYSIS_RUNDIR_H
#define KBLAT_ANALYSIS_RUNDIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

struct run {
	char *path;	  /* absolute */
	bool sealed;	  /* has a manifest, and no .partial at its end */
	json_t *run;	  /* run.json */
	json_t *resolved; /* resolved.json */
	json_t *summary;  /* summary.json; NULL if there is none yet */
};

/* Open for reading. STATUS_USAGE if it is no run directory; a newer schema is refused. A .partial directory is
 * accepted. */
int run_open(const char *path, struct run *out, struct err *e);
void run_close(struct run *r);

/* Write points/<id>/rep-<rep>/data.json from the columns beside it. */
int rep_reduce(const char *run_path, const json_t *resolved, unsigned point, unsigned rep, struct err *e);

/*
 * The summary, computed from columns and counters alone (nothing cached is read): what summary.json must say. New
 * reference, or NULL. Also gives every point its own summary (the same object as in "points").
 */
json_t *summary_build(const char *run_path, const json_t *run, const json_t *resolved, struct err *e);

/* Write summary.json, summary.csv, points/<nnnn>/summary.json. */
int summary_write(const char *run_path, const json_t *summary, struct err *e);

/* summary.json as CSV (RFC 4180): one row a point and metric: id, valid, every parameter, metric, n, lost, min, ...
 * Missing values are empty. */
int summary_csv(const json_t *summary, FILE *out);

/*
 * The table at the end of a run, for people: one row a point; columns only for the parameters that vary; n, lost, p50,
 * p90, p99, p99.9, max of the first metric; then the reasons why points are not valid. Several runs may be shown as one
 * table (then `run_count` > 1).
 */
void summary_table(const json_t *const *summaries, size_t count, FILE *out);

/* manifest-sha256.txt: "<sha256>  <relative path>" for every file but itself and derived/, sorted; `sha256sum -c`
 * accepts it. */
int manifest_write(const char *run_path, struct err *e);

/* Check it. Each difference (changed, missing, not listed) is told by `complain`; the count of them is returned, or a
 * negative errno. */
int manifest_check(const char *run_path, void (*complain)(void *arg, const char *text), void *arg, struct err *e);

#endif
