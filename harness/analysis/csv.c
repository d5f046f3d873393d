#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rundir/reader.h"

/* Columns after the metric's name, as they are called in summary.json. */
static const char *const metric_keys[] = {"n",	   "lost",   "min", "p50",  "p90",   "p99",
					  "p99_9", "p99_99", "max", "mean", "stdev", "over_limit"};

/* Of a pacer; the same in every row of a point. */
static const char *const pacing_keys[] = {"achieved_hz", "steps", "missed", "unsent"};

#define PACING_KEYS (sizeof(pacing_keys) / sizeof(pacing_keys[0]))
#define METRIC_KEYS (sizeof(metric_keys) / sizeof(metric_keys[0]))

/* RFC 4180: quotes where there is a comma, a quote or a line break; quotes inside are doubled. */
static void put_text(const char *text, FILE *out)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* What is missing or null is empty. */
static void put_value(const json_t *value, FILE *out)
{
	char *text;

	if (json_is_string(value))
		put_text(json_string_value(value), out);
	if (!value || json_is_null(value) || json_is_string(value))
		return;
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	put_text(text ? text : "", out);
	free(text);
}

/* The settings of all points, in the order in which they appear; keys of an object, values null. */
static json_t *all_settings(const json_t *points)
{
	json_t *all = json_object(), *point, *value;
	const char *key;
	size_t i;

	json_array_foreach (points, i, point) {
		json_object_foreach (json_object_get(point, "params"), key, value) {
			if (!json_object_get(all, key))
				json_object_set_new(all, key, json_null());
		}
	}
	return all;
}

static bool has_pacer(const json_t *points)
{
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point) {
		if (json_object_get(point, "pacing"))
			return true;
	}
	return false;
}

static void put_head(json_t *settings, bool paced, FILE *out)
{
	const char *key;
	json_t *value;

	fputs("id,valid", out);
	json_object_foreach (settings, key, value) {
		fputc(',', out);
		put_text(key, out);
	}
	fputs(",metric", out);
	for (size_t i = 0; i < METRIC_KEYS; i++)
		fprintf(out, ",%s", metric_keys[i]);
	for (size_t i = 0; paced && i < PACING_KEYS; i++)
		fprintf(out, ",%s", pacing_keys[i]);
	fputs("\r\n", out);
}

static void put_row(const json_t *point, json_t *settings, bool paced, const char *metric, const json_t *values,
		    FILE *out)
{
	const char *key;
	json_t *value;

	put_value(json_object_get(point, "id"), out);
	fputc(',', out);
	put_value(json_object_get(point, "valid"), out);
	json_object_foreach (settings, key, value) {
		fputc(',', out);
		put_value(json_object_get(json_object_get(point, "params"), key), out);
	}
	fputc(',', out);
	put_text(metric, out);
	for (size_t i = 0; i < METRIC_KEYS; i++) {
		fputc(',', out);
		put_value(json_object_get(values, metric_keys[i]), out);
	}
	for (size_t i = 0; paced && i < PACING_KEYS; i++) {
		fputc(',', out);
		put_value(json_object_get(json_object_get(point, "pacing"), pacing_keys[i]), out);
	}
	fputs("\r\n", out);
}

/* A point that was not measured has a row all the same: that it is missing should be seen. */
static void put_point(const json_t *point, json_t *settings, bool paced, FILE *out)
{
	json_t *metrics = json_object_get(point, "metrics"), *values;
	const char *metric;

	json_object_foreach (metrics, metric, values) {
		put_row(point, settings, paced, metric, values, out);
	}
	if (!json_object_size(metrics))
		put_row(point, settings, paced, "", NULL, out);
}

int summary_csv(const json_t *summary, FILE *out)
{
	const json_t *points = json_object_get(summary, "points"), *point;
	json_t *settings = all_settings(points);
	bool paced = has_pacer(points);
	size_t i;

	put_head(settings, paced, out);
	json_array_foreach (points, i, point) {
		put_point(point, settings, paced, out);
	}
	json_decref(settings);
	return ferror(out) ? -EIO : 0;
}
