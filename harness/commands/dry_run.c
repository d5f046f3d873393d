#include "commands/dry_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands/point_settings.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "run/forecast_run.h"
#include "run/preflight.h"
#include "run/run.h"

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
		point_settings_print(spec, 0, true, stdout);
		printf("\n");
	}
	for (size_t i = 0; i < spec->point_count; i++) {
		printf("%4zu: %10s ", i, forecast_text(forecast_seconds(&each[i]), text, sizeof(text)));
		point_settings_print(spec, i, false, stdout);
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
	const struct forecast sum = forecast_run(spec->point, spec->point_count, runs, spec->name, each);

	if (json)
		print_json(spec, each);
	else
		print_points(spec, &sum, each);
	free(runs);
	free(each);
}
