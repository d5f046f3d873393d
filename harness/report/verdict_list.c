#include "report/verdict_list.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "judge/analysis/summary.h"
#include "judge/claims/claim_verdict.h"
#include "judge/compare/compare_point.h"
#include "judge/compare/compare_verdict.h"
#include "judge/compare/comparison.h"

/* --- the list --- */

enum verdict_result verdict_of_status(enum status status)
{
	switch (status) {
	case STATUS_OK:
		return VERDICT_PASS;
	case STATUS_NO:
		return VERDICT_FAIL;
	case STATUS_UNDECIDED:
		return VERDICT_UNDECIDED;
	case STATUS_IMPOSSIBLE:
		return VERDICT_IMPOSSIBLE;
	default:
		return VERDICT_ERROR;
	}
}

void verdict_text(char **text, const char *to)
{
	char *copy = fs_path("%s", to ? to : "");

	free(*text);
	*text = copy;
}

struct verdict_list verdict_list_make(const char *suite, enum status status, const char *answer)
{
	struct verdict_list l = {.result = verdict_of_status(status)};

	verdict_text(&l.suite, suite && *suite ? suite : "kblat");
	verdict_text(&l.kernel, "");
	verdict_text(&l.started, "");
	verdict_text(&l.answer, answer);
	return l;
}

void verdict_list_free(struct verdict_list *l)
{
	for (struct verdict *v = l->all; v < l->all + l->count; v++) {
		free(v->group);
		free(v->name);
		free(v->why);
		free(v->numbers);
	}
	free(l->all);
	free(l->suite);
	free(l->kernel);
	free(l->started);
	free(l->answer);
	*l = (struct verdict_list){.all = NULL};
}

struct verdict *verdict_list_add(struct verdict_list *l, const char *group, const char *name,
				 enum verdict_result result)
{
	struct verdict *v;

	l->all = grow_or_abort(l->all, l->count, sizeof(*l->all));
	v = &l->all[l->count++];
	*v = (struct verdict){.result = result, .value = NAN, .unit = ""};
	verdict_text(&v->group, group);
	verdict_text(&v->name, name);
	verdict_text(&v->why, "");
	verdict_text(&v->numbers, "");
	return v;
}

/* --- of a comparison --- */

static enum verdict_result result_of_quantity(enum compare_verdict verdict)
{
	static const enum verdict_result results[COMPARE_VERDICTS] = {[COMPARE_REGRESSION] = VERDICT_FAIL,
								      [COMPARE_IMPROVEMENT] = VERDICT_PASS,
								      [COMPARE_EQUIVALENT] = VERDICT_PASS,
								      [COMPARE_UNDECIDED] = VERDICT_UNDECIDED};

	return results[verdict];
}

static char *quantity_numbers(const struct comparison *c, const struct comparison_quantity *q)
{
	bool share = comparison_is_share(q);
	const char *unit = share ? "percentage points" : "%";

	return fs_path("NEW %.6g, BASE %.6g %s; %+.3g %s (%.3g %% interval %+.3g to %+.3g); margin %.3g %s",
		       q->level[ARM_WITH], q->level[ARM_BASE], q->unit, comparison_shown(q, &q->effect), unit,
		       comparison_confidence(c), comparison_shown(q, &q->low), comparison_shown(q, &q->high),
		       comparison_shown(q, &q->margin), unit);
}

static const char *quantity_why(const struct comparison_quantity *q)
{
	if (q->verdict != COMPARE_UNDECIDED)
		return compare_verdicts[q->verdict];
	return q->decides ? "it may have changed by more than the margin"
			  : "it may have changed by more than the margin, but does not decide";
}

static void add_quantity_verdict(struct verdict_list *l, const char *group, const struct comparison *c,
				 const struct comparison_quantity *q)
{
	struct verdict *v = verdict_list_add(l, group, compare_quantity_label(q->key), result_of_quantity(q->verdict));

	free(v->numbers);
	v->numbers = quantity_numbers(c, q);
	verdict_text(&v->why, quantity_why(q));
	v->value = q->level[ARM_WITH];
	v->unit = q->unit;
	v->shown_only = !q->decides;
}

static void add_point_verdicts(struct verdict_list *l, const struct comparison *c, const struct comparison_point *p)
{
	char *group = fs_path("point %" JSON_INTEGER_FORMAT "%s%s", p->id, *p->label ? ": " : "", p->label);

	for (size_t i = 0; i < p->quantity_count; i++)
		add_quantity_verdict(l, group, c, &p->quantities[i]);
	for (size_t i = 0; i < p->missing_count; i++) {
		struct verdict *v =
		    verdict_list_add(l, group, compare_quantity_label(p->missing[i].key), VERDICT_UNDECIDED);

		verdict_text(&v->why, p->missing[i].why);
		v->shown_only = !p->missing[i].decides;
	}
	free(group);
}

struct verdict_list verdict_list_of_comparison(const struct comparison *c)
{
	struct verdict_list l = verdict_list_make(c->experiment, compare_verdict_status(c->verdict), c->answer);
	const json_t *boots = c->arm[ARM_WITH].boots;

	verdict_text(&l.kernel, comparison_kernel(c, ARM_WITH));
	verdict_text(&l.started, json_string_value(json_array_get(boots, json_array_size(boots) - 1)));
	for (size_t i = 0; i < c->point_count; i++)
		add_point_verdicts(&l, c, &c->points[i]);
	return l;
}

/* --- of claims --- */

static enum verdict_result result_of_claim(enum claim_outcome outcome)
{
	static const enum verdict_result results[CLAIM_OUTCOMES] = {
	    [CLAIM_HOLDS] = VERDICT_PASS, [CLAIM_FAILS] = VERDICT_FAIL, [CLAIM_NOT_JUDGED] = VERDICT_UNDECIDED};

	return results[outcome];
}

static void add_claims(struct verdict_list *l, const struct claim_verdicts *verdicts)
{
	for (const struct claim_verdict *c = verdicts->all; c < verdicts->all + verdicts->count; c++) {
		struct verdict *v = verdict_list_add(l, c->experiment, c->id, result_of_claim(c->verdict));

		verdict_text(&v->why, c->why);
		free(v->numbers);
		v->numbers =
		    fs_path("%s: %s; measured: %s", c->claim, c->wanted, *c->measured ? c->measured : "nothing");
		/* Other claims do not wait for one that cannot be judged here. */
		v->shown_only = true;
		if (c->case_count == 1)
			v->value = c->cases[0].value;
	}
}

struct verdict_list verdict_list_of_claims(const struct claim_verdicts *v)
{
	struct verdict_list l = verdict_list_make(v->count ? v->all[0].experiment : "", claim_verdicts_status(v), "");
	char *answer = fs_path("claims: %zu hold, %zu fail, %zu are not judged", claim_verdicts_count(v, CLAIM_HOLDS),
			       claim_verdicts_count(v, CLAIM_FAILS), claim_verdicts_count(v, CLAIM_NOT_JUDGED));

	verdict_text(&l.answer, answer);
	free(answer);
	add_claims(&l, v);
	return l;
}

/* --- of a run --- */

static enum verdict_result result_of_point(const struct summary_point *p)
{
	if (p->outcome == POINT_IMPOSSIBLE)
		return VERDICT_IMPOSSIBLE;
	if (p->outcome != POINT_COMPLETED)
		return VERDICT_ERROR;
	return p->valid ? VERDICT_PASS : VERDICT_FAIL;
}

static void add_run_point(struct verdict_list *l, const struct summary_point *p)
{
	char *name = fs_path("point %" JSON_INTEGER_FORMAT, p->id);
	struct verdict *v = verdict_list_add(l, "points", name, result_of_point(p));
	const json_t *reason = json_array_get(p->reasons, 0);

	verdict_text(&v->why, *p->why ? p->why : json_string_value(reason));
	if (p->results.metric_count) {
		const struct summary_metric *m = &p->results.metrics[0];
		const char *unit = strrchr(m->name, '_');

		v->value = number_value(m->values[STATISTIC_P50]);
		v->unit = unit ? unit + 1 : "";
		if (!isnan(v->value)) {
			free(v->numbers);
			v->numbers = fs_path("%s: p50 %.6g", m->name, v->value);
		}
	}
	free(name);
}

struct verdict_list verdict_list_of_run(const struct summary *s, const struct claim_verdicts *v, const char *run,
					enum status status)
{
	struct verdict_list l = verdict_list_make(s->name, status, run);
	const char *name = strrchr(run, '/');

	verdict_text(&l.started, name ? name + 1 : run);
	for (size_t i = 0; i < s->point_count; i++)
		add_run_point(&l, &s->points[i]);
	add_claims(&l, v);
	return l;
}
