#include "analysis/rep.h"
#include "analysis/series.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/span.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "rundir/reader.h"
#include "rundir/schema.h"

#define PREFIX "rep-"

static int is_rep(const struct dirent *d)
{
	const char *digits = d->d_name + strlen(PREFIX);

	return !strncmp(d->d_name, PREFIX, strlen(PREFIX)) && *digits && strlen(digits) < 7 &&
	       !digits[strspn(digits, "0123456789")];
}

int rep_list(const char *run_path, unsigned point, unsigned **numbers, size_t *count, struct err *e)
{
	char *dir = layout_point_dir(run_path, point);
	struct dirent **names = NULL;
	int n = scandir(dir, &names, is_rep, versionsort), rc = 0;

	if (n < 0 && errno != ENOENT)
		rc = err_sys(e, -errno, dir, "list");
	if (n < 0)
		n = 0;
	*count = (size_t)n;
	*numbers = calloc((size_t)n + 1, sizeof(**numbers));
	if (!*numbers)
		rc = err_sys(e, -ENOMEM, dir, "list");
	for (int i = 0; i < n; i++) {
		if (*numbers)
			(*numbers)[i] = (unsigned)atoi(names[i]->d_name + strlen(PREFIX));
		free(names[i]);
	}
	free(names);
	free(dir);
	return rc;
}

/* 1: open. 0: there is none. */
static int open_column(const char *dir, const char *name, struct npy *out, struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name);
	bool missing = access(path, F_OK) && errno == ENOENT;
	int rc = missing ? 0 : npy_open(path, out, e);

	free(path);
	return rc ? rc : !missing;
}

static void close_columns(struct rep *r)
{
	for (size_t i = 0; i < LAYOUT_COLUMNS; i++)
		npy_close(&r->columns[i]);
}

static int open_columns(const char *dir, const struct layout *l, struct rep *r, struct err *e)
{
	int there = 1;

	for (unsigned i = 0; i < l->column_count && there == 1; i++)
		there = open_column(dir, l->columns[i], &r->columns[i], e);
	for (unsigned i = 1; i < l->column_count && there == 1; i++)
		if (r->columns[i].count != r->columns[0].count)
			there =
			    err_set(e, -EINVAL, STATUS_USAGE, dir, NULL, "%s.npy has %zu entries, but %s.npy has %zu",
				    l->columns[i], r->columns[i].count, l->columns[0], r->columns[0].count);
	r->is_whole = there == 1;
	return there < 0 ? there : 0;
}

static int open_counters(const char *dir, struct rep *r, struct err *e)
{
	char *path = fs_path("%s/counters.json", dir);
	bool missing = access(path, F_OK) && errno == ENOENT;

	if (!missing)
		r->counters = schema_read(DOC_COUNTERS, path, e);
	free(path);
	return missing || r->counters ? 0 : -EINVAL;
}

static bool is_empty(const struct rep *r, size_t i)
{
	for (size_t k = 0; k < LAYOUT_COLUMNS; k++)
		if (r->columns[k].data && r->columns[k].data[i] != NEVER)
			return false;
	return true;
}

/* What a run that was killed never sent is at the end of all its columns: that is not lost. */
static void forget_unsent(struct rep *r)
{
	size_t count = r->columns[0].count;

	while (count && is_empty(r, count - 1))
		count--;
	for (size_t k = 0; k < LAYOUT_COLUMNS; k++)
		if (r->columns[k].data)
			r->columns[k].count = count;
}

int rep_open(const char *run_path, const struct layout *l, unsigned number, struct rep *out, struct err *e)
{
	char *dir = layout_rep_dir(run_path, l->id, number);
	int rc;

	*out = (struct rep){.number = number};
	rc = open_columns(dir, l, out, e);
	if (!rc)
		rc = open_counters(dir, out, e);
	if (rc)
		rep_close(out);
	else if (!out->is_whole)
		close_columns(out);
	else if (!out->counters)
		forget_unsent(out);
	free(dir);
	return rc;
}

void rep_close(struct rep *r)
{
	close_columns(r);
	json_decref(r->counters);
	r->counters = NULL;
}

struct span rep_span(const struct rep *r, const struct layout_series *s)
{
	return (struct span){
	    .a = r->columns[s->column].data,
	    .b = s->minus < 0 ? NULL : r->columns[s->minus].data,
	    .count = r->columns[s->column].count,
	};
}

uint64_t rep_absent(const struct rep *r, const struct layout_series *s)
{
	const struct span span = rep_span(r, s);
	const int64_t *among = s->among < 0 ? NULL : r->columns[s->among].data;
	uint64_t absent = 0;
	int64_t ignored;

	for (size_t i = 0; among && i < span.count; i++)
		absent += among[i] == NEVER && !span_sample(&span, i, &ignored);
	return absent;
}

static int add_series(const struct rep *r, const struct layout *l, const struct layout_series *s, json_t *metrics,
		      json_t *histograms, struct err *e)
{
	struct span span = rep_span(r, s);
	struct histogram h;
	struct stats st;
	int rc = series_stats(s, &span, 1, rep_absent(r, s), l->limit_ns, &st, e);

	if (!rc)
		rc = series_histogram(s, &span, 1, REP_BINS, &h, e);
	if (rc)
		return rc;
	json_object_set_new(metrics, s->name, stats_json(&st));
	json_object_set_new(histograms, s->name, histogram_json(&h));
	histogram_free(&h);
	return 0;
}

json_t *rep_data(const char *run_path, const struct layout *l, unsigned number, struct err *e)
{
	json_t *metrics = json_object(), *histograms = json_object();
	struct rep r;
	int rc = rep_open(run_path, l, number, &r, e);

	if (!rc && !r.is_whole) {
		char *dir = layout_rep_dir(run_path, l->id, number);

		rc = err_set(e, -ENOENT, STATUS_USAGE, dir, NULL, "a column is missing");
		free(dir);
	}
	for (unsigned i = 0; !rc && i < l->series_count; i++)
		rc = add_series(&r, l, &l->series[i], metrics, histograms, e);
	rep_close(&r);
	if (!rc)
		return json_pack("{s:i, s:o, s:o}", "schema", 1, "metrics", metrics, "histograms", histograms);
	json_decref(metrics);
	json_decref(histograms);
	return NULL;
}

int rep_reduce(const char *run_path, const json_t *resolved, unsigned point, unsigned rep, struct err *e)
{
	struct layout l;
	int rc = layout_find(run_path, resolved, point, &l, e);
	json_t *data;
	char *path;

	if (rc)
		return rc;
	data = rep_data(run_path, &l, rep, e);
	if (!data)
		return -EINVAL;
	path = fs_path("%s/points/%04u/rep-%02u/data.json", run_path, point, rep);
	rc = json_write(path, data, e);
	free(path);
	json_decref(data);
	return rc;
}
