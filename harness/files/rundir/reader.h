/*
 * Reads a run directory. docs/run-directory.md describes its layout and every file.
 */
#ifndef KBLAT_RUNDIR_READER_H
#define KBLAT_RUNDIR_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "files/rundir/run_record.h"

struct err;

struct run {
	char *path;  /* absolute */
	bool sealed; /* has a manifest, and its name does not end in .partial */
	struct run_record record;
	json_t *resolved; /* resolved.json */
	json_t *summary;  /* summary.json; NULL if there is none yet */
};

/* Open for reading. STATUS_USAGE if it is not a run directory, or has a newer schema. A .partial directory is
 * accepted. */
int run_open(const char *path, struct run *out, struct err *e);
void run_close(struct run *r);

/* Is it the folder of a run that has not ended, by its name? */
bool run_is_partial(const char *path);

/* The same for the run `name` inside `dir`, as named by a study's record. `dir` must be an absolute path without links,
 * and `name` a single component that is not a link. */
int run_open_inside(const char *dir, const char *name, struct run *out, struct err *e);

/* The "keys" in the state.json captured before the run on the host of a role ("source", "sink"): a new reference, or
 * NULL if they are not known. */
json_t *run_state(const char *run_path, const struct run_record *record, const char *role);

/* What a side's device is, if it is software, whose latencies are not those of an adapter: "Soft-RoCE". NULL: it is an
 * adapter, or there is no device. `granted`: the side's, in point.json. */
const char *run_software(const json_t *granted);

/* Is the side's device the tests' model of an adapter (tests/model), whose times are those of a script? */
bool run_is_of_model(const json_t *granted);

/* What a side's messages go through: a network interface ("eth0"), or a device that has none ("mlx5_0"). NULL: neither
 * (shared memory, loopback), or it is not known. */
const char *run_link(const json_t *granted);

#endif
