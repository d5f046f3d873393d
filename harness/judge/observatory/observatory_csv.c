#include "judge/observatory/observatory_csv.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/csv.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "files/observatory/observatory_operations.h"
#include "files/rundir/reader.h"
#include "files/rundir/run_mode.h"
#include "judge/analysis/param.h"
#include "judge/analysis/series.h"
#include "judge/analysis/stats.h"
#include "judge/analysis/summary.h"
#include "judge/analysis/summary_build.h"

/*
 * One row of Observatory's results: the values of a repetition of a point, under the names used by
 * Observatory.
 */

static void set_value(json_t *values, const char *key, double value)
{
	json_object_set_new(values, key, isfinite(value) ? json_real(value) : json_null());
}

/* --- latencies: from the columns, as summary.json omits quantiles with few samples beyond --- */

static const struct {
	const char *key;
	unsigned millionths;
} percentiles[] = {
    {"50thLatency", 500000},  {"95thLatency", 950000},	 {"99thLatency", 990000},
    {"999thLatency", 999000}, {"9999thLatency", 999900},
};

/* Nearest rank, ceil(p * n), of sorted values. */
static double percentile(const double *sorted, size_t n, unsigned millionths)
{
	const size_t rank = (size_t)(((unsigned long long)n * millionths + 999999) / 1000000);

	return sorted[rank ? rank - 1 : 0];
}

/* Collect the samples of a series, and the time from the first beginning to the last end, in nanoseconds. */
static size_t collect_samples(const struct span *span, double *samples, double *total)
{
	int64_t first = INT64_MAX, last = INT64_MIN, value;
	size_t n = 0;

	for (size_t i = 0; i < span->count; i++) {
		if (!span_sample(span, i, &value))
			continue;
		samples[n++] = (double)value;
		first = span->b && span->b[i] < first ? span->b[i] : first;
		last = span->a[i] > last ? span->a[i] : last;
	}
	*total = n ? (double)last - (double)first : NAN;
	return n;
}

static void set_latencies(json_t *values, const struct span *span)
{
	double *samples = or_abort(calloc(span->count + 1, sizeof(*samples))), total, sum = 0;
	const size_t n = collect_samples(span, samples, &total);

	sort_doubles(samples, n);
	for (size_t i = 0; i < n; i++)
		sum += samples[i];
	set_value(values, "OperationThroughput", (double)n / (total / 1e9));
	set_value(values, "AverageLatency", n ? sum / (double)n / 1e9 : NAN);
	set_value(values, "MinimumLatency", n ? samples[0] / 1e9 : NAN);
	set_value(values, "MaximumLatency", n ? samples[n - 1] / 1e9 : NAN);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		set_value(values, percentiles[i].key,
			  n ? percentile(samples, n, percentiles[i].millionths) / 1e9 : NAN);
	free(samples);
}

static const struct layout_series *series_of(const struct layout_flow *f, const char *name)
{
	for (unsigned i = 0; i < f->series_count; i++)
		if (!strcmp(f->series[i].name, name))
			return &f->series[i];
	return NULL;
}

static int add_latencies(json_t *values, const struct run *run, const char *series, unsigned point, unsigned number,
			 struct err *e)
{
	const struct layout_series *s;
	struct layout layout;
	struct rep rep;
	int rc = layout_find(run->path, run->resolved, point, &layout, e);

	if (rc)
		return rc;
	s = series_of(&layout.flows[0], series);
	rc = s ? rep_open(run->path, &layout.flows[0], number, &rep, e)
	       : err_set(e, -EINVAL, STATUS_USAGE, run->path, NULL, "point %u has no series %s", point, series);
	if (!rc && rep.is_whole) {
		const struct span span = series_span(&rep, s);

		set_latencies(values, &span);
	}
	if (!rc)
		rc = rep_close(&rep, e);
	layout_free(&layout);
	return rc;
}

/* --- from summary blocks --- */

static void add_rates(json_t *values, const struct summary_results *rep)
{
	const struct summary_block *rate = summary_find_block(rep, "", &bandwidth_block);

	if (!rate)
		return;
	set_value(values, "OperationThroughput", number_value(rate->numbers[RATE_MESSAGES_PER_S]));
	set_value(values, "DataThroughput", number_value(rate->numbers[RATE_BYTES_PER_S]));
}

/* The overhead on the wire; if the count is less than the payload, Observatory reports none. */
static void add_overhead(json_t *values, const struct summary_results *rep)
{
	const struct summary_block *wire = summary_find_block(rep, "", &overhead_block);
	const double raw = wire ? number_value(wire->numbers[WIRE_RAW_BYTES]) : NAN;
	const double payload = wire ? number_value(wire->numbers[WIRE_PAYLOAD_BYTES]) : NAN;

	if (isnan(raw))
		return;
	set_value(values, "DataOverheadFactor", number_value(wire->numbers[WIRE_FACTOR]));
	set_value(values, "DataOverheadPercentage", number_value(wire->numbers[WIRE_PERCENT]));
	set_value(values, "DataOverheadThroughput",
		  raw > payload ? (raw - payload) / raw * number_value(wire->numbers[WIRE_BYTES_PER_S]) : 0);
}

/*
 * {"OperationThroughput": 1/s, "DataThroughput": bytes/s} for a throughput; otherwise
 * {"OperationThroughput", "AverageLatency", "50thLatency", …} in seconds. If bytes on the wire were
 * counted, also "DataOverheadFactor" and so on. `point`: its id. Quantiles are
 * nearest-rank, and always given, however few samples there are. New reference, or NULL.
 */
static json_t *observatory_row_values(const struct run *run, const struct observatory_operation *o, unsigned point,
				      const struct summary_rep *rep, struct err *e)
{
	json_t *values = json_object();

	if (!o->series) {
		add_rates(values, &rep->results);
	} else if (add_latencies(values, run, o->series, point, (unsigned)rep->number, e)) {
		json_decref(values);
		return NULL;
	}
	add_overhead(values, &rep->results);
	return values;
}

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
	const bool both = param_flag(params, "both");
	const bool is_latency = param_integer(params, "depth") == 1 && !both;
	const char *transport = param_text(params, "transport"), *setting = observatory_operations_setting(transport);
	const char *op = setting ? observatory_operations_op(transport, json_text_or(params, setting, "")) : "send";

	if (!op || strcmp(o->kernel, param_text(params, "kernel")) ||
	    (is_send(op) ? !is_send(o->op) : strcmp(op, o->op) != 0))
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
	const bool both = param_flag(params, "both");
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
	const char *source = run->record.source;

	if (!strncmp(source, OBSERVATORY_SOURCE, strlen(OBSERVATORY_SOURCE)))
		return source + strlen(OBSERVATORY_SOURCE);
	return run->record.title;
}

/* The name that Observatory would use. */
static json_t *benchmark_name(const struct run *run)
{
	char *path = fs_path("%s/observatory.json", run->path);
	json_t *config = fs_is_missing(path) ? NULL : json_read(path, NULL), *name;
	const char *given = json_text_or(config, "resultName", "");

	if (!*given)
		given = json_text_or(config, "className", benchmark_of_spec(run));
	name = json_string(*given ? given : run->record.name);
	json_decref(config);
	free(path);
	return name;
}

static int export_point(struct export *x, const struct run *run, const json_t *benchmark,
			const struct summary_point *point, struct err *e)
{
	const struct observatory_operation *o = measured_operation(point->params);

	if (!o || !point->rep_count) {
		x->skipped++;
		return 0;
	}
	for (size_t i = 0; i < point->rep_count; i++) {
		const struct summary_rep *rep = &point->reps[i];
		json_t *values = observatory_row_values(run, o, (unsigned)point->id, rep, e);

		if (!values)
			return -EINVAL;
		json_array_append_new(rows_of(x, o, point->params),
				      json_pack("{s:O, s:I, s:O, s:o}", "Benchmark", benchmark, "Iteration",
						rep->number, "Size", param_value(point->params, "size_bytes"), "values",
						values));
	}
	return 0;
}

static int export_run(struct export *x, const struct run *run, struct err *e)
{
	struct summary *summary = summary_of_run(run, e);
	json_t *benchmark = benchmark_name(run);
	int rc = summary ? 0 : -EINVAL;

	for (size_t i = 0; !rc && i < summary->point_count; i++)
		rc = export_point(x, run, benchmark, &summary->points[i], e);
	json_decref(benchmark);
	summary_free(summary);
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
	columns = or_abort(calloc(json_object_size(all) + 1, sizeof(*columns)));
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
	FILE *out = or_abort(open_memstream(&text, &size));

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
