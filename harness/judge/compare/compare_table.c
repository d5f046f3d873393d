#include "judge/compare/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/table.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/units.h"
#include "judge/compare/compare_point.h"

#define WIDTH	     140
#define STATE_LINES  12
#define STATE_WORDS  8	  /* words of a list, likewise */
#define CAUSES_SHOWN 5	  /* causes shown per point */
#define CAUSES_LEAST 0.05 /* minimum share of the late messages of an arm */

/* --- above the table --- */

static void put_texts(const json_t *list, FILE *out)
{
	const json_t *text;
	size_t i;

	json_array_foreach (list, i, text) {
		fputs(i ? ", " : "", out);
		text_print(json_is_string(text) ? json_string_value(text) : "?", out);
	}
}

static void put_arm(const struct comparison *c, const char *title, enum compare_arm which, FILE *out)
{
	const struct comparison_arm *arm = &c->arm[which];

	fprintf(out, "%s: kernel ", title);
	put_texts(arm->kernels, out);
	fprintf(out, ": %zu run%s", arm->runs, arm->runs == 1 ? "" : "s");
	if (c->kind == UNIT_BOOT)
		fprintf(out, " of %zu boot%s", arm->units, arm->units == 1 ? "" : "s");
	fprintf(out, ", on ");
	put_texts(arm->hosts, out);
	fputc('\n', out);
}

/* "by boots, with all 12870 relabellings". */
static void put_test(const struct comparison *c, FILE *out)
{
	if (!c->judged)
		return;
	fprintf(out, "Tested by %ss%s, with %s%zu relabellings", compare_unit_name[c->kind],
		c->pairs ? " in pairs" : "", c->exact ? "all " : "", c->relabellings);
	if (!c->exact)
		fprintf(out, " drawn at random (seed %" PRIu64 ")", c->seed);
	if (c->trends)
		fprintf(out, "; drift over time is removed");
	fprintf(out, "; p and intervals hold for all points and quantities together (max-T, %.3g %%)\n",
		100 * c->alpha);
}

static void put_decides(const struct comparison *c, FILE *out)
{
	char *text = c->judged ? comparison_decides(c) : NULL;

	if (text)
		fprintf(out, "What decides: %s\n", text);
	free(text);
}

/* One line, for a machine too noisy for a decision. */
static void put_noise(const struct comparison_noise *noise, FILE *out)
{
	if (!noise->points)
		return;
	fputs("NOISE: ", out);
	text_print(noise->text, out);
	if (noise->cause) {
		fputs("; ", out);
		text_print(noise->cause, out);
	}
	fputc('\n', out);
}

/* --- the table --- */

struct line {
	const struct comparison_point *point;
	const struct comparison_quantity *quantity; /* NULL: not compared */
	const char *key;
};

static struct line *lines_of_result(const struct comparison *c, size_t *count)
{
	struct line *lines = NULL;

	*count = 0;
	for (const struct comparison_point *p = c->points; p < c->points + c->point_count; p++) {
		lines =
		    or_abort(reallocarray(lines, *count + p->quantity_count + p->missing_count + 1, sizeof(*lines)));
		for (size_t q = 0; q < p->quantity_count; q++)
			lines[(*count)++] = (struct line){p, &p->quantities[q], p->quantities[q].key};
		for (size_t m = 0; m < p->missing_count; m++)
			lines[(*count)++] = (struct line){p, NULL, p->missing[m].key};
	}
	return lines;
}

/* If there are several points, their number and label come first. */
enum { POINT, LABEL, POINT_COLUMNS };
enum { QUANTITY, BASE, NEW, EFFECT, ABSOLUTE, INTERVAL, ALONE, P, NOISE, MARGIN, VERDICT, QUANTITY_COLUMNS };

static struct table table_of_lines(const struct comparison *c, size_t rows)
{
	static const struct table_column of_point[POINT_COLUMNS] = {
	    [POINT] = {.label = "point", .align = TABLE_RIGHT},
	    [LABEL] = {.label = "", .drop_order = 1},
	};
	char all_of_them[48], one_of_them[48];
	const struct table_column of_quantity[QUANTITY_COLUMNS] = {
	    [QUANTITY] = {.label = "quantity", .heads_row = true},
	    [BASE] = {.label = "BASE", .align = TABLE_RIGHT, .drop_order = 2},
	    [NEW] = {.label = "NEW", .align = TABLE_RIGHT, .drop_order = 3},
	    [EFFECT] = {.label = "effect", .align = TABLE_RIGHT},
	    [ABSOLUTE] = {.label = "", .align = TABLE_RIGHT},
	    [INTERVAL] = {.label = all_of_them,
			  .help = "of the effect; holds for all points and quantities together",
			  .align = TABLE_RIGHT},
	    [ALONE] = {.label = one_of_them,
		       .help = "the interval for this quantity alone",
		       .align = TABLE_RIGHT,
		       .drop_order = 5},
	    [P] = {.label = "p", .align = TABLE_POINT},
	    [NOISE] = {.label = "noise",
		       .help =
			   "what this comparison can detect: without a change, 19 of 20 would show a smaller effect",
		       .align = TABLE_RIGHT},
	    [MARGIN] = {.label = "margin", .help = "a change up to this is harmless", .drop_order = 4},
	    [VERDICT] = {.label = "verdict"},
	};
	struct table t = table_of(of_point, c->point_count > 1 ? POINT_COLUMNS : 0, rows);

	snprintf(all_of_them, sizeof(all_of_them), "%.3g %% interval", comparison_confidence(c));
	snprintf(one_of_them, sizeof(one_of_them), "%.3g %%, alone", 2 * comparison_confidence(c) - 100);
	for (size_t i = 0; i < QUANTITY_COLUMNS; i++)
		table_add(&t, &of_quantity[i]);
	return t;
}

static void put_effect(struct table *t, size_t column, size_t row, const struct comparison_quantity *q)
{
	table_text(t, column, row, comparison_is_share(q) ? "%+.3g pp" : "%+.2f %%", comparison_shown(q, &q->effect));
}

static void put_end(char *text, size_t size, double value, bool share)
{
	if (isnan(value))
		snprintf(text, size, "unbounded");
	else
		snprintf(text, size, share ? "%+.3g" : "%+.2f", value);
}

static void put_interval(struct table *t, size_t column, size_t row, const struct comparison_quantity *q,
			 const struct comparison_amount *low, const struct comparison_amount *high)
{
	double from = comparison_shown(q, low), to = comparison_shown(q, high);
	bool share = comparison_is_share(q);
	char from_text[32], to_text[32];

	put_end(from_text, sizeof(from_text), from, share);
	put_end(to_text, sizeof(to_text), to, share);
	if (isnan(from) && isnan(to))
		table_text(t, column, row, "unbounded");
	else
		table_text(t, column, row, "%s to %s %s", from_text, to_text, share ? "pp" : "%");
}

static void put_amount(struct table *t, size_t column, size_t row, const struct comparison_quantity *q,
		       const struct comparison_amount *amount, const char *from)
{
	double value = comparison_shown(q, amount);
	char number[24];

	if (isnan(value))
		table_text(t, column, row, "unbounded");
	else
		table_text(t, column, row, "%s %s%s", compare_quantity_rounded(value, number, sizeof(number)),
			   comparison_is_share(q) ? "pp" : "%", from);
}

static void put_absolute(struct table *t, size_t column, size_t row, const struct comparison_quantity *q)
{
	double value = q->effect.own;

	if (comparison_is_share(q))
		table_text(t, column, row, "-");
	else
		table_text(t, column, row, fabs(value) < 100 ? "%+.1f %s" : "%+.0f %s", value, q->unit);
}

/* `first`: the column of the quantity. */
static void put_quantity(struct table *t, size_t first, size_t row, const struct comparison_quantity *q)
{
	table_in_unit(t, first + BASE, row, q->level[ARM_BASE], q->unit);
	table_in_unit(t, first + NEW, row, q->level[ARM_WITH], q->unit);
	put_effect(t, first + EFFECT, row, q);
	put_absolute(t, first + ABSOLUTE, row, q);
	put_interval(t, first + INTERVAL, row, q, &q->low, &q->high);
	put_interval(t, first + ALONE, row, q, &q->low_alone, &q->high_alone);
	table_text(t, first + P, row, "%.4f", q->p);
	put_amount(t, first + NOISE, row, q, &q->noise, "");
	put_amount(t, first + MARGIN, row, q, &q->margin, "");
}

struct table comparison_table(const struct comparison *c)
{
	static const enum tone tones[COMPARE_VERDICTS] = {
	    [COMPARE_REGRESSION] = TONE_BAD, [COMPARE_IMPROVEMENT] = TONE_GOOD, [COMPARE_EQUIVALENT] = TONE_GOOD};
	size_t count, first = c->point_count > 1 ? POINT_COLUMNS : 0;
	struct line *lines = lines_of_result(c, &count);
	struct table t = table_of_lines(c, count);

	for (size_t i = 0; i < count; i++) {
		const struct line *l = &lines[i];

		if (first && (!i || lines[i - 1].point != l->point)) {
			table_count(&t, POINT, i, l->point->id);
			table_text(&t, LABEL, i, "%s", l->point->label);
		}
		table_text(&t, first + QUANTITY, i, "%s", compare_quantity_label(l->key));
		table_verdict(&t, first + VERDICT, i, l->quantity ? tones[l->quantity->verdict] : TONE_NEUTRAL,
			      l->quantity ? compare_verdicts[l->quantity->verdict] : "not compared");
		if (l->quantity)
			put_quantity(&t, first, i, l->quantity);
	}
	free(lines);
	return t;
}

static void put_lines(const struct comparison *c, FILE *out)
{
	struct table t = comparison_table(c);

	fputc('\n', out);
	table_print(&t, &(struct table_style){.width = WIDTH}, out);
	table_free(&t);
}

/* --- below the table --- */

static void put_left_out(const struct comparison_point *p, FILE *out)
{
	if (!p->left_out[ARM_BASE] && !p->left_out[ARM_WITH])
		return;
	fprintf(out, "point %" JSON_INTEGER_FORMAT ": left out in %zu run%s of BASE and %zu of NEW: ", p->id,
		p->left_out[ARM_BASE], p->left_out[ARM_BASE] == 1 ? "" : "s", p->left_out[ARM_WITH]);
	put_texts(p->reasons, out);
	fputc('\n', out);
}

/* Why quantities are missing, each reason once. */
static void put_missing(const struct comparison *c, FILE *out)
{
	json_t *said = json_object();

	for (const struct comparison_point *p = c->points; p < c->points + c->point_count; p++) {
		put_left_out(p, out);
		for (size_t i = 0; i < p->missing_count; i++) {
			char *line = fs_path("%s: %s", compare_quantity_label(p->missing[i].key), p->missing[i].why);

			if (!json_object_get(said, line)) {
				fputs("not compared: ", out);
				text_print(line, out);
				fputc('\n', out);
			}
			json_object_set_new(said, line, json_true());
			free(line);
		}
	}
	json_decref(said);
}

/* --- late messages by cause --- */

static const char *late_time(const struct comparison_late_cause *c, enum compare_arm arm, char *buf, size_t size)
{
	const double time = c->arm[arm].time_ns;

	return isnan(time) ? "none" : unit_human_ns((int64_t)llround(time), buf, size);
}

static void put_late_cause(const struct comparison_late_cause *c, FILE *out)
{
	char now[32], was[32], text[CAUSE_TEXT_MAX];

	fputs("    ", out);
	text_print(cause_describe(&c->cause, text, sizeof(text)), out);
	fprintf(out, ": %s, before %s; %.3g messages in a run, before %.3g\n", late_time(c, ARM_WITH, now, sizeof(now)),
		late_time(c, ARM_BASE, was, sizeof(was)), c->arm[ARM_WITH].messages, c->arm[ARM_BASE].messages);
}

static bool is_frequent(const struct comparison_late_cause *c)
{
	return c->arm[ARM_BASE].share >= CAUSES_LEAST || c->arm[ARM_WITH].share >= CAUSES_LEAST;
}

static void put_late_point(const struct comparison_point *point, FILE *out)
{
	const struct comparison_late *late = &point->late;
	size_t shown = 0;

	fprintf(out, "  point %" JSON_INTEGER_FORMAT ": %.4g in a run of NEW, before %.4g\n", point->id,
		late->arm[ARM_WITH].messages, late->arm[ARM_BASE].messages);
	for (size_t i = 0; i < late->cause_count && shown < CAUSES_SHOWN; i++)
		if (is_frequent(&late->causes[i])) {
			put_late_cause(&late->causes[i], out);
			shown++;
		}
}

/* The most important causes of both arms side by side. */
static void put_late(const struct comparison *c, FILE *out)
{
	bool begun = false;

	for (size_t i = 0; i < c->point_count; i++) {
		if (!c->points[i].late.cause_count)
			continue;
		if (!begun)
			fputs("\nLate messages by cause, in NEW and before (in BASE): the median delay, and their "
			      "number:\n",
			      out);
		begun = true;
		put_late_point(&c->points[i], out);
	}
}

/* --- stages --- */

static void put_stage(const struct comparison_stage *s, FILE *out)
{
	char now[32], was[32], change[32], low[32], high[32];

	fprintf(out, "    %s: %s, before %s: %s", s->where,
		unit_human_ns((int64_t)llround(s->level[ARM_WITH]), now, sizeof(now)),
		unit_human_ns((int64_t)llround(s->level[ARM_BASE]), was, sizeof(was)),
		comparison_signed_ns(s->effect, change, sizeof(change)));
	if (!isnan(s->low))
		fprintf(out, " (%s to %s)", comparison_signed_ns(s->low, low, sizeof(low)),
			comparison_signed_ns(s->high, high, sizeof(high)));
	fputc('\n', out);
}

static void put_stages(const struct comparison *c, FILE *out)
{
	bool begun = false;

	for (const struct comparison_point *p = c->points; p < c->points + c->point_count; p++) {
		if (!p->stages)
			continue;
		if (!begun)
			fputs("\nMean latency by stages, in NEW and before (in BASE), with the 95 % interval of each "
			      "difference alone:\n",
			      out);
		begun = true;
		fprintf(out, "  point %" JSON_INTEGER_FORMAT "\n", p->id);
		for (size_t i = 0; i < p->stage_count; i++)
			put_stage(&p->stages[i], out);
	}
}

/* --- how the state differs --- */

/* A value of a state: a text, a number, or nothing. */
static void put_state_value(const json_t *value, FILE *out)
{
	if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		text_print(json_is_string(value) ? json_string_value(value) : "-", out);
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
		text_print(json_string_value(word), out);
	}
}

static void put_difference(const struct comparison *c, const struct comparison_difference *d, FILE *out)
{
	char where[128];

	fputs("  ", out);
	text_print(d->key, out);
	fputc(':', out);
	if (d->added) {
		put_words(d->removed, '-', out);
		put_words(d->added, '+', out);
	} else {
		fputc(' ', out);
		put_state_value(d->a, out);
		fputs(" -> ", out);
		put_state_value(d->b, out);
	}
	fprintf(out, " (%s)%s", comparison_where(c, d, where, sizeof(where)), *d->meaning ? ": " : "");
	text_print(d->meaning, out);
	fputc('\n', out);
}

static void put_state(const struct comparison *c, FILE *out)
{
	size_t fatal = comparison_state_fatal(c), shown = 0;

	if (!fatal)
		return;
	fprintf(out,
		"\nBesides what is under test, the machine's state differs in %zu key%s that can explain a difference "
		"(kblat state diff shows all):\n",
		fatal, fatal == 1 ? "" : "s");
	for (size_t i = 0; i < c->state_count; i++)
		if (!c->state[i].varying && shown++ < STATE_LINES)
			put_difference(c, &c->state[i], out);
	if (fatal > STATE_LINES)
		fprintf(out, "  ... and %zu more (--json lists them)\n", fatal - STATE_LINES);
}

static void put_notes(const json_t *notes, FILE *out)
{
	const json_t *note;
	size_t i;

	json_array_foreach (notes, i, note) {
		fputs("note: ", out);
		text_print(json_string_value(note), out);
		fputc('\n', out);
	}
}

/* A paragraph of its own, if there is anything to remark. */
static void put_remarks(const struct comparison *c, FILE *out)
{
	char *text;
	size_t size;
	FILE *remarks = or_abort(open_memstream(&text, &size));

	put_missing(c, remarks);
	put_notes(c->notes, remarks);
	fclose(remarks);
	if (size)
		fprintf(out, "\n%s", text);
	free(text);
}

static void put_above(const struct comparison *c, FILE *out)
{
	text_print(c->experiment, out);
	fputc('\n', out);
	put_arm(c, "BASE", ARM_BASE, out);
	put_arm(c, "NEW ", ARM_WITH, out);
	put_test(c, out);
	put_decides(c, out);
	put_noise(&c->noise, out);
}

static void put_below(const struct comparison *c, FILE *out)
{
	put_remarks(c, out);
	put_late(c, out);
	put_stages(c, out);
	put_state(c, out);
}

void comparison_words(const struct comparison *c, FILE *out)
{
	put_above(c, out);
	put_below(c, out);
}

void compare_table(const struct comparison *c, FILE *out)
{
	put_above(c, out);
	if (c->judged)
		put_lines(c, out);
	put_below(c, out);
	fprintf(out, "\n%s: ", compare_outcomes[c->verdict]);
	text_print(c->answer, out);
	fputc('\n', out);
}
