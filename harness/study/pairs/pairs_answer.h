/*
 * What was measured between all pairs, and which pairs and hosts stand out; as JSON and as a table. Only this module
 * knows the keys of the answer:
 *
 * {"measured", "failed", "left", "not_valid", "points": [{"id", "metric", "p50": {"median", "pairs", "slow_hosts":
 * [{"host", "times"}], "slow_pairs": [{"source", "sink", "value", "times"}]}, "p99": likewise}]}. "p50" or "p99" is null
 * where no pair has it: a quantile needs 20 samples beyond it.
 */
#ifndef KBLAT_PAIRS_ANSWER_H
#define KBLAT_PAIRS_ANSWER_H

#include <jansson.h>
#include <stdio.h>

#include "study/pairs/pairs_judge.h"
#include "study/study.h"

/* What of a point there is a matrix of. */
enum pairs_quantile { PAIRS_P50, PAIRS_P99, PAIRS_QUANTILES };

extern const char *const pairs_quantiles[PAIRS_QUANTILES];

/* A host or a pair that stands out. */
struct pairs_slow {
	size_t source, sink; /* hosts; of a host, both are that one */
	double value_ns;     /* of a pair */
	double times;	     /* as slow as the others */
};

struct pairs_statistic {
	size_t pairs; /* that have it; 0: there is nothing else */
	double median_ns;
	struct pairs_slow *slow_host, *slow_pair; /* the slowest first */
	size_t slow_hosts, slow_pairs;
};

struct pairs_point {
	json_int_t id;
	const char *metric; /* of the study */
	struct pairs_statistic of[PAIRS_QUANTILES];
};

struct pairs_answer {
	size_t measured, failed, left;
	size_t not_valid; /* pairs that were measured, but whose numbers may not be quoted */
	struct pairs_point *point;
	size_t point_count;
	size_t slow_hosts, slow_pairs; /* of all points and quantiles */
};

/* Of the results so far; the study must outlive it. */
struct pairs_answer pairs_answer(const struct study *s);
void pairs_answer_free(struct pairs_answer *a);

bool pairs_answer_is_slow(const struct pairs_answer *a);

/* The matrix of a point (by its index), from valid points only; free with pairs_matrix_free(). */
void pairs_answer_matrix(const struct study *s, size_t point, enum pairs_quantile quantile, struct pairs_matrix *m);

/* A new reference; for people; and in a sentence, which the caller frees. */
json_t *pairs_answer_json(const struct study *s, const struct pairs_answer *a);
void pairs_answer_table(const struct study *s, const struct pairs_answer *a, FILE *out);
char *pairs_answer_sentence(const struct pairs_answer *a);

/* The page of all pairs: derived/report.html, with p50 and p99 of each point as matrices (heat maps). `html` (free it)
 * gets its path; NULL: there is none. 0 or a negative errno and `e`; without gnuplot the page lacks its figures
 * (STATUS_IMPOSSIBLE). */
int pairs_page_make(const struct study *s, const struct pairs_answer *answer, char **html, struct err *e);

#endif
