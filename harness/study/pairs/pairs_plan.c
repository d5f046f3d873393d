#include "study/pairs/pairs_plan.h"

#include <stdio.h>

#include "common/json.h"
#include "measure/run/forecast.h"
#include "study/runner.h"

/* Per pair being measured: a kblat, and the commands that start its two endpoints. */
#define PROCESSES 3

#define SHOWN_ROUNDS 3
#define SHOWN_PAIRS  4

/* --- rounds --- */

/* Rounded up to an even number; if it is odd, the extra one stands for a pause. */
static size_t even(size_t hosts)
{
	return hosts + hosts % 2;
}

size_t pairs_plan_rounds(size_t hosts)
{
	return hosts < 2 ? 0 : even(hosts) - 1;
}

size_t pairs_plan_places(size_t hosts)
{
	return even(hosts) / 2;
}

/* The last host stays in its place, and the others rotate by one place per round. */
bool pairs_plan_at(size_t hosts, size_t round, size_t place, struct pairs_two *two)
{
	const size_t circle = even(hosts) - 1;
	const size_t a = (round + place) % circle;
	const size_t b = place ? (round + circle - place) % circle : circle;
	const bool swap = place ? place % 2 : round % 2;

	*two = swap ? (struct pairs_two){b, a} : (struct pairs_two){a, b};
	return a < hosts && b < hosts;
}

void pairs_plan_cells(struct study *s)
{
	const size_t hosts = s->hosts.count;
	struct pairs_two two;

	for (size_t round = 0; round < pairs_plan_rounds(hosts); round++)
		for (size_t place = 0; place < pairs_plan_places(hosts); place++)
			if (pairs_plan_at(hosts, round, place, &two)) {
				struct cell *c = study_add_cell(s);

				c->source = two.source;
				c->sink = two.sink;
				c->block = round;
			}
}

size_t pairs_plan_at_once(const struct study *s)
{
	const size_t most = s->options.at_once > 0 ? (size_t)s->options.at_once : PAIRS_AT_ONCE,
		     places = pairs_plan_places(s->hosts.count);

	return most < places ? most : places;
}

/* --- a dry run --- */

static const char *host_name(const struct study *s, size_t host)
{
	return s->hosts.item[host].name;
}

static void print_round(const struct study *s, size_t round)
{
	size_t shown = 0, all = 0;

	printf("  round %zu:", round + 1);
	for (size_t i = 0; i < s->count; i++) {
		if (s->cell[i].block != round)
			continue;
		all++;
		if (shown < SHOWN_PAIRS && ++shown)
			printf(" %s-%s", host_name(s, s->cell[i].source), host_name(s, s->cell[i].sink));
	}
	printf(all > shown ? " and %zu more\n" : "\n", all - shown);
}

static json_t *plan_json(const struct study *s, size_t at_once, double expected_s)
{
	json_t *rounds = json_array();

	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];

		if (c->block == json_array_size(rounds))
			json_array_append_new(rounds, json_array());
		json_array_append_new(json_array_get(rounds, c->block),
				      json_pack("[s, s]", host_name(s, c->source), host_name(s, c->sink)));
	}
	return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:o}", "hosts", (json_int_t)s->hosts.count, "pairs",
			 (json_int_t)s->count, "at_once", (json_int_t)at_once, "expected_s", expected_s, "processes",
			 (json_int_t)(PROCESSES * at_once), "descriptors", (json_int_t)(RUNNER_FILES * at_once),
			 "rounds", rounds);
}

void pairs_plan_show(const struct study *s, const struct pairs_plan *plan, bool json)
{
	const size_t at_once = pairs_plan_at_once(s), places = pairs_plan_places(s->hosts.count);
	const size_t rounds = pairs_plan_rounds(s->hosts.count);
	const double expected_s = (double)rounds * (double)((places + at_once - 1) / at_once) * plan->expected_s;
	char text[FORECAST_TEXT_MAX], each[FORECAST_TEXT_MAX];

	if (json) {
		json_t *j = plan_json(s, at_once, expected_s);

		json_print(j, stdout);
		json_decref(j);
		return;
	}
	printf("%s: %zu hosts, %zu pairs, %zu points each; %zu rounds, %zu pairs at once\n", s->name, s->hosts.count,
	       s->count, plan->points, rounds, at_once);
	printf("  about %s (a pair takes about %s); %zu processes and %zu descriptors here at a time\n",
	       forecast_text(expected_s, text, sizeof(text)), forecast_text(plan->expected_s, each, sizeof(each)),
	       PROCESSES * at_once, RUNNER_FILES * at_once);
	for (size_t round = 0; round < rounds && round < SHOWN_ROUNDS; round++)
		print_round(s, round);
}
