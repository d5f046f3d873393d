/*
 * What the files share that judge one claim: claims.c judges it, of the points that claims_points.c finds, by what claims_sample.c reads of them and, along
 * a setting, claims_course.c makes of them; claims_text.c says it. No memory: abort().
 */
#ifndef KBLAT_ANALYSIS_CLAIMS_WORK_H
#define KBLAT_ANALYSIS_CLAIMS_WORK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "claims/claims.h"
#include "claims/claims_interval.h"

#define CLAIM_HOLDS	 "holds"
#define CLAIM_FAILS	 "fails"
#define CLAIM_NOT_JUDGED "not judged"

/* What a claim compares with, or the points it is about. */
struct claim_side {
	const struct claim_run *run;
	const char *metric;
	const json_t *conditions;
	json_t *points; /* those selected */
};

/* One claim while it is judged. */
struct claim_work {
	const struct claim_run *runs;
	size_t count;
	const json_t *claim;
	struct claim_side points, against;
	json_t *by;    /* keys: what points that belong together agree in */
	json_t *cases; /* the result's */
	char *trouble; /* why nothing can be judged; NULL: it can */
};

struct claim_verdict {
	const char *word;
	struct estimate estimate;
	bool has_estimate;
	char *why; /* NULL: nothing to say */
};

/* Nothing of this claim can be judged. Only the first reason counts. */
void claim_give_up(struct claim_work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* claims_points.c: the points of one side that its conditions select. */
void claim_select_points(struct claim_side *s);

/* The other side, maybe of another run; gives up where there is nothing to compare with. */
void claim_select_against(struct claim_work *w);

/* `by`: what the claim says, or else what varies. */
void claim_find_keys(struct claim_work *w);
bool claim_agrees(const struct claim_work *w, const json_t *a, const json_t *b);

/* The one point of `against` that agrees; NULL and why. */
const json_t *claim_find_partner(const struct claim_work *w, const json_t *point, char **why);

/* What tells its case from the others: "rc, 64B". */
char *claim_label(const struct claim_work *w, const json_t *point);

/* claims_sample.c: fill the sample of a point, for claim_sample_free(). False, and what is wrong with the point in `why`. */
bool claim_sample(const json_t *point, const char *metric, struct sample *s, char **why);
void claim_sample_free(struct sample *s);
enum sample_kind claim_sample_kind(const char *metric, bool *is_max);

/* claims_course.c: is `of`, with the points that agree with it, in the order that the claim wants? Their ids go into `ids`. */
struct claim_verdict claim_judge_course(const struct claim_work *w, const json_t *of, json_t *ids);

/* claims_text.c: three digits, in the unit that the claim's numbers have; "2.21 (2.05 to 2.4)"; "ratio at most 0.5"; all cases in one line. */
char *claim_number_text(const struct claim_work *w, double value, char *buf, size_t size);
char *claim_estimate_text(const struct claim_work *w, const struct estimate *e, bool interval);
char *claim_wanted_text(const struct claim_work *w);
char *claim_measured_text(const struct claim_work *w);

/* Takes `why`. */
static inline struct claim_verdict claim_not_judged(char *why)
{
	return (struct claim_verdict){.word = CLAIM_NOT_JUDGED, .why = why};
}

/* Is it about an order along a setting, not about pairs of points? */
static inline bool claim_is_order(const struct claim_work *w)
{
	return json_is_string(json_object_get(w->claim, "along"));
}

static inline json_int_t claim_point_id(const json_t *point)
{
	return json_integer_value(json_object_get(point, "id"));
}

static inline const json_t *claim_param(const json_t *point, const char *key)
{
	return json_object_get(json_object_get(point, "params"), key);
}

#endif
