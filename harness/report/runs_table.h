/*
 * The runs of an index, and those of one experiment as a table: the newest first, older ones
 * collapsed; with the medians of each run in chronological order, and those of points with equal
 * settings as a series.
 */
#ifndef KBLAT_REPORT_RUNS_TABLE_H
#define KBLAT_REPORT_RUNS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/index/index_sql.h"
#include "report/html.h"

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

/* The columns of INDEX_RUNS. */
enum runs_column {
	RUNS_ID,
	RUNS_PATH,
	RUNS_EXPERIMENT,
	RUNS_TITLE,
	RUNS_STATUS,
	RUNS_VALID,
	RUNS_REASON,
	RUNS_STARTED,
	RUNS_HOSTS,
	RUNS_KERNELS,
	RUNS_VERSION,
	RUNS_COMMIT,
	RUNS_SEALED,
	RUNS_COLUMNS
};

struct runs_entry {
	int64_t id;
	char *text[RUNS_COLUMNS]; /* "" if there is none */
	size_t first_median;	  /* index of its first median */
};

struct runs_list {
	struct runs_entry *run;
	size_t count;
};

/* Read the runs of all experiments, one experiment after the other, each in chronological order.
 * Release with runs_list_free() in any case. */
int runs_list_read(struct runs_list *l, struct index *ix, struct err *e);
void runs_list_free(struct runs_list *l);

bool runs_entry_is_valid(const struct runs_entry *run);

/* "14.2us", "0.97". Returns `buf`. */
char *runs_value_text(double value, bool is_ns, char *buf, size_t size);

/* Write the table of one experiment: its runs `l` and their medians `m`. */
void runs_table_write(const struct page *p, const struct index *ix, const struct runs_medians *m, struct runs_list *l);

#endif
