/*
 * The figures of a run's report. Each function adds those of its kind: none, one or many. 0, or a
 * negative errno and `e`.
 */
#ifndef KBLAT_REPORT_RUN_FIGURES_H
#define KBLAT_REPORT_RUN_FIGURES_H

#include "report/figure.h"

struct err;

/* All points side by side: median, P10 to P90 and p99 of every series, on a logarithmic axis. */
int figure_overview_add(struct figures *f, const struct report *r, struct err *e);

/* The cases of a claim against a setting: the ratio of each case with its interval, and whether
 * it is within the claim's bounds. For claims about ratios whose cases differ in a numeric
 * setting. */
int figure_claim_add(struct figures *f, const struct report *r, struct err *e);

/* The throughput of streams: bytes per second against the size of messages, with the peak and
 * the size at which half of it is reached; and the latency of completions against messages per
 * second, as the depth increases. Each is drawn if there are enough values of the setting. */
int figure_rate_add(struct figures *f, const struct report *r, struct err *e);

/* Shares over time: for each point whose flows can be compared (judge/analysis/fairness.h), the
 * share of the bytes that each flow moved while all were active; the mean of the repetitions,
 * and their range. */
int figure_shares_add(struct figures *f, const struct report *r, struct err *e);

/* Where the time goes: a bar for each point with `stages: yes`, whose parts are the stages of its mean
 * latency. */
int figure_stages_add(struct figures *f, const struct report *r, struct err *e);

/*
 * The median against a numeric setting (above all the size), with P10 and P90: a panel for each
 * service type, a line for each combination of other settings that vary. For paced points, the
 * steps that were missed or not sent are shown below. One figure for each setting with at least
 * three values.
 */
int figure_axis_add(struct figures *f, const struct report *r, struct err *e);

/*
 * The median against two numeric settings at the same time (rate and size of samples), as a
 * surface in the style of the thesis: a wire frame in shades of blue, with its smallest and
 * largest value marked, and the share of a pacer's steps that were missed or not sent, if there
 * were many. One figure for each pair of settings and each combination of other settings that
 * vary.
 */
int figure_surface_add(struct figures *f, const struct report *r, struct err *e);

/*
 * Two points in one histogram: inline or not, send or write, signalled or not. There is one for
 * every two points that only differ in one setting with two values, or in several that always
 * change together, unless a figure against another setting already compares them. Service types,
 * sizes and rates are not overlaid, and neither is t_comp.
 */
int figure_overlay_add(struct figures *f, const struct report *r, struct err *e);

/* The number of possible overlays; only the first FIGURE_OVERLAYS_MAX are drawn. */
size_t figure_overlay_count(const struct report *r);
#define FIGURE_OVERLAYS_MAX 32

/* A histogram for each point and flow, in the style of the thesis: bins of equal width,
 * logarithmic counts, t_lat in front of t_comp. */
int figure_histogram_add(struct figures *f, const struct report *r, struct err *e);

/* For each point and flow: every series by percentile, on HdrHistogram's axis, up to the slowest message; and the
 * share of messages that took at least a time, both axes logarithmic. */
int figure_percentiles_add(struct figures *f, const struct report *r, struct err *e);

/* For each point and flow with periodic latencies (judge/analysis/pattern.h): a repetition's
 * latencies against the index of the message, completely and in a typical and the worst section;
 * and all latencies folded by the period. */
int figure_pattern_add(struct figures *f, const struct report *r, struct err *e);

/* Late messages of a flow that was measured with `explain`: the tail by cause, and what took the
 * CPUs during the worst ones. Adds figures of the kinds "tail" and "timeline". */
int figure_tail_add(struct figures *f, const struct report *r, struct err *e);

#endif
