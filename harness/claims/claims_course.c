/*
 * Claims of an order: a quantity that rises, falls or stays along a setting.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "claims/claims_work.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/units.h"

/* Points in the order of an axis. */
struct course {
	struct sample *samples;
	const json_t **points;
	size_t count;
	double tolerance;
	const char *along;
};

/* Points in the order of `along`. */
static int by_axis(const void *a, const void *b, void *along)
{
	const json_t *x = claim_param(*(json_t *const *)a, along), *y = claim_param(*(json_t *const *)b, along);
	json_int_t i = json_integer_value(x), k = json_integer_value(y);

	return (i > k) - (i < k);
}

static void gather_course(const struct claim_work *w, const json_t *of, struct course *c)
{
	const json_t *point;
	size_t i, size = json_array_size(w->points.points);

	*c = (struct course){.along = json_text(w->claim, "along")};
	c->tolerance = json_number_value(json_object_get(w->claim, "tolerance"));
	c->points = or_abort(calloc(size + 1, sizeof(*c->points)));
	c->samples = or_abort(calloc(size + 1, sizeof(*c->samples)));
	json_array_foreach (w->points.points, i, point)
		if (claim_agrees(w, of, point))
			c->points[c->count++] = point;
	qsort_r(c->points, c->count, sizeof(*c->points), by_axis, (void *)c->along);
}

static void course_free(struct course *c)
{
	for (size_t i = 0; i < c->count; i++)
		claim_sample_free(&c->samples[i]);
	free(c->samples);
	free(c->points);
}

static char *axis_text(const struct course *c, size_t i, char *buf, size_t size)
{
	char name[64];
	enum unit unit = param_name_unit(c->along, name, sizeof(name));

	return param_value_text(claim_param(c->points[i], c->along), unit, buf, size);
}

/* Why a course can't be judged; NULL: its samples are there. */
static char *read_course(const struct claim_work *w, struct course *c)
{
	char *why = NULL, text[64];

	if (c->count < 2)
		return fs_path("it has only one point along %s", c->along);
	for (size_t i = 0; i < c->count && !why; i++) {
		const json_t *at = claim_param(c->points[i], c->along);

		if (!json_is_integer(at))
			return fs_path("point %" JSON_INTEGER_FORMAT " has no %s", claim_point_id(c->points[i]),
				       c->along);
		if (i && json_equal(at, claim_param(c->points[i - 1], c->along)))
			return fs_path("it has several points at %s; 'by' must name more settings",
				       axis_text(c, i, text, sizeof(text)));
		claim_sample(c->points[i], w->points.metric, &c->samples[i], &why);
	}
	return why;
}

/* Of one step or of the whole: is `e` (what should be at least `least`) certainly less, or is its number? */
struct doubt {
	bool is_wrong, is_certain;
};

static struct doubt doubt_of(const struct estimate *e, double least)
{
	return (struct doubt){e->value < least, e->high < least};
}

/* Rising or falling: a falling course is a rising one seen from its end. */
static struct claim_verdict judge_monotone(struct course *c, bool rising)
{
	struct claim_verdict v = {.word = CLAIM_HOLDS, .has_estimate = true};
	double least = rising ? 1 - c->tolerance : 1 / (1 + c->tolerance);
	size_t last = c->count - 1;
	struct estimate whole = rising ? estimate_ratio(&c->samples[last], &c->samples[0])
				       : estimate_ratio(&c->samples[0], &c->samples[last]);
	struct doubt end = doubt_of(&whole, 1);
	char from[64], to[64];

	v.estimate = estimate_ratio(&c->samples[last], &c->samples[0]);
	for (size_t i = 0; i < last; i++) {
		struct estimate step = rising ? estimate_ratio(&c->samples[i + 1], &c->samples[i])
					      : estimate_ratio(&c->samples[i], &c->samples[i + 1]);
		struct doubt doubt = doubt_of(&step, least);

		if (!doubt.is_wrong || !strcmp(v.word, CLAIM_FAILS) || (v.why && !doubt.is_certain))
			continue;
		free(v.why);
		v.word = doubt.is_certain ? CLAIM_FAILS : CLAIM_NOT_JUDGED;
		v.why = fs_path("%sfrom %s to %s it %s",
				doubt.is_certain ? "" : "too close to say: ", axis_text(c, i, from, sizeof(from)),
				axis_text(c, i + 1, to, sizeof(to)), rising ? "falls" : "rises");
	}
	if (!strcmp(v.word, CLAIM_HOLDS) && whole.low <= 1) {
		v.word = end.is_certain || (!whole.has_interval && whole.value <= 1) ? CLAIM_FAILS : CLAIM_NOT_JUDGED;
		v.why = fs_path("%s%s between %s and %s",
				strcmp(v.word, CLAIM_FAILS) ? "too close to say whether it " : "it does not ",
				strcmp(v.word, CLAIM_FAILS) ? (rising ? "rises" : "falls") : (rising ? "rise" : "fall"),
				axis_text(c, 0, from, sizeof(from)), axis_text(c, last, to, sizeof(to)));
	}
	return v;
}

static struct claim_verdict judge_flat(struct course *c)
{
	struct claim_verdict v = {.word = CLAIM_HOLDS, .has_estimate = true};
	size_t least = 0, most = 0;
	char from[64], to[64];

	for (size_t i = 1; i < c->count; i++) {
		least = c->samples[i].value < c->samples[least].value ? i : least;
		most = c->samples[i].value > c->samples[most].value ? i : most;
	}
	v.estimate = estimate_ratio(&c->samples[most], &c->samples[least]);
	if (v.estimate.high <= 1 + c->tolerance)
		return v;
	v.word = v.estimate.low > 1 + c->tolerance ? CLAIM_FAILS : CLAIM_NOT_JUDGED;
	v.why = fs_path("%sat %s it is %.3g of that at %s", strcmp(v.word, CLAIM_FAILS) ? "too close to say: " : "",
			axis_text(c, most, from, sizeof(from)), v.estimate.value, axis_text(c, least, to, sizeof(to)));
	return v;
}

static struct claim_verdict judge_course(const struct claim_work *w, struct course *c)
{
	const char *relation = json_text(w->claim, "relation");

	for (size_t i = 0; i < c->count; i++)
		if (c->samples[i].value <= 0)
			return claim_not_judged(fs_path("a ratio of numbers that are not positive says nothing"));
	return !strcmp(relation, "flat") ? judge_flat(c) : judge_monotone(c, !strcmp(relation, "rising"));
}

struct claim_verdict claim_judge_course(const struct claim_work *w, const json_t *of, json_t *ids)
{
	struct claim_verdict v;
	struct course c;
	char *why;

	gather_course(w, of, &c);
	why = read_course(w, &c);
	v = why ? claim_not_judged(why) : judge_course(w, &c);
	for (size_t i = 0; i < c.count; i++)
		json_array_append(ids, json_object_get(c.points[i], "id"));
	course_free(&c);
	return v;
}
