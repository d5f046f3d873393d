/*
 * A claim: a sentence of a source made checkable (docs/claims.md). The spec's reader makes it
 * (spec/spec_claims.h), resolved.json keeps it (claim_json.h), claim_judge.h judges it. A claim
 * owns what it points to.
 */
#ifndef KBLAT_CLAIMS_CLAIM_H
#define KBLAT_CLAIMS_CLAIM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "claims/claim_metric.h"

/* What must hold: of a number, within bounds; or of numbers along a setting. */
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

/* How a setting's value is compared with one that is named. */
enum claim_comparison {
	CLAIM_AT_MOST,
	CLAIM_AT_LEAST,
	CLAIM_UNEQUAL,
	CLAIM_BELOW,
	CLAIM_ABOVE,
	CLAIM_COMPARISONS,
	CLAIM_EQUAL = CLAIM_COMPARISONS,
	CLAIM_INCOMPARABLE, /* of a newer kblat: never fulfilled */
};

/* "<=", ">=", "!=", "<", ">": in the order in which a text must be compared with them; NULL after
 * the last. */
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

/* A setting of which one alternative must hold. */
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

struct claim_need {
	char *name;    /* as in claim_need_kinds[]; one that is not there is never met */
	int64_t count; /* 0: the need takes none */
};

struct claim {
	char *id, *text, *source, *measured_by_source; /* "" where there is none */
	struct claim_metric metric;
	struct claim_selection points;
	bool compares; /* with what `against` selects */
	struct {
		char *experiment; /* NULL: the claim's own */
		struct claim_metric metric;
		struct claim_selection points;
	} against;
	bool has_by; /* otherwise points belong together by what varies */
	char **by;   /* keys of params: what points that belong together agree in */
	size_t by_count;
	enum claim_relation relation;
	char *unknown_relation; /* CLAIM_RELATIONS: what a newer kblat calls it; else NULL */
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

/* One without needs, conditions and bounds, and with empty texts: for whoever fills it in. Free it
 * with claim_free. */
struct claim claim_empty(void);
void claim_free(struct claim *c);

/* Takes what `c` owns. */
void claim_list_add(struct claim_list *list, struct claim c);
void claim_list_free(struct claim_list *list);

/* Is it about an order along a setting, not about pairs of points? */
static inline bool claim_is_trend(const struct claim *c)
{
	return c->relation >= CLAIM_RISING && c->relation <= CLAIM_FLAT;
}

/* Adds one, empty; valid until the next is added. */
struct claim_condition *claim_selection_add(struct claim_selection *s, const char *key);
struct claim_alternative *claim_condition_add(struct claim_condition *c);

/* The conditions of another, too. */
void claim_selection_copy(struct claim_selection *s, const struct claim_selection *from);

/* Takes `value`. A second test of one kind replaces the first. */
void claim_alternative_add(struct claim_alternative *a, enum claim_comparison how, json_t *value);

void claim_add_by(struct claim *c, const char *key);
void claim_add_need(struct claim *c, const char *name, int64_t count);

#endif
