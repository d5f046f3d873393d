/*
 * The smallest profile that gives the effect. Candidates, from the smallest up: the knobs that are
 * needed; these and the most helpful of those that others stand in for; and so on. Each is measured
 * against the whole, in blocks of its own, until one is shown not to be slower (kblat compare: "no
 * regression").
 *
 *   {"answer": a sentence, "verdict": "found" | "whole" | "nothing" | "worse" | "undecided",
 *    "knobs": [ids] or null, "steps": [{"stage", "arm", "knobs": [ids], "verdict": of compare, "answer": likewise}]}
 *
 * found: measured against the whole. whole: all of its knobs are needed. nothing: no knob does anything.
 * worse: nothing helps, and something makes it slower.
 */
#ifndef KBLAT_KNOBS_SMALLEST_H
#define KBLAT_KNOBS_SMALLEST_H

#include "knobs/knobs_choice.h"
#include "knobs/knobs_record.h"

/* Needs "result"; measures, and fills "smallest". -ECHILD and `e` where a run fails. */
int smallest_find(struct knobs *k, const struct knobs_choice *c, struct err *e);

/* Write `smallest/profile.yaml`, where there is one. */
int smallest_write(const struct knobs *k, struct err *e);

/* STATUS_OK, STATUS_NO or STATUS_UNDECIDED. */
enum status smallest_status(const json_t *smallest);

#endif
