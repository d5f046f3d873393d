/*
 * The summary of a run: the content of summary.json as a type. summary_json.h is its form in files;
 * nothing else knows its keys. A reader asks for a statistic by its row (STATISTIC_P50), for a
 * block's number by its enumerator (PACING_MISSED_SHARE) or its row.
 *
 * A summary owns what it points to. Texts are never NULL unless said otherwise; lists of texts are
 * JSON arrays of strings. Names of metrics and blocks begin with the name of their flow if it has
 * one: "small.lat_ns" (files/rundir/flows.h).
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_H
#define KBLAT_ANALYSIS_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "judge/analysis/blocks.h"
#include "judge/analysis/cause.h"
#include "judge/analysis/statistics.h"

/* A series of a flow. */
struct summary_metric {
	char *name;			  /* "lat_ns", "small.lat_ns" */
	struct number values[STATISTICS]; /* by STATISTIC_... */
	struct number clock_error;	  /* CLOCK_ERROR_KEY; absent: its stamps are of one clock */
};

/* A cause of late messages. */
struct summary_cause {
	struct cause cause;
	json_int_t messages;
	double share; /* of the late messages */
	json_int_t time_p50_ns, time_max_ns;
};

/* How a flow's share of the bandwidth changed: of each part of the window, NAN if nothing was moved. */
struct summary_shares {
	char *flow;
	double *parts;
	size_t count;
};

/* Phases of a period that stand out together, numbered from 1: "15-16,31-32". */
struct summary_phases {
	char *phases;
	json_int_t p50_ns;
};

struct summary_phase_list {
	struct summary_phases *list;
	size_t count;
};

struct summary_period {
	json_int_t period;
	double strength;
	struct summary_phase_list high, low;
};

struct summary_shift {
	json_int_t rep, shift;
};

/* What the block `pattern` has besides its numbers (pattern.h). */
struct summary_pattern {
	bool leads;			     /* it is the flow's, rather than one of `others` */
	struct summary_phase_list high, low; /* above and below the base */
	struct summary_period *nested;
	size_t nested_count;
	struct summary_shift *shifts; /* of each repetition; none without a period */
	size_t shift_count;
	struct summary_block *others; /* of the flow's other series */
	size_t other_count;
};

/* A summary block of a flow, or (fairness) of all flows of a point together. */
struct summary_block {
	const struct block *of;
	char *flow;			      /* "": the point has no flows, or the block is of all */
	struct number numbers[BLOCK_NUMBERS]; /* by enumerator: PACING_STEPS */
	char *about;			      /* causes, pattern: the series; NULL: none */
	char *why;			      /* wire, causes: why numbers are not known; NULL: they are */
	struct summary_cause *causes;	      /* causes: the most frequent first */
	size_t cause_count;
	struct summary_shares *shares; /* fairness of all flows, in a repetition */
	size_t share_count;
	struct summary_pattern *pattern; /* pattern; otherwise NULL */
};

/* What was measured: in all repetitions of a point together, or in one. In the order of files. */
struct summary_results {
	struct summary_metric *metrics;
	size_t metric_count;
	struct summary_block *blocks;
	size_t block_count;
};

struct summary_rep {
	json_int_t number;
	struct summary_results results;
};

struct summary_loss {
	bool is_known; /* otherwise all are 0 */
	json_int_t sent, lost, duplicates, reordered;
};

/* How the third thread of `t_send: yes` influences the latency (interference.h). */
struct summary_interference {
	char *metric; /* "lat_ns", "small.lat_ns" */
	struct number undisturbed[STATISTICS];
	struct number p50_ratio;
};

struct summary_flow {
	char *name; /* "": the point has no flows, and this is its only one */
	struct summary_loss loss;
	struct number in_flight_p50, in_flight_max;
	struct summary_interference *interference; /* NULL: there was no third thread */
};

/* What became of a point. */
enum summary_outcome {
	POINT_COMPLETED,
	POINT_IMPOSSIBLE, /* on this machine */
	POINT_NOT_MEASURED,
	POINT_OTHER, /* unfinished, failed, …: `outcome_text` tells */
};

/* What could not be applied of a point's environment; "" is not known. */
struct summary_lack {
	char *host, *knob, *object, *reason;
};

struct summary_point {
	json_int_t id;
	json_t *params; /* its settings, names and values (param.h) */
	enum summary_outcome outcome;
	char *outcome_text; /* "completed", "impossible", "not measured", "unfinished", … */
	char *why;	    /* "": nothing to explain */
	bool valid;
	json_t *reasons, *warnings; /* texts */
	struct summary_loss loss;   /* of all flows */
	struct number spread_ns;    /* between the flows' first posts, at most; absent: the point has no flows */
	struct number
	    cpu_share_of_others;    /* what others took of its and its neighbours' CPUs, a share; none: not known */
	struct summary_flow *flows; /* at least one */
	size_t flow_count;
	json_t *clock;	   /* with two hosts: point.json's "clock" without the comparisons; otherwise NULL */
	char *environment; /* the profile of which something was not applied; NULL: all of it was, or there was none */
	struct summary_lack *lacks;
	size_t lack_count;
	struct summary_results results;
	struct summary_rep *reps;
	size_t rep_count;
};

struct summary {
	char *name, *title, *variant;
	json_t *hosts; /* texts */
	bool valid;
	json_t *reasons, *warnings; /* texts, each once, after the points that they are about (notes.h) */
	json_t *named;		    /* texts: the settings that the spec names; NULL: not known */
	struct summary_point *points;
	size_t point_count;
};

/* These are in summary_json.c, whose rows say what is owned. */
void summary_free(struct summary *s);

/* What they point to. */
void summary_free_point(struct summary_point *p);
void summary_free_block(struct summary_block *b);
void summary_free_results(struct summary_results *r);
void summary_free_interference(struct summary_interference *i); /* and itself */

/* Did others take so much of its CPUs' time (more than 0.15) that its numbers should not be relied on? */
bool summary_is_disturbed(const struct summary_point *p);

/* The first thing in which its environment was not as its profile says, as a sentence (the caller frees); NULL: none. What
 * the kernel does not let anybody move, such as the interrupts of a disk's queues, is none. */
char *summary_environment_lack(const struct summary_point *p);

/* The point with that id; NULL if there is none. */
const struct summary_point *summary_find_point(const struct summary *s, json_int_t id);

/* A series of a flow ("" if points have none); the flow's first one if `series` is NULL. NULL if there is none. */
const struct summary_metric *summary_find_metric(const struct summary_results *r, const char *flow, const char *series);

/* By its full name: "small.lat_ns". */
const struct summary_metric *summary_metric_named(const struct summary_results *r, const char *name);

/* A block of a flow; NULL if there is none. */
const struct summary_block *summary_find_block(const struct summary_results *r, const char *flow,
					       const struct block *of);

/* The number of a block in a row of its table; absent if `b` is NULL. */
struct number summary_block_number(const struct summary_block *b, const struct block_statistic *row);

/* The number that claims and comparisons name: the statistic `key` of the metric or block `of`. Absent if there is
 * none. */
struct number summary_number(const struct summary_results *r, const char *of, const char *key);

/* The causes of a flow's late messages; NULL if no message of the flow was late. */
const struct summary_block *summary_late(const struct summary_point *p, const char *flow);

/* Add an empty block, to be filled in. */
struct summary_block *summary_add_block(struct summary_results *r, const char *flow, const struct block *of);

#endif
