/*
 * dma_latency: the global PM QoS request.
 */
#ifndef KBLAT_TUNING_KNOB_LATENCY_H
#define KBLAT_TUNING_KNOB_LATENCY_H

#include "tuning/knobs/knob.h"

void knob_latency_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
