#include "compare/compare_judge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "common/or_abort.h"
#include "compare/compare_answer.h"
#include "compare/compare_entry.h"
#include "compare/compare_looks.h"
#include "compare/compare_needed.h"
#include "compare/compare_noisy.h"
#include "compare/compare_time.h"
#include "rundir/flows.h"

#define LABEL_VALUE 64

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

static json_t *judge_point_json(const struct compare_join *j, const struct compare_point *p)
{
	char *label = compare_label(j, p);
	json_t *point = json_pack("{s:I, s:s, s:O, s:s, s:{s:i, s:i}, s:O, s:[], s:o}", "id", p->id, "label", label,
				  "params", p->params, "metric", p->metric ? p->metric : "", "left_out", "base",
				  (int)p->left_out[ARM_BASE], "with", (int)p->left_out[ARM_WITH], "reasons", p->reasons,
				  "quantities", "not_compared", compare_point_not_compared(p));

	json_object_set_new(point, "units", compare_time(j, p));
	free(label);
	return point;
}

/* --- the whole comparison --- */

static size_t runs_of(const struct compare_runs *runs, enum compare_arm arm)
{
	size_t n = 0;

	for (size_t i = 0; i < runs->count; i++)
		n += runs->run[i].arm == arm;
	return n;
}

static json_t *arm_json(const struct compare_runs *runs, enum compare_arm arm)
{
	return json_pack("{s:i, s:i, s:o, s:o, s:o}", "runs", (int)runs_of(runs, arm), "units", (int)runs->units[arm],
			 "kernels", compare_values(runs, arm, FIELD_KERNEL), "hosts",
			 compare_values(runs, arm, FIELD_HOSTS), "boots", compare_values(runs, arm, FIELD_BOOT));
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

static void add_notes(const struct compare_runs *runs, json_t *notes)
{
	json_t *hosts[ARMS], *kernels;

	note_captures(runs, notes);

	for (enum compare_arm arm = 0; arm < ARMS; arm++) {
		kernels = compare_values(runs, arm, FIELD_KERNEL);
		if (json_array_size(kernels) > 1)
			json_array_append_new(notes, json_sprintf("%s has runs of %zu kernels", compare_arm_name[arm],
								  json_array_size(kernels)));
		json_decref(kernels);
		hosts[arm] = compare_values(runs, arm, FIELD_HOSTS);
	}
	if (!json_equal(hosts[ARM_BASE], hosts[ARM_WITH]))
		json_array_append_new(notes, json_string("the arms were measured on different machines"));
	if (runs->kind == UNIT_RUN && !runs->in_turn)
		json_array_append_new(
		    notes, json_string("the runs of the arms do not alternate (one of each arm, in random order, then "
				       "the next two): a drift of the machine would look like an effect"));
	json_decref(hosts[ARM_BASE]);
	json_decref(hosts[ARM_WITH]);
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

static json_t *look_json(const struct compare_runs *runs, const struct compare_rule *rule)
{
	size_t next = look_of(runs, rule).next;

	if (!rule->planned)
		return json_null();
	return json_pack("{s:I, s:o, s:f}", "planned", (json_int_t)rule->planned, "next",
			 next ? json_integer((json_int_t)next) : json_null(), "alpha", rule->alpha);
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

static json_t *judge_head_json(const struct compare_join *j, const struct compare_rule *rule)
{
	const char *name = json_string_value(json_object_get(j->runs->run[0].run.resolved, "name"));
	json_t *notes = json_deep_copy(j->notes);

	add_notes(j->runs, notes);
	note_look(j->runs, rule, notes);
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:b, s:b, s:f, s:o, s:f, s:f, s:I, s:n, s:o, s:o, s:o, s:o, s:[]}",
			 "schema", 1, "verdict", "undecided", "answer", "", "experiment", name ? name : "", "unit",
			 compare_unit_name[j->runs->kind], "pairs", j->runs->pairs, "in_turn", j->runs->in_turn,
			 "alpha", look_of(j->runs, rule).level, "look", look_json(j->runs, rule),
			 "least_margin_percent", 100 * rule->margin, "effect_percent", 100 * rule->effect, "seed",
			 (json_int_t)rule->seed, "relabellings", "base", arm_json(j->runs, ARM_BASE), "with",
			 arm_json(j->runs, ARM_WITH), "notes", notes, "needed", compare_needed(j, rule), "points");
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

static json_t *find_point(json_t *points, const struct compare_join *j, const struct compare_point *p)
{
	return json_array_get(points, (size_t)(p - j->point));
}

static void add_entry(const struct compare_join *j, json_t *points, const struct compare_entry *t)
{
	json_t *point = find_point(points, j, t->point);

	if (is_judged(j, t))
		json_array_append_new(json_object_get(point, "quantities"), compare_entry_json(t));
	else
		json_array_append_new(json_object_get(point, "not_compared"),
				      json_pack("{s:s, s:s}", "quantity", t->values->of.key, "why",
						"too few boots or runs of an arm have valid values"));
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

	for (size_t i = 0; i < j->count; i++)
		most += j->point[i].quantity_count;

	*all = (struct judged){calloc(most, sizeof(*all->entries)), calloc(most, sizeof(*all->perms)), 0};
	if (!all->entries || !all->perms)
		return -ENOMEM;
	all->n = collect_entries(j, rule, all->entries, all->perms);
	return perm_judge(plan, all->perms, all->n, look_of(j->runs, rule).level, rule->question);
}

static int judge_entries(const struct compare_join *j, const struct compare_rule *rule, json_t *result)
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
		add_entry(j, json_object_get(result, "points"), &all.entries[i]);
		drifts |= all.perms[i].drifts;
	}
	json_object_set_new(result, "relabellings",
			    json_pack("{s:I, s:b}", "count", (json_int_t)plan.count, "exact", plan.exact));
	json_object_set_new(result, "trends", json_integer(drifts ? (json_int_t)plan.trends : 0));
	judged_free(&all);
	perm_plan_free(&plan);
	return rc;
}

int compare_verdict(const struct compare_join *j, const struct compare_rule *rule, const struct perm_plan *plan,
		    size_t *verdict)
{
	size_t counts[COMPARE_VERDICTS] = {0};
	struct judged all;
	int rc = judge_with(j, rule, plan, &all);

	for (size_t i = 0; !rc && i < all.n; i++)
		if (is_judged(j, &all.entries[i]))
			counts[compare_entry_verdict(&all.entries[i])]++;
	*verdict = counts[COMPARE_REGRESSION]	 ? COMPARE_REGRESSION
		   : counts[COMPARE_IMPROVEMENT] ? COMPARE_IMPROVEMENT
		   : counts[COMPARE_UNDECIDED]	 ? COMPARE_UNDECIDED
						 : COMPARE_EQUIVALENT;
	judged_free(&all);
	return rc;
}

static bool is_enough(const struct compare_runs *runs)
{
	return fewer_units(runs) >= compare_units_least(runs);
}

json_t *compare_judge(const struct compare_join *j, const struct compare_rule *rule, struct err *e)
{
	json_t *result = judge_head_json(j, rule), *points = json_object_get(result, "points");
	int rc = 0;

	for (size_t i = 0; i < j->count; i++)
		json_array_append_new(points, judge_point_json(j, &j->point[i]));
	if (is_enough(j->runs) && look_of(j->runs, rule).level > 0)
		rc = judge_entries(j, rule, result);
	if (rc) {
		json_decref(result);
		if (rc == -EINVAL)
			err_set(e, rc, STATUS_USAGE, NULL, "compare", "over %d units (boots or runs)", PERM_UNITS);
		else
			err_sys(e, rc, NULL, "compare");
		return NULL;
	}
	compare_noisy(j, result);
	compare_answer(result);
	return result;
}
