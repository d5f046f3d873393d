/*
 * Can this machine measure? A check is one row of a table: it looks at one thing and says ok, warn or bad, what it
 * found, in numbers, and what to do. A warning widens the error; what is bad makes numbers invalid or a run impossible.
 */
#ifndef KBLAT_DOCTOR_DOCTOR_H
#define KBLAT_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stddef.h>

#include "common/cpulist.h"
#include "common/sysroot.h"
#include "instrument/clock.h"
#include "placement/placement.h"

enum level { LEVEL_OK, LEVEL_WARN, LEVEL_BAD };

struct finding {
	enum level level;
	char text[1024];
	char advice[512]; /* "" if there is nothing to do */
	json_t *data;	  /* the numbers; an object */
};

/* What the checks share. */
struct doctor {
	struct sysroot root;
	struct cpulist allowed;
	struct clock_report clock;
	struct placement source, sink; /* what a busy-polling run would choose */
};

struct check {
	const char *name;
	void (*function)(const struct doctor *d, struct finding *f);
};

extern const struct check cpu_checks[], machine_checks[]; /* name NULL ends */

/* Raise the level, never lower it; the first advice stays. */
void finding_raise(struct finding *f, enum level level, const char *advice);

/* Add to the text. */
void finding_say(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
