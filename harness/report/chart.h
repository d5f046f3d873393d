/*
 * What a figure against a setting shows: the setting's values, a panel for each service type, a
 * line for each kind of point. If there are more lines than can be distinguished, they are
 * distributed over several figures.
 */
#ifndef KBLAT_REPORT_CHART_H
#define KBLAT_REPORT_CHART_H

#include "report/axes.h"
#include "report/model.h"

#define CHART_PANELS_MAX 4
#define CHART_KEYS_MAX	 8

struct chart {
	const struct report *r;
	const char *key; /* of the axis */
	int64_t values[AXES_VALUES_MAX];
	size_t value_count;
	const json_t *panels[CHART_PANELS_MAX]; /* values of AXES_FACET; a single NULL if it does not vary */
	size_t panel_count;
	const char *keys[CHART_KEYS_MAX]; /* settings that distinguish lines; "" stands for the run */
	size_t key_count;
	const struct report_item **lines; /* the first item of each line */
	size_t line_count;
	size_t from, drawn; /* lines of the current figure */
};

/* False: the setting cannot be an axis. Otherwise release with chart_free(). */
bool chart_make(struct chart *c, const struct report *r, const char *key);
void chart_free(struct chart *c);

/* Go to the lines of the first or next figure: as many complete groups (lines with the same value
 * of their first setting) as fit. If a single group does not fit, as many of its lines as fit.
 * False: there are no more. */
bool chart_next(struct chart *c);

bool chart_has(const struct chart *c, const struct report_item *item);	 /* in any figure */
bool chart_draws(const struct chart *c, const struct report_item *item); /* in the current one */

/* The index of an item's value, panel and line in the current figure; a line of c->drawn means that
 * it is in another figure. */
size_t chart_value(const struct chart *c, const struct report_item *item);
size_t chart_panel(const struct chart *c, const struct report_item *item);
size_t chart_line(const struct chart *c, const struct report_item *item);

#endif
