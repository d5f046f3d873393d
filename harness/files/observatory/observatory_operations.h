/*
 * What Observatory (https://github.com/hhu-bsinfo/observatory) measures, and how kblat measures the
 * same. This table is used both to read its configurations and to write its result files;
 * docs/observatory.md describes it for people.
 */
#ifndef KBLAT_OBSERVATORY_OPERATIONS_H
#define KBLAT_OBSERVATORY_OPERATIONS_H

#include <stdbool.h>

/* What the `source` of a spec made from a configuration begins with; the configuration's resultName follows. */
#define OBSERVATORY_SOURCE "Observatory, configuration "

/* What a row of its results contains. */
enum observatory_measure {
	OBSERVATORY_THROUGHPUT, /* of many operations at a time; only this measure may run in both directions */
	OBSERVATORY_LATENCY,	/* of one operation at a time, until its completion */
	OBSERVATORY_ROUND_TRIP,
};

struct observatory_operation {
	const char *name; /* in a configuration */
	enum observatory_measure measure;
	const char *kernel;
	/* For the transport verbs; others have names of their own for it (observatory_operations_word), or only one
	 * operation, which is similar to a send. The messages of a round trip are numbered; those that are too
	 * small for a number must carry it as immediate data. */
	const char *op;
	const char *series; /* the series whose distribution is in its results; NULL: only rates */
	/* name of its result file, without ".csv"; for both directions preceded by
	 * "Bidirectional " */
	const char *file;
};

extern const struct observatory_operation observatory_operations[]; /* ends with a name of NULL */

const struct observatory_operation *observatory_operations_find(const char *name);

/* Their names; ends with NULL. */
const char *const *observatory_operations_names(void);

/* The setting by which a transport chooses its operation; NULL: it has only one, which sends. Its value for `op`, and
 * which op a value is (NULL: none of them). */
const char *observatory_operations_setting(const char *transport);
const char *observatory_operations_word(const char *transport, const char *op);
const char *observatory_operations_op(const char *transport, const char *word);

/* Does it read or write the other side's memory without the other side taking part? */
bool observatory_operations_is_one_sided(const struct observatory_operation *o);

#endif
