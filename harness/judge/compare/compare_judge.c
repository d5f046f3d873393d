#include "judge/compare/compare_judge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "judge/analysis/param.h"
#include "judge/compare/compare_noise.h"
#include "judge/compare/compare_perm.h"
#include "judge/compare/compare_verdict.h"

#define LABEL_VALUE 64

const double shift_quantile[SHIFT_QUANTILES] = {0.01, 0.05, 0.1,  0.2,	0.3,  0.4,   0.5,   0.6,  0.7,
						0.8,  0.9,  0.95, 0.98, 0.99, 0.995, 0.998, 0.999};

/* --- points --- */

char *compare_label(const struct compare_join *j, const struct compare_point *p)
{
	char *label = NULL, name[LABEL_VALUE], text[LABEL_VALUE];
	const char *key;
	json_t *value;
	size_t size;
	FILE *out = or_abort(open_memstream(&label, &size));

	fputs(p->flow, out);
	json_object_foreach ((json_t *)p->params, key, value) {
		enum unit unit = param_name_unit(key, name, sizeof(name));
		bool word = param_speaks(value) && flows_owns("", key);

		if (!json_object_get(j->varying, key))
			continue;
		fprintf(out, "%s%s%s%s", ftell(out) ? ", " : "", word ? "" : name, word ? "" : " ",
			param_value_text(value, unit, text, sizeof(text)));
	}
	fclose(out);
	return or_abort(label);
}

static void add_not_compared(struct comparison_point *p, const char *key, const char *why)
{
	p->missing = grow_or_abort(p->missing, p->missing_count, sizeof(*p->missing));
	p->missing[p->missing_count++] = (struct comparison_missing){.key = key, .why = why};
}

struct comparison_point compare_judge_point(const struct compare_join *j, const struct compare_point *p)
{
	struct comparison_point to = {
	    .id = p->id,
	    .label = compare_label(j, p),
	    .metric = fs_path("%s", p->metric ? p->metric : ""),
	    .params = json_incref((json_t *)p->params),
	    .left_out = {p->left_out[ARM_BASE], p->left_out[ARM_WITH]},
	    .reasons = json_incref(p->reasons),
	};

	for (size_t q = 0; q < p->quantity_count; q++)
		if (p->quantity[q].why && *p->quantity[q].why)
			add_not_compared(&to, p->quantity[q].of.key, p->quantity[q].why);
	return to;
}

void compare_judge_add(struct comparison_point *p, const struct compare_entry *t, const char *why)
{
	if (why) {
		add_not_compared(p, t->values->of.key, why);
		return;
	}
	p->quantities = grow_or_abort(p->quantities, p->quantity_count, sizeof(*p->quantities));
	p->quantities[p->quantity_count++] = compare_entry_quantity(t, p->metric);
}

/* --- units in order of time --- */

static int by_start(const void *a, const void *b)
{
	const struct comparison_unit *x = a, *y = b;

	return (x->started_ns > y->started_ns) - (x->started_ns < y->started_ns);
}

static void unit_add_run(struct comparison_unit *u, const struct compare_run *run, const struct compare_values *v,
			 double value)
{
	double mean = v->value[run->unit];

	/* Runs of an arm are in chronological order, so the first one found of a unit is its first. */
	if (!u->boot)
		*u = (struct comparison_unit){.arm = run->arm,
					      .boot = fs_path("%s", run->boot),
					      .kernel = fs_path("%s", run->kernel),
					      .started_ns = run->started_ns,
					      .value = v->logarithms ? exp(mean) : mean};
	if (isnan(value))
		return;
	u->runs = grow_or_abort(u->runs, u->run_count, sizeof(*u->runs));
	u->runs[u->run_count++] = value;
}

/* With the values of the first quantity of a point. */
static void add_units(const struct compare_join *j, const struct compare_point *p, struct comparison_point *to)
{
	const struct compare_values *v = p->quantity_count ? &p->quantity[0] : NULL;
	size_t n = j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH];

	if (!v || !v->value)
		return;
	to->unit_count = n;
	to->units = or_abort(calloc(n + 1, sizeof(*to->units)));
	for (size_t i = 0; i < j->runs->count; i++)
		unit_add_run(&to->units[j->runs->run[i].unit], &j->runs->run[i], v, compare_point_number(p, i, v));
	qsort(to->units, n, sizeof(*to->units), by_start);
}

/* Call perm_plan_drift() with the mean time of each unit's runs. */
static int compare_drift(const struct compare_runs *runs, struct perm_plan *plan)
{
	size_t n = runs->units[ARM_BASE] + runs->units[ARM_WITH];
	double *when = or_abort(calloc(n + 1, sizeof(*when))), *count = or_abort(calloc(n + 1, sizeof(*count)));
	int rc;

	for (size_t i = 0; i < runs->count; i++) {
		/* Relative to the first run: a double cannot hold nanoseconds since 1970 exactly. */
		when[runs->run[i].unit] += (double)(runs->run[i].started_ns - runs->run[0].started_ns);
		count[runs->run[i].unit]++;
	}
	for (size_t u = 0; u < n; u++)
		when[u] /= fmax(1, count[u]);
	rc = perm_plan_drift(plan, when);
	free(when);
	free(count);
	return rc;
}

/* --- the whole comparison --- */

static size_t runs_of(const struct compare_runs *runs, enum compare_arm arm)
{
	size_t n = 0;

	for (size_t i = 0; i < runs->count; i++)
		n += runs->run[i].arm == arm;
	return n;
}

static struct comparison_arm arm_of(const struct compare_runs *runs, enum compare_arm arm)
{
	return (struct comparison_arm){
	    .runs = runs_of(runs, arm),
	    .units = runs->units[arm],
	    .kernels = compare_values(runs, arm, FIELD_KERNEL),
	    .hosts = compare_values(runs, arm, FIELD_HOSTS),
	    .boots = compare_values(runs, arm, FIELD_BOOT),
	};
}

static void note_captures(const struct compare_runs *runs, json_t *notes)
{
	size_t missing = 0;

	for (size_t i = 0; i < runs->count; i++)
		missing += !runs->run[i].state;
	if (missing)
		json_array_append_new(notes,
				      json_sprintf("%zu of %zu runs have no capture of the machine's state, so it is "
						   "unknown whether only what is under test differs",
						   missing, runs->count));
}

static void add_notes(const struct compare_runs *runs, const struct comparison *c)
{
	note_captures(runs, c->notes);
	for (enum compare_arm arm = 0; arm < ARMS; arm++) {
		size_t kernels = json_array_size(c->arm[arm].kernels);

		if (kernels > 1)
			json_array_append_new(
			    c->notes, json_sprintf("%s has runs of %zu kernels", compare_arm_name[arm], kernels));
	}
	if (!json_equal(c->arm[ARM_BASE].hosts, c->arm[ARM_WITH].hosts))
		json_array_append_new(c->notes, json_string("the arms were measured on different machines"));
	if (runs->kind == UNIT_RUN && !runs->in_turn)
		json_array_append_new(
		    c->notes,
		    json_string("the runs of the arms do not alternate (one of each arm, in random order, then "
				"the next two): a drift of the machine would look like an effect"));
}

/* --- looks --- */

static size_t fewer_units(const struct compare_runs *runs)
{
	return runs->units[ARM_BASE] < runs->units[ARM_WITH] ? runs->units[ARM_BASE] : runs->units[ARM_WITH];
}

/* The part of alpha that may be used now (0 between two looks), and the next look (0: there is none). */
struct look_now {
	double level;
	size_t next;
};

static struct look_now look_of(const struct compare_runs *runs, const struct compare_rule *rule)
{
	struct look_now now = {rule->alpha, 0};
	struct look looks[LOOKS_MOST];
	size_t units = fewer_units(runs), count;

	if (!rule->planned)
		return now;
	now.level = 0;
	count = compare_looks(rule->planned, compare_units_least(runs), runs->pairs, rule->alpha, looks);
	for (size_t i = count; i-- > 0 && !now.level;) {
		if (looks[i].units == units || (i == count - 1 && looks[i].units < units))
			now.level = looks[i].level;
		else if (looks[i].units > units)
			now.next = looks[i].units;
	}
	return now;
}

static void note_look(const struct compare_runs *runs, const struct compare_rule *rule, json_t *notes)
{
	double level = look_of(runs, rule).level;

	if (!rule->planned || level <= 0)
		return;
	if (fewer_units(runs) > rule->planned)
		json_array_append_new(notes, json_sprintf("more %ss than planned (%zu in each arm): continuing after "
							  "the last look makes false alarms more frequent",
							  compare_unit_name[runs->kind], rule->planned));
	json_array_append_new(notes, json_sprintf("a look at %zu of %zu %ss in each arm: the rate of false alarms is "
						  "%.3g %% for this look, %.3g %% for all",
						  fewer_units(runs), rule->planned, compare_unit_name[runs->kind],
						  100 * level, 100 * rule->alpha));
}

/* The result before anything is judged. */
static struct comparison judge_begin(const struct compare_join *j, const struct compare_rule *rule)
{
	const char *name = json_string_value(json_object_get(j->runs->run[0].run.resolved, "name"));
	struct look_now look = look_of(j->runs, rule);
	struct comparison c = {
	    .experiment = fs_path("%s", name ? name : ""),
	    .kind = j->runs->kind,
	    .pairs = j->runs->pairs,
	    .in_turn = j->runs->in_turn,
	    .alpha = look.level,
	    .planned = rule->planned,
	    .next_look = look.next,
	    .alpha_of_all = rule->alpha,
	    .least_margin = rule->margin > 0 ? rule->margin : COMPARE_MARGIN,
	    .judge_from = rule->judge_from,
	    .effect = rule->effect,
	    .seed = rule->seed,
	    .arm = {arm_of(j->runs, ARM_BASE), arm_of(j->runs, ARM_WITH)},
	    .notes = json_deep_copy(j->notes),
	    .needed = compare_needed(j, rule),
	    .points = or_abort(calloc(j->count + 1, sizeof(*c.points))),
	    .point_count = j->count,
	};

	for (size_t i = 0; i < j->count; i++) {
		c.points[i] = compare_judge_point(j, &j->point[i]);
		add_units(j, &j->point[i], &c.points[i]);
	}
	add_notes(j->runs, &c);
	note_look(j->runs, rule, c.notes);
	return c;
}

static size_t collect_entries(const struct compare_join *j, const struct compare_rule *rule,
			      struct compare_entry *entries, struct perm_quantity *perms)
{
	size_t n = 0;

	for (size_t i = 0; i < j->count; i++)
		for (size_t q = 0; q < j->point[i].quantity_count; q++) {
			const struct compare_values *v = &j->point[i].quantity[q];

			if (!v->value)
				continue;
			perms[n] = (struct perm_quantity){
			    .value = v->value, .weight = v->of.weight, .less_is_worse = v->of.less_is_worse};
			entries[n] = compare_entry_make(j, &j->point[i], v, rule);
			entries[n].perm = &perms[n];
			n++;
		}
	return n;
}

/* False for a quantity that too few units of an arm have. */
static bool is_judged(const struct compare_join *j, const struct compare_entry *t)
{
	size_t least = compare_units_least(j->runs), n[ARMS] = {0};

	for (size_t u = 0; u < j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH]; u++)
		n[u >= j->runs->units[ARM_BASE]] += !isnan(t->values->value[u]);
	return t->perm->known && n[ARM_BASE] >= least && n[ARM_WITH] >= least;
}

/* The quantities of all points, and their results. */
struct judged {
	struct compare_entry *entries;
	struct perm_quantity *perms;
	size_t n;
};

static void judged_free(struct judged *all)
{
	free(all->entries);
	free(all->perms);
}

/* 0 or a negative errno; judged_free() in both cases. */
static int judge_with(const struct compare_join *j, const struct compare_rule *rule, const struct perm_plan *plan,
		      struct judged *all)
{
	size_t most = 1;
	int rc;

	for (size_t i = 0; i < j->count; i++)
		most += j->point[i].quantity_count;

	*all = (struct judged){large_alloc(most, sizeof(*all->entries)), large_alloc(most, sizeof(*all->perms)), 0};
	if (!all->entries || !all->perms)
		return -ENOMEM;
	all->n = collect_entries(j, rule, all->entries, all->perms);
	rc = perm_judge(plan, all->perms, all->n, look_of(j->runs, rule).level, rule->question);
	for (size_t i = 0; !rc && i < all->n; i++)
		compare_entry_find_drift(&all->entries[i], plan);
	return rc;
}

/* What drifts is named by its first quantity that decides. */
static void note_drift(const struct compare_runs *runs, const struct perm_plan *plan, const struct judged *all,
		       json_t *notes)
{
	const struct compare_entry *first = NULL;

	for (size_t i = all->n; i--;)
		if (compare_entry_is_by_drift(&all->entries[i]) && all->entries[i].decides)
			first = &all->entries[i];
	if (first)
		json_array_append_new(
		    notes,
		    json_sprintf(
			"the arms were measured one after the other, and values seem to drift within them: %s of point "
			"%" JSON_INTEGER_FORMAT " by %+.3g %% from arm to arm, which may be all of the "
			"difference; that is undecided: let the arms take turns",
			compare_quantity_label(first->values->of.key), first->point->id,
			100 * compare_share(first->values, first->drift)));
	else if (plan->one_after_other && runs->kind == UNIT_BOOT)
		json_array_append_new(notes, json_string("the arms were measured one after the other: a drift of the "
							 "machine would look like an effect"));
}

static int judge_entries(const struct compare_join *j, const struct compare_rule *rule, struct comparison *c)
{
	struct perm_plan plan;
	struct judged all = {NULL, NULL, 0};
	bool drifts = false;
	int rc = perm_plan_make(&plan, j->runs->units[ARM_BASE], j->runs->units[ARM_WITH], j->runs->pairs, PERM_MAX,
				rule->seed);

	if (rc)
		return rc;
	rc = compare_drift(j->runs, &plan) ?: judge_with(j, rule, &plan, &all);
	for (size_t i = 0; !rc && i < all.n; i++) {
		const struct compare_entry *t = &all.entries[i];

		compare_judge_add(&c->points[t->point - j->point], t,
				  is_judged(j, t) ? NULL : "too few boots or runs of an arm have valid values");
		drifts |= all.perms[i].drifts;
	}
	if (!rc)
		note_drift(j->runs, &plan, &all, c->notes);
	c->judged = true;
	c->relabellings = plan.count;
	c->exact = plan.exact;
	c->trends = drifts ? plan.trends : 0;
	judged_free(&all);
	perm_plan_free(&plan);
	return rc;
}

int compare_judge_overall(const struct compare_join *j, const struct compare_rule *rule, const struct perm_plan *plan,
			  enum compare_verdict *verdict)
{
	struct verdict_counts counts = {.open = 0};
	struct judged all;
	int rc = judge_with(j, rule, plan, &all);

	for (size_t i = 0; !rc && i < all.n; i++)
		if (is_judged(j, &all.entries[i]))
			compare_verdict_count(&counts, compare_entry_one(&all.entries[i]));
	*verdict = compare_verdict_overall(&counts);
	judged_free(&all);
	return rc;
}

static bool is_enough(const struct compare_runs *runs)
{
	return fewer_units(runs) >= compare_units_least(runs);
}

/* Does any run have the point? */
static bool point_is_anywhere(const struct comparison *c, const struct comparison_point *p)
{
	return p->left_out[ARM_BASE] < c->arm[ARM_BASE].runs || p->left_out[ARM_WITH] < c->arm[ARM_WITH].runs;
}

/* Quantities that decide, but have no result: those that were named, otherwise what every point has first, as long as any run
 * has it: what is valid in one arm only is not the same in both. */
static void mark_missing(struct comparison *c, const struct compare_rule *rule)
{
	for (struct comparison_point *p = c->points; p < c->points + c->point_count; p++) {
		size_t count;
		struct compare_quantity *list = compare_quantity_list(*p->metric ? p->metric : NULL, &count);

		for (size_t i = 0; i < p->missing_count; i++) {
			const char *key = p->missing[i].key;

			p->missing[i].decides =
			    point_is_anywhere(c, p) &&
			    (rule->judge_count ? compare_rule_names(rule, key) : !strcmp(key, list[0].key));
		}
		free(list);
	}
}

int compare_judge(const struct compare_join *j, const struct compare_rule *rule, struct comparison *c, struct err *e)
{
	int rc = 0;

	*c = judge_begin(j, rule);
	if (is_enough(j->runs) && c->alpha > 0)
		rc = judge_entries(j, rule, c);
	if (rc) {
		comparison_free(c);
		if (rc == -EINVAL)
			return err_set(e, rc, STATUS_USAGE, NULL, "compare", "over %d units (boots or runs)",
				       PERM_UNITS);
		return err_sys(e, rc, NULL, "compare");
	}
	mark_missing(c, rule);
	compare_noise(c);
	compare_answer(c);
	return 0;
}

/* --- the shift of every quantile --- */

/* Means of the logarithms over each unit's runs; runs without the quantile do not count. */
static void fill_units(const struct compare_runs *runs, const double (*value)[SHIFT_QUANTILES], size_t q, double *units,
		       double *counts)
{
	size_t all = runs->units[ARM_BASE] + runs->units[ARM_WITH];

	for (size_t u = 0; u < all; u++)
		units[u] = counts[u] = 0;
	for (size_t i = 0; i < runs->count; i++) {
		if (!(value[i][q] > 0))
			continue;
		units[runs->run[i].unit] += log(value[i][q]);
		counts[runs->run[i].unit]++;
	}
	for (size_t u = 0; u < all; u++)
		units[u] = counts[u] > 0 ? units[u] / counts[u] : NAN;
}

int compare_shift(const struct compare_runs *runs, const double (*value)[SHIFT_QUANTILES], uint64_t seed, double alpha,
		  struct shift *out)
{
	size_t all = runs->units[ARM_BASE] + runs->units[ARM_WITH];
	struct perm_quantity perm[SHIFT_QUANTILES];
	double *units = large_alloc(SHIFT_QUANTILES + 1, all * sizeof(*units));
	struct perm_plan plan;
	int rc = units
		     ? perm_plan_make(&plan, runs->units[ARM_BASE], runs->units[ARM_WITH], runs->pairs, PERM_MAX, seed)
		     : -ENOMEM;

	if (rc)
		goto out;
	for (size_t q = 0; q < SHIFT_QUANTILES; q++) {
		fill_units(runs, value, q, units + q * all, units + SHIFT_QUANTILES * all);
		perm[q] = (struct perm_quantity){.value = units + q * all, .weight = 1};
	}
	rc = compare_drift(runs, &plan) ?: perm_judge(&plan, perm, SHIFT_QUANTILES, alpha, PERM_IS_WORSE);
	for (size_t q = 0; q < SHIFT_QUANTILES; q++) {
		out->known[q] = perm[q].known;
		out->effect[q] = 100 * expm1(perm[q].effect);
		out->low[q] = isinf(perm[q].low) ? -INFINITY : 100 * expm1(perm[q].low);
		out->high[q] = 100 * expm1(perm[q].high);
	}
	perm_plan_free(&plan);
out:
	free(units);
	return rc;
}
