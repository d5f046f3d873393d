/*
 * /dev/cpu_dma_latency, held open.
 */
#ifndef KBLAT_TUNING_OP_LATENCY_H
#define KBLAT_TUNING_OP_LATENCY_H

#include "tuning/steps/step.h"

extern const struct op op_latency;

#endif
