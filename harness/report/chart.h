/*
 * What a figure against a setting shows: its values, a panel for each service type, a line for each
 * kind of point. More lines than can be told apart make several figures.
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
	const json_t *panels[CHART_PANELS_MAX]; /* values of AXES_FACET; one NULL where it does not vary */
	size_t panel_count;
	const char *keys[CHART_KEYS_MAX]; /* what tells lines apart; "" stands for the run */
	size_t key_count;
	const struct report_item **lines; /* the first of each */
	size_t line_count;
	size_t from, drawn; /* those of one figure */
};

/* False: the setting is no axis. Else for chart_free(). */
bool chart_make(struct chart *c, const struct report *r, const char *key);
void chart_free(struct chart *c);

/* To the lines of the first figure, of the next: as many whole groups that have their first setting
 * in common as fit, or of a group that does not as many lines. False: there are no more. */
bool chart_next(struct chart *c);

bool chart_has(const struct chart *c, const struct report_item *item);	 /* in some figure */
bool chart_draws(const struct chart *c, const struct report_item *item); /* in this one */

/* Of what it has, from 0: which value, panel and line of this figure; c->drawn: it is in another. */
size_t chart_value(const struct chart *c, const struct report_item *item);
size_t chart_panel(const struct chart *c, const struct report_item *item);
size_t chart_line(const struct chart *c, const struct report_item *item);

#endif
