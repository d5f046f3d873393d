/*
 * How well each period explains a sequence of values.
 *
 * If every P-th entry is similar, folding the sequence by P yields phases with different means.
 * Values are replaced by their ranks, so that outliers do not dominate. What the phases explain is
 * then the statistic of Kruskal and Wallis (1952): without a period it follows a chi-squared
 * distribution with P - 1 degrees of freedom, whatever the distribution of the values, provided
 * that they are independent. Latencies are not independent, so their spectrum is whitened first
 * (whitening.h), which preserves spectral lines. Computing all periods at once is cheap, because
 * the squares of a fold's sums are sums over the sequence's autocorrelation, which is the transform
 * of its spectrum.
 *
 * Long sequences are cut into pieces of PERIOD_PIECE entries, whose statistics are added, so that a
 * pattern may have a different phase in each piece.
 */
#ifndef KBLAT_ANALYSIS_PERIOD_SCORE_H
#define KBLAT_ANALYSIS_PERIOD_SCORE_H

#include <stddef.h>
#include <stdint.h>

/* Write the indices of values[] to order[], smallest value first; the sort is stable, and O(n). order[] and
 * spare[] have room for `count` entries. */
void order_of(const int64_t *values, size_t count, uint32_t *order, uint32_t *spare);

#define PERIOD_MAX    2048
#define PERIOD_PIECE  65536
#define PERIOD_CYCLES 4 /* the minimum number of cycles of each period in a piece */

/* A repetition's values in the order of messages; NEVER: there is no value. */
struct period_sequence {
	int64_t *values;
	size_t count;
};

/* The ranks of one piece: mean 0, variance 1; 0 if there is no value. */
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
	unsigned most;			  /* the longest period with a score; 0: none */
	double entries;			  /* of all pieces */
	double freedom[PERIOD_MAX + 1];	  /* of period P */
	double explained[PERIOD_MAX + 1]; /* by its phases, out of `entries` */
	double by_chance[PERIOD_MAX + 1]; /* the expectation of that, if there is no period */
	double in_white[PERIOD_MAX + 1];  /* the same after whitening: chi-squared if there is no period */
};

/* Release with period_pieces_free(). */
void period_pieces(const struct period_sequence *sequences, size_t count, struct period_pieces *out);
void period_pieces_free(struct period_pieces *p);

void period_score(const struct period_pieces *pieces, struct period_scores *out);

/* How unlikely it is by chance: about -ln p of a chi-squared statistic (Chernoff's bound); 0 if the
 * statistic does not exceed its expectation. Comparable between different degrees of freedom. */
double period_evidence(double explained, double freedom);

#endif
