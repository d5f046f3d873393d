/*
 * The medians of an experiment's runs in chronological order, from an index: those of each run, and
 * those of points with equal settings as a series.
 */
#ifndef KBLAT_REPORT_RUNS_SERIES_H
#define KBLAT_REPORT_RUNS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/index/index_sql.h"

/* The median of a point's first metric in a run. */
struct runs_median {
	int64_t run;
	double value; /* NaN: there is none */
	bool is_ns, valid;
};

/* Points with equal settings. */
struct runs_series {
	int64_t setting_set, point; /* `point`: its number in the first run that has it */
	char *metric, *label;
	bool is_ns;
	size_t runs;   /* number of runs that have it, valid or not */
	double *value; /* of the valid ones */
	size_t count;
};

struct runs_medians {
	struct runs_median *median;
	size_t median_count;
	struct runs_series *series;
	size_t series_count;
};

/* Release with runs_medians_free() in any case. `experiment`: NULL means runs without a name. */
int runs_medians_read(struct runs_medians *m, struct index *ix, const char *experiment, struct err *e);
void runs_medians_free(struct runs_medians *m);

#endif
