#include "judge/compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "judge/analysis/causes.h"
#include "judge/compare/compare_point.h"

const char *const compare_verdicts[COMPARE_VERDICTS + 1] = {"regression", "improvement", "equivalent", "undecided",
							    "mixed"};
const char *const compare_outcomes[COMPARE_OUTCOMES] = {"regression", "no regression", "undecided"};

static void comparison_free_point(struct comparison_point *p)
{
	free(p->label);
	free(p->metric);
	json_decref(p->params);
	json_decref(p->reasons);
	free(p->quantities);
	free(p->missing);
	for (size_t i = 0; i < p->unit_count; i++) {
		free(p->units[i].boot);
		free(p->units[i].kernel);
		free(p->units[i].runs);
	}
	free(p->units);
	free(p->late.causes);
	free(p->stages);
}

static void difference_free(struct comparison_difference *d)
{
	free(d->key);
	free(d->group);
	free(d->meaning);
	json_decref(d->a);
	json_decref(d->b);
	json_decref(d->removed);
	json_decref(d->added);
}

void comparison_free(struct comparison *c)
{
	free(c->answer);
	free(c->experiment);
	for (enum compare_arm arm = 0; arm < ARMS; arm++) {
		json_decref(c->arm[arm].kernels);
		json_decref(c->arm[arm].hosts);
		json_decref(c->arm[arm].boots);
	}
	json_decref(c->notes);
	for (size_t i = 0; i < c->point_count; i++)
		comparison_free_point(&c->points[i]);
	free(c->points);
	free(c->noise.text);
	free(c->noise.cause);
	free(c->noise.causes);
	for (size_t i = 0; i < c->state_count; i++)
		difference_free(&c->state[i]);
	free(c->state);
	*c = (struct comparison){.answer = NULL};
}

const struct comparison_quantity *comparison_first(const struct comparison_point *p)
{
	return p->quantity_count ? p->quantities : NULL;
}

double comparison_confidence(const struct comparison *c)
{
	return 100 - 100 * c->alpha;
}

size_t comparison_state_fatal(const struct comparison *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->state_count; i++)
		n += !c->state[i].varying;
	return n;
}

char *comparison_where(const struct comparison *c, const struct comparison_difference *d, char *text, size_t size)
{
	static const enum compare_arm order[] = {ARM_WITH, ARM_BASE};
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < ARMS && used < size; i++) {
		enum compare_arm arm = order[i];

		if (d->runs[arm])
			used += (size_t)snprintf(text + used, size - used, "%s%zu of %zu runs of %s", used ? ", " : "",
						 d->runs[arm], c->arm[arm].runs, compare_arm_name[arm]);
	}
	return text;
}

const char *comparison_kernel(const struct comparison *c, enum compare_arm arm)
{
	return json_string_value(json_array_get(c->arm[arm].kernels, 0));
}

bool comparison_is_share(const struct comparison_quantity *q)
{
	return !strcmp(q->unit, "share");
}

double comparison_shown(const struct comparison_quantity *q, const struct comparison_amount *a)
{
	return comparison_is_share(q) ? 100 * a->own : a->percent;
}

const char *comparison_signed_ns(double ns, char *text, size_t size)
{
	if (fabs(ns) < 999.5)
		snprintf(text, size, "%+.0f ns", ns);
	else if (fabs(ns) < 999.5e3)
		snprintf(text, size, "%+.2f us", ns / 1e3);
	else
		snprintf(text, size, "%+.2f ms", ns / 1e6);
	return text;
}

/* --- as JSON --- */

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void set_number(json_t *row, const char *key, double value)
{
	json_object_set_new(row, key, number_or_null(value));
}

static void set_amount(json_t *row, const char *key, const struct comparison_amount *a)
{
	char name[32];

	set_number(row, key, a->own);
	snprintf(name, sizeof(name), "%s_percent", key);
	set_number(row, name, a->percent);
}

static json_t *quantity_to_json(const struct comparison_quantity *q)
{
	json_t *row =
	    json_pack("{s:s, s:s, s:b, s:b, s:b, s:s}", "quantity", q->key, "verdict", compare_verdicts[q->verdict],
		      "may_be_worse", q->may_be_worse, "noisy", q->noisy, "decides", q->decides, "unit", q->unit);

	set_number(row, "base", q->level[ARM_BASE]);
	set_number(row, "with", q->level[ARM_WITH]);
	set_amount(row, "effect", &q->effect);
	set_amount(row, "low", &q->low);
	set_amount(row, "high", &q->high);
	set_amount(row, "low_alone", &q->low_alone);
	set_amount(row, "high_alone", &q->high_alone);
	set_number(row, "p", q->p);
	set_number(row, "p_alone", q->p_alone);
	set_amount(row, "margin", &q->margin);
	json_object_set_new(row, "margin_from", json_string("least"));
	set_amount(row, "step", &q->step);
	set_amount(row, "noise", &q->noise);
	set_amount(row, "detectable", &q->detectable);
	return row;
}

static json_t *quantities_to_json(const struct comparison_point *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->quantity_count; i++)
		json_array_append_new(list, quantity_to_json(&p->quantities[i]));
	return list;
}

static json_t *missing_to_json(const struct comparison_point *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->missing_count; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "quantity", p->missing[i].key, "why", p->missing[i].why));
	return list;
}

static json_t *units_to_json(const struct comparison_point *p)
{
	json_t *list = json_array(), *runs;

	for (const struct comparison_unit *u = p->units; u < p->units + p->unit_count; u++) {
		runs = json_array();
		for (size_t i = 0; i < u->run_count; i++)
			json_array_append_new(runs, json_real(u->runs[i]));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "arm", compare_arm_name[u->arm],
						      "boot", u->boot, "kernel", u->kernel, "started_ns", u->started_ns,
						      "value", number_or_null(u->value), "runs", runs));
	}
	return list;
}

static json_t *late_cause_arm(const struct comparison_late_cause *c, enum compare_arm arm)
{
	return json_pack("{s:f, s:f, s:o}", "messages", c->arm[arm].messages, "share", c->arm[arm].share, "time_p50_ns",
			 number_or_null(c->arm[arm].time_ns));
}

static json_t *late_cause_to_json(const struct comparison_late_cause *c)
{
	char text[CAUSE_TEXT_MAX];

	return json_pack("{s:s, s:s?, s:s, s:s, s:o, s:o}", "class", cause_keys[c->cause.class], "side",
			 cause_side(&c->cause), "name", c->cause.name, "text",
			 cause_describe(&c->cause, text, sizeof(text)), "base", late_cause_arm(c, ARM_BASE), "with",
			 late_cause_arm(c, ARM_WITH));
}

static json_t *late_arm(const struct comparison_late *late, enum compare_arm arm)
{
	return json_pack("{s:I, s:f}", "runs", (json_int_t)late->arm[arm].runs, "messages", late->arm[arm].messages);
}

static json_t *late_to_json(const struct comparison_late *late)
{
	json_t *causes;

	if (!late->known)
		return json_null();
	causes = json_array();
	for (size_t i = 0; i < late->cause_count; i++)
		json_array_append_new(causes, late_cause_to_json(&late->causes[i]));
	return json_pack("{s:o, s:o, s:o}", "base", late_arm(late, ARM_BASE), "with", late_arm(late, ARM_WITH),
			 "causes", causes);
}

static json_t *stages_to_json(const struct comparison_point *p)
{
	json_t *list = p->stage_count ? json_array() : json_null();

	for (const struct comparison_stage *s = p->stages; s < p->stages + p->stage_count; s++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:o}", "stage", s->key, "where",
						      s->where, "base", s->level[ARM_BASE], "with", s->level[ARM_WITH],
						      "effect", s->effect, "low", number_or_null(s->low), "high",
						      number_or_null(s->high)));
	return list;
}

json_t *compare_json_judged(const struct comparison_point *p)
{
	return json_pack("{s:I, s:s, s:s, s:o, s:o}", "id", p->id, "label", p->label, "metric", p->metric, "quantities",
			 quantities_to_json(p), "not_compared", missing_to_json(p));
}

static json_t *point_to_json(const struct comparison_point *p)
{
	return json_pack("{s:I, s:s, s:O, s:s, s:{s:i, s:i}, s:O, s:o, s:o, s:o, s:o, s:o}", "id", p->id, "label",
			 p->label, "params", p->params, "metric", p->metric, "left_out", "base",
			 (int)p->left_out[ARM_BASE], "with", (int)p->left_out[ARM_WITH], "reasons", p->reasons,
			 "quantities", quantities_to_json(p), "not_compared", missing_to_json(p), "units",
			 units_to_json(p), "late", late_to_json(&p->late), "stages", stages_to_json(p));
}

static json_t *points_to_json(const struct comparison *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->point_count; i++)
		json_array_append_new(list, point_to_json(&c->points[i]));
	return list;
}

/* --- what holds for all points --- */

static json_t *arm_to_json(const struct comparison_arm *arm)
{
	return json_pack("{s:i, s:i, s:O, s:O, s:O}", "runs", (int)arm->runs, "units", (int)arm->units, "kernels",
			 arm->kernels, "hosts", arm->hosts, "boots", arm->boots);
}

static json_t *look_to_json(const struct comparison *c)
{
	if (!c->planned)
		return json_null();
	return json_pack("{s:I, s:o, s:f}", "planned", (json_int_t)c->planned, "next",
			 c->next_look ? json_integer((json_int_t)c->next_look) : json_null(), "alpha", c->alpha_of_all);
}

json_t *compare_json_needed(const struct comparison_needed *n, double effect)
{
	if (!n->units)
		return json_null();
	return json_pack("{s:i, s:b, s:f, s:I, s:o, s:o}", "units", (int)n->units, "at_least", n->at_least,
			 "effect_percent", 100 * effect, "point", n->point, "stdev_units_percent",
			 number_or_null(n->stdev_units_percent), "stdev_runs_percent",
			 number_or_null(n->stdev_runs_percent));
}

static json_t *relabellings_to_json(const struct comparison *c)
{
	if (!c->judged)
		return json_null();
	return json_pack("{s:I, s:b}", "count", (json_int_t)c->relabellings, "exact", c->exact);
}

static json_t *causes_to_json(const struct comparison_noise *n)
{
	json_t *list = json_array();

	for (const struct comparison_cause *c = n->causes; c < n->causes + n->cause_count; c++)
		json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:f, s:o}", "what", c->what, "least", c->least,
						      "median", c->median, "most", c->most, "correlation",
						      number_or_null(c->correlation)));
	return list;
}

static json_t *noise_to_json(const struct comparison *c)
{
	const struct comparison_noise *n = &c->noise;
	const struct comparison_quantity *q;

	if (!n->points)
		return json_null();
	q = comparison_first(&c->points[n->at]);
	return json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:s, s:s?, s:o}", "points", (json_int_t)n->points, "point",
			 c->points[n->at].id, "quantity", q->key, "noise_percent", number_or_null(q->noise.percent),
			 "detectable_percent", number_or_null(q->detectable.percent), "margin_percent",
			 number_or_null(q->margin.percent), "text", n->text, "cause", n->cause, "causes",
			 causes_to_json(n));
}

static json_t *state_to_json(const struct comparison *c)
{
	json_t *list = json_array();
	char where[128];

	for (const struct comparison_difference *d = c->state; d < c->state + c->state_count; d++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:O, s:O, s:s, s:b, s:s, s:O*, s:O*}", "key",
						      d->key, "group", d->group, "class", "fatal", "a", d->a, "b", d->b,
						      "meaning", d->meaning, "varying", d->varying, "where",
						      comparison_where(c, d, where, sizeof(where)), "removed",
						      d->removed, "added", d->added));
	return list;
}

/* --- what decides --- */

/* A quantity over all points: in how many it decides. */
struct deciding {
	const char *key;
	size_t points, decides;
};

static void deciding_add(struct deciding *list, size_t *count, const char *key, bool decides)
{
	size_t i = 0;

	while (i < *count && strcmp(list[i].key, key) != 0)
		i++;
	if (i == *count)
		list[(*count)++] = (struct deciding){.key = key};
	list[i].points++;
	list[i].decides += decides;
}

static struct deciding *deciding_list(const struct comparison *c, size_t *count)
{
	struct deciding *list;
	size_t most = 0;

	*count = 0;
	for (size_t i = 0; i < c->point_count; i++)
		most += c->points[i].quantity_count + c->points[i].missing_count;
	list = or_abort(calloc(most + 1, sizeof(*list)));
	for (const struct comparison_point *p = c->points; p < c->points + c->point_count; p++) {
		for (size_t i = 0; i < p->quantity_count; i++)
			deciding_add(list, count, p->quantities[i].key, p->quantities[i].decides);
		for (size_t i = 0; i < p->missing_count; i++)
			if (p->missing[i].decides)
				deciding_add(list, count, p->missing[i].key, true);
	}
	return list;
}

/* "p50, p99 (in 2 of 3 points)": those that decide in any point, or in none. */
static size_t put_deciding(FILE *out, const struct deciding *list, size_t count, bool decide)
{
	size_t said = 0;

	for (size_t i = 0; i < count; i++) {
		if ((list[i].decides > 0) != decide)
			continue;
		fprintf(out, "%s%s", said++ ? ", " : "", compare_quantity_label(list[i].key));
		if (decide && list[i].decides < list[i].points)
			fprintf(out, " (in %zu of %zu points)", list[i].decides, list[i].points);
	}
	return said;
}

char *comparison_decides(const struct comparison *c)
{
	static const char *const why[] = {
	    [JUDGE_BY_SIZE] = "of its quantiles, those with at least 100 messages of each run beyond them",
	    [JUDGE_ALL] = "all that are compared",
	    [JUDGE_SPEC] = "as the spec says",
	    [JUDGE_ASKED] = "as asked"};
	size_t count, size;
	struct deciding *list = deciding_list(c, &count);
	char *text, *shown;
	FILE *out = or_abort(open_memstream(&shown, &size));
	size_t any = put_deciding(out, list, count, false);

	fclose(out);
	out = or_abort(open_memstream(&text, &size));
	put_deciding(out, list, count, true);
	fprintf(out, " (%s)%s%s", why[c->judge_from], any ? "; only shown: " : "", shown);
	fclose(out);
	free(shown);
	free(list);
	return or_abort(text);
}

static const char *const judge_froms[] = {
    [JUDGE_BY_SIZE] = "sizes", [JUDGE_ALL] = "all", [JUDGE_SPEC] = "spec", [JUDGE_ASKED] = "asked"};

json_t *compare_json(const struct comparison *c)
{
	json_t *all = json_pack(
	    "{s:i, s:s, s:s, s:s, s:s, s:b, s:b, s:f, s:o, s:f, s:f, s:I, s:o, s:o, s:o, s:O, s:o, s:o}", "schema", 1,
	    "verdict", compare_outcomes[c->verdict], "answer", c->answer, "experiment", c->experiment, "unit",
	    compare_unit_name[c->kind], "pairs", c->pairs, "in_turn", c->in_turn, "alpha", c->alpha, "look",
	    look_to_json(c), "least_margin_percent", 100 * c->least_margin, "effect_percent", 100 * c->effect, "seed",
	    (json_int_t)c->seed, "relabellings", relabellings_to_json(c), "base", arm_to_json(&c->arm[ARM_BASE]),
	    "with", arm_to_json(&c->arm[ARM_WITH]), "notes", c->notes, "needed",
	    compare_json_needed(&c->needed, c->effect), "points", points_to_json(c));

	json_object_set_new(all, "judge", json_string(judge_froms[c->judge_from]));
	if (c->judged)
		json_object_set_new(all, "trends", json_integer((json_int_t)c->trends));
	json_object_set_new(all, "noisy", noise_to_json(c));
	json_object_set_new(all, "state_fatal", json_integer((json_int_t)comparison_state_fatal(c)));
	json_object_set_new(all, "state", state_to_json(c));
	return all;
}
