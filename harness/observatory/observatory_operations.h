/*
 * What Observatory (https://github.com/hhu-bsinfo/observatory) measures, and what that is here: the one table that
 * reading its configurations and writing its result files go by. docs/observatory.md has it for people.
 */
#ifndef KBLAT_OBSERVATORY_OPERATIONS_H
#define KBLAT_OBSERVATORY_OPERATIONS_H

#include <stdbool.h>

/* What a row of its results says. */
enum observatory_measure {
	OBSERVATORY_THROUGHPUT, /* of many operations at a time; the only one that may run in both directions */
	OBSERVATORY_LATENCY,	/* of one at a time, to its completion */
	OBSERVATORY_ROUND_TRIP,
};

struct observatory_operation {
	const char *name; /* in a configuration */
	enum observatory_measure measure;
	const char *kernel;
	/* Of the transport verbs; others have one way only, which is like a send. A round trip's messages have numbers, which
	 * for the smallest must travel as immediate. */
	const char *op;
	const char *series; /* whose distribution its results have; NULL: only rates */
	const char *file;   /* of its results, without ".csv"; in both directions with "Bidirectional " before it */
};

extern const struct observatory_operation observatory_operations[]; /* name NULL ends */

const struct observatory_operation *observatory_operations_find(const char *name);

/* Their names; NULL ends. */
const char *const *observatory_operations_names(void);

/* Does it read or write the other side's memory, with nobody there taking part? */
bool observatory_operations_is_one_sided(const struct observatory_operation *o);

#endif
