/*
 * What is to be done, before anything is: the spec and the profile checked, the arms, how long all of
 * it will take, and what of that a budget holds.
 */
#ifndef KBLAT_KNOBS_PLAN_H
#define KBLAT_KNOBS_PLAN_H

#include "knobs/knobs_record.h"
#include "knobs/knobs_study.h"

struct knobs_plan {
	char *runs; /* where its directory will be made */
};

/* Fills k->j. STATUS_USAGE where something is wrong (what is wrong in a spec is printed), or a budget is too little for
 * one block. */
int knobs_plan_make(struct knobs_plan *plan, struct knobs *k, const struct knobs_options *o, struct err *e);
void knobs_plan_free(struct knobs_plan *plan);

/* Are there options that a directory which is gone on with has already? */
bool knobs_has_options(const struct knobs_options *o);

/* The names of the arms of a block; new reference. */
json_t *knobs_block_arms(const struct knobs *k);

/* --dry-run. */
void knobs_plan_show(const struct knobs *k, const struct knobs_options *o);

/* Which boot of this machine it is; "" where that is not known. */
const char *knobs_boot_id(char *buf, size_t size);

#endif
