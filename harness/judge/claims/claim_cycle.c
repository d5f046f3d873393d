#include "judge/claims/claim_cycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- its name --- */

static const struct {
	const char *name;
	enum pattern_number like;
} keys[CYCLE_KEYS] = {
    [CYCLE_PERIOD] = {"period", PATTERN_PERIOD},
    [CYCLE_STRENGTH] = {"strength", PATTERN_STRENGTH},
    [CYCLE_BASE_NS] = {"base_ns", PATTERN_BASE_NS},
    [CYCLE_HIGH_NS] = {"high_ns", PATTERN_HIGH_NS},
    [CYCLE_HIGH_FIRST] = {"high_first", PATTERN_HIGH_FIRST},
    [CYCLE_HIGH_LAST] = {"high_last", PATTERN_HIGH_LAST},
    [CYCLE_NEXT_NS] = {"next_ns", PATTERN_HIGH_NS},
    [CYCLE_NEXT_FIRST] = {"next_first", PATTERN_HIGH_FIRST},
    [CYCLE_NEXT_LAST] = {"next_last", PATTERN_HIGH_LAST},
};

/* One of the words in parentheses: a number is a period, anything else a series. */
static const char *take_word(const char *word, size_t length, struct claim_cycle *out)
{
	char *end;

	if (!length || length >= sizeof(out->series))
		return "in parentheses, a pattern has a series, a period (2 or more), or both";
	if (strspn(word, "0123456789") < length) {
		if (*out->series || out->period)
			return "in parentheses, a pattern's series comes first, and then a period";
		snprintf(out->series, sizeof(out->series), "%.*s", (int)length, word);
		return NULL;
	}
	if (out->period)
		return "in parentheses, a pattern has one period";
	out->period = strtoll(word, &end, 10);
	return out->period < 2 || out->period > INT32_MAX ? "a period is a number of messages, 2 or more" : NULL;
}

static const char *take_words(const char *at, struct claim_cycle *out)
{
	const char *close = strchr(at, ')'), *wrong = NULL;

	if (!close || close[1])
		return "')' must be the end of the metric";
	while (!wrong && at <= close) {
		size_t length;

		at += strspn(at, " ");
		length = strcspn(at, " ,)");
		wrong = take_word(at, length, out);
		at += length;
		at += strspn(at, " ");
		if (!wrong && at < close && *at != ',')
			wrong = "a comma is missing between a pattern's series and its period";
		at++;
	}
	return wrong;
}

bool claim_cycle_parse(const char *statistic, struct claim_cycle *out, const char **wrong)
{
	const size_t length = strcspn(statistic, "(");

	*out = (struct claim_cycle){0};
	*wrong = NULL;
	if (!statistic[length])
		return false;
	while (out->key < CYCLE_KEYS &&
	       (strlen(keys[out->key].name) != length || strncmp(statistic, keys[out->key].name, length)))
		out->key++;
	if (out->key == CYCLE_KEYS) {
		out->key = CYCLE_PERIOD;
		*wrong = "of a period there are: period, strength, base_ns, high_ns, high_first, high_last, next_ns, "
			 "next_first, next_last";
		return true;
	}
	*wrong = take_words(statistic + length + 1, out);
	if (!*wrong && out->key == CYCLE_BASE_NS && out->period)
		*wrong = "base_ns belongs to all periods of a series";
	return true;
}

const struct block_statistic *claim_cycle_like(const struct claim_cycle *c)
{
	return block_number_row(&pattern_block, keys[c->key].like);
}

/* --- its value --- */

/* A period with the phases that stand out. */
struct cycle {
	json_int_t period;
	double strength;
	const struct summary_phase_list *lists[2];
};

/* The one with that period; the strongest one for 0. */
static bool find_cycle(const struct summary_block *b, json_int_t period, struct cycle *out)
{
	const struct summary_pattern *p = b->pattern;
	const json_int_t strongest = number_count(b->numbers[PATTERN_PERIOD]);

	if (strongest && (!period || strongest == period)) {
		*out = (struct cycle){strongest, number_or_zero(b->numbers[PATTERN_STRENGTH]), {&p->high, &p->low}};
		return true;
	}
	for (size_t i = 0; period && i < p->nested_count; i++)
		if (p->nested[i].period == period) {
			*out = (struct cycle){period, p->nested[i].strength, {&p->nested[i].high, &p->nested[i].low}};
			return true;
		}
	return false;
}

/* The phases that take longest, except for `but`, but longer than the base; NULL if there are none. In a nested period,
 * phases of the outer one may be among those that are lower than expected, and still be slow. */
static const struct summary_phases *slowest(const struct cycle *c, double base, const struct summary_phases *but)
{
	const struct summary_phases *found = NULL;

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < c->lists[l]->count; i++) {
			const struct summary_phases *p = &c->lists[l]->list[i];

			if (p != but && (double)p->p50_ns > base && (!found || p->p50_ns > found->p50_ns))
				found = p;
		}
	return found;
}

/* "15-16,31-32" */
static json_int_t last_of(const char *phases)
{
	const char *dash = strrchr(phases, '-'), *comma = strrchr(phases, ',');
	const char *at = dash > comma ? dash : comma;

	return strtoll(at ? at + 1 : phases, NULL, 10);
}

static struct number of_phases(const struct cycle *c, double base, enum claim_cycle_key key)
{
	const struct summary_phases *p = slowest(c, base, NULL);

	if (p && key >= CYCLE_NEXT_NS)
		p = slowest(c, base, p);
	if (!p)
		return number_none();
	if (key == CYCLE_HIGH_NS || key == CYCLE_NEXT_NS)
		return number_integer(p->p50_ns);
	return number_integer(key == CYCLE_HIGH_FIRST || key == CYCLE_NEXT_FIRST ? strtoll(p->phases, NULL, 10)
										 : last_of(p->phases));
}

static const struct summary_block *block_of(const struct summary_results *r, const char *flow, const char *series)
{
	const struct summary_block *b = summary_find_block(r, flow, &pattern_block);

	if (!b || !b->pattern || !*series || (b->about && !strcmp(b->about, series)))
		return b;
	for (size_t i = 0; i < b->pattern->other_count; i++)
		if (b->pattern->others[i].about && !strcmp(b->pattern->others[i].about, series))
			return &b->pattern->others[i];
	return NULL;
}

struct number claim_cycle_number(const struct summary_results *r, const char *flow, const struct claim_cycle *c)
{
	const struct summary_block *b = block_of(r, flow, c->series);
	struct cycle cycle;

	if (!b || !b->pattern)
		return (struct number){.kind = NUMBER_ABSENT};
	if (c->key == CYCLE_BASE_NS)
		return b->numbers[PATTERN_BASE_NS];
	if (!find_cycle(b, c->period, &cycle))
		return c->key <= CYCLE_STRENGTH ? number_integer(0) : number_none();
	if (c->key == CYCLE_PERIOD)
		return number_integer(cycle.period);
	if (c->key == CYCLE_STRENGTH)
		return number_real(cycle.strength);
	return of_phases(&cycle, number_or_zero(b->numbers[PATTERN_BASE_NS]), c->key);
}
