/*
 * How the third thread of `t_send: yes` influences what it measures. That thread keeps writing to
 * the cache line that the device reads. So the coordinator first runs one repetition without it
 * (points/<nnnn>/undisturbed), and the two medians of the latency, which does not need that thread,
 * are reported side by side.
 */
#ifndef KBLAT_ANALYSIS_INTERFERENCE_H
#define KBLAT_ANALYSIS_INTERFERENCE_H

#include <jansson.h>

#include "rundir/layout.h"

struct err;

/*
 * For a flow of a point whose `metrics` are known: {"metric": "lat_ns" (its key in `metrics`),
 * "undisturbed": {as in metrics}, "p50_ratio": 1.03 or null}. `*out` is NULL if the flow has no
 * such repetition. 0, or a negative errno and `e`.
 */
int interference_compute(const char *run_path, const struct layout_flow *f, const json_t *metrics, json_t **out,
			 struct err *e);

/* "t_send: with the third thread the median of t_lat is 1253 ns, without it 1210 ns (+3.6 %)", a
 * new reference. */
json_t *interference_text(const json_t *interference, const json_t *metrics);

#endif
