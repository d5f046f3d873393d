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

/* format_csv.c: a column of comma-separated values; also what kblat has exported. */
int read_csv(struct reading *r, struct err *e);

/* format_hdr.c: logs of HdrHistogram, a line for each interval, with its histogram, compressed and in base64. */
int read_hdr(struct reading *r, struct err *e);

/* Likewise its lists of percentiles with counts: of each step the upper edge is taken, which is the percentile. */
int read_hdr_percentiles(struct reading *r, struct err *e);

/* format_lists.c: lists of samples, in the order in which they were taken. */
int read_perftest(struct reading *r, struct err *e);
int read_sockperf(struct reading *r, struct err *e);
int read_fio(struct reading *r, struct err *e);
int read_cyclic_lines(struct reading *r, struct err *e);

/* format_histograms.c: of each bin the lower edge is taken, and how wide it is becomes the resolution. Samples beyond the
 * last bin, whose values nobody knows, are refused, as is what has only percentiles. */
int read_cyclic_json(struct reading *r, struct err *e);
int read_cyclic_histogram(struct reading *r, struct err *e);
int read_fio_json(struct reading *r, struct err *e);
int read_netperf(struct reading *r, struct err *e);
int read_rtla(struct reading *r, struct err *e);
int read_ucx(struct reading *r, struct err *e); /* has neither samples nor a histogram */

#endif
