/*
 * The knobs of a profile: a kind of study that finds out which of them help. Each is switched on alone and off alone,
 * and compared with no profile and the whole one, in randomised blocks of runs; see docs/knobs.md. Its directory also has
 *
 *     profiles/<arm>/      the profile of each arm
 *     runs/<arm>/          the run directories of each arm
 *     smallest/            the smallest profile that has the effect: kbtune apply DIR/smallest
 *     derived/             the page
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/table.h"
#include "common/table_print.h"
#include "common/text.h"
#include "files/rundir/run_mode.h"
#include "judge/compare/compare_point.h"
#include "judge/compare/compare_verdict.h"
#include "report/answer_page.h"
#include "report/verdict_format.h"
#include "study/kinds.h"
#include "study/knobs/knobs_blocks.h"
#include "study/knobs/knobs_json.h"
#include "study/knobs/knobs_judge.h"
#include "study/knobs/knobs_plan.h"
#include "study/knobs/knobs_profile.h"
#include "study/knobs/knobs_types.h"
#include "study/runner.h"
#include "study/study.h"
#include "study/study_record.h"

/* --- the page --- */

/*
 * The result for people: a line per knob, the knobs not tested and why, the smallest profile.
 */

#define TABLE_WIDTH 120 /* without the cost of each knob */

/* --- the most significant quantity --- */

static bool is_clearer(const struct comparison_quantity *a, const struct comparison_quantity *b)
{
	if (a->p != b->p)
		return a->p < b->p;
	return fabs(a->effect.percent) > fabs(b->effect.percent);
}

/* The most significant quantity of a comparison (NULL: it was not judged): the smallest p, then the largest effect.
 * `*point` is the point that it belongs to. NULL: there is none. */
static const struct comparison_quantity *knobs_clearest(const struct comparison *c,
							const struct comparison_point **point)
{
	const struct comparison_quantity *best = NULL;

	for (size_t i = 0; c && i < c->point_count; i++)
		for (size_t q = 0; q < c->points[i].quantity_count; q++) {
			if (best && !is_clearer(&c->points[i].quantities[q], best))
				continue;
			best = &c->points[i].quantities[q];
			*point = &c->points[i];
		}
	return best;
}

static double interval_end(const struct comparison_quantity *q, const struct comparison_amount *end)
{
	const double value = comparison_shown(q, end);

	return isfinite(value) ? value : NAN;
}

/* The joint interval of a quantity, in per cent, or in percentage points for a share. If one of its ends is infinite,
 * returns true and the interval of the quantity alone, whose ends may be infinite (NaN), too. */
static bool knobs_interval(const struct comparison_quantity *q, double *low, double *high)
{
	*low = interval_end(q, &q->low);
	*high = interval_end(q, &q->high);
	if (!isnan(*low) && !isnan(*high))
		return false;
	*low = interval_end(q, &q->low_alone);
	*high = interval_end(q, &q->high_alone);
	return true;
}

/* --- cells --- */

static void set_effect(struct table *t, size_t column, size_t row, const struct comparison *c)
{
	const struct comparison_point *point;
	const struct comparison_quantity *q = knobs_clearest(c, &point);
	char number[24] = "";

	if (!q) {
		table_text(t, column, row, c ? "not judged" : "-");
		return;
	}
	if (c->point_count > 1)
		snprintf(number, sizeof(number), "%d: ", (int)point->id);
	table_text(t, column, row, comparison_is_share(q) ? "%s%s %+.3g pp" : "%s%s %+.2f %%", number,
		   compare_quantity_label(q->key), comparison_shown(q, &q->effect));
}

/* The interval of the quantity alone is in parentheses. */
static void set_interval(struct table *t, size_t column, size_t row, const struct comparison *c)
{
	const struct comparison_point *point;
	const struct comparison_quantity *q = knobs_clearest(c, &point);
	double low, high;
	bool alone;

	if (!q)
		return;
	alone = knobs_interval(q, &low, &high);
	if (isnan(low) || isnan(high))
		table_text(t, column, row, "unbounded");
	else
		table_text(t, column, row, comparison_is_share(q) ? "%s%+.3g to %+.3g pp%s" : "%s%+.2f to %+.2f %%%s",
			   alone ? "(" : "", low, high, alone ? ")" : "");
}

/* --- the table --- */

enum { KNOB, ALONE, ALONE_INTERVAL, WITHOUT, WITHOUT_INTERVAL, VERDICT, COST, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [KNOB] = {.label = "knob", .heads_row = true},
    [ALONE] = {.label = "alone", .align = TABLE_RIGHT},
    [ALONE_INTERVAL] = {.label = "95 % interval", .align = TABLE_RIGHT, .drop_order = 1},
    [WITHOUT] = {.label = "left out", .align = TABLE_RIGHT},
    [WITHOUT_INTERVAL] = {.label = "95 % interval", .align = TABLE_RIGHT, .drop_order = 2},
    [VERDICT] = {.label = "verdict"},
    [COST] = {.label = "cost", .most = TABLE_WHOLE},
};

static void add_knob_row(struct table *t, const struct knobs *k, size_t knob)
{
	const struct comparison *alone = knobs_compared(k, KNOBS_ALONE, knob),
				*without = knobs_compared(k, KNOBS_WITHOUT, knob);
	const size_t row = table_row(t);

	table_text(t, KNOB, row, "%s%s", k->knob[knob].name, k->knob[knob].in_shields ? " (in shields)" : "");
	set_effect(t, ALONE, row, alone);
	set_interval(t, ALONE_INTERVAL, row, alone);
	set_effect(t, WITHOUT, row, without);
	set_interval(t, WITHOUT_INTERVAL, row, without);
	table_text(t, COST, row, "%s", k->knob[knob].cost);
	table_text(t, VERDICT, row, "%s", knob_verdicts[k->result ? k->result->knob[knob] : KNOB_UNDECIDED]);
}

static void add_whole_row(struct table *t, const struct knobs *k)
{
	const size_t at = knobs_find_pair(k, KNOBS_OF_WHOLE, 0), row = table_row(t);
	const struct comparison *whole = knobs_compared(k, KNOBS_OF_WHOLE, 0);

	table_text(t, KNOB, row, "the whole");
	set_effect(t, ALONE, row, whole);
	set_interval(t, ALONE_INTERVAL, row, whole);
	if (whole)
		table_text(t, VERDICT, row, "%s", compare_verdicts[k->result->verdict[at]]);
}

static struct table table_of_knobs(const struct knobs *k)
{
	struct table t = table_of(columns, COLUMNS, 0);

	add_whole_row(&t, k);
	for (size_t i = 0; i < k->knobs; i++)
		if (k->knob[i].tested)
			add_knob_row(&t, k, i);
	return t;
}

/* Costs are sentences, for which no other column is left out. */
static void print_knobs(const struct knobs *k, FILE *out)
{
	struct table t = table_of_knobs(k);
	size_t costs = strlen(columns[COST].label);

	for (size_t i = 0; i < k->knobs; i++)
		if (k->knob[i].tested && strlen(k->knob[i].cost) > costs)
			costs = strlen(k->knob[i].cost);
	table_print(&t, &(struct table_style){.width = TABLE_WIDTH + 2 + costs}, out);
	table_free(&t);
}

static void print_untested(const struct knobs *k, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < k->knobs; i++) {
		if (k->knob[i].tested)
			continue;
		fputs(n++ ? "" : "\nnot tested:\n", out);
		fputs("  ", out);
		text_print(k->knob[i].name, out);
		fputs(": ", out);
		text_print(k->knob[i].why, out);
		fputc('\n', out);
	}
}

/* How it was tested; two lines, or one. */
static char *test_text(const struct knobs_result *r)
{
	const size_t measured = r ? r->blocks : 0;

	if (!r || !r->relabellings)
		return fs_path("%zu blocks; no verdict with fewer than %d", measured, COMPARE_PAIRS);
	return fs_path(
	    "%zu blocks; %s%zu relabellings%s\nIntervals hold for all knobs, points and quantities together (max-T, %g "
	    "%%); in parentheses, alone (90 %%)",
	    measured, r->exact ? "all " : "", r->relabellings, r->exact ? "" : " drawn at random", 100 * COMPARE_ALPHA);
}

/* For each comparison, the most significant quantity is shown. */
static void knobs_table(const struct study *s, FILE *out)
{
	const struct knobs *k = knobs_of(s);
	char *test = test_text(k->result);

	text_print(s->name, out);
	fputs(": the knobs of ", out);
	text_print(k->profile, out);
	fprintf(out, "; %s\n\n", test);
	free(test);
	print_knobs(k, out);
	print_untested(k, out);
	if (!k->smallest.answer)
		return;
	fprintf(out, "\n%s: ", smallest_verdicts[k->smallest.verdict]);
	text_print(k->smallest.answer, out);
	fputc('\n', out);
}

#define FIGURE_WIDTH 900
#define ROW	     34 /* pixels */
#define ABOVE	     90
#define BELOW	     72
#define LABEL	     34
#define FAR	     1e6
#define CUT_AT	     2 /* intervals are cut off at this multiple of the largest effect */

/* --- the figure --- */

/* The first row is the whole profile's, the others are those of the knobs that were tested. */
static const struct comparison *comparison_of(const struct knobs *k, size_t knob, enum knobs_what way)
{
	if (knob < k->knobs)
		return knobs_compared(k, way, knob);
	return way == KNOBS_ALONE ? knobs_compared(k, KNOBS_OF_WHOLE, 0) : NULL;
}

/* Effect, low and high in per cent (NaN: there is none), and whether the interval is joint. Infinite intervals end far
 * away. */
static void row_numbers(const struct comparison *c, double *number)
{
	const struct comparison_point *point;
	const struct comparison_quantity *q = knobs_clearest(c, &point);

	number[0] = number[1] = number[2] = number[3] = NAN;
	if (!q)
		return;
	number[0] = isfinite(q->effect.percent) ? q->effect.percent : NAN;
	number[3] = knobs_interval(q, &number[1], &number[2]) ? 0 : 1;
	number[1] = isnan(number[1]) ? -FAR : number[1];
	number[2] = isnan(number[2]) ? FAR : number[2];
}

static char *row_label(const struct knobs *k, size_t knob)
{
	const struct comparison_point *point;
	const struct comparison_quantity *q = knobs_clearest(comparison_of(k, knob, KNOBS_ALONE), &point);

	return figure_one_line(fs_path("%s%s%s", knob < k->knobs ? k->knob[knob].name : "the whole", q ? ": " : "",
				       q ? compare_quantity_label(q->key) : ""),
			       LABEL);
}

/* The whole profile (k->knobs), followed by the knobs that were tested. */
static size_t *rows_of_figure(const struct knobs *k, size_t *count)
{
	size_t *rows = or_abort(calloc(k->knobs + 1, sizeof(*rows)));

	rows[0] = k->knobs;
	*count = 1;
	for (size_t i = 0; i < k->knobs; i++)
		if (k->knob[i].tested)
			rows[(*count)++] = i;
	return rows;
}

static void write_knob_rows(FILE *table, const struct knobs *k, const size_t *rows, size_t count, double *most)
{
	static const enum knobs_what ways[] = {KNOBS_ALONE, KNOBS_WITHOUT};

	fputs("row\talone\talone_low\talone_high\talone_joint\twithout\twithout_low\twithout_high\twithout_joint\n",
	      table);
	*most = 1;
	for (size_t i = 0; i < count; i++) {
		fprintf(table, "%zu", i + 1);
		for (size_t way = 0; way < 2; way++) {
			double number[4];

			row_numbers(comparison_of(k, rows[i], ways[way]), number);
			*most = fmax(*most, fabs(number[0]));
			for (size_t n = 0; n < 4; n++)
				fprintf(table, "\t%.4f", number[n]);
		}
		fputc('\n', table);
	}
}

static void set_knob_labels(struct figures *f, const struct knobs *k, const size_t *rows, size_t count)
{
	figure_set_array(f, "labels", count);
	for (size_t i = 0; i < count; i++) {
		char *label = row_label(k, rows[i]);

		figure_set_item(f, "labels", i, label);
		free(label);
	}
}

static int add_knobs_figure(struct figures *f, const struct study *s, const size_t *rows, size_t count, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	FILE *table = figure_begin(
	    f, "knobs", NULL, fs_path("knobs"),
	    fs_path("The effect of each of %zu knobs alone and when it is left out, with intervals", count - 1), e);
	double most, margin = 100 * k->result->least_margin;
	char *title;

	if (!table)
		return figure_end(f, table, e);
	write_knob_rows(table, k, rows, count, &most);
	title = figure_one_line(fs_path("%s: the knobs of %s", s->name, k->profile), FIGURE_TITLE_MAX);
	figure_set(f, "title", title);
	free(title);
	set_knob_labels(f, k, rows, count);
	figure_set_number(f, "reach", fmax(most * CUT_AT > 100 ? 1.3 * most : fmin(most * CUT_AT, 100), 2 * margin));
	figure_set_number(f, "margin", margin);
	fprintf(f->script, "rows = %zu\nwidth = %d\nheight = %zu\n", count, FIGURE_WIDTH, ABOVE + BELOW + count * ROW);
	return figure_end(f, table, e);
}

/* None if nothing was judged. */
static int draw_knobs(struct figures *f, const void *arg, struct err *e)
{
	const struct study *s = arg;
	const struct comparison_point *point;
	size_t count, *rows;
	int rc;

	if (!knobs_clearest(knobs_compared(knobs_of(s), KNOBS_OF_WHOLE, 0), &point))
		return 0;
	rows = rows_of_figure(knobs_of(s), &count);
	rc = add_knobs_figure(f, s, rows, count, e);
	free(rows);
	return rc;
}

/* --- the page --- */

static void write_knobs_answer(const struct page *p, const struct knobs_smallest *smallest)
{
	const enum smallest_verdict verdict = smallest->answer ? smallest->verdict : SMALLEST_UNDECIDED;
	const char *style = verdict == SMALLEST_WORSE ? "no" : verdict == SMALLEST_UNDECIDED ? "part" : "ok";

	answer_page_verdict(p, style, smallest_verdicts[verdict],
			    smallest->answer ? smallest->answer : "too few blocks were measured");
}

static void write_untested(const struct page *p, const struct knobs *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->knobs; i++) {
		if (k->knob[i].tested)
			continue;
		html_printf(p, "%s<li>", n++ ? "" : "<h3>Not tested</h3>\n<ul>\n");
		html_text(p, k->knob[i].name);
		html_printf(p, ": ");
		html_text(p, k->knob[i].why);
		html_printf(p, "</li>\n");
	}
	html_printf(p, "%s", n ? "</ul>\n" : "");
}

static void write_knobs_tables(const struct page *p, const struct knobs *k)
{
	struct table t = table_of_knobs(k);
	char *test = test_text(k->result);

	html_table(p, &t, "", false);
	html_printf(p, "<p class=\"soft\">");
	html_text(p, test);
	html_printf(p, ".</p>\n");
	write_untested(p, k);
	free(test);
	table_free(&t);
}

static void write_knobs_page(const struct page *p, const void *arg)
{
	const struct study *s = arg;

	write_knobs_answer(p, &knobs_of(s)->smallest);
	html_no_figures(p);
	html_printf(p, "<section>\n<h2>Each knob</h2>\n");
	for (size_t i = 0; i < p->figures->count; i++)
		html_figure(p, &p->figures->items[i],
			    "The effect of each knob alone, and of leaving it out of the whole profile; for each, the "
			    "quantity with "
			    "the clearest effect. The bars are 95 % intervals, which hold for all effects together; "
			    "the faint ones "
			    "are 90 % intervals of the one effect.",
			    " class=\"overview broad\"");
	write_knobs_tables(p, knobs_of(s));
	html_printf(p, "</section>\n");
}

/* 0 or a negative errno and `e`; without gnuplot the page has no figure (STATUS_IMPOSSIBLE). */
static int knobs_page_make(const struct study *s, struct err *e)
{
	char *dir = fs_path("%s/derived", s->path), *html = NULL;
	char *title = fs_path("%s: which knobs of %s help", s->name, knobs_of(s)->profile);
	json_t *json = study_to_json(s);
	const struct answer_page page = {
	    .dir = dir,
	    .json_name = "knobs.json",
	    .json = json,
	    .title = title,
	    .foot = "Made by <code>kblat knobs</code>; the numbers are in study.json, the rules in docs/knobs.md.",
	    .draw = draw_knobs,
	    .write = write_knobs_page,
	    .arg = s,
	};
	const mode_t mask = run_mode_limit(run_mode_below(s->path));
	int rc = fs_remove_tree(dir, e) ?: fs_mkdirs(dir, e) ?: answer_page_make(&page, &html, e);

	umask(mask);
	json_decref(json);
	free(html);
	free(title);
	free(dir);
	return rc;
}

/* --- the smallest profile --- */

/*
 * The smallest profile that has the effect. Candidates, in ascending order, are the knobs that are needed; these with the
 * most helpful of the knobs that others can replace; and so on. Each candidate is compared with the whole profile in
 * blocks of its own, until one is shown not to be slower (kblat compare: "no regression").
 */

/* --- candidates --- */

struct helper {
	size_t knob;
	double effect; /* the largest improvement of any quantity with the knob alone, in per cent */
};

static double effect_alone(const struct knobs *k, size_t knob)
{
	const struct comparison *c = knobs_compared(k, KNOBS_ALONE, knob);
	double most = 0;

	for (size_t i = 0; c && i < c->point_count; i++)
		for (size_t q = 0; q < c->points[i].quantity_count; q++)
			if (c->points[i].quantities[q].verdict == COMPARE_IMPROVEMENT)
				most = fmax(most, fabs(c->points[i].quantities[q].effect.percent));
	return most;
}

static int by_effect(const void *a, const void *b)
{
	double x = ((const struct helper *)a)->effect, y = ((const struct helper *)b)->effect;

	return (x < y) - (x > y);
}

/* The knobs that help but that others can replace, most helpful first. */
static struct helper *find_helpers(const struct knobs *k, size_t *count)
{
	struct helper *list = NULL;

	*count = 0;
	for (size_t i = 0; i < k->knobs; i++) {
		if (k->result->knob[i] != KNOB_HELPS)
			continue;
		list = grow_or_abort(list, *count, sizeof(*list));
		list[(*count)++] = (struct helper){i, effect_alone(k, i)};
	}
	if (list)
		qsort(list, *count, sizeof(*list), by_effect);
	return list;
}

/* Knobs that are needed, and those that are better for one quantity and worse for another; the first `helpers`; and the
 * shields if one of them depends on these. NULL: none of them. */
static bool *candidate(const struct knobs *k, const struct helper *helper, size_t helpers)
{
	bool *has = or_abort(calloc(k->knobs + 1, sizeof(*has))), in_shields = false, any = false;

	for (size_t i = 0; i < k->knobs; i++)
		has[i] = k->result->knob[i] == KNOB_NEEDED || k->result->knob[i] == KNOB_MIXED;
	for (size_t i = 0; i < helpers; i++)
		has[helper[i].knob] = true;
	for (size_t i = 0; i < k->knobs; i++) {
		in_shields |= has[i] && k->knob[i].in_shields;
		any |= has[i];
	}
	for (size_t i = 0; i < k->knobs; i++)
		has[i] |= in_shields && knob_is_shields(&k->knob[i]);
	if (any)
		return has;
	free(has);
	return NULL;
}

static size_t count_knobs(const struct knobs *k, const bool *has)
{
	size_t n = 0;

	for (size_t i = 0; i < k->knobs; i++)
		n += has ? has[i] : k->knob[i].tested;
	return n;
}

/* --- answers --- */

/* "governor, tasks"; NULL: none. The caller frees. */
static char *names_of(const struct knobs *k, const bool *has)
{
	char *list = NULL;

	for (size_t i = 0; has && i < k->knobs; i++)
		if (has[i])
			text_list_add(&list, ", ", "%s", k->knob[i].name);
	return list;
}

/* `has` (taken): the knobs of the profile; NULL: there is none. The answer is `before`, the profile, `after` and the
 * names of the knobs, `end`. */
static void conclude_smallest(struct knobs *k, enum smallest_verdict verdict, bool *has, const char *before,
			      const char *after, const char *end)
{
	char *names = names_of(k, has);

	k->smallest.verdict = verdict;
	k->smallest.has = has;
	k->smallest.answer = fs_path("%s %s %s%s%s", before, k->profile, after, names ? names : "", end);
	free(names);
}

/* No knob is needed, and none helps. */
static void conclude_without(struct knobs *k)
{
	const size_t whole = knobs_find_pair(k, KNOBS_OF_WHOLE, 0);
	const enum compare_verdict verdict = whole < k->pairs ? k->result->verdict[whole] : COMPARE_UNDECIDED;
	bool worse = verdict == COMPARE_REGRESSION, same = verdict == COMPARE_EQUIVALENT;

	for (size_t i = 0; i < k->knobs; i++) {
		worse |= k->result->knob[i] == KNOB_WORSE;
		same &= k->result->knob[i] == KNOB_NO_EFFECT || k->result->knob[i] == KNOB_UNTESTED;
	}
	if (worse)
		conclude_smallest(k, SMALLEST_WORSE, NULL, "no knob of", "was found to help, and some make it slower",
				  "");
	else if (same)
		conclude_smallest(k, SMALLEST_NOTHING, or_abort(calloc(k->knobs + 1, sizeof(bool))), "no knob of",
				  "has an effect here", "");
	else
		conclude_smallest(k, SMALLEST_UNDECIDED, NULL, "no knob of",
				  "was found to have an effect, but it was not shown that none has; more blocks show "
				  "smaller effects",
				  "");
}

/* --- measuring a candidate --- */

/* The arm of these knobs, with a unique name, because further blocks may lead to other candidates. */
static size_t candidate_arm(struct knobs *k, const bool *has)
{
	size_t n = 0, arm;
	char *name;
	bool *copy;

	for (size_t i = 0; i < k->arms; i++) {
		if (!knobs_is_candidate(&k->arm[i]))
			continue;
		if (!memcmp(k->arm[i].has, has, k->knobs * sizeof(*has)))
			return i;
		n++;
	}
	copy = or_abort(calloc(k->knobs + 1, sizeof(*copy)));
	memcpy(copy, has, k->knobs * sizeof(*has));
	name = fs_path("%s%zu", KNOBS_CANDIDATE, n);
	arm = knobs_add_arm(k, name, copy);
	free(name);
	return arm;
}

static void add_step(struct knobs *k, size_t arm, const struct comparison *c)
{
	struct knobs_smallest *s = &k->smallest;

	s->step = grow_or_abort(s->step, s->steps, sizeof(*s->step));
	s->step[s->steps++] = (struct smallest_step){arm, c->verdict, fs_path("%s", c->answer)};
}

/* 1: it is as good as the whole profile; 0: it is not, or that is unknown; or a negative errno. */
static int try_candidate(struct study *s, const struct knobs_choice *c, const bool *has, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	const size_t arm = candidate_arm(k, has), whole = knobs_find_arm(k, KNOBS_WHOLE);
	struct knobs_arms_of arms = blocks_pair(k, arm);
	const char *stage = k->arm[arm].name;
	struct comparison compared;
	int rc = arms_write_profile(s, &k->arm[arm], e) ?: study_record_save(s, e), suffices = 0;

	rc = rc ?: blocks_measure(s, stage, &arms, k->blocks, 0, e);
	if (!rc && blocks_done(s, stage) && !(rc = knobs_compare(s, stage, whole, arm, c, &compared, e))) {
		suffices = compared.verdict == OUTCOME_NONE;
		add_step(k, arm, &compared);
		comparison_free(&compared);
	}
	free(arms.arm);
	return rc ? rc : suffices;
}

static void conclude_candidates(struct knobs *k, bool *has, bool found, bool whole)
{
	if (!has)
		conclude_without(k);
	else if (found)
		conclude_smallest(k, SMALLEST_FOUND, has, "of", "you need: ", "");
	else if (whole)
		conclude_smallest(k, SMALLEST_WHOLE, has, "of", "you need all knobs: ", "");
	else
		conclude_smallest(k, SMALLEST_UNDECIDED, has, "of",
				  "these help: ", "; it was not shown that they suffice");
}

/* Requires a result; measures candidates, and fills in the smallest profile. -ECHILD and `e` if a run fails. */
static int smallest_find(struct study *s, const struct knobs_choice *c, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	size_t helpers;
	struct helper *helper = find_helpers(k, &helpers);
	bool *has = NULL, whole = false;
	int found = 0;

	for (size_t n = 0; n <= helpers && !found && !whole && !runner_is_interrupted(); n++) {
		free(has);
		has = candidate(k, helper, n);
		if (!has)
			continue;
		whole = count_knobs(k, has) == count_knobs(k, NULL);
		if (!whole)
			found = try_candidate(s, c, has, e);
	}
	free(helper);
	conclude_candidates(k, has, found > 0, whole);
	return found < 0 ? found : 0;
}

/* --- the profile --- */

/* Write `smallest/profile.yaml`, if there is such a profile. */
static int smallest_write(const struct study *s, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	char *folder = fs_path("%s/smallest", s->path), *title = fs_path("The knobs of %s that are needed", k->profile);
	char *comment = fs_path("# %s\n# Measured by %s, in %s.\n", k->smallest.answer, s->name, s->path);
	int rc = k->smallest.has ? profile_write(folder, title, comment, k, k->smallest.has, e) : 0;

	free(comment);
	free(title);
	free(folder);
	return rc;
}

/* STATUS_OK, STATUS_NO or STATUS_UNDECIDED. */
static enum status smallest_status(const struct knobs_smallest *smallest)
{
	static const enum status of[SMALLEST_VERDICTS] = {
	    [SMALLEST_FOUND] = STATUS_OK,
	    [SMALLEST_WHOLE] = STATUS_OK,
	    [SMALLEST_NOTHING] = STATUS_OK,
	    [SMALLEST_WORSE] = STATUS_NO,
	    [SMALLEST_UNDECIDED] = STATUS_UNDECIDED,
	};

	return smallest->answer ? of[smallest->verdict] : STATUS_UNDECIDED;
}

#define PROFILE_MOST (1 << 20) /* bytes */

/* --- before the first run --- */

/* Every cell measures an arm of the plan, with the profile that this arm has. */
static int check_cells(const struct study *s, struct err *e)
{
	const struct knobs *k = knobs_of(s);

	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];
		const size_t arm = knobs_find_arm(k, c->name ? c->name : "");
		const char *environment = arm < k->arms && k->arm[arm].has_profile ? k->arm[arm].name : KNOBS_NONE;

		if (arm == k->arms || c->spec || c->set.count || !c->environment ||
		    strcmp(c->environment, environment) != 0)
			return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
				       "cell %zu does not measure one of the study's arms", i);
	}
	return 0;
}

static int show_whole_profile(const struct study *s, const char *name, struct err *e)
{
	char *file = fs_path("%s/profiles/" KNOBS_WHOLE "/%s", s->path, name), *text = NULL;
	size_t size;
	int rc = fs_read(file, PROFILE_MOST, &text, &size, e);

	if (!rc)
		runner_show_profile(file, text);
	free(text);
	free(file);
	return rc;
}

/* Profiles are written anew from the record, so that what is shown is what kbtune applies: every arm has a part of the
 * whole profile, and its tuned.conf if it has one. */
static int prepare_profiles(struct study *s, struct err *e)
{
	char *conf = fs_path("%s/profiles/" KNOBS_WHOLE "/tuned.conf", s->path);
	int rc = check_cells(s, e);

	if (!rc && s->request->resume)
		unlink(conf);
	rc = rc ?: arms_write_profiles(s, e);
	if (!rc && s->request->resume)
		rc = show_whole_profile(s, "profile.yaml", e)
			 ?: fs_is_missing(conf) ? 0
						: show_whole_profile(s, "tuned.conf", e);
	free(conf);
	return rc;
}

static bool has_own_options(const struct knobs_options *o)
{
	return o->profile || o->metric || o->quantities.count || o->margins.count || o->blocks;
}

static enum status check_resumable(struct study *s, const struct study_request *r, struct err *e)
{
	char boot[64];

	if (!r->resume)
		return STATUS_OK;
	if (has_own_options(r->own))
		return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
			       "--resume uses the study's original options; omit all others"),
		       err_status(e);
	if (strcmp(knobs_boot_id(boot, sizeof(boot)), knobs_of(s)->boot) != 0)
		return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
			       "it was started in an earlier boot: differences between boots would look like an "
			       "effect; start a new study"),
		       err_status(e);
	return STATUS_OK;
}

/* --- measuring --- */

/* A block is a run of each arm; in addition, each candidate for the smallest profile takes two runs per block. */
static int measure_blocks(struct study *s, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	struct knobs_arms_of arms = blocks_arms(k), pair = blocks_pair(k, knobs_find_arm(k, KNOBS_WHOLE));
	const int rc = blocks_measure(s, KNOBS_STAGE, &arms, k->blocks, blocks_expected_s(s, &pair), e);

	free(pair.arm);
	free(arms.arm);
	return rc;
}

static int measure_with(struct study *s, const struct knobs_choice *c, struct err *e)
{
	int rc = measure_blocks(s, e) ?: knobs_judge(s, c, e);

	if (!rc && !runner_is_interrupted() && blocks_done(s, KNOBS_STAGE) >= COMPARE_PAIRS)
		rc = smallest_find(s, c, e) ?: smallest_write(s, e);
	return rc;
}

static int measure_knobs(struct study *s, struct err *e)
{
	struct knobs_choice c;
	const int rc = choice_read(knobs_of(s), &c, e) ?: measure_with(s, &c, e);

	choice_free(&c);
	return rc;
}

/* --- the end --- */

static void say_blocks_left(struct study *s)
{
	const size_t done = blocks_done(s, KNOBS_STAGE), asked = knobs_of(s)->blocks;

	if (done >= asked)
		return;
	s->status = STUDY_PARTIAL;
	if (!runner_is_interrupted())
		fprintf(stderr,
			"kblat: %zu of %zu blocks fitted into the budget; `kblat knobs --resume %s` continues\n", done,
			asked, s->path);
}

/* If the page cannot be made, the result is still valid. */
static void draw_knobs_page(const struct study *s)
{
	struct err own = ERR_INIT;

	if (knobs_page_make(s, &own))
		fprintf(stderr, "kblat: %s\n", own.text);
}

static enum verdict_result result_of_knob(enum knob_verdict verdict)
{
	static const enum verdict_result results[KNOB_VERDICTS] = {
	    [KNOB_NEEDED] = VERDICT_PASS,	  [KNOB_HELPS] = VERDICT_PASS,	   [KNOB_WORSE] = VERDICT_FAIL,
	    [KNOB_MIXED] = VERDICT_FAIL,	  [KNOB_NO_EFFECT] = VERDICT_PASS, [KNOB_UNDECIDED] = VERDICT_UNDECIDED,
	    [KNOB_UNTESTED] = VERDICT_IMPOSSIBLE,
	};

	return results[verdict];
}

/* A knob that makes it slower fails. */
static void print_knobs_list(const struct study *s, enum status status)
{
	const struct knobs *k = knobs_of(s);
	struct verdict_list list = verdict_list_make(s->name, status, k->smallest.answer);

	verdict_list_is_of(&list, s->path);
	for (size_t i = 0; i < k->knobs; i++) {
		enum knob_verdict verdict = k->result ? k->result->knob[i] : KNOB_UNDECIDED;
		struct verdict *v = verdict_list_add(&list, k->profile, k->knob[i].id, result_of_knob(verdict));

		verdict_text(&v->why, *k->knob[i].why ? k->knob[i].why : knob_verdicts[verdict]);
		verdict_text(&v->numbers, k->knob[i].name);
		v->shown_only = true;
	}
	verdict_format_print(s->request->format, list);
}

static enum status judge_all_knobs(struct study *s, struct err *e)
{
	const enum status status = runner_is_interrupted() ? STATUS_FAILED : smallest_status(&knobs_of(s)->smallest);

	(void)e;
	study_set_answer(s, knobs_answer_to_json(knobs_of(s)));
	if (s->request->format) {
		print_knobs_list(s, status);
	} else if (s->request->json) {
		json_t *j = study_to_json(s);

		json_print(j, stdout);
		json_decref(j);
	} else {
		knobs_table(s, stdout);
	}
	say_blocks_left(s);
	draw_knobs_page(s);
	return status;
}

const struct study_kind knobs_kind = {
    .name = "knobs",
    .suffix = "-knobs",
    .command = "kblat knobs",
    .runs = "runs",
    .by_name = true,
    .quiet = true,
    .plan = knobs_plan_make,
    .judge = judge_all_knobs,
    .show = knobs_plan_show,
    .check = check_resumable,
    .measure = measure_knobs,
    .plan_to_json = knobs_plan_to_json,
    .plan_from_json = knobs_plan_from_json,
    .plan_free = knobs_free,
    .prepare = prepare_profiles,
};
