#include "measure/import/written_step.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/sort.h"

#define DECADE_LEAST 4	/* samples of a decade: that none of them needs a further digit is no chance */
#define GAP_LEAST    30 /* samples of which the smallest difference is that of the clock, rather than chance */
#define PLACE_MOST   15 /* beyond any latency */

/* --- digits --- */

/* The power of ten of the last digit: -10 for "1.21612e-05", 0 for "120". */
static int last_place(const char *text)
{
	const char *exponent = text + strcspn(text, "eE"), *point = strchr(text, '.');
	long place = *exponent ? strtol(exponent + 1, NULL, 10) : 0;

	if (point && point < exponent)
		place -= exponent - point - 1;
	return place < -400 ? -400 : place > 400 ? 400 : (int)place;
}

static int power_of(int64_t unit_ns)
{
	int power = 0;

	for (; unit_ns >= 10; unit_ns /= 10)
		power++;
	return power;
}

static struct step_decade *decade_of(struct written_step *w, double ns)
{
	int at = (int)floor(log10(ns)) - STEP_LEAST;

	return &w->decade[at < 0 ? 0 : at >= STEP_DECADES ? STEP_DECADES - 1 : at];
}

static void step_add_place(struct written_step *w, int place, double ns)
{
	struct step_decade *d;

	if (ns <= 0) {
		w->zero_place = place;
		return;
	}
	d = decade_of(w, ns);
	d->place = d->samples && d->place < place ? d->place : place;
	d->least_ns = d->samples ? fmin(d->least_ns, ns) : ns;
	d->samples++;
}

int written_step_add(struct written_step *w, const char *text, int64_t unit_ns, double ns)
{
	if (!w->sample)
		w->sample = large_alloc(STEP_SAMPLES, sizeof(*w->sample));
	if (!w->sample)
		return -ENOMEM;
	if (w->samples < STEP_SAMPLES)
		w->sample[w->samples++] = llround(ns);
	step_add_place(w, last_place(text) + power_of(unit_ns), ns);
	return 0;
}

static double step_of(int place)
{
	return pow(10, place > PLACE_MOST ? PLACE_MOST : place);
}

static int finest_place(const struct written_step *w)
{
	int finest = w->zero_place;
	bool any = false;

	for (const struct step_decade *d = w->decade; d < w->decade + STEP_DECADES; d++) {
		if (!d->samples)
			continue;
		finest = any && finest < d->place ? finest : d->place;
		any = true;
	}
	return finest;
}

/* Numbers that are written with as many digits each have fewer behind the point if they are larger. */
static double coarsest_part(const struct written_step *w, int finest)
{
	double part = 0;

	for (const struct step_decade *d = w->decade; d < w->decade + STEP_DECADES; d++)
		if (d->samples >= DECADE_LEAST && d->place > finest && d->place > 0)
			part = fmax(part, step_of(d->place) / d->least_ns);
	return part;
}

/* --- the clock --- */

int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		const int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Of a value that all samples have, nothing is known but that it ends in zeros. */
static int64_t zeros_of(int64_t value)
{
	int64_t step = 1;

	while (value && value % (10 * step) == 0)
		step *= 10;
	return step;
}

/* What differs in sorted samples. */
struct differences {
	size_t values;	    /* that are different */
	int64_t least, gap; /* the smallest value but 0, the smallest difference */
	int64_t common;	    /* of which all differences are multiples */
};

static struct differences differences_of(const struct written_step *w)
{
	struct differences d = {.values = w->samples > 0};

	for (size_t i = 0; i < w->samples; i++) {
		const int64_t difference = i ? w->sample[i] - w->sample[i - 1] : 0;

		d.least = d.least ? d.least : w->sample[i];
		if (!difference)
			continue;
		d.values++;
		d.gap = d.gap && d.gap < difference ? d.gap : difference;
		d.common = common_divisor(d.common, difference);
	}
	return d;
}

/* Different values of a clock differ by its step at least, and of many of them some do by no more, although whole nanoseconds
 * need not be multiples of it. Otherwise the step is what all differences are multiples of. Sorts the samples. */
static int64_t clock_step(struct written_step *w)
{
	struct differences d;

	sort_integers(w->sample, w->samples);
	d = differences_of(w);
	if (w->samples < GAP_LEAST)
		return d.values >= DECADE_LEAST ? d.common : 0;
	if (d.values < 2)
		return zeros_of(d.least);
	return d.gap <= d.least + d.least / 20 ? d.gap : common_divisor(d.common, d.least);
}

void written_step_find(struct written_step *w, int64_t *digits_ns, int64_t *clock_ns, int64_t *ppm)
{
	const int finest = finest_place(w);

	*digits_ns = finest > 0 ? (int64_t)step_of(finest) : 1;
	*clock_ns = clock_step(w);
	*ppm = (int64_t)ceil(1e6 * coarsest_part(w, finest));
}

void written_step_free(struct written_step *w)
{
	free(w->sample);
	w->sample = NULL;
	w->samples = 0;
}
