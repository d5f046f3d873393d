#include "commands/dry_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/json.h"
#include "common/or_abort.h"
#include "run/forecast_run.h"
#include "run/preflight.h"
#include "run/run.h"

/* The settings of a point that are the same in all points, or those that are not. */
static void print_settings(const struct spec *spec, size_t point, bool shared)
{
	const char *key;
	json_t *value;

	json_object_foreach (spec->point[point].params, key, value) {
		bool same = true;

		for (size_t i = 0; i < spec->point_count; i++)
			same &= json_equal(json_object_get(spec->point[i].params, key),
					   json_object_get(spec->point[0].params, key));
		if (same != shared)
			continue;
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		printf(" %s=%s", key, text);
		free(text);
	}
	printf("\n");
}

static size_t count_former(const struct forecast *each, size_t count)
{
	size_t former = 0;

	for (size_t i = 0; i < count; i++)
		former += each[i].is_former;
	return former;
}

static void print_points(const struct spec *spec, const struct forecast *sum, const struct forecast *each)
{
	char text[FORECAST_TEXT_MAX];

	printf("%zu point%s, %llu messages, %s, %zu as in former runs; settings that all share:\n", spec->point_count,
	       spec->point_count == 1 ? "" : "s", preflight_messages(spec->point, spec->point_count),
	       forecast_sentence(sum, text, sizeof(text)), count_former(each, spec->point_count));
	if (spec->point_count) {
		printf(" ");
		print_settings(spec, 0, true);
	}
	for (size_t i = 0; i < spec->point_count; i++) {
		printf("%4zu: %10s ", i, forecast_text(forecast_seconds(&each[i]), text, sizeof(text)));
		print_settings(spec, i, false);
	}
}

static void print_json(const struct spec *spec, const struct forecast *each)
{
	json_t *points = spec_points_json(spec), *p;
	size_t i;

	json_array_foreach (points, i, p)
		forecast_to_json(&each[i], p);
	json_print(points, stdout);
	json_decref(points);
}

void dry_run_show(const struct spec *spec, const char *out, bool json)
{
	struct forecast *each = or_abort(calloc(spec->point_count + 1, sizeof(*each)));
	char *runs = run_parent(spec, out);
	const struct forecast sum = forecast_run(spec->point, spec->point_count, runs, spec->name, each);

	if (json)
		print_json(spec, each);
	else
		print_points(spec, &sum, each);
	free(runs);
	free(each);
}
