#include "observatory/observatory_row.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/series.h"
#include "analysis/span.h"
#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sort.h"

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

/* --- from the blocks of summary.json --- */

static void add_rates(json_t *values, const json_t *rep)
{
	const json_t *rate = json_object_get(rep, "rate");

	set_value(values, "OperationThroughput", json_number_or_nan(rate, "messages_per_s"));
	set_value(values, "DataThroughput", json_number_or_nan(rate, "bytes_per_s"));
}

/* The overhead on the wire; if the count is less than the payload, Observatory reports none. */
static void add_overhead(json_t *values, const json_t *rep)
{
	const json_t *wire = json_object_get(rep, "wire");
	const double raw = json_number_or_nan(wire, "raw_bytes"), payload = json_number_or_nan(wire, "payload_bytes");

	if (isnan(raw))
		return;
	set_value(values, "DataOverheadFactor", json_number_or_nan(wire, "factor"));
	set_value(values, "DataOverheadPercentage", json_number_or_nan(wire, "percent"));
	set_value(values, "DataOverheadThroughput",
		  raw > payload ? (raw - payload) / raw * json_number_or_nan(wire, "bytes_per_s") : 0);
}

json_t *observatory_row_values(const struct run *run, const struct observatory_operation *o, const json_t *point,
			       const json_t *rep, struct err *e)
{
	const unsigned id = (unsigned)json_integer_value(json_object_get(point, "id"));
	const unsigned number = (unsigned)json_integer_value(json_object_get(rep, "rep"));
	json_t *values = json_object();

	if (!o->series) {
		add_rates(values, rep);
	} else if (add_latencies(values, run, o->series, id, number, e)) {
		json_decref(values);
		return NULL;
	}
	add_overhead(values, rep);
	return values;
}
