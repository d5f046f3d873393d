#include "observatory/observatory_csv.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/summary.h"
#include "common/csv.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "observatory/observatory_operations.h"
#include "observatory/observatory_row.h"
#include "observatory/observatory_spec.h"
#include "rundir/run_mode.h"

/*
 * Rows are collected first: {"Messaging Latency": [{"Benchmark", "Iteration", "Size", "values": {…}}, …], …}.
 */
struct export
{
	json_t *files;
	size_t skipped;
};

/* --- which file a point belongs to --- */

static bool is_send(const char *op)
{
	return !strncmp(op, "send", strlen("send"));
}

/* Sending one message at a time measures latency, unless both sides send. */
static bool is_operation(const struct observatory_operation *o, const json_t *params)
{
	const bool both = json_is_true(json_object_get(params, "both"));
	const bool is_latency = json_integer_value(json_object_get(params, "depth")) == 1 && !both;
	const char *op = json_text_or(params, "op", "send");

	if (strcmp(o->kernel, json_text(params, "kernel")) || (is_send(op) ? !is_send(o->op) : strcmp(op, o->op) != 0))
		return false;
	return o->measure == OBSERVATORY_ROUND_TRIP || (o->measure == OBSERVATORY_LATENCY) == is_latency;
}

static const struct observatory_operation *measured_operation(const json_t *params)
{
	for (const struct observatory_operation *o = observatory_operations; o->name; o++)
		if (is_operation(o, params))
			return o;
	return NULL;
}

static json_t *rows_of(struct export *x, const struct observatory_operation *o, const json_t *params)
{
	const bool both = json_is_true(json_object_get(params, "both"));
	char *name = fs_path("%s%s.csv", both ? "Bidirectional " : "", o->file);
	json_t *rows = json_object_get(x->files, name);

	if (!rows)
		json_object_set_new(x->files, name, rows = json_array());
	free(name);
	return rows;
}

/* --- rows --- */

/* The resultName, if the run's spec was made from a configuration; otherwise its title. */
static const char *benchmark_of_spec(const struct run *run)
{
	const char *source = json_text_or(run->run, "source", "");

	if (!strncmp(source, OBSERVATORY_SOURCE, strlen(OBSERVATORY_SOURCE)))
		return source + strlen(OBSERVATORY_SOURCE);
	return json_text_or(run->run, "title", "");
}

/* The name that Observatory would use. */
static json_t *benchmark_name(const struct run *run)
{
	char *path = fs_path("%s/observatory.json", run->path);
	json_t *config = fs_is_missing(path) ? NULL : json_read(path, NULL), *name;
	const char *given = json_text_or(config, "resultName", "");

	if (!*given)
		given = json_text_or(config, "className", benchmark_of_spec(run));
	name = json_string(*given ? given : json_text(run->run, "name"));
	json_decref(config);
	free(path);
	return name;
}

static int export_point(struct export *x, const struct run *run, const json_t *benchmark, const json_t *point,
			struct err *e)
{
	const json_t *params = json_object_get(point, "params"), *reps = json_object_get(point, "reps"), *rep;
	const struct observatory_operation *o = measured_operation(params);
	size_t i;

	if (!o || !json_array_size(reps)) {
		x->skipped++;
		return 0;
	}
	json_array_foreach (reps, i, rep) {
		json_t *values = observatory_row_values(run, o, point, rep, e);

		if (!values)
			return -EINVAL;
		json_array_append_new(rows_of(x, o, params),
				      json_pack("{s:O, s:O, s:O, s:o}", "Benchmark", benchmark, "Iteration",
						json_object_get(rep, "rep"), "Size",
						json_object_get(params, "size_bytes"), "values", values));
	}
	return 0;
}

static int export_run(struct export *x, const struct run *run, struct err *e)
{
	json_t *summary = summary_of_run(run, e), *benchmark = benchmark_name(run), *point;
	size_t i;
	int rc = summary ? 0 : -EINVAL;

	json_array_foreach (json_object_get(summary, "points"), i, point)
		if (!rc)
			rc = export_point(x, run, benchmark, point, e);
	json_decref(benchmark);
	json_decref(summary);
	return rc;
}

/* --- files --- */

static int compare_columns(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of all rows' values in byte order, as in a std::map; ends with NULL. The caller frees. */
static const char **columns_of(const json_t *rows, json_t *all)
{
	const char **columns, *key;
	json_t *row, *value;
	size_t i, n = 0;

	json_array_foreach (rows, i, row)
		json_object_foreach (json_object_get(row, "values"), key, value)
			json_object_set_new(all, key, json_null());
	columns = calloc(json_object_size(all) + 1, sizeof(*columns));
	json_object_foreach (all, key, value)
		columns[n++] = key;
	qsort(columns, n, sizeof(*columns), compare_columns);
	return columns;
}

static void print_row(const json_t *row, const char *const *columns, FILE *out)
{
	csv_text(json_text(row, "Benchmark"), out);
	fprintf(out, ",%lld,%lld", (long long)json_integer_value(json_object_get(row, "Iteration")),
		(long long)json_integer_value(json_object_get(row, "Size")));
	for (size_t i = 0; columns[i]; i++) {
		const double value = json_number_or_nan(json_object_get(row, "values"), columns[i]);

		fputc(',', out);
		if (!isnan(value))
			fprintf(out, "%.12e", value);
	}
	fputc('\n', out);
}

static char *file_text(const json_t *rows)
{
	json_t *all = json_object(), *row;
	const char **columns = columns_of(rows, all);
	char *text = NULL;
	size_t size = 0, i;
	FILE *out = open_memstream(&text, &size);

	fputs("Benchmark,Iteration,Size", out);
	for (i = 0; columns[i]; i++)
		fprintf(out, ",%s", columns[i]);
	fputc('\n', out);
	json_array_foreach (rows, i, row)
		print_row(row, columns, out);
	fclose(out);
	free(columns);
	json_decref(all);
	return text;
}

/* Existing results may be Observatory's own. */
static int check_free(const struct export *x, const char *dir, struct err *e)
{
	const char *name;
	json_t *rows;
	int rc = 0;

	json_object_foreach (x->files, name, rows) {
		char *path = fs_path("%s/%s", dir, name);

		if (!rc && !fs_is_missing(path))
			rc = err_set(e, -EEXIST, STATUS_USAGE, path, NULL,
				     "the file already exists; choose another folder");
		free(path);
	}
	return rc;
}

static int write_files(const struct export *x, const char *dir, struct err *e)
{
	const char *name;
	json_t *rows;
	int rc = fs_mkdirs(dir, e);

	if (!rc)
		rc = check_free(x, dir, e);
	json_object_foreach (x->files, name, rows) {
		char *path = fs_path("%s/%s", dir, name), *text = file_text(rows);

		if (!rc)
			rc = fs_write(path, text, strlen(text), e);
		free(text);
		free(path);
	}
	return rc;
}

int observatory_csv_write(const struct run *runs, size_t count, const char *dir, size_t *skipped, struct err *e)
{
	struct export x = {.files = json_object()};
	mode_t mask;
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++)
		rc = export_run(&x, &runs[i], e);
	if (!rc && !json_object_size(x.files))
		rc = err_set(e, -EINVAL, STATUS_USAGE, runs[0].path, NULL,
			     "no point has the kernel stream or pingpong, which are what Observatory measures");
	mask = run_mode_limit(run_mode_of(runs, count));
	if (!rc)
		rc = write_files(&x, dir, e);
	umask(mask);
	*skipped = x.skipped;
	json_decref(x.files);
	return rc;
}
