/*
 * A study's record as JSON. Only this module knows its keys; plans and answers have codecs of their kinds.
 *
 * study.json: {"schema": 1, "kind": "campaign"|"pairs"|"knobs"|"boots", "name", "title", "spec": a path, "status":
 * RUNNING|COMPLETED|PARTIAL|FAILED|INTERRUPTED, "argv": [], "version", "commit", "started_utc", "ended_utc", "options":
 * {"quick", "mask", "no_state", "set": [], "only": [], "source", "sink", "profile_path", "at_once"}, "hosts": [{"name",
 * "address"}], "cells": how many there are so far, "plan", "answer"}
 *
 * A line of cells.jsonl: {"cell": its number, "name" or "source" and "sink", "stage", "block", "spec", "set": [],
 * "environment", "points", "messages", "expected_s", "paced_s", "basis", "state": pending|running|completed|failed|
 * interrupted|impossible|skipped, "run": null or a path below the directory, "earlier": [paths], "exit_status", "why",
 * "took_s", "numbers": [{"id", "metric", "p50", "p99", "valid", "why"}]}. What does not apply is left out.
 */
#ifndef KBLAT_STUDY_STUDY_JSON_H
#define KBLAT_STUDY_STUDY_JSON_H

#include "study/study.h"

/* New references. */
json_t *study_to_json(const struct study *s);
json_t *study_cell_to_json(const struct study *s, size_t i);

/*
 * What was read from outside becomes part of a study whose `kind` is set and which is empty; a cell is its next one, or
 * takes the place of the one with its number. Everything is checked: types, ranges, that paths are absolute or below
 * the directory, that names are names. `where` is the file, or its line. -EINVAL and STATUS_USAGE.
 */
int study_from_json(struct study *s, const json_t *j, const char *where, struct err *e);
int study_cell_from_json(struct study *s, const json_t *j, const char *where, struct err *e);

/* May this be the name of a folder or a profile? */
bool study_is_name(const char *text);

#endif
