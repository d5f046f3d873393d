#include "commands/dry_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/json.h"
#include "common/or_abort.h"
#include "judge/analysis/param.h"
#include "measure/run/forecast.h"
#include "measure/run/preflight.h"
#include "measure/run/run.h"

static void dry_run_settings(const struct spec *spec, size_t point, bool shared, FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach (spec->point[point].params, key, value) {
		if ((json_object_get(spec->differing, key) == NULL) != shared)
			continue;
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		fprintf(out, " %s=%s", key, text);
		free(text);
	}
}

void dry_run_named_settings(const struct spec *spec, size_t point, FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach (spec->point[point].params, key, value) {
		char name[64], text[64];
		enum unit unit = param_name_unit(key, name, sizeof(name));

		if (json_object_get(spec->named_keys, key) && json_object_get(spec->differing, key))
			fprintf(out, " %s=%s", name, param_value_text(value, unit, text, sizeof(text)));
	}
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
		dry_run_settings(spec, 0, true, stdout);
		printf("\n");
	}
	for (size_t i = 0; i < spec->point_count; i++) {
		printf("%4zu: %10s ", i, forecast_text(forecast_seconds(&each[i]), text, sizeof(text)));
		dry_run_settings(spec, i, false, stdout);
		printf("\n");
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
	const struct forecast sum = forecast_run(spec, runs, each);

	if (json)
		print_json(spec, each);
	else
		print_points(spec, &sum, each);
	free(runs);
	free(each);
}
