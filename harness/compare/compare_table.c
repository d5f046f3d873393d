/*
 * A comparison for people: what was compared, a line for each point and quantity, and the answer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/grid.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "compare/compare_judge.h"

#define WIDTH	    140
#define STATE_LINES 12

static void put_clean(const char *text, FILE *out)
{
	char clean[2048];

	fputs(text_clean(text, strlen(text), clean, sizeof(clean)), out);
}

/* --- above --- */

static void put_list(const json_t *list, FILE *out)
{
	const json_t *text;
	size_t i;

	json_array_foreach (list, i, text) {
		fputs(i ? ", " : "", out);
		put_clean(json_is_string(text) ? json_string_value(text) : "?", out);
	}
}

static void put_arm(const json_t *result, const char *title, const char *key, FILE *out)
{
	const json_t *arm = json_object_get(result, key);
	json_int_t runs = json_integer_value(json_object_get(arm, "runs")),
		   units = json_integer_value(json_object_get(arm, "units"));
	bool boots = !strcmp(json_text(result, "unit"), "boot");

	fprintf(out, "%s: kernel ", title);
	put_list(json_object_get(arm, "kernels"), out);
	fprintf(out, ": %" JSON_INTEGER_FORMAT " run%s", runs, runs == 1 ? "" : "s");
	if (boots)
		fprintf(out, " of %" JSON_INTEGER_FORMAT " boot%s", units, units == 1 ? "" : "s");
	fprintf(out, ", on ");
	put_list(json_object_get(arm, "hosts"), out);
	fputc('\n', out);
}

/* "by boots, 12870 relabellings (all)". */
static void put_test(const json_t *result, FILE *out)
{
	const json_t *ways = json_object_get(result, "relabellings");

	if (!json_is_object(ways))
		return;
	fprintf(out, "Tested by %ss%s: %" JSON_INTEGER_FORMAT " relabellings, %s", json_text(result, "unit"),
		json_is_true(json_object_get(result, "pairs")) ? " in pairs" : "",
		json_integer_value(json_object_get(ways, "count")),
		json_is_true(json_object_get(ways, "exact")) ? "all there are" : "drawn");
	if (!json_is_true(json_object_get(ways, "exact")))
		fprintf(out, " with seed %" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(result, "seed")));
	fprintf(out, "; p and intervals hold for all points and quantities together (max-T, %g %%)\n",
		100 * json_number_or_nan(result, "alpha"));
}

/* --- the table --- */

struct line {
	const json_t *point, *quantity; /* quantity NULL: not compared, for `why` */
	const char *key, *why;
};

static struct line *add_line(struct line *lines, size_t *count, struct line line)
{
	lines = grow_or_abort(lines, *count, sizeof(*lines));
	lines[(*count)++] = line;
	return lines;
}

static struct line *collect(const json_t *result, size_t *count)
{
	const json_t *point, *q;
	struct line *lines = NULL;
	size_t i, k;

	*count = 0;
	json_array_foreach (json_object_get(result, "points"), i, point) {
		json_array_foreach (json_object_get(point, "quantities"), k, q)
			lines = add_line(lines, count, (struct line){point, q, json_text(q, "quantity"), ""});
		json_array_foreach (json_object_get(point, "not_compared"), k, q)
			lines = add_line(lines, count,
					 (struct line){point, NULL, json_text(q, "quantity"), json_text(q, "why")});
	}
	return lines;
}

static void put_level(struct grid *g, size_t column, size_t row, const struct line *l, const char *key)
{
	double value = json_number_or_nan(l->quantity, key);
	char text[32];

	if (isnan(value))
		grid_set(g, column, row, "-");
	else if (!strcmp(json_text(l->quantity, "unit"), "share"))
		grid_set(g, column, row, "%.3g %%", 100 * value);
	else if (!strcmp(json_text(l->quantity, "unit"), "ns"))
		grid_set(g, column, row, "%s", unit_human_ns((int64_t)llround(value), text, sizeof(text)));
	else
		grid_set(g, column, row, "%.4g %s", value, json_text(l->quantity, "unit"));
}

static bool is_share(const struct line *l)
{
	return !strcmp(json_text(l->quantity, "unit"), "share");
}

/* A share of messages changes by points; all else by per cent. */
static void put_effect(struct grid *g, size_t column, size_t row, const struct line *l)
{
	if (is_share(l))
		grid_set(g, column, row, "%+.3g pp", 100 * json_number_or_nan(l->quantity, "effect"));
	else
		grid_set(g, column, row, "%+.2f %%", json_number_or_nan(l->quantity, "effect_percent"));
}

static void put_end(char *text, size_t size, double value, bool share)
{
	if (isnan(value))
		snprintf(text, size, "?");
	else
		snprintf(text, size, share ? "%+.3g" : "%+.2f", value);
}

/* `which`: "" (of all together), or "_alone". */
static void put_interval(struct grid *g, size_t column, size_t row, const struct line *l, const char *which)
{
	const char *tail = is_share(l) ? "" : "_percent";
	bool share = is_share(l);
	char low[32], high[32];

	double from, to, scale = share ? 100 : 1;

	snprintf(low, sizeof(low), "low%s%s", which, tail);
	snprintf(high, sizeof(high), "high%s%s", which, tail);
	from = scale * json_number_or_nan(l->quantity, low);
	to = scale * json_number_or_nan(l->quantity, high);
	put_end(low, sizeof(low), from, share);
	put_end(high, sizeof(high), to, share);
	if (isnan(from) && isnan(to))
		grid_set(g, column, row, "anything");
	else
		grid_set(g, column, row, "%s to %s %s", low, high, share ? "pp" : "%");
}

static void put_margin(struct grid *g, size_t column, size_t row, const struct line *l)
{
	const char *from = json_text(l->quantity, "margin_from");
	const char *how = strcmp(from, "least") ? from : "";

	if (is_share(l))
		grid_set(g, column, row, "%.2g pp%s%s", 100 * json_number_or_nan(l->quantity, "margin"),
			 *how ? " " : "", how);
	else
		grid_set(g, column, row, "%.2g %%%s%s", json_number_or_nan(l->quantity, "margin_percent"),
			 *how ? " " : "", how);
}

static void put_absolute(struct grid *g, size_t column, size_t row, const struct line *l)
{
	double value = json_number_or_nan(l->quantity, "effect");

	if (is_share(l))
		grid_set(g, column, row, "-");
	else
		grid_set(g, column, row, fabs(value) < 100 ? "%+.1f %s" : "%+.0f %s", value,
			 json_text(l->quantity, "unit"));
}

static void put_lines(const json_t *result, FILE *out)
{
	bool several = json_array_size(json_object_get(result, "points")) > 1;
	size_t count, id = 0, label = 0, quantity, verdict, base, with, effect, absolute, interval, alone, p, margin;
	struct line *lines = collect(result, &count);
	struct grid g;

	grid_init(&g, count);
	if (several) {
		id = grid_add(&g, "point", GRID_RIGHT, 0);
		label = grid_add(&g, "", GRID_LEFT, 1);
	}
	quantity = grid_add(&g, "quantity", GRID_LEFT, 0);
	base = grid_add(&g, "BASE", GRID_RIGHT, 2);
	with = grid_add(&g, "NEW", GRID_RIGHT, 3);
	effect = grid_add(&g, "effect", GRID_RIGHT, 0);
	absolute = grid_add(&g, "", GRID_RIGHT, 0);
	interval = grid_add(&g, "95 % interval", GRID_RIGHT, 0);
	alone = grid_add(&g, "90 %, alone", GRID_RIGHT, 5);
	p = grid_add(&g, "p", GRID_POINT, 0);
	margin = grid_add(&g, "margin", GRID_LEFT, 4);
	verdict = grid_add(&g, "verdict", GRID_LEFT, 0);
	for (size_t i = 0; i < count; i++) {
		const struct line *l = &lines[i];
		bool first = !i || lines[i - 1].point != l->point;

		if (several && first) {
			grid_set(&g, id, i, "%" JSON_INTEGER_FORMAT,
				 json_integer_value(json_object_get(l->point, "id")));
			grid_set(&g, label, i, "%s", json_text(l->point, "label"));
		}
		grid_set(&g, quantity, i, "%s", compare_quantity_label(l->key));
		grid_set(&g, verdict, i, "%s", l->quantity ? json_text(l->quantity, "verdict") : "not compared");
		if (!l->quantity)
			continue;
		put_level(&g, base, i, l, "base");
		put_level(&g, with, i, l, "with");
		put_effect(&g, effect, i, l);
		put_absolute(&g, absolute, i, l);
		put_interval(&g, interval, i, l, "");
		put_interval(&g, alone, i, l, "_alone");
		grid_set(&g, p, i, "%.4f", json_number_or_nan(l->quantity, "p"));
		put_margin(&g, margin, i, l);
	}
	fputc('\n', out);
	grid_print(&g, WIDTH, out);
	grid_free(&g);
	free(lines);
}

/* --- below --- */

static void put_left_out(const json_t *point, FILE *out)
{
	const json_t *left_out = json_object_get(point, "left_out");
	json_int_t base = json_integer_value(json_object_get(left_out, "base")),
		   with = json_integer_value(json_object_get(left_out, "with"));

	if (!base && !with)
		return;
	fprintf(out,
		"point %" JSON_INTEGER_FORMAT ": %" JSON_INTEGER_FORMAT " runs of BASE and %" JSON_INTEGER_FORMAT
		" of NEW are left out: ",
		json_integer_value(json_object_get(point, "id")), base, with);
	put_list(json_object_get(point, "reasons"), out);
	fputc('\n', out);
}

/* Why quantities are missing: each reason once. */
static void put_missing(const json_t *result, FILE *out)
{
	json_t *said = json_object();
	const json_t *point, *q;
	size_t i, k;

	json_array_foreach (json_object_get(result, "points"), i, point) {
		put_left_out(point, out);
		json_array_foreach (json_object_get(point, "not_compared"), k, q) {
			char *line = NULL;

			if (asprintf(&line, "%s: %s", compare_quantity_label(json_text(q, "quantity")),
				     json_text(q, "why")) < 0)
				abort();
			if (!json_object_get(said, line)) {
				fputs("not compared: ", out);
				put_clean(line, out);
				fputc('\n', out);
			}
			json_object_set_new(said, line, json_true());
			free(line);
		}
	}
	json_decref(said);
}

/* A value of a state: a text, a number, or nothing. */
static void put_value(const json_t *value, FILE *out)
{
	if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		put_clean(json_is_string(value) ? json_string_value(value) : "-", out);
}

static void put_difference(const json_t *one, FILE *out)
{
	fputs("  ", out);
	put_clean(json_text(one, "key"), out);
	fputs(": ", out);
	put_value(json_object_get(one, "a"), out);
	fputs(" -> ", out);
	put_value(json_object_get(one, "b"), out);
	fprintf(out, " (%s)%s", json_text(one, "where"), *json_text(one, "meaning") ? ": " : "");
	put_clean(json_text(one, "meaning"), out);
	fputc('\n', out);
}

static void put_state(const json_t *result, FILE *out)
{
	json_int_t fatal = json_integer_value(json_object_get(result, "state_fatal")), shown = 0;
	const json_t *one;
	size_t i;

	if (!fatal)
		return;
	fprintf(out,
		"\nNot only what is under test differs: %" JSON_INTEGER_FORMAT
		" key%s of the machine's state that can decide (kblat state diff tells all):\n",
		fatal, fatal == 1 ? "" : "s");
	json_array_foreach (json_object_get(result, "state"), i, one) {
		if (!json_is_true(json_object_get(one, "varying")) && shown++ < STATE_LINES)
			put_difference(one, out);
	}
	if (fatal > STATE_LINES)
		fprintf(out, "  ... and %" JSON_INTEGER_FORMAT " more (--json has them)\n", fatal - STATE_LINES);
}

void compare_table(const json_t *result, FILE *out)
{
	const json_t *note;
	size_t i;

	put_clean(json_text(result, "experiment"), out);
	fputc('\n', out);
	put_arm(result, "BASE", "base", out);
	put_arm(result, "NEW ", "with", out);
	put_test(result, out);
	if (json_is_object(json_object_get(result, "relabellings")))
		put_lines(result, out);
	fputc('\n', out);
	put_missing(result, out);
	json_array_foreach (json_object_get(result, "notes"), i, note) {
		fputs("note: ", out);
		put_clean(json_string_value(note), out);
		fputc('\n', out);
	}
	put_state(result, out);
	fprintf(out, "\n%s: ", json_text(result, "verdict"));
	put_clean(json_text(result, "answer"), out);
	fputc('\n', out);
}
