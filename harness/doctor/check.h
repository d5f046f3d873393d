/*
 * A check is one row of a table: it looks at one thing and fills a finding.
 */
#ifndef KBLAT_DOCTOR_CHECK_H
#define KBLAT_DOCTOR_CHECK_H

#include "common/cpulist.h"
#include "common/sysroot.h"
#include "doctor/finding.h"
#include "instrument/clock.h"
#include "placement/placement.h"

/* The machine, as far as the checks share what they know of it. */
struct host {
	struct sysroot root;
	struct cpulist allowed;
	struct clock_report clock;
	struct placement source, sink; /* what a busy-polling run would choose */
};

struct check {
	const char *name; /* NULL ends a table */
	void (*function)(const struct host *h, struct finding *f);
};

#endif
