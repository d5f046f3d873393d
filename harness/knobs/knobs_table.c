#include "knobs/knobs_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text_table.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "compare/compare_judge.h"
#include "compare/compare_quantity.h"
#include "knobs/knobs_judge.h"

#define WIDTH 120 /* followed by the cost of each knob */

static void print_clean(const char *text, FILE *out)
{
	char clean[2048];

	fputs(text_clean(text, strlen(text), clean, sizeof(clean)), out);
}

/* --- the most significant quantity --- */

static bool tells_more(const json_t *a, const json_t *b)
{
	double p = json_number_or_nan(a, "p"), other = json_number_or_nan(b, "p");

	if (p != other)
		return p < other;
	return fabs(json_number_or_nan(a, "effect_percent")) > fabs(json_number_or_nan(b, "effect_percent"));
}

const json_t *knobs_table_telling(const json_t *comparison, const json_t **point)
{
	const json_t *best = NULL, *one, *quantity;
	size_t i, q;

	json_array_foreach (json_object_get(comparison, "points"), i, one)
		json_array_foreach (json_object_get(one, "quantities"), q, quantity) {
			if (best && !tells_more(quantity, best))
				continue;
			best = quantity;
			*point = one;
		}
	return best;
}

bool knobs_table_interval(const json_t *quantity, double *low, double *high)
{
	static const char *const keys[2][2][2] = {
	    {{"low_percent", "high_percent"}, {"low_alone_percent", "high_alone_percent"}},
	    {{"low", "high"}, {"low_alone", "high_alone"}}};
	bool share = !strcmp(json_text(quantity, "unit"), "share"), alone = false;

	for (;; alone = true) {
		*low = (share ? 100 : 1) * json_number_or_nan(quantity, keys[share][alone][0]);
		*high = (share ? 100 : 1) * json_number_or_nan(quantity, keys[share][alone][1]);
		if (alone || (!isnan(*low) && !isnan(*high)))
			return alone;
	}
}

/* --- cells --- */

static void set_effect(struct text_table *t, size_t column, size_t row, const json_t *comparison)
{
	bool several = json_array_size(json_object_get(comparison, "points")) > 1;
	const json_t *point, *q = knobs_table_telling(comparison, &point);
	char number[16] = "";

	if (!q) {
		text_table_set(t, column, row, comparison ? "not judged" : "-");
		return;
	}
	if (several)
		snprintf(number, sizeof(number), "%d: ", (int)json_integer_value(json_object_get(point, "id")));
	if (!strcmp(json_text(q, "unit"), "share"))
		text_table_set(t, column, row, "%s%s %+.3g pp", number,
			       compare_quantity_label(json_text(q, "quantity")), 100 * json_number_or_nan(q, "effect"));
	else
		text_table_set(t, column, row, "%s%s %+.2f %%", number,
			       compare_quantity_label(json_text(q, "quantity")),
			       json_number_or_nan(q, "effect_percent"));
}

/* The interval of the quantity alone is in parentheses. */
static void set_interval(struct text_table *t, size_t column, size_t row, const json_t *comparison)
{
	const json_t *point, *q = knobs_table_telling(comparison, &point);
	bool share = q && !strcmp(json_text(q, "unit"), "share"), alone;
	double low, high;

	if (!q)
		return;
	alone = knobs_table_interval(q, &low, &high);
	if (isnan(low) || isnan(high))
		text_table_set(t, column, row, "unbounded");
	else
		text_table_set(t, column, row, share ? "%s%+.3g to %+.3g pp%s" : "%s%+.2f to %+.2f %%%s",
			       alone ? "(" : "", low, high, alone ? ")" : "");
}

/* --- the table --- */

struct columns {
	size_t knob, alone, alone_interval, without, without_interval, verdict;
};

static struct columns add_columns(struct text_table *t)
{
	struct columns c;

	c.knob = text_table_add(t, "knob", ALIGN_LEFT, 0);
	c.alone = text_table_add(t, "alone", ALIGN_RIGHT, 0);
	c.alone_interval = text_table_add(t, "95 % interval", ALIGN_RIGHT, 1);
	c.without = text_table_add(t, "left out", ALIGN_RIGHT, 0);
	c.without_interval = text_table_add(t, "95 % interval", ALIGN_RIGHT, 2);
	c.verdict = text_table_add(t, "verdict", ALIGN_LEFT, 0);
	return c;
}

static void set_row(struct text_table *t, const struct columns *c, size_t row, const json_t *result, const json_t *knob)
{
	const char *id = json_text(knob, "id");
	const json_t *alone = knobs_comparison(result, id, "alone"), *without = knobs_comparison(result, id, "without");

	text_table_set(t, c->knob, row, "%s%s", json_text(knob, "name"),
		       json_is_true(json_object_get(knob, "shields")) ? " (in shields)" : "");
	set_effect(t, c->alone, row, alone);
	set_interval(t, c->alone_interval, row, alone);
	set_effect(t, c->without, row, without);
	set_interval(t, c->without_interval, row, without);
	text_table_set(t, c->verdict, row, "%s", knobs_verdict(result, id));
}

static void set_whole(struct text_table *t, const struct columns *c, const json_t *result)
{
	const json_t *whole = knobs_comparison(result, "", "whole");

	text_table_set(t, c->knob, 0, "the whole");
	set_effect(t, c->alone, 0, whole);
	set_interval(t, c->alone_interval, 0, whole);
	text_table_set(t, c->verdict, 0, "%s", json_text(whole, "verdict"));
}

static size_t longest_line(const char *text)
{
	size_t most = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (strcspn(text, "\n") > most)
			most = strcspn(text, "\n");
	return most;
}

/* Costs are longer than a cell, so they are printed after the lines of the table. */
static void print_with_costs(char *text, const json_t **rows, size_t count, FILE *out)
{
	const int width = (int)longest_line(text);

	for (size_t i = 0; i <= count && *text; i++) {
		size_t length = strcspn(text, "\n");
		const char *cost = i == 0 ? "cost" : rows[i - 1] ? json_text(rows[i - 1], "cost") : "";

		if (*cost)
			fprintf(out, "%-*.*s  ", width, (int)length, text);
		else
			fprintf(out, "%.*s", (int)length, text);
		print_clean(cost, out);
		fputc('\n', out);
		text += length + (text[length] == '\n');
	}
}

static void print_knobs(const json_t *knobs, FILE *out)
{
	const json_t *all = json_object_get(knobs, "knobs"), *result = json_object_get(knobs, "result"), *knob;
	const json_t **rows = or_abort(calloc(json_array_size(all) + 2, sizeof(*rows)));
	size_t i, count = 1, size;
	struct text_table t;
	struct columns c;
	char *text = NULL;
	FILE *memory = or_abort(open_memstream(&text, &size));

	json_array_foreach (all, i, knob)
		if (json_is_true(json_object_get(knob, "tested")))
			rows[count++] = knob;
	text_table_init(&t, count);
	c = add_columns(&t);
	set_whole(&t, &c, result);
	for (i = 1; i < count; i++)
		set_row(&t, &c, i, result, rows[i]);
	text_table_print(&t, WIDTH, memory);
	fclose(memory);
	print_with_costs(text, rows, count, out);
	text_table_free(&t);
	free(text);
	free(rows);
}

static void print_untested(const json_t *knobs, FILE *out)
{
	const json_t *knob;
	size_t i, n = 0;

	json_array_foreach (json_object_get(knobs, "knobs"), i, knob) {
		if (json_is_true(json_object_get(knob, "tested")))
			continue;
		fputs(n++ ? "" : "\nnot tested:\n", out);
		fputs("  ", out);
		print_clean(json_text(knob, "name"), out);
		fputs(": ", out);
		print_clean(json_text(knob, "why"), out);
		fputc('\n', out);
	}
}

static void print_test(const json_t *result, FILE *out)
{
	const json_t *ways = json_object_get(result, "relabellings");
	json_int_t measured = json_integer_value(json_object_get(result, "blocks")),
		   count = json_integer_value(json_object_get(ways, "count"));

	fprintf(out, "%" JSON_INTEGER_FORMAT " blocks", measured);
	if (count)
		fprintf(out,
			"; %s%" JSON_INTEGER_FORMAT " relabellings%s\nIntervals hold for all knobs, points and "
			"quantities together (max-T, %g %%); in parentheses, alone (90 %%)\n\n",
			json_is_true(json_object_get(ways, "exact")) ? "all " : "", count,
			json_is_true(json_object_get(ways, "exact")) ? "" : " drawn at random",
			100 * json_number_or_nan(result, "alpha"));
	else
		fprintf(out, "; no verdict with fewer than %d\n\n", COMPARE_PAIRS);
}

void knobs_table(const json_t *knobs, FILE *out)
{
	const json_t *result = json_object_get(knobs, "result"), *smallest = json_object_get(knobs, "smallest");

	print_clean(json_text(knobs, "name"), out);
	fputs(": the knobs of ", out);
	print_clean(json_text(knobs, "profile"), out);
	fputs("; ", out);
	print_test(result, out);
	print_knobs(knobs, out);
	print_untested(knobs, out);
	if (!json_is_object(smallest))
		return;
	fprintf(out, "\n%s: ", json_text(smallest, "verdict"));
	print_clean(json_text(smallest, "answer"), out);
	fputc('\n', out);
}
