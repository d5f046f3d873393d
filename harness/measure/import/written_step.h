/*
 * How finely a list of samples is known: the digits with which they are written, and the step of the clock behind them, which
 * may be coarser than its digits. One object for each file; not thread-safe.
 */
#ifndef KBLAT_IMPORT_WRITTEN_STEP_H
#define KBLAT_IMPORT_WRITTEN_STEP_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define STEP_DECADES 20 /* of values, from 10^STEP_LEAST ns on */
#define STEP_LEAST   (-3)
#define STEP_SAMPLES 65536 /* of which the step of the clock is found: the first of a file */

struct step_decade {
	uint64_t samples;
	int place;	 /* of the last digit that any of them has, as a power of ten of ns */
	double least_ns; /* of the samples */
};

struct written_step {
	struct step_decade decade[STEP_DECADES];
	int64_t *sample; /* NULL: there are none yet */
	size_t samples;
	int zero_place; /* of samples that are 0, if there are no others */
};

/* A sample: `text` is a number that strtod() has read as a whole, in units of `unit_ns` (1, 1000, …), `ns` its value. -ENOMEM. */
int written_step_add(struct written_step *w, const char *text, int64_t unit_ns, double ns);

/*
 * What is known of the samples so far. `*digits_ns`: the step in which the finest of them are written, at least 1; `*clock_ns`:
 * that of the values themselves, if all are multiples of a step or apart by more; 0: not known. `*ppm`: the coarsest step that
 * is a part of the value, where digits are dropped from larger values ("%g"); 0: there is none.
 */
void written_step_find(struct written_step *w, int64_t *digits_ns, int64_t *clock_ns, int64_t *ppm);

/* The greatest. */
int64_t common_divisor(int64_t a, int64_t b);

void written_step_free(struct written_step *w);

#endif
