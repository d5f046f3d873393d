/*
 * An answer about knobs while it is worked on: knobs.json, and its directory.
 *
 *   <spec's name>-knobs-<UTC yyyymmddThhmmssZ>-<8 hex>/
 *     knobs.json           what is run, what became of it, the result; written at every step
 *     profiles/<arm>/      the profile of each arm
 *     runs/<arm>/          its run directories
 *     smallest/            the smallest profile that gives the effect: kbtune apply DIR/smallest
 *     derived/             the page
 *
 * knobs.json: {"schema": 1, "status": RUNNING|COMPLETED|PARTIAL|FAILED|INTERRUPTED, "spec", "name", "profile",
 * "argv": [], "version", "commit", "started_utc", "ended_utc", "boot", "points": [{"id", "params"}],
 * "options": {"quick", "mask", "set": [], "only": [], "source", "sink", "profile_path", "metric", "quantities": [],
 * "margins": [], "blocks", "seed"}, "expected_s": {"none", "whole"}: a run,
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
	int64_t began_ms; /* channel_now_ms() */
};

int knobs_save(const struct knobs *k, struct err *e);

const json_t *knobs_options(const struct knobs *k);
uint64_t knobs_seed(const struct knobs *k);

/* By its id, or NULL. */
const json_t *knobs_find(const struct knobs *k, const char *id);

/* An arm by its name, or NULL. */
const json_t *knobs_arm(const struct knobs *k, const char *name);
/* `ids` is stolen; NULL: no profile. */
void knobs_add_arm(struct knobs *k, const char *name, json_t *ids);

/* Blocks of a stage all of whose runs are completed. */
size_t knobs_blocks_done(const struct knobs *k, const char *stage);
bool knobs_is_block_done(const struct knobs *k, const char *stage, json_int_t block);

/* Does a run belong to a stage and a block? */
bool knobs_is_of(const json_t *run, const char *stage, json_int_t block);

#endif
