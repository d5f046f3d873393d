/*
 * Moves threads away from some CPUs.
 */
#ifndef KBLAT_TUNING_OP_AFFINITY_H
#define KBLAT_TUNING_OP_AFFINITY_H

#include "tuning/steps/step.h"

extern const struct op op_affinity;

#endif
