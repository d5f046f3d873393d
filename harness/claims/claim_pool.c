#include "claims/claim_pool.h"

#include <math.h>
#include <stdlib.h>

#include "claims/claim_point.h"
#include "common/fs.h"
#include "common/or_abort.h"

/* Logarithms of one side, summed over the cases: those of the value for all repetitions, and of
 * each repetition that all points have. */
struct pool {
	enum over_reps over_reps;
	double value;
	double *rep;
	size_t reps, cases;
};

/* For numbers without a logarithm: false, and the reason in `why`. */
static bool pool_add(struct pool *pool, const json_t *point, const struct sample *s, char **why)
{
	bool is_positive = s->value > 0;

	pool->reps = pool->cases && pool->reps < s->reps ? pool->reps : s->reps;
	if (!pool->rep)
		pool->rep = or_abort(calloc(s->reps + 1, sizeof(*pool->rep)));
	for (size_t i = 0; i < pool->reps; i++) {
		is_positive = is_positive && s->rep[i] > 0;
		pool->rep[i] += log(s->rep[i]);
	}
	pool->value += log(s->value);
	pool->over_reps = s->over_reps;
	pool->cases++;
	if (!is_positive)
		*why = fs_path("point %" JSON_INTEGER_FORMAT ": only positive numbers can be pooled",
			       claim_point_id(point));
	return is_positive;
}

/* The geometric means; the sample borrows the pool's memory. */
static struct sample pool_mean(struct pool *pool)
{
	double cases = (double)pool->cases;

	for (size_t i = 0; i < pool->reps; i++)
		pool->rep[i] = exp(pool->rep[i] / cases);
	return (struct sample){pool->over_reps, exp(pool->value / cases), pool->rep, pool->reps};
}

static bool add_point(struct pool *pool, const json_t *point, const struct claim_metric *metric, char **why)
{
	struct sample s = {0};
	bool good = claim_point_sample(point, metric, &s, why) && pool_add(pool, point, &s, why);

	claim_sample_free(&s);
	return good;
}

static bool add_pair(struct claim_case *c, const struct claim_pairing *p, const json_t *point, struct pool *of_points,
		     struct pool *of_against, char **why)
{
	const json_t *partner = claim_pairing_partner(p, point, why);

	if (!partner)
		return false;
	point_ids_add(&c->points, claim_point_id(point));
	point_ids_add(&c->against, claim_point_id(partner));
	return add_point(of_points, point, &p->claim->metric, why) &&
	       add_point(of_against, partner, &p->claim->against.metric, why);
}

void claim_pool_judge(struct claim_case *c, const struct claim_pairing *p)
{
	struct pool of_points = {0}, of_against = {0};
	char *why = NULL;

	for (size_t i = 0; !why && i < p->points.count; i++)
		add_pair(c, p, p->points.points[i], &of_points, &of_against, &why);
	if (why) {
		claim_case_decide(c, CLAIM_NOT_JUDGED, why);
	} else {
		struct sample a = pool_mean(&of_points), b = pool_mean(&of_against);
		struct estimate e = estimate_ratio(&a, &b);

		claim_case_bound(c, p->claim, &e);
	}
	free(of_points.rep);
	free(of_against.rep);
}
