#include "compare/compare_state.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "state/diff.h"
#include "state/diff_words.h"

/* Add one difference under its key: its content comes from the first run that has it, and all such
 * runs are counted. */
static void add_difference(json_t *by_key, const json_t *difference, enum compare_arm arm)
{
	json_t *known = json_object_get(by_key, json_text(difference, "key")), *count;

	if (strcmp(json_text(difference, "class"), "fatal") != 0)
		return;
	if (!known) {
		known = json_deep_copy(difference);
		json_object_set_new(known, compare_arm_name[ARM_BASE], json_integer(0));
		json_object_set_new(known, compare_arm_name[ARM_WITH], json_integer(0));
		json_object_set_new(by_key, json_text(difference, "key"), known);
	}
	count = json_object_get(known, compare_arm_name[arm]);
	json_integer_set(count, json_integer_value(count) + 1);
}

static int state_add_run(json_t *by_key, const struct compare_run *first, const struct compare_run *other,
			 const char *const *varying, struct err *e)
{
	json_t *differences = NULL;
	const json_t *one;
	size_t i;
	int rc = state_diff(first->state, other->state, varying, &differences, e);

	json_array_foreach (differences, i, one) {
		add_difference(by_key, one, other->arm);
	}
	json_decref(differences);
	return rc;
}

/* "24 of 24 runs of NEW, 1 of 24 of BASE". */
static void state_where(json_t *difference, const size_t *runs)
{
	static const enum compare_arm order[] = {ARM_WITH, ARM_BASE};
	char text[128] = "";

	for (size_t i = 0; i < ARMS; i++) {
		const char *arm = compare_arm_name[order[i]];
		json_int_t n = json_integer_value(json_object_get(difference, arm));
		size_t used = strlen(text);

		if (n)
			snprintf(text + used, sizeof(text) - used, "%s%" JSON_INTEGER_FORMAT " of %zu runs of %s",
				 used ? ", " : "", n, runs[order[i]], arm);
		json_object_del(difference, arm);
	}
	json_object_set_new(difference, "where", json_string(text));
}

/* For long lists: the elements that only one of them has. */
static void set_words(json_t *difference)
{
	json_t *removed, *added;

	if (!diff_words(json_object_get(difference, "a"), json_object_get(difference, "b"), &removed, &added))
		return;
	json_object_set_new(difference, "removed", removed);
	json_object_set_new(difference, "added", added);
}

static bool kernels_differ(const struct compare_runs *runs)
{
	json_t *a = compare_values(runs, ARM_BASE, FIELD_KERNEL), *b = compare_values(runs, ARM_WITH, FIELD_KERNEL);
	bool differ = !json_equal(a, b);

	json_decref(a);
	json_decref(b);
	return differ;
}

int compare_state(const struct compare_runs *runs, const char *const *varying, json_t *result, struct err *e)
{
	static const char *const kernel[] = {"kernel", NULL};
	json_t *by_key = json_object(), *list = json_array(), *difference;
	const struct compare_run *first = NULL; /* the first run whose state was captured */
	size_t count[ARMS] = {0};
	const char *key;
	int rc = 0;

	if (!varying && kernels_differ(runs))
		varying = kernel;
	for (size_t i = 0; i < runs->count; i++) {
		const struct compare_run *run = &runs->run[i];

		count[run->arm]++;
		if (!rc && first && run->state)
			rc = state_add_run(by_key, first, run, varying, e);
		first = first || !run->state ? first : run;
	}
	json_object_foreach (by_key, key, difference) {
		state_where(difference, count);
		set_words(difference);
		json_array_append(list, difference);
	}
	json_object_set_new(result, "state_fatal", json_integer((json_int_t)state_diff_fatal(list)));
	json_object_set_new(result, "state", list);
	json_decref(by_key);
	return rc;
}
