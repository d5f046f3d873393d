#include "study/knobs/knobs_judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "judge/compare/compare_judge.h"
#include "judge/compare/compare_point.h"
#include "judge/compare/compare_runs.h"
#include "study/knobs/knobs_blocks.h"

static void joint_add_entry(struct knobs_joint *all, struct compare_entry entry)
{
	all->entries = grow_or_abort(all->entries, all->count, sizeof(*all->entries));
	all->perms = grow_or_abort(all->perms, all->count, sizeof(*all->perms));
	all->perms[all->count] =
	    (struct perm_quantity){.value = entry.values->value, .weight = entry.values->of.weight};
	all->entries[all->count++] = entry;
}

void joint_add(struct knobs_joint *all, const struct compare_join *j, const struct compare_rule *rule)
{
	for (size_t i = 0; i < j->count; i++)
		for (size_t q = 0; q < j->point[i].quantity_count; q++) {
			const struct compare_values *v = &j->point[i].quantity[q];

			if (v->value)
				joint_add_entry(all, compare_entry_make(j, &j->point[i], v, rule));
		}
}

int joint_judge(struct knobs_joint *all, size_t pairs, uint64_t seed)
{
	int rc;

	if (pairs < COMPARE_PAIRS) {
		all->plan = (struct perm_plan){.base = pairs, .with = pairs};
		return 0;
	}
	for (size_t i = 0; i < all->count; i++)
		all->entries[i].perm = &all->perms[i];
	rc = perm_plan_make(&all->plan, pairs, pairs, true, PERM_MAX, seed);
	return rc ?: perm_judge(&all->plan, all->perms, all->count, COMPARE_ALPHA, PERM_DIFFERS);
}

bool joint_is_judged(const struct knobs_joint *all, size_t i)
{
	const double *value = all->perms[i].value;
	size_t n = 0, pairs = all->plan.base;

	if (!all->perms[i].known)
		return false;
	for (size_t b = 0; b < pairs; b++)
		n += !isnan(value[b]) && !isnan(value[pairs + b]);
	return n >= COMPARE_PAIRS;
}

void joint_free(struct knobs_joint *all)
{
	perm_plan_free(&all->plan);
	free(all->entries);
	free(all->perms);
	*all = (struct knobs_joint){.entries = NULL};
}

#define MARGIN 0.02

/* --- what is compared --- */

static const char *const usual[] = {"p50", "p99"};
static const char *const not_compared[] = {"environment"};

static int choice_quantities(struct knobs_choice *c, const struct words *asked, struct err *e)
{
	int rc = 0;

	c->quantities = or_abort(calloc(asked->count + 1, sizeof(*c->quantities)));
	c->choice.quantity = c->rule.judge = c->quantities;
	c->choice.quantity_count = asked->count;
	for (size_t i = 0; !rc && i < asked->count; i++)
		rc = compare_quantity_find("--quantity", c->choice.metric, asked->word[i], &c->quantities[i], e);
	if (asked->count || compare_quantity_block(c->choice.metric))
		return rc;
	c->choice.quantity = usual;
	c->choice.quantity_count = sizeof(usual) / sizeof(usual[0]);
	return rc;
}

int choice_read(const struct knobs *k, struct knobs_choice *c, struct err *e)
{
	*c = (struct knobs_choice){.choice = {.metric = k->metric, .ignore = not_compared, .ignore_count = 1},
				   .rule = {.alpha = COMPARE_ALPHA,
					    .question = PERM_DIFFERS,
					    .margin = MARGIN,
					    .judge_from = JUDGE_ALL,
					    .effect = MARGIN,
					    .seed = k->seed},
				   .margins = or_abort(calloc(k->margins.count + 2, sizeof(*c->margins)))};
	c->rule.judge_count = k->quantities.count;
	return choice_quantities(c, &k->quantities, e)
		   ?: compare_read_margins((const char *const *)k->margins.word, k->margins.count, c->choice.metric,
					   &c->rule, c->margins, e);
}

void choice_free(struct knobs_choice *c)
{
	free(c->quantities);
	free(c->margins);
	*c = (struct knobs_choice){.margins = NULL};
}

/* --- two arms, joined --- */

/* The runs of each arm, which are read once, however often the arm is compared. */
struct arm_runs {
	struct compare_runs *of; /* of each arm */
	bool *is_read;
	size_t arms;
};

/* Two arms of a stage, with one pair of runs per block, joined point by point. */
struct joined {
	struct compare_runs runs; /* borrowed from arm_runs, except for the list */
	struct compare_join join;
};

static void arm_runs_open(struct arm_runs *runs, const struct knobs *k)
{
	*runs = (struct arm_runs){.of = or_abort(calloc(k->arms, sizeof(*runs->of))),
				  .is_read = or_abort(calloc(k->arms, sizeof(*runs->is_read))),
				  .arms = k->arms};
}

static void arm_runs_free(struct arm_runs *runs)
{
	for (size_t i = 0; i < runs->arms; i++)
		compare_runs_free(&runs->of[i]);
	free(runs->of);
	free(runs->is_read);
}

/* Only of complete blocks, because other runs have no counterpart. The machine's state is not read, because it is large
 * and not used. */
static int read_arm_runs(struct arm_runs *all, const struct study *s, const char *stage, size_t arm, struct err *e)
{
	struct compare_runs *runs = &all->of[arm];
	const char *name = knobs_of(s)->arm[arm].name;
	int rc = 0;

	for (size_t i = 0; i < s->count && !rc && !all->is_read[arm]; i++) {
		const struct cell *c = &s->cell[i];
		char *path;

		if (!blocks_is_of(c, stage) || strcmp(c->name, name) != 0 || !blocks_is_done(s, stage, c->block))
			continue;
		path = fs_path("%s/%s", s->path, c->run ? c->run : ".");
		rc = compare_runs_add(runs, path, ARM_BASE, NULL, e);
		free(path);
		if (rc)
			continue;
		json_decref(runs->run[runs->count - 1].state);
		runs->run[runs->count - 1].state = NULL;
	}
	all->is_read[arm] = true;
	return rc;
}

static void borrow_runs(struct compare_runs *to, const struct compare_runs *from, enum compare_arm arm)
{
	to->run = or_abort(reallocarray(to->run, to->count + from->count + 1, sizeof(*to->run)));
	for (size_t i = 0; i < from->count; i++) {
		to->run[to->count] = from->run[i];
		to->run[to->count++].arm = arm;
	}
}

static int join_arms(struct joined *j, const struct study *s, const char *stage, struct arm_runs *all, size_t base,
		     size_t with, const struct compare_choice *choice, struct err *e)
{
	int rc = read_arm_runs(all, s, stage, base, e) ?: read_arm_runs(all, s, stage, with, e);

	if (rc)
		return rc;
	borrow_runs(&j->runs, &all->of[base], ARM_BASE);
	borrow_runs(&j->runs, &all->of[with], ARM_WITH);
	rc = compare_units(&j->runs, UNIT_RUN, e);
	if (!rc && !j->runs.pairs)
		rc = err_set(
		    e, -EINVAL, STATUS_FAILED, s->path, "judge its runs",
		    "according to their times they were not measured block by block: the clock was set meanwhile");
	return rc ?: compare_join(&j->join, &j->runs, choice, e);
}

static void joined_free(struct joined *j)
{
	if (j->join.notes)
		compare_join_free(&j->join);
	free(j->runs.run);
}

int knobs_compare(const struct study *s, const char *stage, size_t base, size_t with, const struct knobs_choice *c,
		  struct comparison *out, struct err *e)
{
	struct arm_runs arms;
	struct joined j = {.runs = {.count = 0}};
	int rc;

	arm_runs_open(&arms, knobs_of(s));
	rc = join_arms(&j, s, stage, &arms, base, with, &c->choice, e) ?: compare_judge(&j.join, &c->rule, out, e);
	joined_free(&j);
	arm_runs_free(&arms);
	return rc;
}

/* --- one comparison --- */

/* The quantities of a comparison, as far as they could be judged. */
static enum compare_verdict judge_pair(struct comparison *c, const struct joined *j, const struct knobs_joint *all)
{
	struct verdict_counts counts = {.open = 0};

	c->points = or_abort(calloc(j->join.count + 1, sizeof(*c->points)));
	for (size_t i = 0; i < j->join.count; i++)
		c->points[c->point_count++] = compare_judge_point(&j->join, &j->join.point[i]);
	for (size_t i = 0; i < all->count; i++) {
		const struct compare_entry *t = &all->entries[i];
		const bool judged = joint_is_judged(all, i);

		if (t->point < j->join.point || t->point >= j->join.point + j->join.count)
			continue;
		compare_judge_add(&c->points[t->point - j->join.point], t, judged ? NULL : "valid in too few blocks");
		if (judged)
			compare_verdict_count(&counts, compare_entry_one(t));
	}
	return compare_verdict_overall(&counts);
}

/* --- the knobs --- */

/* An improvement with the knob alone means that it helps; a regression without it means that it is needed. */
static enum knob_verdict verdict_on_knob(enum compare_verdict alone, enum compare_verdict without)
{
	enum { SLOWER = 1, FASTER = 2, SAME = 4 };
	static const int bits[] = {[COMPARE_REGRESSION] = SLOWER,
				   [COMPARE_IMPROVEMENT] = FASTER,
				   [COMPARE_MIXED] = SLOWER | FASTER,
				   [COMPARE_EQUIVALENT] = SAME,
				   [COMPARE_UNDECIDED] = 0};
	const int a = bits[alone], w = bits[without];

	if (((a | w) & (SLOWER | FASTER)) == 0)
		return a & w & SAME ? KNOB_NO_EFFECT : KNOB_UNDECIDED;
	if ((w & FASTER) || (a & SLOWER))
		return (w & SLOWER) || (a & FASTER) ? KNOB_MIXED : KNOB_WORSE;
	return w & SLOWER ? KNOB_NEEDED : KNOB_HELPS;
}

static void judge_knobs(const struct knobs *k, struct knobs_result *r)
{
	for (size_t i = 0; i < k->knobs; i++) {
		const size_t alone = knobs_find_pair(k, KNOBS_ALONE, i), without = knobs_find_pair(k, KNOBS_WITHOUT, i);

		r->knob[i] = alone < k->pairs && without < k->pairs
				 ? verdict_on_knob(r->verdict[alone], r->verdict[without])
				 : KNOB_UNTESTED;
	}
}

/* --- the whole result --- */

static struct knobs_result *make_result(const struct knobs *k, const struct joined *joined,
					const struct knobs_joint *all, const struct knobs_choice *c)
{
	struct knobs_result *r = or_abort(calloc(1, sizeof(*r)));

	*r = (struct knobs_result){.blocks = all->plan.base,
				   .relabellings = all->plan.count,
				   .exact = all->plan.exact,
				   .least_margin = c->rule.margin,
				   .seed = c->rule.seed,
				   .compared = or_abort(calloc(k->pairs + 1, sizeof(*r->compared))),
				   .verdict = or_abort(calloc(k->pairs + 1, sizeof(*r->verdict))),
				   .knob = or_abort(calloc(k->knobs + 1, sizeof(*r->knob)))};
	for (size_t i = 0; i < k->pairs; i++)
		r->verdict[i] = judge_pair(&r->compared[i], &joined[i], all);
	judge_knobs(k, r);
	return r;
}

static int judge_joined(struct study *s, const struct joined *joined, const struct knobs_choice *c, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	struct knobs_joint all = {.entries = NULL};
	int rc;

	for (size_t i = 0; i < k->pairs; i++)
		joint_add(&all, &joined[i].join, &c->rule);
	rc = joint_judge(&all, blocks_done(s, KNOBS_STAGE), c->rule.seed);
	if (rc)
		err_sys(e, rc, s->path, "judge its runs");
	else
		k->result = make_result(k, joined, &all, c);
	joint_free(&all);
	return rc;
}

int knobs_judge(struct study *s, const struct knobs_choice *c, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	struct joined *joined = or_abort(calloc(k->pairs + 1, sizeof(*joined)));
	struct arm_runs arms;
	int rc = 0;

	knobs_clear_result(k);
	arm_runs_open(&arms, k);
	if (blocks_done(s, KNOBS_STAGE)) {
		for (size_t i = 0; i < k->pairs && !rc; i++)
			rc = join_arms(&joined[i], s, KNOBS_STAGE, &arms, k->pair[i].base, k->pair[i].with, &c->choice,
				       e);
		rc = rc ?: judge_joined(s, joined, c, e);
	}
	for (size_t i = 0; i < k->pairs; i++)
		joined_free(&joined[i]);
	free(joined);
	arm_runs_free(&arms);
	return rc;
}
