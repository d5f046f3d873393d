/*
 * Verdicts in the formats of test labs, and their exit statuses. A format is a row and a function.
 */
#ifndef KBLAT_REPORT_VERDICT_FORMAT_H
#define KBLAT_REPORT_VERDICT_FORMAT_H

#include <stdio.h>

#include "common/err.h"
#include "report/verdict_list.h"

struct verdict_format {
	const char *name; /* "ktap" */
	void (*print)(const struct verdict_list *l, FILE *out);
};

extern const struct verdict_format verdict_formats[]; /* `name` NULL ends it */

#define VERDICT_FORMAT_NAMES "ktap, junit, lava, kcidb, tmt or tap"
#define VERDICT_EXIT_NAMES   "default, kselftest, tmt, automake or git-bisect"

/* `name` NULL: none is asked for. 0, or -EINVAL and STATUS_USAGE for one that does not exist. */
int verdict_format_find(const char *name, const struct verdict_format **format, struct err *e);

/* Print to standard output, and free the list. */
void verdict_format_print(const struct verdict_format *f, struct verdict_list list);

/* Whose exit statuses. */
int verdict_exit_find(const char *name, struct err *e);

/* A status of ours as one of `whose` ("kselftest", …); unchanged for "default" and whatever does not exist. */
int verdict_exit_status(const char *whose, enum status status);

#endif
