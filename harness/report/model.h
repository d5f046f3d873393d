/*
 * Reads what a report shows (report/model_types.h) from run directories, and answers questions
 * about it.
 */
#ifndef KBLAT_REPORT_MODEL_H
#define KBLAT_REPORT_MODEL_H

#include "report/model_types.h"

struct err;

/* `runs` must outlive the report. 0 or a negative errno; release with model_free() in any case. */
int model_read(struct report *r, const struct run *runs, size_t count, struct err *e);
void model_free(struct report *r);

/* Does any point, of this run (NULL: of any), have flows with names? */
bool model_has_flows(const struct report *r, const struct report_run *run);

/* Was anything measured in a series? */
bool model_is_measured(const struct report_series *s);

/* May a point's numbers be quoted? And the first reason why not ("" if there is none). */
bool model_is_valid(const struct report_point *p);
const char *model_reason(const struct report_point *p);
const char *model_outcome(const struct report_point *p); /* "completed", ..., "not measured" */

/* What point.json contains about one side of a flow: "granted" or "placement" (`what`) of the
 * "source" or "sink" (`side`). NULL if there is nothing. */
const json_t *model_side(const struct report_point *p, const struct layout_flow *flow, const char *what,
			 const char *side);

/* From the summary: a statistic of a series (STATISTIC_P50), absent if there is none; the same as an
 * integer, false if it is not known; a block of a flow, a flow, NULL if there is none. */
struct number model_number(const struct report_series *s, unsigned statistic);
bool model_metric(const struct report_series *s, unsigned statistic, int64_t *value);
const struct summary_block *model_block(const struct report_point *p, const struct layout_flow *flow,
					const struct block *of);
const struct summary_flow *model_flow(const struct report_point *p, const struct layout_flow *flow);

/* The causes of a flow's late messages; NULL if no message was late. */
const struct summary_block *model_late(const struct report_point *p, const struct layout_flow *flow);

/*
 * The nearest-rank quantile of a merged histogram, exact if its width is 1; false with fewer than
 * `beyond` samples on the quantile's outer side.
 */
bool model_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value);

#endif
