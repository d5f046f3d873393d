#include "compare/compare_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text_table.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "compare/compare_answer.h"
#include "compare/compare_late.h"
#include "compare/compare_quantity.h"

#define WIDTH	    140
#define STATE_LINES 12
#define STATE_WORDS 8 /* words of a list, likewise */

static void compare_put_clean(const char *text, FILE *out)
{
	char clean[2048];

	fputs(text_clean(text, strlen(text), clean, sizeof(clean)), out);
}

/* --- above the table --- */

static void put_texts(const json_t *list, FILE *out)
{
	const json_t *text;
	size_t i;

	json_array_foreach (list, i, text) {
		fputs(i ? ", " : "", out);
		compare_put_clean(json_is_string(text) ? json_string_value(text) : "?", out);
	}
}

static void put_arm(const json_t *result, const char *title, const char *key, FILE *out)
{
	const json_t *arm = json_object_get(result, key);
	json_int_t runs = json_integer_value(json_object_get(arm, "runs")),
		   units = json_integer_value(json_object_get(arm, "units"));
	bool boots = !strcmp(json_text(result, "unit"), "boot");

	fprintf(out, "%s: kernel ", title);
	put_texts(json_object_get(arm, "kernels"), out);
	fprintf(out, ": %" JSON_INTEGER_FORMAT " run%s", runs, runs == 1 ? "" : "s");
	if (boots)
		fprintf(out, " of %" JSON_INTEGER_FORMAT " boot%s", units, units == 1 ? "" : "s");
	fprintf(out, ", on ");
	put_texts(json_object_get(arm, "hosts"), out);
	fputc('\n', out);
}

/* "by boots, with all 12870 relabellings". */
static void put_test(const json_t *result, FILE *out)
{
	const json_t *ways = json_object_get(result, "relabellings");

	if (!json_is_object(ways))
		return;
	fprintf(out, "Tested by %ss%s, with %s%" JSON_INTEGER_FORMAT " relabellings", json_text(result, "unit"),
		json_is_true(json_object_get(result, "pairs")) ? " in pairs" : "",
		json_is_true(json_object_get(ways, "exact")) ? "all " : "",
		json_integer_value(json_object_get(ways, "count")));
	if (!json_is_true(json_object_get(ways, "exact")))
		fprintf(out, " drawn at random (seed %" JSON_INTEGER_FORMAT ")",
			json_integer_value(json_object_get(result, "seed")));
	if (json_integer_value(json_object_get(result, "trends")))
		fprintf(out, "; drift over time is removed");
	fprintf(out, "; p and intervals hold for all points and quantities together (max-T, %.3g %%)\n",
		100 * json_number_or_nan(result, "alpha"));
}

/* One line, for a machine too noisy for a decision. */
static void put_noisy(const json_t *result, FILE *out)
{
	const json_t *noisy = json_object_get(result, "noisy");
	const char *cause = json_text(noisy, "cause");

	if (!json_is_object(noisy))
		return;
	fputs("NOISE: ", out);
	compare_put_clean(json_text(noisy, "text"), out);
	fputs(*cause ? "; " : "", out);
	compare_put_clean(cause, out);
	fputc('\n', out);
}

/* --- the table --- */

struct line {
	const json_t *point, *quantity; /* quantity NULL: not compared because of `why` */
	const char *key, *why;
};

static struct line *line_append(struct line *lines, size_t *count, struct line line)
{
	lines = grow_or_abort(lines, *count, sizeof(*lines));
	lines[(*count)++] = line;
	return lines;
}

static struct line *lines_of_result(const json_t *result, size_t *count)
{
	const json_t *point, *q;
	struct line *lines = NULL;
	size_t i, k;

	*count = 0;
	json_array_foreach (json_object_get(result, "points"), i, point) {
		json_array_foreach (json_object_get(point, "quantities"), k, q)
			lines = line_append(lines, count, (struct line){point, q, json_text(q, "quantity"), ""});
		json_array_foreach (json_object_get(point, "not_compared"), k, q)
			lines = line_append(lines, count,
					    (struct line){point, NULL, json_text(q, "quantity"), json_text(q, "why")});
	}
	return lines;
}

static void put_level(struct text_table *t, size_t column, size_t row, const struct line *l, const char *key)
{
	double value = json_number_or_nan(l->quantity, key);
	char text[32];

	if (isnan(value))
		text_table_set(t, column, row, "-");
	else if (!strcmp(json_text(l->quantity, "unit"), "share"))
		text_table_set(t, column, row, "%.3g %%", 100 * value);
	else if (!strcmp(json_text(l->quantity, "unit"), "ns"))
		text_table_set(t, column, row, "%s", unit_human_ns((int64_t)llround(value), text, sizeof(text)));
	else
		text_table_set(t, column, row, "%.4g%s%s", value, *json_text(l->quantity, "unit") ? " " : "",
			       json_text(l->quantity, "unit"));
}

static bool is_share(const struct line *l)
{
	return !strcmp(json_text(l->quantity, "unit"), "share");
}

/* Changes of shares are in percentage points; all others are in per cent. */
static void put_effect(struct text_table *t, size_t column, size_t row, const struct line *l)
{
	if (is_share(l))
		text_table_set(t, column, row, "%+.3g pp", 100 * json_number_or_nan(l->quantity, "effect"));
	else
		text_table_set(t, column, row, "%+.2f %%", json_number_or_nan(l->quantity, "effect_percent"));
}

static void put_end(char *text, size_t size, double value, bool share)
{
	if (isnan(value))
		snprintf(text, size, "?");
	else
		snprintf(text, size, share ? "%+.3g" : "%+.2f", value);
}

/* `which`: "" (the joint interval), or "_alone". */
static void put_interval(struct text_table *t, size_t column, size_t row, const struct line *l, const char *which)
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
		text_table_set(t, column, row, "unbounded");
	else
		text_table_set(t, column, row, "%s to %s %s", low, high, share ? "pp" : "%");
}

/* `key`: "margin" or "noise". */
static void put_amount(struct text_table *t, size_t column, size_t row, const struct line *l, const char *key)
{
	bool clock = !strcmp(key, "margin") && !strcmp(json_text(l->quantity, "margin_from"), "clock");
	char percent[32], number[24];
	double value;

	snprintf(percent, sizeof(percent), "%s_percent", key);
	value = is_share(l) ? 100 * json_number_or_nan(l->quantity, key) : json_number_or_nan(l->quantity, percent);
	if (isnan(value))
		text_table_set(t, column, row, "unbounded");
	else
		text_table_set(t, column, row, "%s %s%s", compare_quantity_rounded(value, number, sizeof(number)),
			       is_share(l) ? "pp" : "%", clock ? " clock" : "");
}

static void put_absolute(struct text_table *t, size_t column, size_t row, const struct line *l)
{
	double value = json_number_or_nan(l->quantity, "effect");

	if (is_share(l))
		text_table_set(t, column, row, "-");
	else
		text_table_set(t, column, row, fabs(value) < 100 ? "%+.1f %s" : "%+.0f %s", value,
			       json_text(l->quantity, "unit"));
}

static void put_lines(const json_t *result, FILE *out)
{
	bool several = json_array_size(json_object_get(result, "points")) > 1;
	size_t count, id = 0, label = 0, quantity, verdict, base, with, effect, absolute, interval, alone, p, noise,
		      margin;
	char all_of_them[48], one_of_them[48];
	struct line *lines = lines_of_result(result, &count);
	struct text_table t;

	snprintf(all_of_them, sizeof(all_of_them), "%.3g %% interval", compare_confidence(result));
	snprintf(one_of_them, sizeof(one_of_them), "%.3g %%, alone", 2 * compare_confidence(result) - 100);
	text_table_init(&t, count);
	if (several) {
		id = text_table_add(&t, "point", ALIGN_RIGHT, 0);
		label = text_table_add(&t, "", ALIGN_LEFT, 1);
	}
	quantity = text_table_add(&t, "quantity", ALIGN_LEFT, 0);
	base = text_table_add(&t, "BASE", ALIGN_RIGHT, 2);
	with = text_table_add(&t, "NEW", ALIGN_RIGHT, 3);
	effect = text_table_add(&t, "effect", ALIGN_RIGHT, 0);
	absolute = text_table_add(&t, "", ALIGN_RIGHT, 0);
	interval = text_table_add(&t, all_of_them, ALIGN_RIGHT, 0);
	alone = text_table_add(&t, one_of_them, ALIGN_RIGHT, 5);
	p = text_table_add(&t, "p", ALIGN_POINT, 0);
	noise = text_table_add(&t, "noise", ALIGN_RIGHT, 0);
	margin = text_table_add(&t, "margin", ALIGN_LEFT, 4);
	verdict = text_table_add(&t, "verdict", ALIGN_LEFT, 0);
	for (size_t i = 0; i < count; i++) {
		const struct line *l = &lines[i];
		bool first = !i || lines[i - 1].point != l->point;

		if (several && first) {
			text_table_set(&t, id, i, "%" JSON_INTEGER_FORMAT,
				       json_integer_value(json_object_get(l->point, "id")));
			text_table_set(&t, label, i, "%s", json_text(l->point, "label"));
		}
		text_table_set(&t, quantity, i, "%s", compare_quantity_label(l->key));
		text_table_set(&t, verdict, i, "%s", l->quantity ? json_text(l->quantity, "verdict") : "not compared");
		if (!l->quantity)
			continue;
		put_level(&t, base, i, l, "base");
		put_level(&t, with, i, l, "with");
		put_effect(&t, effect, i, l);
		put_absolute(&t, absolute, i, l);
		put_interval(&t, interval, i, l, "");
		put_interval(&t, alone, i, l, "_alone");
		text_table_set(&t, p, i, "%.4f", json_number_or_nan(l->quantity, "p"));
		put_amount(&t, noise, i, l, "noise");
		put_amount(&t, margin, i, l, "margin");
	}
	fputc('\n', out);
	text_table_print(&t, WIDTH, out);
	text_table_free(&t);
	free(lines);
}

/* --- below the table --- */

static void put_left_out(const json_t *point, FILE *out)
{
	const json_t *left_out = json_object_get(point, "left_out");
	json_int_t base = json_integer_value(json_object_get(left_out, "base")),
		   with = json_integer_value(json_object_get(left_out, "with"));

	if (!base && !with)
		return;
	fprintf(out,
		"point %" JSON_INTEGER_FORMAT ": left out in %" JSON_INTEGER_FORMAT
		" run%s of BASE and %" JSON_INTEGER_FORMAT " of NEW: ",
		json_integer_value(json_object_get(point, "id")), base, base == 1 ? "" : "s", with);
	put_texts(json_object_get(point, "reasons"), out);
	fputc('\n', out);
}

/* Why quantities are missing, each reason once. */
static void put_missing(const json_t *result, FILE *out)
{
	json_t *said = json_object();
	const json_t *point, *q;
	size_t i, k;

	json_array_foreach (json_object_get(result, "points"), i, point) {
		put_left_out(point, out);
		json_array_foreach (json_object_get(point, "not_compared"), k, q) {
			char *line;
			int n = asprintf(&line, "%s: %s", compare_quantity_label(json_text(q, "quantity")),
					 json_text(q, "why"));

			or_abort(n < 0 ? NULL : line);
			if (!json_object_get(said, line)) {
				fputs("not compared: ", out);
				compare_put_clean(line, out);
				fputc('\n', out);
			}
			json_object_set_new(said, line, json_true());
			free(line);
		}
	}
	json_decref(said);
}

/* A value of a state: a text, a number, or nothing. */
static void put_state_value(const json_t *value, FILE *out)
{
	if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		compare_put_clean(json_is_string(value) ? json_string_value(value) : "-", out);
}

/* " -TTWU_QUEUE", " +NO_TTWU_QUEUE +PREEMPT_LAZY"; only the first ones if there are very many. */
static void put_words(const json_t *words, char sign, FILE *out)
{
	const json_t *word;
	size_t i;

	json_array_foreach (words, i, word) {
		if (i == STATE_WORDS) {
			fprintf(out, " %c%zu more", sign, json_array_size(words) - i);
			break;
		}
		fprintf(out, " %c", sign);
		compare_put_clean(json_string_value(word), out);
	}
}

static void put_difference(const json_t *one, FILE *out)
{
	fputs("  ", out);
	compare_put_clean(json_text(one, "key"), out);
	fputc(':', out);
	if (json_object_get(one, "added")) {
		put_words(json_object_get(one, "removed"), '-', out);
		put_words(json_object_get(one, "added"), '+', out);
	} else {
		fputc(' ', out);
		put_state_value(json_object_get(one, "a"), out);
		fputs(" -> ", out);
		put_state_value(json_object_get(one, "b"), out);
	}
	fprintf(out, " (%s)%s", json_text(one, "where"), *json_text(one, "meaning") ? ": " : "");
	compare_put_clean(json_text(one, "meaning"), out);
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
		"\nBesides what is under test, the machine's state differs in %" JSON_INTEGER_FORMAT
		" key%s that can explain a difference (kblat state diff shows all):\n",
		fatal, fatal == 1 ? "" : "s");
	json_array_foreach (json_object_get(result, "state"), i, one) {
		if (!json_is_true(json_object_get(one, "varying")) && shown++ < STATE_LINES)
			put_difference(one, out);
	}
	if (fatal > STATE_LINES)
		fprintf(out, "  ... and %" JSON_INTEGER_FORMAT " more (--json lists them)\n", fatal - STATE_LINES);
}

static void put_notes(const json_t *result, FILE *out)
{
	const json_t *note;
	size_t i;

	json_array_foreach (json_object_get(result, "notes"), i, note) {
		fputs("note: ", out);
		compare_put_clean(json_string_value(note), out);
		fputc('\n', out);
	}
}

/* A paragraph of its own, if there is anything to remark. */
static void put_remarks(const json_t *result, FILE *out)
{
	char *text;
	size_t size;
	FILE *remarks = or_abort(open_memstream(&text, &size));

	put_missing(result, remarks);
	put_notes(result, remarks);
	fclose(remarks);
	if (size)
		fprintf(out, "\n%s", text);
	free(text);
}

void compare_table(const json_t *result, FILE *out)
{
	compare_put_clean(json_text(result, "experiment"), out);
	fputc('\n', out);
	put_arm(result, "BASE", "base", out);
	put_arm(result, "NEW ", "with", out);
	put_test(result, out);
	put_noisy(result, out);
	if (json_is_object(json_object_get(result, "relabellings")))
		put_lines(result, out);
	put_remarks(result, out);
	compare_late_print(result, out);
	put_state(result, out);
	fprintf(out, "\n%s: ", json_text(result, "verdict"));
	compare_put_clean(json_text(result, "answer"), out);
	fputc('\n', out);
}
