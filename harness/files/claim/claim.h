/*
 * A claim: a statement of a source in a form that can be checked (docs/claims.md). It is read from a spec
 * (measure/spec/spec_claims.h), stored in resolved.json (claim_json.h), and judged by judge/claims/. A claim owns what it
 * points to.
 */
#ifndef KBLAT_CLAIM_CLAIM_H
#define KBLAT_CLAIM_CLAIM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of a point that a claim is about: "lat_ns.p50" is the statistic p50 of the metric lat_ns,
 * "small.pacing.missed_share" the share of missed steps of the flow small (judge/claims/claim_metric.h). */
struct claim_metric {
	char *text;	 /* as written; split at its last dot into */
	char *of;	 /* a series or a block, with its flow's name in front, "small.lat_ns", */
	char *statistic; /* and "p50" */
	char *flow;	 /* "small"; "": of a point without flows */
};

/* Replaces the previous content; if the text has no dot, `of` and `statistic` are empty. */
void claim_metric_set(struct claim_metric *m, const char *text);
void claim_metric_free(struct claim_metric *m);

/* What must hold: a number within bounds, or an order of numbers along a setting. */
enum claim_relation {
	CLAIM_RATIO,
	CLAIM_DIFFERENCE,
	CLAIM_VALUE,
	CLAIM_RISING,
	CLAIM_FALLING,
	CLAIM_FLAT,
	CLAIM_RELATIONS,
};

/* "ratio", …; NULL after the last. */
extern const char *const claim_relation_names[];

/* How a setting's value is compared with a given one. */
enum claim_comparison {
	CLAIM_AT_MOST,
	CLAIM_AT_LEAST,
	CLAIM_UNEQUAL,
	CLAIM_BELOW,
	CLAIM_ABOVE,
	CLAIM_COMPARISONS,
	CLAIM_EQUAL = CLAIM_COMPARISONS,
	CLAIM_INCOMPARABLE, /* known only to a newer kblat: never fulfilled */
};

/* "<=", ">=", "!=", "<", ">": in the order in which they must be tried as a prefix of a text; NULL after the last. */
extern const char *const claim_comparison_names[];

struct claim_test {
	enum claim_comparison how;
	json_t *value; /* as in a point's params */
};

/* All tests must pass. */
struct claim_alternative {
	struct claim_test *tests;
	size_t count;
};

/* A setting for which one of several alternatives must hold. */
struct claim_condition {
	char *key; /* in a point's params */
	struct claim_alternative *alternatives;
	size_t count;
};

/* Points, by their settings: all conditions must hold. */
struct claim_selection {
	struct claim_condition *conditions;
	size_t count;
};

/* What a claim can need of the machine: claim_needs.def. */
struct claim_need_kind {
	const char *name;
	bool counts; /* {cpus: 4} */
};

extern const struct claim_need_kind claim_need_kinds[]; /* name NULL ends */
const struct claim_need_kind *claim_need_find(const char *name);

struct claim_need {
	char *name;    /* as in claim_need_kinds[]; an unknown need is never met */
	int64_t count; /* 0: the need has no count */
};

/* Who says so. */
enum claim_origin {
	CLAIM_OF_SOURCE, /* the source */
	CLAIM_OURS,	 /* we do: an explanation, or what the source leaves open */
	CLAIM_SELF_TEST, /* what must hold because it was built so */
	CLAIM_ORIGINS,
};

/* "source", "ours", "self-test"; NULL after the last. */
extern const char *const claim_origin_names[];

/*
 * By which rules claims are judged: those of the run's version, so that what was sealed is verified. 1: the interval of an
 * extreme is the range of the repetitions' extremes, shares of rare events have intervals by ranks, and the clock between
 * two hosts is as if it had no error.
 */
#define CLAIM_RULES 2

struct claim {
	enum claim_origin origin;
	int rules;
	char *id, *text, *source, *measured_by_source; /* "" if there is none */
	struct claim_metric metric;
	struct claim_selection points;
	bool compares; /* with what `against` selects */
	struct {
		char *experiment; /* NULL: the claim's own */
		struct claim_metric metric;
		struct claim_selection points;
	} against;
	bool has_by; /* if not set, the settings that vary decide which points belong together */
	char **by;   /* keys of params in which points that belong together agree */
	size_t by_count;
	enum claim_relation relation;
	char *unknown_relation; /* for CLAIM_RELATIONS: the name used by a newer kblat; otherwise NULL */
	bool pools;		/* all cases are judged as one: a ratio */
	double min, max;	/* in the metric's base unit; infinite: no bound */
	char *along;		/* a key of params; NULL: not a trend */
	double tolerance;	/* of a trend: a share */
	struct claim_need *needs;
	size_t need_count;
};

struct claim_list {
	struct claim *claims;
	size_t count;
};

/* A claim without needs, conditions and bounds, and with empty texts, to be filled in. Free it with claim_free. */
struct claim claim_empty(void);
void claim_free(struct claim *c);

/* Takes what `c` owns. */
void claim_list_add(struct claim_list *list, struct claim c);
void claim_list_free(struct claim_list *list);

/* Is it about an order along a setting rather than about pairs of points? */
static inline bool claim_is_trend(const struct claim *c)
{
	return c->relation >= CLAIM_RISING && c->relation <= CLAIM_FLAT;
}

/* Adds one, empty; valid until the next is added. */
struct claim_condition *claim_selection_add(struct claim_selection *s, const char *key);
struct claim_alternative *claim_condition_add(struct claim_condition *c);

/* The conditions of another, too. */
void claim_selection_copy(struct claim_selection *s, const struct claim_selection *from);

/* Steals `value`. A second test of the same kind replaces the first. */
void claim_alternative_add(struct claim_alternative *a, enum claim_comparison how, json_t *value);

void claim_add_by(struct claim *c, const char *key);
void claim_add_need(struct claim *c, const char *name, int64_t count);

/* Do a point's params fulfil all conditions? A condition on a setting that the point does not have is not fulfilled. */
bool claim_selects(const struct claim_selection *s, const json_t *params);

/* Do two selections name this key with different conditions? */
bool claim_selects_differently(const struct claim_selection *a, const struct claim_selection *b, const char *key);

/* Does the selection have a condition on this key? */
bool claim_selects_by(const struct claim_selection *s, const char *key);

#endif
