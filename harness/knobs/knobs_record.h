/*
 * The record of a study of knobs: knobs.json, and its directory.
 *
 *   <spec's name>-knobs-<UTC yyyymmddThhmmssZ>-<8 hex>/
 *     knobs.json           the plan, its progress and the result; written at every step
 *     profiles/<arm>/      the profile of each arm
 *     runs/<arm>/          the run directories of each arm
 *     smallest/            the smallest profile that has the effect: kbtune apply DIR/smallest
 *     derived/             the report
 *
 * knobs.json: {"schema": 1, "status": RUNNING|COMPLETED|PARTIAL|FAILED|INTERRUPTED, "spec", "name", "profile",
 * "argv": [], "version", "commit", "started_utc", "ended_utc", "boot", "points": [{"id", "params"}],
 * "options": {"quick", "mask", "set": [], "only": [], "source", "sink", "profile_path", "metric", "quantities": [],
 * "margins": [], "blocks", "seed"}, "expected_s": {"none", "whole"}: of a run,
 * "knobs": see knobs_profile.h, "arms": [{"name", "environment", "knobs": [ids] or null: none}],
 * "comparisons": [{"knob": id or "", "what": whole|alone|without, "base": arm, "with": arm}],
 * "runs": [{"stage": "blocks" or "smallest-N", "block", "arm", "state": pending|running|completed|failed|interrupted|
 * impossible, "run": null or a path below the directory, "earlier": [], "exit_status", "why", "took_s"}],
 * "result": see knobs_judge.h, "smallest": see knobs_smallest.h}
 */
#ifndef KBLAT_KNOBS_RECORD_H
#define KBLAT_KNOBS_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KNOBS_STAGE_BLOCKS "blocks"

struct err;

struct knobs {
	char *path;
	json_t *j; /* knobs.json */
	int lock;
	bool quiet, json;
	double budget_s;  /* 0: none */
	int64_t began_ms; /* monotonic_ms() */
};

int knobs_save(const struct knobs *k, struct err *e);

const json_t *knobs_options(const struct knobs *k);
uint64_t knobs_seed(const struct knobs *k);

/* Find a knob by its id, or NULL. */
const json_t *knobs_find(const struct knobs *k, const char *id);

/* Find an arm by its name, or NULL. */
const json_t *knobs_arm(const struct knobs *k, const char *name);
/* Add an arm with the knobs `ids`, which is stolen; NULL: it has no profile. */
void knobs_add_arm(struct knobs *k, const char *name, json_t *ids);

/* The number of blocks of a stage whose runs are all completed. */
size_t knobs_blocks_done(const struct knobs *k, const char *stage);
bool knobs_is_block_done(const struct knobs *k, const char *stage, json_int_t block);

/* Does a run belong to a stage and a block? */
bool knobs_is_of(const json_t *run, const char *stage, json_int_t block);

#endif
