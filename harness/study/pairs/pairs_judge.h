/*
 * Finds pairs and hosts that are slower than the others, by a rule that is robust against a few slow ones.
 *
 * Logarithms of times are judged, against their median, by 1.4826 times their median absolute
 * deviation (the standard deviation, if most are normally distributed). A host stands out if the
 * median of its pairs is both PAIRS_LEAST times that of the hosts and PAIRS_DEVIATIONS above it; what that
 * explains is taken off its pairs, and then a pair stands out if it is as much above the median of
 * the pairs. Fewer than PAIRS_HOSTS_LEAST hosts can't be told apart from their pairs.
 */
#ifndef KBLAT_PAIRS_JUDGE_H
#define KBLAT_PAIRS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
