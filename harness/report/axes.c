#include "report/axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "files/rundir/layout.h"
#include "report/figure.h"
#include "report/labels.h"

#define AXES_LINES_MAX 8 /* more cannot be distinguished */

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

bool axes_has(const struct axes_lines *c, const struct report_item *item)
{
	return axes_has_number(item, c->key);
}

/* --- values of lines --- */

/* False: not an axis. */
static bool find_line_values(struct axes_lines *c)
{
	c->value_count = axes_values(c->r, c->key, c->values, AXES_VALUES_MAX);
	return c->value_count >= AXES_VALUES_MIN && c->value_count <= AXES_VALUES_MAX;
}

size_t axes_value_index(const struct axes_lines *c, const struct report_item *item)
{
	size_t i = 0;

	while (c->values[i] != json_integer_value(axes_setting(item, c->key)))
		i++;
	return i;
}

/* --- which panels and lines --- */

size_t axes_panel_index(const struct axes_lines *c, const struct report_item *item)
{
	size_t i = 0;

	while (i < c->panel_count && c->panels[i] && !axes_same(c->panels[i], axes_setting(item, AXES_FACET)))
		i++;
	return i;
}

static void find_panels(struct axes_lines *c)
{
	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];

		if (!axes_has(c, item) ||
		    (axes_setting(item, AXES_FACET) && axes_panel_index(c, item) < c->panel_count))
			continue;
		/* If some points are of a transport without this setting: lines instead of panels. */
		if (!axes_setting(item, AXES_FACET) || c->panel_count == AXES_PANELS_MAX) {
			c->panel_count = 0;
			break;
		}
		c->panels[c->panel_count++] = axes_setting(item, AXES_FACET);
	}
	if (c->panel_count < 2) {
		c->panel_count = 1;
		c->panels[0] = NULL;
	}
}

static bool is_on_one_line(const struct axes_lines *c, const struct report_item *a, const struct report_item *b)
{
	return axes_agree(a, b, c->keys, c->key_count);
}

/* Would two points coincide without this setting? Only such settings need to distinguish lines;
 * those that only change along with the axis do not. */
static bool tells_lines_apart(const struct axes_lines *c, const char *key)
{
	for (size_t i = 0; i < c->r->leading_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct report_item *a = &c->r->leading[i], *b = &c->r->leading[k];

			if (axes_has(c, a) && axes_has(c, b) && axes_value_index(c, a) == axes_value_index(c, b) &&
			    axes_panel_index(c, a) == axes_panel_index(c, b) && axes_differ(a, b, key) &&
			    is_on_one_line(c, a, b))
				return true;
		}
	return false;
}

static size_t line_index(const struct axes_lines *c, const struct report_item *item)
{
	size_t i = 0;

	while (i < c->line_count && !is_on_one_line(c, c->lines[i], item))
		i++;
	return i;
}

size_t axes_line_index(const struct axes_lines *c, const struct report_item *item)
{
	size_t line = line_index(c, item);

	return line < c->from || line >= c->from + c->drawn ? c->drawn : line - c->from;
}

bool axes_draws(const struct axes_lines *c, const struct report_item *item)
{
	return axes_has(c, item) && axes_line_index(c, item) < c->drawn;
}

static void find_lines(struct axes_lines *c)
{
	if (c->r->run_count > 1 && tells_lines_apart(c, ""))
		c->keys[c->key_count++] = "";
	for (size_t i = 0; i < c->r->varying.count && c->key_count < AXES_KEYS_MAX; i++)
		if (strcmp(c->r->varying.key[i], c->key) != 0 && tells_lines_apart(c, c->r->varying.key[i]))
			c->keys[c->key_count++] = c->r->varying.key[i];
	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];

		if (!axes_has(c, item) || line_index(c, item) < c->line_count)
			continue;
		c->lines = grow_or_abort(c->lines, c->line_count, sizeof(*c->lines));
		c->lines[c->line_count++] = item;
	}
}

/* The end of the group of adjacent lines that have their first setting in common with this one. */
static size_t end_of_group(const struct axes_lines *c, size_t line)
{
	size_t end = line + 1;

	while (end < c->line_count && c->key_count && !axes_differ(c->lines[line], c->lines[end], c->keys[0]))
		end++;
	return end;
}

bool axes_lines_next(struct axes_lines *c)
{
	size_t end;

	c->from += c->drawn;
	for (end = c->from; end < c->line_count && end_of_group(c, end) - c->from <= AXES_LINES_MAX;)
		end = end_of_group(c, end);
	if (end == c->from)
		end = c->line_count - c->from < AXES_LINES_MAX ? c->line_count : c->from + AXES_LINES_MAX;
	c->drawn = end - c->from;
	return c->drawn;
}

/* --- all lines --- */

bool axes_lines_make(struct axes_lines *c, const struct report *r, const char *key)
{
	*c = (struct axes_lines){.r = r, .key = key};
	if (!axes_are_comparable(r) || !find_line_values(c))
		return false;
	find_panels(c);
	find_lines(c);
	return true;
}

void axes_lines_free(struct axes_lines *c)
{
	free(c->lines);
	*c = (struct axes_lines){0};
}
