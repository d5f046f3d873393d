#include "report/axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "report/figure.h"
#include "report/labels.h"
#include "rundir/layout.h"

bool axes_are_comparable(const struct report *r)
{
	return r->leading_count <= AXES_POINTS_MOST;
}

const json_t *axes_setting(const struct report_item *i, const char *key)
{
	return json_object_get(i->point->params, key);
}

bool axes_same(const json_t *a, const json_t *b)
{
	return a == b || (a && b && json_equal(a, b));
}

/* Do the points differ in this setting? "" stands for the run. */
static bool points_differ(const struct report_point *a, const struct report_point *b, const char *key)
{
	return *key ? !axes_same(json_object_get(a->params, key), json_object_get(b->params, key)) : a->run != b->run;
}

bool axes_differ(const struct report_item *a, const struct report_item *b, const char *key)
{
	return points_differ(a->point, b->point, key);
}

bool axes_of_one_flow(const struct report_item *a, const struct report_item *b)
{
	return !strcmp(a->series->flow->name, b->series->flow->name);
}

bool axes_agree(const struct report_item *a, const struct report_item *b, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (axes_differ(a, b, keys[i]))
			return false;
	return axes_of_one_flow(a, b);
}

bool axes_has_number(const struct report_item *i, const char *key)
{
	return json_is_integer(axes_setting(i, key));
}

/* --- values --- */

static bool is_known(const int64_t *values, size_t count, int64_t value)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] == value)
			return true;
	return false;
}

size_t axes_values(const struct report *r, const char *key, int64_t *values, size_t most)
{
	size_t found = 0;

	for (size_t i = 0; i < r->leading_count; i++) {
		int64_t value = json_integer_value(axes_setting(&r->leading[i], key));

		if (!axes_has_number(&r->leading[i], key) || is_known(values, found, value))
			continue;
		if (found == most)
			return most + 1;
		values[found++] = value;
	}
	sort_integers(values, found);
	return found;
}

/* --- axes --- */

bool axes_is_bookkeeping(const struct report *r, const char *key)
{
	return r->run_count && layout_is_bookkeeping(r->runs[0].run->resolved, key);
}

/* Points of a run that have the same size. The caller frees. */
static char *size_group(const struct report_point *p)
{
	const json_t *size = json_object_get(p->params, AXES_SIZE);
	char *text = size ? json_dumps(size, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	char *group = fs_path("%zu %s", p->run, text ? text : "");

	free(text);
	return group;
}

/* Does a setting only change along with the size, such as a burst that is shorter for large messages? */
static bool follows_size(const struct report *r, const char *key)
{
	json_t *first = json_object(); /* the value of each group; null: it does not have the setting */
	bool follows = true;

	for (size_t i = 0; follows && i < r->count; i++) {
		const json_t *value = json_object_get(r->points[i].params, key);
		char *group = size_group(&r->points[i]);
		const json_t *other = json_object_get(first, group);

		if (!other)
			json_object_set(first, group, value ? (json_t *)value : json_null());
		else
			follows = json_equal(other, value ? value : json_null());
		free(group);
	}
	json_decref(first);
	return follows;
}

bool axes_is_axis(const struct report *r, const char *key)
{
	return strcmp(key, AXES_SIZE) != 0 && !axes_is_bookkeeping(r, key) && !follows_size(r, key);
}

bool axes_go_along(const struct report *r, const char *a, const char *b)
{
	for (size_t i = 0; i < r->leading_count; i++)
		for (size_t k = 0; k < i; k++)
			if (axes_differ(&r->leading[i], &r->leading[k], a) !=
			    axes_differ(&r->leading[i], &r->leading[k], b))
				return false;
	return true;
}

static bool has_axis(const struct report *r, const char *key)
{
	int64_t values[AXES_VALUES_MAX];
	size_t count = axes_values(r, key, values, AXES_VALUES_MAX);

	return count >= AXES_VALUES_MIN && count <= AXES_VALUES_MAX;
}

struct report_keys axes_all(const struct report *r)
{
	struct report_keys axes = {.key = or_abort(calloc(r->varying.count + 1, sizeof(*axes.key)))};

	if (has_axis(r, AXES_SIZE))
		axes.key[axes.count++] = AXES_SIZE;
	for (size_t i = 0; i < r->varying.count; i++)
		if (axes_is_axis(r, r->varying.key[i]) && has_axis(r, r->varying.key[i]))
			axes.key[axes.count++] = r->varying.key[i];
	return axes;
}

bool axes_is_on_one(const struct report_keys *axes, const struct report_item *i)
{
	for (size_t k = 0; k < axes->count; k++)
		if (axes_has_number(i, axes->key[k]))
			return true;
	return false;
}

/* --- words --- */

static void axes_print(FILE *out, const struct report *r, const struct report_item *item, const char *key)
{
	if (*key)
		label_setting(out, key, axes_setting(item, key));
	else
		fputs(r->runs[item->point->run].label, out);
}

char *axes_label(const struct report *r, const struct report_item *item, const char *const *keys, size_t count)
{
	const char *separator = *item->series->flow->name ? ", " : "";
	char *label = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&label, &size));

	fputs(item->series->flow->name, out);
	for (size_t i = 0; i < count; i++) {
		if (*keys[i] && !axes_setting(item, keys[i]))
			continue;
		fputs(separator, out);
		axes_print(out, r, item, keys[i]);
		separator = ", ";
	}
	fclose(out);
	return figure_one_line(label, AXES_LABEL_MAX);
}
