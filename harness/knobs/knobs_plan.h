/*
 * The plan of a study of knobs: checks the spec and the profile, and determines the arms, the
 * expected duration, and how much of it fits in a budget.
 */
#ifndef KBLAT_KNOBS_PLAN_H
#define KBLAT_KNOBS_PLAN_H

#include "knobs/knobs_record.h"
#include "knobs/knobs_study.h"

struct knobs_plan {
	char *runs; /* folder in which the study's directory will be created */
};

/* Fills in k->j. STATUS_USAGE if there are errors (those in the spec are printed), or if the budget
 * is too small for one block. */
int knobs_plan_make(struct knobs_plan *plan, struct knobs *k, const struct knobs_options *o, struct err *e);
void knobs_plan_free(struct knobs_plan *plan);

/* Are there options that a directory to be resumed has already fixed? */
bool knobs_has_options(const struct knobs_options *o);

/* The names of the arms of a block; new reference. */
json_t *knobs_block_arms(const struct knobs *k);

/* Print what --dry-run shows. */
void knobs_plan_show(const struct knobs *k, const struct knobs_options *o);

/* The ID of this boot of the machine; "" if it is not known. */
const char *knobs_boot_id(char *buf, size_t size);

#endif
