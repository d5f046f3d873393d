#include "report/chart.h"

#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

#define LINES_MAX 8 /* more cannot be distinguished */

bool chart_has(const struct chart *c, const struct report_item *item)
{
	return axes_has_number(item, c->key);
}

/* --- values --- */

/* False: not an axis. */
static bool find_values(struct chart *c)
{
	c->value_count = axes_values(c->r, c->key, c->values, AXES_VALUES_MAX);
	return c->value_count >= AXES_VALUES_MIN && c->value_count <= AXES_VALUES_MAX;
}

size_t chart_value(const struct chart *c, const struct report_item *item)
{
	size_t i = 0;

	while (c->values[i] != json_integer_value(axes_setting(item, c->key)))
		i++;
	return i;
}

/* --- which panels and lines --- */

size_t chart_panel(const struct chart *c, const struct report_item *item)
{
	size_t i = 0;

	while (i < c->panel_count && c->panels[i] && !axes_same(c->panels[i], axes_setting(item, AXES_FACET)))
		i++;
	return i;
}

static void find_panels(struct chart *c)
{
	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];

		if (!chart_has(c, item) || (axes_setting(item, AXES_FACET) && chart_panel(c, item) < c->panel_count))
			continue;
		/* If some points are of a transport without this setting: lines instead of panels. */
		if (!axes_setting(item, AXES_FACET) || c->panel_count == CHART_PANELS_MAX) {
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

static bool is_on_one_line(const struct chart *c, const struct report_item *a, const struct report_item *b)
{
	return axes_agree(a, b, c->keys, c->key_count);
}

/* Would two points coincide without this setting? Only such settings need to distinguish lines;
 * those that only change along with the axis do not. */
static bool tells_lines_apart(const struct chart *c, const char *key)
{
	for (size_t i = 0; i < c->r->leading_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct report_item *a = &c->r->leading[i], *b = &c->r->leading[k];

			if (chart_has(c, a) && chart_has(c, b) && chart_value(c, a) == chart_value(c, b) &&
			    chart_panel(c, a) == chart_panel(c, b) && axes_differ(a, b, key) && is_on_one_line(c, a, b))
				return true;
		}
	return false;
}

static size_t line_index(const struct chart *c, const struct report_item *item)
{
	size_t i = 0;

	while (i < c->line_count && !is_on_one_line(c, c->lines[i], item))
		i++;
	return i;
}

size_t chart_line(const struct chart *c, const struct report_item *item)
{
	size_t line = line_index(c, item);

	return line < c->from || line >= c->from + c->drawn ? c->drawn : line - c->from;
}

bool chart_draws(const struct chart *c, const struct report_item *item)
{
	return chart_has(c, item) && chart_line(c, item) < c->drawn;
}

static void find_lines(struct chart *c)
{
	if (c->r->run_count > 1 && tells_lines_apart(c, ""))
		c->keys[c->key_count++] = "";
	for (size_t i = 0; i < c->r->varying.count && c->key_count < CHART_KEYS_MAX; i++)
		if (strcmp(c->r->varying.key[i], c->key) != 0 && tells_lines_apart(c, c->r->varying.key[i]))
			c->keys[c->key_count++] = c->r->varying.key[i];
	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];

		if (!chart_has(c, item) || line_index(c, item) < c->line_count)
			continue;
		c->lines = grow_or_abort(c->lines, c->line_count, sizeof(*c->lines));
		c->lines[c->line_count++] = item;
	}
}

/* The end of the group of adjacent lines that have their first setting in common with this one. */
static size_t end_of_group(const struct chart *c, size_t line)
{
	size_t end = line + 1;

	while (end < c->line_count && c->key_count && !axes_differ(c->lines[line], c->lines[end], c->keys[0]))
		end++;
	return end;
}

bool chart_next(struct chart *c)
{
	size_t end;

	c->from += c->drawn;
	for (end = c->from; end < c->line_count && end_of_group(c, end) - c->from <= LINES_MAX;)
		end = end_of_group(c, end);
	if (end == c->from)
		end = c->line_count - c->from < LINES_MAX ? c->line_count : c->from + LINES_MAX;
	c->drawn = end - c->from;
	return c->drawn;
}

/* --- the whole chart --- */

bool chart_make(struct chart *c, const struct report *r, const char *key)
{
	*c = (struct chart){.r = r, .key = key};
	if (!axes_are_comparable(r) || !find_values(c))
		return false;
	find_panels(c);
	find_lines(c);
	return true;
}

void chart_free(struct chart *c)
{
	free(c->lines);
	*c = (struct chart){0};
}
