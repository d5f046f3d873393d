/*
 * All pairs while they are worked on: their directory, pairs.json, pairs.jsonl.
 *
 * pairs.json: {"schema": 1, "name", "spec", "status": RUNNING|COMPLETED|FAILED|INTERRUPTED, "argv": [], "version", "commit",
 * "started_utc", "ended_utc", "options": {"quick", "set": [], "only": [], "source", "sink", "profile_path", "mask", "state",
 * "at_once"}, "hosts": [{"name", "address"}], "rounds", "pairs", "answer"}.
 *
 * A line of pairs.jsonl: {"pair", "round", "source", "sink", "state": completed|failed|interrupted|impossible, "run",
 * "exit_status", "why", "took_s", "points": [{"id", "metric", "p50", "p99", "valid", "why"}]}. Of a pair with several lines the
 * last one counts. It is appended to, as a file with every pair would be written again for each.
 */
#ifndef KBLAT_PAIRS_RECORD_H
#define KBLAT_PAIRS_RECORD_H

#include <jansson.h>
#include <stdio.h>

#include "pairs/pairs.h"
#include "pairs/pairs_hosts.h"
#include "pairs/pairs_schedule.h"

struct pair {
	struct pairs_two two;
	size_t round;
	json_t *line; /* NULL: not measured yet */
};

struct pairs {
	char *path;
	json_t *j; /* pairs.json */
	struct pairs_hosts hosts;
	struct pair *pair; /* round by round */
	size_t count;
	FILE *log;
	int lock;
};

/* `pair` of `hosts`, none measured. */
void pairs_record_schedule(struct pairs *p);

/* A new one. `hosts` are there; `spec_name` names the directory, inside `parent`. */
int pairs_record_begin(struct pairs *p, const struct pairs_options *o, const char *spec_name, const char *spec_path,
		       const char *parent, struct err *e);

/* One that is there, to be read. */
int pairs_record_open(struct pairs *p, const char *dir, struct err *e);

/* One's own, that was begun, to go on with. */
int pairs_record_resume(struct pairs *p, const char *dir, struct err *e);

/* The line of pair `i`, which is taken; and pairs.json. */
int pairs_record_add(struct pairs *p, size_t i, json_t *line, struct err *e);
int pairs_record_save(const struct pairs *p, struct err *e);
void pairs_record_close(struct pairs *p);

const struct pairs_host *pairs_record_source(const struct pairs *p, size_t i);
const struct pairs_host *pairs_record_sink(const struct pairs *p, size_t i);
bool pairs_record_is(const struct pairs *p, size_t i, const char *state);
size_t pairs_record_count(const struct pairs *p, const char *state);

#endif
