#include "campaign/campaign_plan.h"

#include <stdio.h>

#include "common/json.h"

static json_t *plan_to_json(const struct study_experiment *x)
{
	json_t *j = json_pack("{s:s, s:s, s:O}", "name", x->name, "spec", x->path, "points", x->points);

	forecast_to_json(&x->expected, j);
	return j;
}

static void print_experiment(const struct study_experiment *x, bool is_left)
{
	char text[FORECAST_TEXT_MAX];

	printf("%-28s %5zu points %12llu messages  %12s%s\n", x->name, json_array_size(x->points), x->messages,
	       forecast_text(forecast_seconds(&x->expected), text, sizeof(text)), is_left ? "  left" : "");
}

enum status campaign_plan_show(const struct study *s, const struct campaign_options *o)
{
	json_t *all = json_array(), *j;
	unsigned long long messages = 0;
	struct forecast sum = {0};
	double left_s = o->budget_s;
	char text[FORECAST_TEXT_MAX];

	for (size_t i = 0; i < s->count; i++) {
		const struct study_experiment *x = &s->items[i];
		const bool is_left = o->budget_s > 0 && forecast_seconds(&x->expected) > left_s;

		messages += x->messages;
		left_s -= is_left ? 0 : forecast_seconds(&x->expected);
		sum.paced_s += x->expected.paced_s;
		sum.rest_s += x->expected.rest_s;
		json_array_append_new(all, j = plan_to_json(x));
		if (o->budget_s > 0)
			json_object_set_new(j, "left", json_boolean(is_left));
		if (!o->json)
			print_experiment(x, is_left);
	}
	if (o->json)
		json_print(all, stdout);
	else
		printf("%zu experiments, %llu messages, %s\n", s->count, messages,
		       forecast_sentence(&sum, text, sizeof(text)));
	json_decref(all);
	return STATUS_OK;
}
