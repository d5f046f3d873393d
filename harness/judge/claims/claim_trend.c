#include "judge/claims/claim_trend.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"
#include "judge/claims/claim_metric.h"

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
			claim_point_sample(t->points[i], &t->claim->metric, &t->samples[i], &why);
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

void claim_trend_judge(struct claim_case *c, const struct claim_pairing *p, const struct summary_point *of,
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
