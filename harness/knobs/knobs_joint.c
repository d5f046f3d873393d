#include "knobs/knobs_joint.h"

#include <math.h>
#include <stdlib.h>

#include "common/or_abort.h"
#include "compare/compare_judge.h"

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
