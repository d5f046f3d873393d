/*
 * What figures need to know about settings: which can be an axis, which distinguish the leading
 * series of points, how to label a combination of values, and which lines there are against a setting.
 */
#ifndef KBLAT_REPORT_AXES_H
#define KBLAT_REPORT_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model.h"

#define AXES_SIZE	"size_bytes"
#define AXES_VALUES_MIN 3    /* fewer values do not make an axis */
#define AXES_VALUES_MAX 64   /* more do not, either */
#define AXES_FACET	"qp" /* each value has its own figure or panel; values are not overlaid */

/* Figures that relate points to each other compare each with all others, in each setting: so there are none if more than
 * AXES_POINTS_MOST were measured. */
bool axes_are_comparable(const struct report *r);
#define AXES_POINTS_MOST 1000

const json_t *axes_setting(const struct report_item *i, const char *key); /* NULL: its point does not have it */
bool axes_same(const json_t *a, const json_t *b);			  /* true also if both are missing */

/* Do the points of two items differ in this setting? "" stands for the run. */
bool axes_differ(const struct report_item *a, const struct report_item *b, const char *key);

/* Are they flows of the same name that do not differ in any of these settings? */
bool axes_agree(const struct report_item *a, const struct report_item *b, const char *const *keys, size_t count);

/* Are they flows of the same name, or both of points without flows? */
bool axes_of_one_flow(const struct report_item *a, const struct report_item *b);

/* Does its point have an integer value of this setting? */
bool axes_has_number(const struct report_item *i, const char *key);

/* The distinct values of a setting among the points that were measured, ascending. Returns their
 * number, or `most` + 1 if there are more than `most`. */
size_t axes_values(const struct report *r, const char *key, int64_t *values, size_t most);

/* Can this setting be an axis besides the size? It must define what is measured, rather than for
 * how long, and not merely change along with the size. */
bool axes_is_axis(const struct report *r, const char *key);

/* Do two settings always change together among the measured points, such as a pause and the burst
 * chosen for it? "" stands for the run. */
bool axes_go_along(const struct report *r, const char *a, const char *b);

bool axes_is_bookkeeping(const struct report *r, const char *key);

/* The settings against which there are figures, as they have enough values. The caller frees the list. */
struct report_keys axes_all(const struct report *r);

/* Does a figure against one of these settings show the point? Separate figures for the values would be less
 * informative. */
bool axes_is_on_one(const struct report_keys *axes, const struct report_item *i);

/* "small, send, inline no": the flow, if there are several, and the settings; values that speak for
 * themselves without the setting's name. The caller frees; at most AXES_LABEL_MAX bytes. */
char *axes_label(const struct report *r, const struct report_item *item, const char *const *keys, size_t count);
#define AXES_LABEL_MAX 80

/* --- lines ---
 *
 * What a figure against a setting shows: the setting's values, a panel for each service type, a line
 * for each kind of point. If there are more lines than can be distinguished, they are distributed
 * over several figures.
 */
#define AXES_PANELS_MAX 4
#define AXES_KEYS_MAX	8

struct axes_lines {
	const struct report *r;
	const char *key; /* of the axis */
	int64_t values[AXES_VALUES_MAX];
	size_t value_count;
	const json_t *panels[AXES_PANELS_MAX]; /* values of AXES_FACET; a single NULL if it does not vary */
	size_t panel_count;
	const char *keys[AXES_KEYS_MAX]; /* settings that distinguish lines; "" stands for the run */
	size_t key_count;
	const struct report_item **lines; /* the first item of each line */
	size_t line_count;
	size_t from, drawn; /* lines of the current figure */
};

/* False: the setting cannot be an axis. Otherwise release with axes_lines_free(). */
bool axes_lines_make(struct axes_lines *c, const struct report *r, const char *key);
void axes_lines_free(struct axes_lines *c);

/* Go to the lines of the first or next figure: as many complete groups (lines with the same value
 * of their first setting) as fit. If a single group does not fit, as many of its lines as fit.
 * False: there are no more. */
bool axes_lines_next(struct axes_lines *c);

bool axes_has(const struct axes_lines *c, const struct report_item *item);   /* in any figure */
bool axes_draws(const struct axes_lines *c, const struct report_item *item); /* in the current one */

/* The index of an item's value, panel and line in the current figure; a line of c->drawn means that
 * it is in another figure. */
size_t axes_value_index(const struct axes_lines *c, const struct report_item *item);
size_t axes_panel_index(const struct axes_lines *c, const struct report_item *item);
size_t axes_line_index(const struct axes_lines *c, const struct report_item *item);

#endif
