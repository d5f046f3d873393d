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
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "study/study.h"

/*
 * Finds pairs and hosts that are slower than the others, by a rule that is robust against a few slow ones.
 *
 * Logarithms of times are judged, against their median, by 1.4826 times their median absolute
 * deviation (the standard deviation, if most are normally distributed). A host stands out if the
 * median of its pairs is both PAIRS_LEAST times that of the hosts and PAIRS_DEVIATIONS above it; what that
 * explains is taken off its pairs, and then a pair stands out if it is as much above the median of
 * the pairs. Fewer than PAIRS_HOSTS_LEAST hosts can't be told apart from their pairs.
 */
#define PAIRS_LEAST	  1.5
#define PAIRS_DEVIATIONS  5
#define PAIRS_HOSTS_LEAST 4

/* Of `hosts` hosts: the time of a pair at [a * hosts + b], and the same at [b * hosts + a]; NaN: there is none. */
struct pairs_matrix {
	size_t hosts;
	double *value;
};

struct pairs_verdict {
	double median; /* of all pairs; NaN: nothing was measured */
	size_t pairs;  /* that were measured */
	double *host;  /* how many times as slow as the others a host is; 0: it does not stand out */
	double *pair;  /* likewise, at [a * hosts + b] and at [b * hosts + a] */
	size_t slow_hosts, slow_pairs;
};

void pairs_matrix_make(struct pairs_matrix *m, size_t hosts); /* of NaN */
void pairs_matrix_set(struct pairs_matrix *m, size_t a, size_t b, double value);
void pairs_matrix_free(struct pairs_matrix *m);

void pairs_judge(const struct pairs_matrix *m, struct pairs_verdict *v);
void pairs_verdict_free(struct pairs_verdict *v);

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
