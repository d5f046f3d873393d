/*
 * The runs of an index, and those of an experiment as a table: the newest first, the older ones
 * folded away.
 */
#ifndef KBLAT_REPORT_RUNS_TABLE_H
#define KBLAT_REPORT_RUNS_TABLE_H

#include "report/html.h"
#include "report/runs_series.h"

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
	char *text[RUNS_COLUMNS]; /* "" where there is none */
	size_t first_median;	  /* of its own */
};

struct runs_list {
	struct runs_entry *run;
	size_t count;
};

/* Of all experiments, one after the other; in order of time. Release with runs_list_free() in either case. */
int runs_list_read(struct runs_list *l, struct index *ix, struct err *e);
void runs_list_free(struct runs_list *l);

bool runs_entry_is_valid(const struct runs_entry *run);

/* "14.2us", "0.97". Returns `buf`. */
char *runs_value_text(double value, bool is_ns, char *buf, size_t size);

/* All of one experiment, whose medians these are. */
void runs_table_write(const struct page *p, const struct index *ix, const struct runs_medians *m, struct runs_list *l);

#endif
