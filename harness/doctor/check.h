/*
 * A check is a row of a table. It examines one thing and fills a finding.
 */
#ifndef KBLAT_DOCTOR_CHECK_H
#define KBLAT_DOCTOR_CHECK_H

#include "common/cpulist.h"
#include "common/sysroot.h"
#include "doctor/finding.h"
#include "instrument/clock.h"
#include "placement/placement.h"

/* Information about the machine that several checks share. */
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
