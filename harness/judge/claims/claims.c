#include "judge/claims/claims.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/table.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/units.h"
#include "files/claim/claim.h"
#include "files/claim/claim_json.h"
#include "files/rundir/schema.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"
#include "judge/analysis/verify.h"
#include "judge/claims/claim_metric.h"
#include "judge/claims/claim_needs.h"
#include "judge/claims/claim_pairing.h"
#include "judge/claims/claim_verdict.h"

/* --- trends --- */

/* Points in the order of an axis, and their samples. */
struct trend {
	const struct claim *claim;
	const struct summary_point **points;
	struct sample *samples;
	size_t count;
};

static int by_axis(const void *a, const void *b, void *along)
{
	const json_t *x = claim_point_param(*(const struct summary_point *const *)a, along);
	const json_t *y = claim_point_param(*(const struct summary_point *const *)b, along);
	json_int_t i = json_integer_value(x), k = json_integer_value(y);

	return (i > k) - (i < k);
}

static void trend_gather(struct trend *t, const struct claim_pairing *p, const struct summary_point *of)
{
	const json_t *group = claim_pairing_group(p, of), *index;
	size_t size = json_array_size(group), i;

	*t = (struct trend){.claim = p->claim};
	t->points = or_abort(calloc(size + 1, sizeof(*t->points)));
	t->samples = or_abort(calloc(size + 1, sizeof(*t->samples)));
	json_array_foreach (group, i, index)
		t->points[t->count++] = p->points.points[json_integer_value(index)];
	qsort_r(t->points, t->count, sizeof(*t->points), by_axis, t->claim->along);
}

static void trend_free(struct trend *t)
{
	for (size_t i = 0; i < t->count; i++)
		claim_sample_free(&t->samples[i]);
	free(t->samples);
	free(t->points);
}

static const json_t *place_on_axis(const struct trend *t, size_t i)
{
	return claim_point_param(t->points[i], t->claim->along);
}

static char *axis_text(const struct trend *t, size_t i, char *buf, size_t size)
{
	char name[64];
	enum unit unit = param_name_unit(t->claim->along, name, sizeof(name));

	return param_value_text(place_on_axis(t, i), unit, buf, size);
}

/* Why a point does not belong on the axis; NULL: it does. */
static char *why_off_axis(const struct trend *t, size_t i)
{
	const json_t *at = place_on_axis(t, i);
	char text[64];

	if (!json_is_integer(at))
		return fs_path("point %" JSON_INTEGER_FORMAT " has no %s", t->points[i]->id, t->claim->along);
	if (i && json_equal(at, place_on_axis(t, i - 1)))
		return fs_path("there are several points at %s; 'by' must name more settings",
			       axis_text(t, i, text, sizeof(text)));
	return NULL;
}

/* Read the samples. Returns why they cannot be judged, or NULL. */
static char *trend_read(struct trend *t)
{
	char *why = NULL;

	if (t->count < 2)
		return fs_path("there is only one point along %s", t->claim->along);
	for (size_t i = 0; i < t->count && !why; i++) {
		why = why_off_axis(t, i);
		if (!why)
			claim_point_sample(t->points[i], &t->claim->metric, t->claim->rules, &t->samples[i], &why);
	}
	for (size_t i = 0; i < t->count && !why; i++)
		if (t->samples[i].value <= 0)
			why = fs_path("a ratio needs positive numbers");
	return why;
}

/* The ratio between two neighbours, or between both ends: above 1 if it is in the direction claimed. */
static struct estimate trend_step(const struct trend *t, size_t from, size_t to)
{
	return t->claim->relation == CLAIM_RISING ? estimate_ratio(&t->samples[to], &t->samples[from])
						  : estimate_ratio(&t->samples[from], &t->samples[to]);
}

/* The first step whose interval is in the wrong direction, or otherwise the first whose value is;
 * `count` if there is none. */
static size_t find_wrong_step(const struct trend *t, bool *is_certain)
{
	double tolerance = t->claim->tolerance;
	double least = t->claim->relation == CLAIM_RISING ? 1 - tolerance : 1 / (1 + tolerance);
	size_t found = t->count;

	*is_certain = false;
	for (size_t i = 0; i + 1 < t->count; i++) {
		struct estimate step = trend_step(t, i, i + 1);

		*is_certain = step.high < least;
		if (*is_certain)
			return i;
		if (step.value < least && found == t->count)
			found = i;
	}
	return found;
}

static void judge_ends(struct claim_case *c, const struct trend *t)
{
	struct estimate whole = trend_step(t, 0, t->count - 1);
	bool rising = t->claim->relation == CLAIM_RISING;
	bool fails = whole.high < 1 || (!whole.has_interval && whole.value <= 1);
	char from[64], to[64];

	if (whole.low > 1)
		return;
	axis_text(t, 0, from, sizeof(from));
	axis_text(t, t->count - 1, to, sizeof(to));
	if (fails)
		claim_case_decide(c, CLAIM_FAILS,
				  fs_path("it does not %s between %s and %s", rising ? "rise" : "fall", from, to));
	else
		claim_case_decide(
		    c, CLAIM_NOT_JUDGED,
		    fs_path("too close to call whether it %s between %s and %s", rising ? "rises" : "falls", from, to));
}

/* Rising or falling. */
static void judge_monotone(struct claim_case *c, const struct trend *t)
{
	struct estimate whole = estimate_ratio(&t->samples[t->count - 1], &t->samples[0]);
	bool is_certain;
	size_t wrong = find_wrong_step(t, &is_certain);
	char from[64], to[64];

	claim_case_measure(c, t->claim, &whole);
	if (wrong == t->count) {
		judge_ends(c, t);
		return;
	}
	claim_case_decide(c, is_certain ? CLAIM_FAILS : CLAIM_NOT_JUDGED,
			  fs_path("%sfrom %s to %s it %s", is_certain ? "" : "too close to call: ",
				  axis_text(t, wrong, from, sizeof(from)), axis_text(t, wrong + 1, to, sizeof(to)),
				  t->claim->relation == CLAIM_RISING ? "falls" : "rises"));
}

static void judge_flat(struct claim_case *c, const struct trend *t)
{
	double bound = 1 + t->claim->tolerance;
	size_t least = 0, most = 0;
	char from[64], to[64];

	for (size_t i = 1; i < t->count; i++) {
		least = t->samples[i].value < t->samples[least].value ? i : least;
		most = t->samples[i].value > t->samples[most].value ? i : most;
	}

	struct estimate spread = estimate_ratio(&t->samples[most], &t->samples[least]);
	bool fails = spread.low > bound;

	claim_case_measure(c, t->claim, &spread);
	if (spread.high > bound)
		claim_case_decide(c, fails ? CLAIM_FAILS : CLAIM_NOT_JUDGED,
				  fs_path("%sat %s it is %.3g times that at %s",
					  fails ? "" : "too close to call: ", axis_text(t, most, from, sizeof(from)),
					  spread.value, axis_text(t, least, to, sizeof(to))));
}

/* Judge the trend to which point `of` belongs; the case also gets the ids of its points. `error`: how often one of its
 * intervals may miss the truth. */
static void claim_trend_judge(struct claim_case *c, const struct claim_pairing *p, const struct summary_point *of,
			      double error)
{
	struct trend t;
	char *why;

	trend_gather(&t, p, of);
	for (size_t i = 0; i < t.count; i++)
		point_ids_add(&c->points, t.points[i]->id);
	why = trend_read(&t);
	/* As many intervals as points: each step, and that of both ends. */
	for (size_t i = 0; i < t.count; i++)
		t.samples[i].error = error / (double)t.count;
	if (why)
		claim_case_decide(c, CLAIM_NOT_JUDGED, why);
	else if (p->claim->relation == CLAIM_FLAT)
		judge_flat(c, &t);
	else
		judge_monotone(c, &t);
	trend_free(&t);
}

/* --- case by case --- */

static void judge_numbers(struct claim_case *c, const struct claim *claim, const struct sample *a,
			  const struct sample *b)
{
	struct estimate e;

	if (claim->relation == CLAIM_RATIO && b->value == 0) {
		claim_case_decide(c, CLAIM_NOT_JUDGED, fs_path("the value to compare with is 0"));
		return;
	}
	e = claim->relation == CLAIM_VALUE   ? estimate_value(a)
	    : claim->relation == CLAIM_RATIO ? estimate_ratio(a, b)
					     : estimate_difference(a, b);
	claim_case_bound(c, claim, &e);
}

/* Judge a point and what it is compared with. `error`: how often its interval may miss the truth. */
static void judge_point(struct claim_case *c, const struct claim_pairing *p, const struct summary_point *point,
			double error)
{
	bool is_alone = p->claim->relation == CLAIM_VALUE;
	struct sample a = {0}, b = {0};
	char *why = NULL;
	const struct summary_point *partner = is_alone ? NULL : claim_pairing_partner(p, point, &why);

	point_ids_add(&c->points, point->id);
	if (partner)
		point_ids_add(&c->against, partner->id);
	if (!why && claim_point_sample(point, &p->claim->metric, p->claim->rules, &a, &why) &&
	    (is_alone || claim_point_sample(partner, &p->claim->against.metric, p->claim->rules, &b, &why))) {
		a.error = b.error = error;
		judge_numbers(c, p->claim, &a, &b);
	} else {
		claim_case_decide(c, CLAIM_NOT_JUDGED, why);
	}
	claim_sample_free(&a);
	claim_sample_free(&b);
}

/* Points of one trend share a case: that of the first. */
static bool is_first_of_trend(const struct claim_pairing *p, size_t index)
{
	const json_t *group = claim_pairing_group(p, p->points.points[index]);

	return (size_t)json_integer_value(json_array_get(group, 0)) == index;
}

static void judge_pool(struct claim_verdict *v, const struct claim_pairing *p)
{
	struct claim_case c = claim_case_make(fs_path("%zu cases", p->points.count));

	claim_pool_judge(&c, p);
	claim_verdict_add_case(v, c);
}

/* A claim is about all of its cases, each of which could be wrong: they share the error (Bonferroni). */
static double error_of_case(const struct claim_pairing *p)
{
	size_t cases = 0;

	for (size_t i = 0; i < p->points.count; i++)
		cases += !claim_is_trend(p->claim) || is_first_of_trend(p, i);
	return CLAIM_ERROR / (double)(cases ? cases : 1);
}

static void judge_cases(struct claim_verdict *v, const struct claim_pairing *p)
{
	const double error = error_of_case(p);

	for (size_t i = 0; i < p->points.count; i++) {
		const struct summary_point *point = p->points.points[i];
		struct claim_case c;

		if (claim_is_trend(p->claim) && !is_first_of_trend(p, i))
			continue;
		c = claim_case_make(claim_pairing_label(p, point));
		if (claim_is_trend(p->claim))
			claim_trend_judge(&c, p, point, error);
		else
			judge_point(&c, p, point, error);
		claim_verdict_add_case(v, c);
	}
}

/* --- the claim as a whole --- */

static int side_by_point(const void *point, const void *side)
{
	json_int_t want = *(const json_int_t *)point, is = ((const struct claim_side_granted *)side)->point;

	return (want > is) - (want < is);
}

/* What the points of one side of a claim were granted; `list` has room for all. */
static void add_granted(struct claim_machine *to, const struct claim_side_granted **list, const struct claim_side *side)
{
	const struct claim_run *run = side->run;

	for (size_t i = 0; run && run->side_count && i < side->count; i++) {
		json_int_t id = side->points[i]->id;
		const struct claim_side_granted *s =
		    bsearch(&id, run->sides, run->side_count, sizeof(*s), side_by_point);

		while (s && s > run->sides && s[-1].point == id)
			s--;
		for (; s && s < run->sides + run->side_count && s->point == id; s++)
			list[to->side_count++] = s;
	}
}

static size_t granted_most(const struct claim_side *side)
{
	return side->run ? side->run->side_count : 0;
}

/* The needs that the machine does not meet; NULL: none. Both runs are from the same machine. */
static char *lacking(const struct claim_pairing *p)
{
	const struct claim_run *run = p->points.run;
	size_t most = granted_most(&p->points) + granted_most(&p->against);
	const struct claim_side_granted **sides = or_abort(calloc(most + 1, sizeof(*sides)));
	struct claim_machine machine = {run->record, {run->state[0], run->state[1]}, sides, 0};
	char why[256];
	bool met;

	add_granted(&machine, sides, &p->points);
	add_granted(&machine, sides, &p->against);
	met = claim_needs_met(p->claim, &machine, why, sizeof(why));
	free(sides);
	return met ? NULL : fs_path("%s", why);
}

static size_t count_cases(const struct claim_verdict *v, enum claim_outcome verdict, const struct claim_case **first)
{
	size_t count = 0;

	for (size_t i = 0; i < v->case_count; i++)
		if (v->cases[i].verdict == verdict && !count++)
			*first = &v->cases[i];
	return count;
}

/* "rc: 0.62 is above 0.5 (and 1 case more)" */
static char *why_as_a_whole(const struct claim_case *first, size_t count)
{
	char more[64] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu case%s more)", count - 1, count == 2 ? "" : "s");
	return fs_path("%s%s%s%s", first->label, *first->label ? ": " : "", first->why, more);
}

/* A single failing case decides; otherwise one that cannot be judged. */
static void decide_by_cases(struct claim_verdict *v)
{
	static const enum claim_outcome decisive[] = {CLAIM_FAILS, CLAIM_NOT_JUDGED};
	const struct claim_case *first = NULL;

	v->verdict = CLAIM_HOLDS;
	v->why = fs_path("%s", "");
	for (size_t i = 0; v->verdict == CLAIM_HOLDS && i < 2; i++) {
		size_t count = count_cases(v, decisive[i], &first);

		if (!count)
			continue;
		free(v->why);
		v->verdict = decisive[i];
		v->why = why_as_a_whole(first, count);
	}
}

/* No conclusion is possible because of `why`, which is taken; the measured values are kept for display. */
static void withdraw(struct claim_verdict *v, char *why)
{
	v->verdict = CLAIM_NOT_JUDGED;
	v->why = why;
	for (size_t i = 0; i < v->case_count; i++)
		claim_case_decide(&v->cases[i], CLAIM_NOT_JUDGED, fs_path("%s", why));
}

/* Judge all cases. Returns why no conclusion is possible, or NULL. */
static char *judge_claim(struct claim_verdict *v, const struct claim *claim, const struct claim_run *run,
			 const struct claim_run *runs, size_t count)
{
	struct claim_pairing p;
	char *why;

	if (claim->unknown_relation)
		return fs_path("this version of kblat does not know the relation '%s'", claim->unknown_relation);
	why = claim_pairing_make(&p, claim, run, runs, count);
	if (!why) {
		(claim->pools ? judge_pool : judge_cases)(v, &p);
		why = lacking(&p);
	}
	claim_pairing_free(&p);
	return why;
}

static struct claim_verdict judge_whole(const struct claim *claim, const struct claim_run *run,
					const struct claim_run *runs, size_t count)
{
	struct claim_verdict v = {
	    .origin = claim->origin,
	    .experiment = fs_path("%s", json_text(run->resolved, "name")),
	    .id = or_abort(strdup(claim->id)),
	    .claim = or_abort(strdup(claim->text)),
	    .source = or_abort(strdup(claim->source)),
	    .measured_by_source = or_abort(strdup(claim->measured_by_source)),
	    .metric = or_abort(strdup(claim->metric.text)),
	    .wanted = claim_wanted_text(claim),
	};
	char *why = judge_claim(&v, claim, run, runs, count);

	v.measured = claim_cases_text(claim, v.cases, v.case_count);
	if (why)
		withdraw(&v, why);
	else
		decide_by_cases(&v);
	return v;
}

/* Judge the claims of all runs, in order, using what all of the runs have measured. Pure. */
struct claim_verdicts claims_judge_read(const struct claim_run *runs, size_t count)
{
	struct claim_verdicts all = {0};

	for (size_t i = 0; i < count; i++) {
		struct claim_list list = claim_list_of_run(runs[i].resolved);

		for (size_t k = 0; k < list.count; k++)
			claim_verdicts_add(&all, judge_whole(&list.claims[k], &runs[i], runs, count));
		claim_list_free(&list);
	}
	return all;
}

/* --- the claims of runs --- */

bool claims_are_made(const json_t *resolved)
{
	return json_array_size(json_object_get(resolved, "claims")) > 0;
}

int claims_judge(const struct run *runs, size_t count, struct claim_verdicts *out, struct err *e)
{
	struct claim_run *all = or_abort(calloc(count + 1, sizeof(*all)));
	int rc = 0;

	*out = (struct claim_verdicts){0};
	for (size_t i = 0; !rc && i < count; i++)
		rc = claim_run_read(&runs[i], &all[i], e);
	if (!rc)
		*out = claims_judge_read(all, count);
	for (size_t i = 0; i < count; i++)
		claim_run_free(&all[i]);
	free(all);
	return rc;
}

json_t *claims_of_runs(const struct run *runs, size_t count, struct err *e)
{
	struct claim_verdicts verdicts;
	json_t *document = NULL;

	if (!claims_judge(runs, count, &verdicts, e))
		document = claim_verdicts_to_json(&verdicts);
	claim_verdicts_free(&verdicts);
	return document;
}

static bool makes_claims(const struct run *run)
{
	return claims_are_made(run->resolved);
}

static json_t *own_claims(const struct run *run, struct err *e)
{
	return claims_of_runs(run, 1, e);
}

const struct verify_more claims_files[] = {
    {"claims.json", makes_claims, own_claims, "it differs from a new judgement"},
    {.file = NULL},
};

struct claim_verdicts claims_read(const char *dir)
{
	char *path = fs_path("%s/claims.json", dir);
	struct err ignored = ERR_INIT;
	json_t *document = fs_is_missing(path) ? NULL : schema_read(DOC_CLAIMS, path, &ignored);
	struct claim_verdicts verdicts = claim_verdicts_from_json(document);

	json_decref(document);
	free(path);
	return verdicts;
}

/* --- verdicts as tables --- */

#define CELL_MAX 1100

#define TEXT(field) offsetof(struct claim_verdict, field)
#define VERDICT	    SIZE_MAX /* instead of the offset of a text: the verdict itself */

static const char *verdict_text(const struct claim_verdict *v, size_t offset)
{
	return offset == VERDICT ? claim_outcome_names[v->verdict] : *(char *const *)((const char *)v + offset);
}

/* --- for reading --- */

static const struct table_column columns[] = {
    {.label = "verdict", .wrap = 10},
    {.label = "claim", .wrap = 46},
    {.label = "the source", .wrap = 16},
    {.label = "measured", .wrap = 22},
};

/* Of each column. */
static const size_t contents[] = {VERDICT, TEXT(claim), TEXT(measured_by_source), TEXT(measured)};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Is it about points that were not measured, such as those that --only has left out? */
static bool is_about_others(const struct claim_verdict *v)
{
	return v->verdict == CLAIM_NOT_JUDGED && !strcmp(v->why, CLAIM_WITHOUT_POINT);
}

static struct table table_of_claims(const struct claim_verdicts *all)
{
	struct table t = table_of(columns, COLUMNS, 0);
	bool several = claim_verdicts_of_several(all);
	const char *last = "";

	for (size_t n = 0; n < all->count; n++) {
		const struct claim_verdict *v = &all->all[n];
		size_t i;

		if (is_about_others(v))
			continue;
		i = table_row(&t);
		if (several && strcmp(v->experiment, last))
			table_above(&t, i, "%s", v->experiment);
		last = v->experiment;
		for (size_t c = 0; c < COLUMNS; c++)
			table_text(&t, c, i, "%s", verdict_text(v, contents[c]));
		table_note(&t, i, "%s, wanted: %s of %s%s%s", v->id, v->wanted, v->metric, *v->why ? "; " : "", v->why);
	}
	return t;
}

/* They are not judged, but a line is enough for them. */
static void put_others(const struct claim_verdicts *all, FILE *out)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++)
		if (is_about_others(&all->all[i]))
			fprintf(out, "%s%s",
				count++ ? ", " : "\nabout points that were not measured: ", all->all[i].id);
	if (count)
		fputc('\n', out);
}

/* "12 claims", "1 claim of ours" */
static void put_count(size_t count, const char *of, const size_t outcomes[CLAIM_OUTCOMES], FILE *out)
{
	fprintf(out, "%zu claim%s%s: %zu hold%s, %zu fail%s, %zu not judged\n", count, count == 1 ? "" : "s", of,
		outcomes[CLAIM_HOLDS], outcomes[CLAIM_HOLDS] == 1 ? "s" : "", outcomes[CLAIM_FAILS],
		outcomes[CLAIM_FAILS] == 1 ? "s" : "", outcomes[CLAIM_NOT_JUDGED]);
}

void claims_counts(const struct claim_verdicts *v, FILE *out)
{
	static const char *const of[CLAIM_ORIGINS] = {" of the source", " of ours", " of the measurement itself"};
	size_t outcomes[CLAIM_ORIGINS][CLAIM_OUTCOMES], count[CLAIM_ORIGINS] = {0};
	bool mixed;

	for (enum claim_origin o = 0; o < CLAIM_ORIGINS; o++)
		for (enum claim_outcome c = 0; c < CLAIM_OUTCOMES; c++)
			count[o] += outcomes[o][c] = claim_verdicts_count_of(v, o, c);
	mixed = count[CLAIM_OF_SOURCE] < v->count;
	fputc('\n', out);
	for (enum claim_origin o = 0; o < CLAIM_ORIGINS; o++)
		if (count[o] || (!mixed && o == CLAIM_OF_SOURCE))
			put_count(count[o], mixed ? of[o] : "", outcomes[o], out);
}

void claims_table(const struct claim_verdicts *v, FILE *out)
{
	const struct table_style style = {.note_indent = 12, .note_width = 88};
	struct table t = table_of_claims(v);

	if (t.rows)
		table_print(&t, &style, out);
	put_others(v, out);
	claims_counts(v, out);
	table_free(&t);
}

/* --- for programs --- */

void claims_tsv(const struct claim_verdicts *v, FILE *out)
{
	static const struct {
		const char *name;
		size_t offset;
	} cells[] = {
	    {"experiment", TEXT(experiment)},
	    {"id", TEXT(id)},
	    {"claim", TEXT(claim)},
	    {"source", TEXT(source)},
	    {"measured_by_source", TEXT(measured_by_source)},
	    {"metric", TEXT(metric)},
	    {"wanted", TEXT(wanted)},
	    {"measured", TEXT(measured)},
	    {"verdict", VERDICT},
	    {"why", TEXT(why)},
	};
	size_t last = sizeof(cells) / sizeof(cells[0]) - 1;
	char clean[CELL_MAX];

	for (size_t k = 0; k <= last; k++)
		fprintf(out, "%s%c", cells[k].name, k < last ? '\t' : '\n');
	for (size_t i = 0; i < v->count; i++)
		for (size_t k = 0; k <= last; k++) {
			const char *text = verdict_text(&v->all[i], cells[k].offset);

			/* Tabs and newlines are control characters, which cleaning removes. */
			fprintf(out, "%s%c", text_clean(text, strlen(text), clean, sizeof(clean)),
				k < last ? '\t' : '\n');
		}
}
