/*
 * How well each period explains a sequence of values, read in order.
 *
 * If every P-th entry is alike, folding the sequence by P makes phases whose means differ. Values
 * are taken by their ranks, so that no outlier rules, and what the phases explain is the statistic
 * of Kruskal and Wallis (1952): without a period it follows a chi-squared distribution with P - 1
 * degrees of freedom, whatever the values are distributed like, if they do not depend on each other.
 * Latencies do: so their spectrum is made level first (whitening.h), which leaves lines standing.
 * All periods at once cost little, because the squares of a fold's sums are sums over the sequence's
 * autocorrelation, which is the transform of its spectrum.
 *
 * Long sequences are cut into pieces of PERIOD_PIECE entries, whose statistics add up: a pattern
 * need not keep in step from one to the next.
 */
#ifndef KBLAT_ANALYSIS_PERIOD_SCORE_H
#define KBLAT_ANALYSIS_PERIOD_SCORE_H

#include <stddef.h>
#include <stdint.h>

#define PERIOD_MAX    2048
#define PERIOD_PIECE  65536
#define PERIOD_CYCLES 4 /* a piece has at least so many of each period that is looked for */

/* A repetition's values in the order of messages; NEVER: there is none. */
struct period_sequence {
	int64_t *values;
	size_t count;
};

/* The ranks of one piece: mean 0, variance 1; 0 where there is no value. */
struct period_piece {
	double *ranks;
	size_t count;
};

struct period_pieces {
	struct period_piece *list;
	size_t count;
	double *held;	/* all ranks */
	size_t entries; /* of all pieces */
	size_t shortest, longest;
};

struct period_scores {
	unsigned most;			  /* the longest period that is known; 0: none */
	double entries;			  /* of all pieces */
	double freedom[PERIOD_MAX + 1];	  /* of period P */
	double explained[PERIOD_MAX + 1]; /* by its phases, of `entries` in all */
	double in_white[PERIOD_MAX + 1];  /* the same once noise is white: chi-squared where there is no period */
};

/* Release with period_pieces_free(). */
void period_pieces(const struct period_sequence *sequences, size_t count, struct period_pieces *out);
void period_pieces_free(struct period_pieces *p);

void period_score(const struct period_pieces *pieces, struct period_scores *out);

/* How little chance can make of it: about -ln p of a chi-squared statistic (Chernoff's bound); 0 where it is not
 * above its expectation. Comparable whatever the degrees of freedom. */
double period_evidence(double explained, double freedom);

#endif
