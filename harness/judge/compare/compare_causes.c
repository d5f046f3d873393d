#include "judge/compare/compare_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/state/diff.h"
#include "judge/analysis/summary.h"
#include "judge/compare/compare_judge.h"
#include "judge/compare/compare_noise.h"
#include "judge/compare/compare_verdict.h"

#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
#define STAGES_TAIL 0.025 /* of the interval of a stage, on each side */
#define CAUSES_MOST 1000  /* of a point: the most frequent ones come first, and each is looked up */

/* --- late messages: sums --- */

/* Sums for a cause in one arm. */
struct late_sum {
	double messages, time; /* of all its runs; time: sum of the medians, weighted by messages */
};

struct late_cause {
	unsigned cause; /* index in the table */
	struct late_sum arm[ARMS];
};

struct late_point {
	struct cause_table table;
	struct late_cause *list;
	size_t count;
	double runs[ARMS], messages[ARMS];
};

/* NULL: there are too many. */
static struct late_cause *late_cause_of(struct late_point *p, const struct cause *c)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct cause *known = &p->table.list[p->list[i].cause];

		if (known->class == c->class && known->side == c->side && !strcmp(known->name, c->name))
			return &p->list[i];
	}
	if (p->count == CAUSES_MOST)
		return NULL;
	p->list = grow_or_abort(p->list, p->count, sizeof(*p->list));
	p->list[p->count] = (struct late_cause){.cause = cause_table_of(&p->table, c->class, c->side, c->name)};
	return &p->list[p->count++];
}

static void late_add_run(struct late_point *p, const struct summary_block *causes, enum compare_arm arm)
{
	p->runs[arm]++;
	p->messages[arm] += number_or_zero(causes->numbers[CAUSES_MESSAGES]);
	for (size_t i = 0; i < causes->cause_count && i < CAUSES_MOST; i++) {
		const struct summary_cause *c = &causes->causes[i];
		struct late_cause *of = c->messages > 0 ? late_cause_of(p, &c->cause) : NULL;

		if (!of)
			continue;
		of->arm[arm].messages += (double)c->messages;
		of->arm[arm].time += (double)c->messages * (double)c->time_p50_ns;
	}
}

/* Runs without kernel events do not count. */
static void late_sum_up(struct late_point *p, const struct compare_join *j, const struct compare_point *of)
{
	for (size_t i = 0; i < j->runs->count; i++) {
		const struct summary_point *point = of->of_run[i];
		const struct summary_block *causes =
		    point ? summary_find_block(&point->results, of->flow, &causes_block) : NULL;

		if (causes && point->valid && !causes->why)
			late_add_run(p, causes, j->runs->run[i].arm);
	}
}

/* --- late messages: the result --- */

static struct comparison_late_cause late_result_cause(const struct late_point *p, const struct late_cause *c)
{
	struct comparison_late_cause of = {.cause = p->table.list[c->cause]};

	for (enum compare_arm arm = 0; arm < ARMS; arm++) {
		const struct late_sum *s = &c->arm[arm];

		of.arm[arm].messages = s->messages / p->runs[arm];
		of.arm[arm].share = p->messages[arm] > 0 ? s->messages / p->messages[arm] : 0;
		of.arm[arm].time_ns = s->messages > 0 ? s->time / s->messages : NAN;
	}
	return of;
}

/* Sort key: causes that are most frequent in either arm come first. */
static double late_rank(const struct comparison_late_cause *c)
{
	return c->arm[ARM_BASE].messages + c->arm[ARM_WITH].messages;
}

static void late_add_cause(struct comparison_late *late, struct comparison_late_cause one)
{
	size_t at = late->cause_count++;

	for (; at && late_rank(&late->causes[at - 1]) < late_rank(&one); at--)
		late->causes[at] = late->causes[at - 1];
	late->causes[at] = one;
}

static struct comparison_late late_of(const struct compare_join *j, const struct compare_point *of)
{
	struct late_point p = {.count = 0};
	struct comparison_late late = {.known = false};

	late_sum_up(&p, j, of);
	late.known = p.runs[ARM_BASE] > 0 && p.runs[ARM_WITH] > 0;
	late.causes = or_abort(calloc(p.count + 1, sizeof(*late.causes)));
	for (enum compare_arm arm = 0; late.known && arm < ARMS; arm++) {
		late.arm[arm].runs = (size_t)p.runs[arm];
		late.arm[arm].messages = p.messages[arm] / p.runs[arm];
	}
	for (size_t i = 0; late.known && i < p.count; i++)
		late_add_cause(&late, late_result_cause(&p, &p.list[i]));
	cause_table_free(&p.table);
	free(p.list);
	return late;
}

/* Fill in what made messages late at the points of a result, if both arms were measured with
 * `explain`. */
static void compare_late(const struct compare_join *j, struct comparison *c)
{
	for (size_t i = 0; i < c->point_count; i++)
		c->points[i].late = late_of(j, &j->point[i]);
}

/* --- stages --- */

static const char *const stage_where[] = {
    [STAGES_STACK_NS] = "in the sender's stack",      [STAGES_QUEUE_NS] = "in the device's queue",
    [STAGES_WIRE_NS] = "between the drivers",	      [STAGES_READ_NS] = "between driver and reader",
    [STAGES_SOCKET_NS] = "between driver and socket", [STAGES_TAKE_NS] = "between socket and reader"};

/* The first that are known in both arms. */
static const unsigned stages_split[] = {STAGES_STACK_NS, STAGES_QUEUE_NS, STAGES_WIRE_NS, STAGES_SOCKET_NS,
					STAGES_TAKE_NS},
		      stages_whole[] = {STAGES_STACK_NS, STAGES_QUEUE_NS, STAGES_WIRE_NS, STAGES_READ_NS};

/* The units of an arm. */
struct stage_units {
	double mean, variance; /* variance: of the mean */
	size_t count;
};

static double stage_of_run(const struct compare_point *of, size_t run, unsigned stage)
{
	const struct summary_point *point = of->of_run[run];
	const struct summary_block *block =
	    point && point->valid ? summary_find_block(&point->results, of->flow, &stages_block) : NULL;

	return block ? number_value(block->numbers[stage]) : NAN;
}

/* The mean over each unit's runs; NAN: none of them knows the stage. The caller frees. */
static double *stage_unit_means(const struct compare_join *j, const struct compare_point *of, unsigned stage)
{
	const size_t units = j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH];
	double *mean = or_abort(calloc(units + 1, sizeof(*mean))), *runs = or_abort(calloc(units + 1, sizeof(*runs)));

	for (size_t i = 0; i < j->runs->count; i++) {
		const double ns = stage_of_run(of, i, stage);

		if (isnan(ns))
			continue;
		mean[j->runs->run[i].unit] += ns;
		runs[j->runs->run[i].unit]++;
	}
	for (size_t u = 0; u < units; u++)
		mean[u] = runs[u] > 0 ? mean[u] / runs[u] : NAN;
	free(runs);
	return mean;
}

static struct stage_units stage_units_of(const double *value, size_t count)
{
	struct stage_units u = {.count = 0};
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(value[i])) {
			u.mean += value[i];
			u.count++;
		}
	u.mean = u.count ? u.mean / (double)u.count : NAN;
	for (size_t i = 0; i < count; i++)
		squares += isnan(value[i]) ? 0 : (value[i] - u.mean) * (value[i] - u.mean);
	u.variance = u.count > 1 ? squares / (double)(u.count - 1) / (double)u.count : NAN;
	return u;
}

/* The interval does not assume that units of both arms vary alike (Welch 1947). */
static struct comparison_stage stage_result(const struct compare_join *j, const struct compare_point *of,
					    unsigned stage)
{
	const size_t *units = j->runs->units;
	double *value = stage_unit_means(j, of, stage);
	const struct stage_units base = stage_units_of(value, units[ARM_BASE]),
				 with = stage_units_of(value + units[ARM_BASE], units[ARM_WITH]);
	const double variance = base.variance + with.variance,
		     df = variance * variance /
			  (base.variance * base.variance / ((double)base.count - 1) +
			   with.variance * with.variance / ((double)with.count - 1)),
		     error = variance > 0 ? df >= 2 ? boots_student(STAGES_TAIL, df) * sqrt(variance) : NAN : variance,
		     effect = with.mean - base.mean;

	free(value);
	return (struct comparison_stage){stages_block.statistics[stage].key,
					 stage_where[stage],
					 {base.mean, with.mean},
					 effect,
					 effect - error,
					 effect + error};
}

/* False: not all of them are known in both arms. */
static bool stages_of_point(const struct compare_join *j, const struct compare_point *of, const unsigned *stages,
			    size_t count, struct comparison_point *p)
{
	bool known = true;

	p->stages = or_abort(calloc(count, sizeof(*p->stages)));
	p->stage_count = count;
	for (size_t i = 0; i < count; i++) {
		p->stages[i] = stage_result(j, of, stages[i]);
		known &= !isnan(p->stages[i].effect);
	}
	if (known)
		return true;
	free(p->stages);
	p->stages = NULL;
	p->stage_count = 0;
	return false;
}

static bool has_verdict(const struct comparison_point *p, enum compare_verdict wanted)
{
	for (size_t i = 0; i < p->quantity_count; i++)
		if (p->quantities[i].verdict == wanted)
			return true;
	return false;
}

/* "; the mean latency of point 3 by stages: +1.20 us between driver and reader", or that none stands out. */
static void stages_into_answer(struct comparison *c, const struct comparison_point *p)
{
	char *text, number[32];
	size_t size, said = 0;
	FILE *out = or_abort(open_memstream(&text, &size));

	fprintf(out, "%s; the mean latency", c->answer);
	if (c->point_count > 1)
		fprintf(out, " of point %" JSON_INTEGER_FORMAT, p->id);
	fputs(" by stages: ", out);
	for (const struct comparison_stage *s = p->stages; s < p->stages + p->stage_count; s++)
		if (s->low > 0 || s->high < 0)
			fprintf(out, "%s%s %s", said++ ? ", " : "",
				comparison_signed_ns(s->effect, number, sizeof(number)), s->where);
	fputs(said ? "" : "none stands out", out);
	fclose(out);
	free(c->answer);
	c->answer = or_abort(text);
}

/* For each point that became slower (or else, faster). */
static void compare_stages(const struct compare_join *j, struct comparison *c)
{
	const enum compare_verdict wanted = c->verdict == OUTCOME_REGRESSION ? COMPARE_REGRESSION : COMPARE_IMPROVEMENT;

	for (size_t i = 0; i < c->point_count; i++) {
		if (!stages_of_point(j, &j->point[i], stages_split, COUNT(stages_split), &c->points[i]))
			stages_of_point(j, &j->point[i], stages_whole, COUNT(stages_whole), &c->points[i]);
		if (c->judged && c->points[i].stages && has_verdict(&c->points[i], wanted))
			stages_into_answer(c, &c->points[i]);
	}
}

/* --- how the machine's state differs --- */

static struct comparison_difference state_difference(const json_t *found)
{
	struct comparison_difference d = {
	    .key = fs_path("%s", json_text(found, "key")),
	    .group = fs_path("%s", json_text(found, "group")),
	    .meaning = fs_path("%s", json_text(found, "meaning")),
	    .a = json_deep_copy(json_object_get(found, "a")),
	    .b = json_deep_copy(json_object_get(found, "b")),
	    .varying = json_is_true(json_object_get(found, "varying")),
	};

	diff_words(d.a, d.b, &d.removed, &d.added);
	return d;
}

/* Add one difference: its content comes from the first run that has it, and all such runs are counted. `places`: the
 * place of each key in the list. */
static void add_difference(struct comparison *c, json_t *places, const json_t *found, enum compare_arm arm)
{
	const char *key = json_text(found, "key");
	const json_t *place = json_object_get(places, key);
	size_t at = place ? (size_t)json_integer_value(place) : c->state_count;

	if (strcmp(json_text(found, "class"), "fatal") != 0)
		return;
	if (!place) {
		c->state = grow_or_abort(c->state, c->state_count, sizeof(*c->state));
		c->state[c->state_count++] = state_difference(found);
		json_object_set_new(places, key, json_integer((json_int_t)at));
	}
	c->state[at].runs[arm]++;
}

static int state_add_run(struct comparison *c, json_t *places, const struct compare_run *first,
			 const struct compare_run *other, const char *const *varying, struct err *e)
{
	json_t *differences = NULL;
	const json_t *one;
	size_t i;
	int rc = state_diff(first->state, other->state, varying, &differences, e);

	json_array_foreach (differences, i, one)
		add_difference(c, places, one, other->arm);
	json_decref(differences);
	return rc;
}

/*
 * Fill in how the state differs: every difference that is fatal to a comparison (files/state/diff.h)
 * between the first run of the base and any other. `varying` as for state_diff(); NULL: the kernel,
 * if the arms have different ones.
 */
static int compare_state(const struct compare_runs *runs, const char *const *varying, struct comparison *c,
			 struct err *e)
{
	static const char *const kernel[] = {"kernel", NULL};
	const struct compare_run *first = NULL; /* the first run whose state was captured */
	json_t *places = json_object();
	int rc = 0;

	if (!varying && !json_equal(c->arm[ARM_BASE].kernels, c->arm[ARM_WITH].kernels))
		varying = kernel;
	for (size_t i = 0; i < runs->count; i++) {
		const struct compare_run *run = &runs->run[i];

		if (!rc && first && run->state)
			rc = state_add_run(c, places, first, run, varying, e);
		first = first || !run->state ? first : run;
	}
	json_decref(places);
	return rc;
}

int compare_judge_causes(const struct compare_join *j, const struct compare_rule *rule, const char *const *varying,
			 struct comparison *c, struct err *e)
{
	int rc = compare_judge(j, rule, c, e);

	if (!rc && (rc = compare_state(j->runs, varying, c, e)))
		comparison_free(c);
	if (!rc) {
		compare_noise_cause(j, c);
		compare_late(j, c);
		compare_stages(j, c);
	}
	return rc;
}
