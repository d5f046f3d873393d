/*
 * A check is a row of a table. It examines one thing and fills a finding: ok, warn or bad, the
 * numbers, and what to do. A warning means a larger error; bad means that numbers would be invalid or
 * a run impossible.
 */
#ifndef KBLAT_DOCTOR_CHECK_H
#define KBLAT_DOCTOR_CHECK_H

#include <jansson.h>

#include "common/cpulist.h"
#include "common/sysroot.h"
#include "measure/instrument/clock.h"
#include "measure/placement/placement.h"

struct err;

enum level { LEVEL_OK, LEVEL_WARN, LEVEL_BAD, LEVEL_COUNT };

struct finding {
	enum level level;
	char text[1024];
	char advice[512]; /* "" if there is nothing to do */
	json_t *data;	  /* the numbers; an object */
};

/* Raise the level (it is never lowered); the first advice is kept. */
void finding_raise(struct finding *f, enum level level, const char *advice);

/* Add to the text. */
void finding_add(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *finding_level_name(enum level level);

/* {"name", "level", "finding", "advice", "data"}: a new reference. */
json_t *finding_json(const char *name, const struct finding *f);

/* The level of such an object; bad if it has no known level. */
enum level finding_level(const json_t *finding);

/* Information about the machine that several checks share. */
struct host {
	struct sysroot root;
	struct cpulist allowed;
	struct clock_report clock;
	struct placement source, sink; /* what a busy-polling run would choose */
	int traces_removed;	       /* trace instances that killed runs had left */
};

struct check {
	const char *name; /* NULL ends a table */
	void (*function)(const struct host *h, struct finding *f);
};

/* Of the clock and the CPUs; of memory, devices, programs, and what earlier runs left behind. */
extern const struct check cpu_checks[], machine_checks[];

/*
 * What interrupts a CPU (cpu_checks.c): interrupts and softirqs by name, and time taken by the hypervisor, as counted by
 * the kernel. They are read twice and subtracted.
 */

/* {name: count} of the CPU: "LOC", "24 virtio0-input", "softirq TIMER", "steal ticks". A new
 * reference. */
json_t *disturbances_read(const struct sysroot *root, int cpu);

/* The increase between two readings, a new reference: {name: difference}, the most frequent first. */
json_t *disturbances_between(const json_t *before, const json_t *after);

/* The first few of them, "200 LOC, 3 24 virtio0-input"; "nothing that the kernel counts". Returns
 * `buf`. */
char *disturbances_text(const json_t *grown, char *buf, size_t size);

/* --- all checks --- */

/*
 * Can this machine measure? Runs all checks, one after the other. CPUs spin meanwhile; nothing is changed.
 */

/* Call `each` with the name of each check and its finding, which is valid only during the call. 0, or a negative errno
 * and `e`. */
int doctor_examine(void (*each)(const char *name, const struct finding *f, void *context), void *context,
		   struct err *e);

/* The same, with all findings in an array of finding_json(), which the caller owns. */
int doctor_findings(json_t **findings, struct err *e);

#endif
