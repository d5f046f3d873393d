/*
 * What is to be done, before anything is: the spec and the profile checked, the arms, how long all of
 * it will take, and what of that a budget holds.
 */
#ifndef KBLAT_KNOBS_PLAN_H
#define KBLAT_KNOBS_PLAN_H

#include "knobs/knobs.h"
#include "knobs/knobs_record.h"

struct knobs_plan {
	char *runs; /* where its directory will be made */
};

/* Fills k->j. STATUS_USAGE where something is wrong (what is wrong in a spec is printed), or a budget is too little for
 * one block. */
int plan_make(struct knobs_plan *plan, struct knobs *k, const struct knobs_options *o, struct err *e);
void plan_free(struct knobs_plan *plan);

/* Are there options that a directory which is gone on with has already? */
bool plan_has_options(const struct knobs_options *o);

/* The names of the arms of a block; new reference. */
json_t *plan_block_arms(const struct knobs *k);

/* --dry-run. */
void plan_show(const struct knobs *k, const struct knobs_options *o);

/* Which boot of this machine it is; "" where that is not known. */
const char *plan_boot(char *buf, size_t size);

#endif
