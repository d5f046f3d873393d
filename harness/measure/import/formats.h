/*
 * The formats in which other programs write their samples, and a reader for each. A file of another format is refused.
 */
#ifndef KBLAT_IMPORT_FORMATS_H
#define KBLAT_IMPORT_FORMATS_H

#include <stdbool.h>

#include "measure/import/reading.h"

struct import_format {
	const char *name;
	const char *help; /* what makes such files */
	bool takes_column, takes_unit;
	int (*read)(struct reading *r, struct err *e);
};

extern const struct import_format import_formats[]; /* up to one without a name */

const struct import_format *format_find(const char *name);

/* Reads the whole of `r->in` into `r->to`, which it ends. 0, or a negative errno and `e`: STATUS_USAGE and
 * "FILE:LINE: cause" for what is wrong with the file. */
int format_read(const struct import_format *f, struct reading *r, struct err *e);

#endif
