/*
 * The smallest profile that has the effect. Candidates, in ascending order, are the knobs that are
 * needed; these with the most helpful of the knobs that others can replace; and so on. Each
 * candidate is compared with the whole profile in blocks of its own, until one is shown not to be
 * slower (kblat compare: "no regression").
 *
 *   {"answer": a sentence, "verdict": "found" | "whole" | "nothing" | "worse" | "undecided",
 *    "knobs": [ids] or null, "steps": [{"stage", "arm", "knobs": [ids], "verdict": of compare, "answer": likewise}]}
 *
 * found: a candidate is not slower than the whole profile. whole: all knobs are needed. nothing: no
 * knob has an effect. worse: no knob helps, and some make it slower.
 */
#ifndef KBLAT_KNOBS_SMALLEST_H
#define KBLAT_KNOBS_SMALLEST_H

#include "knobs/knobs_choice.h"
#include "knobs/knobs_record.h"

/* Requires "result"; measures candidates, and fills in "smallest". -ECHILD and `e` if a run fails. */
int smallest_find(struct knobs *k, const struct knobs_choice *c, struct err *e);

/* Write `smallest/profile.yaml`, if there is such a profile. */
int smallest_write(const struct knobs *k, struct err *e);

/* STATUS_OK, STATUS_NO or STATUS_UNDECIDED. */
enum status smallest_status(const json_t *smallest);

#endif
