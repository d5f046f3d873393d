#include "compare/compare_units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

static int by_arm_and_time(const void *a, const void *b)
{
	const struct compare_run *x = a, *y = b;

	if (x->arm != y->arm)
		return x->arm < y->arm ? -1 : 1;
	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return strcmp(x->run.path, y->run.path);
}

static int check_alike(const struct compare_runs *all, struct err *e)
{
	const struct compare_run *first = &all->run[0];

	for (size_t i = 1; i < all->count; i++)
		if (strcmp(compare_run_name(first), compare_run_name(&all->run[i])) != 0)
			return err_set(
			    e, -EINVAL, STATUS_USAGE, all->run[i].run.path, "compare",
			    "it is a run of the experiment '%s', but %s is a run of '%s'; choose one with --experiment",
			    compare_run_name(&all->run[i]), first->run.path, compare_run_name(first));
	return 0;
}

/* Rejects a directory that is given twice, or as a copy, because it would count twice. */
static int check_different(const struct compare_runs *all, struct err *e)
{
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct compare_run *a = &all->run[i], *b = &all->run[k];

			if (a->started_ns == b->started_ns &&
			    json_equal(json_object_get(a->run.run, "t0"), json_object_get(b->run.run, "t0")) &&
			    !strcmp(a->boot, b->boot) && json_equal(a->run.summary, b->run.summary))
				return err_set(e, -EEXIST, STATUS_USAGE, a->run.path, "compare",
					       "it is given twice%s%s",
					       strcmp(a->run.path, b->run.path) ? ", also as " : "",
					       strcmp(a->run.path, b->run.path) ? b->run.path : "");
		}
	return 0;
}

static bool arm_has_boot(const struct compare_runs *all, enum compare_arm arm, const char *boot)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->run[i].arm == arm && !strcmp(all->run[i].boot, boot))
			return true;
	return false;
}

/* An earlier run of the same boot and arm; NULL: this is the first one of its boot. */
static const struct compare_run *earlier_of_boot(const struct compare_runs *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (all->run[k].arm == all->run[i].arm && !strcmp(all->run[k].boot, all->run[i].boot))
			return &all->run[k];
	return NULL;
}

static void number_boots(struct compare_runs *all)
{
	all->units[ARM_BASE] = all->units[ARM_WITH] = 0;
	for (size_t i = 0; i < all->count; i++) {
		const struct compare_run *earlier = earlier_of_boot(all, i);

		all->run[i].unit = earlier ? earlier->unit : all->units[ARM_BASE] + all->units[ARM_WITH];
		all->units[all->run[i].arm] += !earlier;
	}
}

/* If every boot has runs of both arms, each boot is a pair: the other arm's units are put in the
 * order of the base's. */
static void pair_boots(struct compare_runs *all)
{
	all->pairs = true;
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; all->run[i].arm == ARM_WITH && k < i; k++)
			if (all->run[k].arm == ARM_BASE && !strcmp(all->run[k].boot, all->run[i].boot))
				all->run[i].unit = all->units[ARM_BASE] + all->run[k].unit;
}

static int use_boots(struct compare_runs *all, struct err *e)
{
	const struct compare_run *alone = NULL, *shared = NULL;

	number_boots(all);
	if (!all->units[ARM_WITH])
		return 0;
	for (size_t i = 0; i < all->count; i++) {
		if (arm_has_boot(all, !all->run[i].arm, all->run[i].boot))
			shared = &all->run[i];
		else
			alone = &all->run[i];
	}
	if (shared && alone)
		return err_set(e, -EINVAL, STATUS_USAGE, shared->run.path, "compare",
			       "its boot %s has runs in both arms, but the boot of %s has not: either every boot has "
			       "runs in both arms, or none has",
			       shared->boot, alone->run.path);
	if (shared)
		pair_boots(all);
	return 0;
}

/* In chronological order, do the runs form consecutive pairs with one run of each arm, in either order? */
static bool is_in_turn(const struct compare_runs *all)
{
	size_t n = all->units[ARM_BASE];
	const struct compare_run *base = all->run, *with = all->run + n;

	if (n != all->units[ARM_WITH])
		return false;
	for (size_t i = 0; i + 1 < n; i++) {
		json_int_t end = base[i].started_ns > with[i].started_ns ? base[i].started_ns : with[i].started_ns;

		if (base[i + 1].started_ns < end || with[i + 1].started_ns < end)
			return false;
	}
	return true;
}

static int use_runs(struct compare_runs *all, struct err *e)
{
	all->units[ARM_BASE] = all->units[ARM_WITH] = 0;
	for (size_t i = 0; i < all->count; i++) {
		if (strcmp(all->run[i].boot, all->run[0].boot) != 0)
			return err_set(e, -EINVAL, STATUS_USAGE, all->run[i].run.path, "compare",
				       "it is of another boot than %s: with runs as units, differences between boots "
				       "would look like an effect; omit --unit run",
				       all->run[0].run.path);
		all->run[i].unit = i;
		all->units[all->run[i].arm]++;
	}
	all->in_turn = all->pairs = is_in_turn(all);
	return 0;
}

static bool is_one_boot(const struct compare_runs *all)
{
	for (size_t i = 1; i < all->count; i++)
		if (strcmp(all->run[i].boot, all->run[0].boot) != 0)
			return false;
	return true;
}

int compare_units(struct compare_runs *all, enum compare_unit_kind kind, struct err *e)
{
	int rc;

	if (!all->count)
		return err_set(e, -ENOENT, STATUS_USAGE, NULL, "compare", "there are no runs");
	qsort(all->run, all->count, sizeof(*all->run), by_arm_and_time);
	rc = check_alike(all, e) ?: check_different(all, e);
	if (rc)
		return rc;
	all->kind = kind != UNIT_AUTO ? kind : is_one_boot(all) ? UNIT_RUN : UNIT_BOOT;
	return all->kind == UNIT_BOOT ? use_boots(all, e) : use_runs(all, e);
}
