/*
 * A point of an experiment: what is measured at the same time, and how often. Built when the spec is read; constant
 * afterwards.
 *
 * Its settings lie flat in `params`, as they stand in resolved.json. Without flows, these are those of its only one. With
 * flows ("flows": "large small"), the settings of the point itself (OPT_OF_POINT) stand bare and all others are a flow's,
 * with its name and a dot in front: "small.size_bytes".
 */
#ifndef KBLAT_POINT_POINT_H
#define KBLAT_POINT_POINT_H

#include "measure/point/flow.h"

#define POINT_FLOWS_MAX 64

struct point {
	unsigned id;
	json_t *params;
	int64_t repetitions;
	int64_t rounds;		       /* passes in which they are measured, at most as many */
	bool fresh;		       /* new endpoints for every repetition, each with its warm-up */
	char environment[OPT_STR_MAX]; /* a profile of kbtune; "": the machine as it is */
	enum until until;
	size_t flow_count;
	struct flow *flow;
};

/* Names of flows, cut from a setting `flows`: names[i], or the reason in `why` and -EINVAL: none, too many, one that is
 * used twice, is not made of [a-z0-9_-], or is the name of a setting. `text` is cut in place. */
int point_cut_flows(char *text, const char **names, size_t *count, char *why, size_t why_size);

/* Decode. 0, or -EINVAL and `e` naming the key. Free in either case. `params` is kept (a reference). */
int point_load(struct point *p, unsigned id, json_t *params, struct err *e);
void point_free(struct point *p);

/* Finds contradictions between and within its flows: `complain` is called with a sentence for each. */
void point_check(const struct point *p, void (*complain)(void *arg, const struct flow *f, const char *why), void *arg);

/* Are events of the operating system's kernel to be kept for at least one flow? */
bool point_explains(const struct point *p);

/* Has it flows with names? */
bool point_has_flows(const struct point *p);

/* {"id", "params", "traits"}, as in resolved.json: a new reference. */
json_t *point_json(const struct point *p);

/* "small sink", or "sink" if there is only one flow. Returns `buf`. */
char *point_side_name(const struct flow *f, enum role side, char *buf, size_t size);

#endif
