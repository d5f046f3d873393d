/*
 * A run directory as read: what a run left behind, and what can be concluded from it alone. Layout and the shape of every file:
 * docs/run-directory.md.
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

/* What state.json said of the host of a role ("source", "sink") before the run, as "keys": a new reference, NULL if that is
 * not known. `run`: run.json. */
json_t *run_state(const char *run_path, const json_t *run, const char *role);

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

/* Check those files of it that are wanted, for who reads only these. -EBADMSG (STATUS_USAGE) and the first that was changed. */
int manifest_check_files(const char *run_path, bool (*is_wanted)(const char *name, void *arg), void *arg,
			 struct err *e);

#endif
