/*
 * What a run directory holds for a point: its id and settings, the columns its kernel recorded and the series that
 * derive from them, as resolved.json says. Names that become paths are checked here.
 */
#ifndef KBLAT_ANALYSIS_LAYOUT_H
#define KBLAT_ANALYSIS_LAYOUT_H

#include <jansson.h>
#include <stdbool.h>

struct err;

#define LAYOUT_COLUMNS	8
#define LAYOUT_SERIES	8
#define LAYOUT_LIMIT_NS 10000 /* of over_limit, where a point names none */
#define LAYOUT_ID_MAX	999999

struct layout_series {
	const char *name; /* "lat_ns" */
	unsigned column;  /* index in columns */
	int minus;	  /* likewise; -1: none */
	int among;	  /* likewise: where it never happened there is no entry, so none is lost; -1: none */
	int divide;	  /* 2: half of it */
	bool sparse;	  /* entries only where they were asked for: the others are not lost */
};

/* Strings and params are borrowed from resolved.json. */
struct layout {
	unsigned id;
	const json_t *params;
	json_int_t limit_ns;
	unsigned column_count, series_count;
	const char *columns[LAYOUT_COLUMNS];
	struct layout_series series[LAYOUT_SERIES];
};

/* The point at `index` of resolved.json's "points". -EINVAL and STATUS_USAGE, naming resolved.json below `run_path`. */
int layout_read(const char *run_path, const json_t *resolved, size_t index, struct layout *out, struct err *e);

/* The same for the point of that id; -ENOENT if there is none. */
int layout_find(const char *run_path, const json_t *resolved, unsigned id, struct layout *out, struct err *e);

/* The index of a column by its name, or -1. */
int layout_column(const struct layout *l, const char *name);

/* "<run>/points/<nnnn>", "<run>/points/<nnnn>/rep-<nn>"; the caller frees. */
char *layout_point_dir(const char *run_path, unsigned id);
char *layout_rep_dir(const char *run_path, unsigned id, unsigned rep);

#endif
