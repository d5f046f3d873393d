#include "pairs/pairs_plan.h"

#include <stdio.h>

#include "common/json.h"
#include "run/forecast.h"

/* Per pair being measured: a kblat, and the commands that start its two endpoints. */
#define PROCESSES 3

#define SHOWN_ROUNDS 3
#define SHOWN_PAIRS  4

size_t pairs_plan_at_once(const struct pairs *p, long at_once)
{
	const size_t most = at_once > 0 ? (size_t)at_once : PAIRS_AT_ONCE,
		     places = pairs_schedule_places(p->hosts.count);

	return most < places ? most : places;
}

static void print_round(const struct pairs *p, size_t round)
{
	size_t shown = 0, all = 0;

	printf("  round %zu:", round + 1);
	for (size_t i = 0; i < p->count; i++) {
		if (p->pair[i].round != round)
			continue;
		all++;
		if (shown < SHOWN_PAIRS && ++shown)
			printf(" %s-%s", pairs_record_source(p, i)->name, pairs_record_sink(p, i)->name);
	}
	printf(all > shown ? " and %zu more\n" : "\n", all - shown);
}

static json_t *plan_json(const struct pairs *p, size_t at_once, double expected_s)
{
	json_t *rounds = json_array();

	for (size_t i = 0; i < p->count; i++) {
		if (p->pair[i].round == json_array_size(rounds))
			json_array_append_new(rounds, json_array());
		json_array_append_new(
		    json_array_get(rounds, p->pair[i].round),
		    json_pack("[s, s]", pairs_record_source(p, i)->name, pairs_record_sink(p, i)->name));
	}
	return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:o}", "hosts", (json_int_t)p->hosts.count, "pairs",
			 (json_int_t)p->count, "at_once", (json_int_t)at_once, "expected_s", expected_s, "processes",
			 (json_int_t)(PROCESSES * at_once), "descriptors", (json_int_t)(PAIRS_DESCRIPTORS * at_once),
			 "rounds", rounds);
}

void pairs_plan_show(const struct pairs *p, const struct spec *spec, long asked, double each_s, bool json)
{
	const size_t at_once = pairs_plan_at_once(p, asked), places = pairs_schedule_places(p->hosts.count);
	const size_t rounds = pairs_schedule_rounds(p->hosts.count);
	const double expected_s = (double)rounds * (double)((places + at_once - 1) / at_once) * each_s;
	char text[FORECAST_TEXT_MAX], each[FORECAST_TEXT_MAX];

	if (json) {
		json_t *j = plan_json(p, at_once, expected_s);

		json_print(j, stdout);
		json_decref(j);
		return;
	}
	printf("%s: %zu hosts, %zu pairs, %zu points each; %zu rounds, %zu pairs at once\n", spec->name, p->hosts.count,
	       p->count, spec->point_count, rounds, at_once);
	printf("  about %s (a pair takes about %s); %zu processes and %zu descriptors here at a time\n",
	       forecast_text(expected_s, text, sizeof(text)), forecast_text(each_s, each, sizeof(each)),
	       PROCESSES * at_once, PAIRS_DESCRIPTORS * at_once);
	for (size_t round = 0; round < rounds && round < SHOWN_ROUNDS; round++)
		print_round(p, round);
}
