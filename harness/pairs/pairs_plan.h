/*
 * What `kblat run SPEC --hosts … --dry-run` prints: the rounds, how long they take, and what the coordinator needs for them.
 */
#ifndef KBLAT_PAIRS_PLAN_H
#define KBLAT_PAIRS_PLAN_H

#include "pairs/pairs_record.h"

#define PAIRS_DESCRIPTORS 2 /* here, for what a pair that is being measured prints */

/* `each_s`: what one pair is expected to take. */
void pairs_plan_show(const struct pairs *p, const struct spec *spec, long at_once, double each_s, bool json);

/* How many pairs are measured at once. */
size_t pairs_plan_at_once(const struct pairs *p, long at_once);

#endif
