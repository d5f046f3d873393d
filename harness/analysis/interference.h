/*
 * What the third thread of `t_send: yes` does to what it is to measure. It keeps writing into the
 * line that the device reads, so the coordinator runs one repetition without it first
 * (points/<nnnn>/undisturbed), and the two medians of the latency, which does not need that thread,
 * are told beside each other.
 */
#ifndef KBLAT_ANALYSIS_INTERFERENCE_H
#define KBLAT_ANALYSIS_INTERFERENCE_H

#include <jansson.h>

#include "rundir/layout.h"

struct err;

/*
 * Of a flow of a point whose `metrics` are known: {"metric": "lat_ns" (its key in there),
 * "undisturbed": {as in metrics}, "p50_ratio": 1.03 or null}. `*out` is NULL where the flow has no
 * such repetition. 0, or a negative errno and `e`.
 */
int interference_compute(const char *run_path, const struct layout_flow *f, const json_t *metrics, json_t **out,
			 struct err *e);

/* "t_send: with the third thread the median of t_lat is 1253 ns, without it 1210 ns (+3.6 %)", a
 * new reference. */
json_t *interference_text(const json_t *interference, const json_t *metrics);

#endif
