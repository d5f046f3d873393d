#include "report/run_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "report/axes.h"
#include "report/chart.h"
#include "report/labels.h"
#include "report/missed_steps.h"

#define FIGURES_MAX  8 /* maximum for one setting with many lines */
#define SIDES	     110
#define WIDTH_MIN    800
#define WIDTH_MAX    2400
#define ROOM	     24 /* pixels per value */
#define ROOM_LINE    9	/* for each line, per value */
#define PLOT_HEIGHT  420
#define STEPS_HEIGHT 130 /* of the strip of missed steps below */
#define LABEL_MAX    80
#define LOGARITHMIC  8 /* ratio largest / smallest from which on the axis is logarithmic */

/* What all figures against a setting have in common: computed over all lines. */
struct scale {
	struct figure_range range; /* ns */
	bool is_paced;		   /* some points are paced */
	double most_steps;	   /* largest share missed or not sent */
};

/* --- the table --- */

#define NUMBERS 3 /* median, P10, P90 */

/* False: unknown. */
static bool axis_number(const struct report_series *s, size_t which, int64_t *value)
{
	return which == 1 ? model_quantile(s, 0.1, STATS_BEYOND, value)
			  : model_metric(s, which ? STATISTIC_P90 : STATISTIC_P50, value);
}

enum { PANEL, LINE, X, VALID, P50, P10, P90, MISSED, UNSENT, VALUE, RUN, POINT, LABEL, COLUMNS };

static void axis_row(struct table *t, const struct axes_lines *c, const struct report_item *item)
{
	size_t row = table_row(t);
	int64_t value = 0;

	table_count(t, PANEL, row, (int64_t)axes_panel_index(c, item) + 1);
	table_count(t, LINE, row, (int64_t)axes_line_index(c, item) + 1);
	table_count(t, X, row, (int64_t)axes_value_index(c, item) + 1);
	table_count(t, VALID, row, model_is_valid(item->point));
	for (size_t i = 0; i < NUMBERS; i++)
		if (axis_number(item->series, i, &value))
			table_count(t, P50 + i, row, value);
	missed_steps_put(t, MISSED, row, item);
	table_count(t, VALUE, row, c->values[axes_value_index(c, item)]);
	table_text(t, RUN, row, "%s", c->r->runs[item->point->run].label);
	table_count(t, POINT, row, item->point->id);
	table_text(t, LABEL, row, "%s", item->point->label);
}

/* In the order in which lines are drawn. Texts come last, as everywhere. */
static struct table axis_rows(const struct axes_lines *c)
{
	const struct table_column columns[COLUMNS] = {
	    [PANEL] = {.key = "panel"}, {.key = "line"},   {.key = "x"},	 {.key = "valid"}, {.key = "p50_ns"},
	    {.key = "p10_ns"},		{.key = "p90_ns"}, MISSED_STEPS_COLUMNS, {.key = c->key},  {.key = "run"},
	    {.key = "point"},		{.key = "label"},
	};
	struct table t = table_of(columns, COLUMNS, 0);

	for (size_t panel = 0; panel < c->panel_count; panel++)
		for (size_t line = 0; line < c->drawn; line++)
			for (size_t x = 0; x < c->value_count; x++)
				for (size_t i = 0; i < c->r->leading_count; i++) {
					const struct report_item *item = &c->r->leading[i];

					if (axes_has(c, item) && axes_panel_index(c, item) == panel &&
					    axes_line_index(c, item) == line && axes_value_index(c, item) == x)
						axis_row(&t, c, item);
				}
	return t;
}

/* --- variables --- */

static size_t figure_width(const struct axes_lines *c)
{
	size_t room = c->drawn * ROOM_LINE < ROOM ? ROOM : c->drawn * ROOM_LINE;
	size_t width = SIDES + c->panel_count * (c->value_count * room + 20);

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static size_t count_invalid(const struct axes_lines *c)
{
	size_t invalid = 0;

	for (size_t i = 0; i < c->r->leading_count; i++)
		invalid += axes_draws(c, &c->r->leading[i]) && !model_is_valid(c->r->leading[i].point);
	return invalid;
}

static void set_panels(struct figures *f, const struct axes_lines *c)
{
	char text[LABEL_MAX];

	figure_set_array(f, "panels", c->panel_count);
	for (size_t i = 0; i < c->panel_count; i++) {
		if (c->panels[i])
			label_value(AXES_FACET, c->panels[i], text, sizeof(text));
		else
			text[0] = '\0';
		for (char *t = text; *t; t++)
			*t = *t >= 'a' && *t <= 'z' ? (char)(*t - 'a' + 'A') : *t;
		figure_set_item(f, "panels", i, text);
	}
	figure_set_count(f, "panel_count", c->panel_count);
}

static struct scale scale_of(const struct axes_lines *c)
{
	struct scale scale = {.is_paced = false};

	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];
		struct missed_steps steps;
		int64_t value;

		if (!axes_has(c, item))
			continue;
		for (size_t n = 0; n < NUMBERS; n++)
			if (axis_number(item->series, n, &value))
				figure_range_add(&scale.range, value);
		if (!missed_steps_of(item->point, item->series->flow, &steps))
			continue;
		scale.is_paced = true;
		scale.most_steps = fmax(scale.most_steps, missed_steps_in(&steps));
	}
	return scale;
}

static void axis_range(struct figures *f, const struct scale *s)
{
	double most = s->range.most > 0 ? s->range.most : 1000, least = s->range.least > 0 ? s->range.least : 100;
	bool logarithmic = most > LOGARITHMIC * least;
	struct axis_unit unit = figure_axis_unit(logarithmic ? 2 * sqrt(least * most) : most);

	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	fprintf(f->script, "logarithmic = %d\n", logarithmic);
	figure_set_number(f, "bottom", logarithmic ? least * 0.8 / unit.ns : 0);
	figure_set_number(f, "top", most * (logarithmic ? 1.3 : 1.08) / unit.ns);
	figure_set_number(f, "steps_most", 100 * s->most_steps);
}

/* What the lines show; NULL if they belong to several flows, which the key names. */
static const char *label_of_all(const struct axes_lines *c)
{
	for (size_t i = 1; i < c->line_count; i++)
		if (!axes_of_one_flow(c->lines[i], c->lines[0]))
			return NULL;
	return c->lines[0]->series->label;
}

/* ", lines 9 to 12 of 12"; "" if all are drawn. The caller frees. */
static char *which_lines(const struct axes_lines *c)
{
	if (c->drawn == c->line_count)
		return fs_path("%s", "");
	return fs_path(", lines %zu to %zu of %zu", c->from + 1, c->from + c->drawn, c->line_count);
}

static char *axis_title(const struct axes_lines *c, const char *name, const char *which)
{
	const char *label = label_of_all(c);

	return fs_path("median%s%s against %s, bars from P10 to P90%s", label ? " of " : "", label ? label : "", name,
		       which);
}

struct axis {
	const struct axes_lines *lines;
	const struct scale *scale;
	const char *name;
};

static void set_axis_variables(struct figures *f, const void *what)
{
	const struct axis *a = what;

	figure_set(f, "axis_name", a->name);
	fprintf(f->script, "steps_height = %d\n", a->scale->is_paced ? STEPS_HEIGHT : 0);
	set_panels(f, a->lines);
	axis_range(f, a->scale);
}

/* --- which figures --- */

static int add_axis(struct figures *f, const struct axes_lines *c, const struct scale *scale, struct err *e)
{
	char name[LABEL_MAX], *which = which_lines(c);
	size_t invalid = count_invalid(c), width = figure_width(c);
	struct chart chart = {
	    .kind = "axis",
	    .name = fs_path("axis-%zu", f->count),
	    .rows = axis_rows(c),
	    .longest = CHART_LONGEST,
	    .entries = (c->drawn > 1 ? c->drawn : 0) + (invalid > 0),
	    .key = c->key,
	    .values = c->values,
	    .value_count = c->value_count,
	    .room = (width - SIDES) / c->panel_count / c->value_count,
	    .width = width,
	    .height = PLOT_HEIGHT + (scale->is_paced ? STEPS_HEIGHT : 0),
	    .invalid = invalid,
	};

	label_key(c->key, name, sizeof(name));
	chart.text = figure_text_medians(c->r, fs_path("Medians with P10 and P90 against %s%s", name, which));
	chart.title = axis_title(c, name, which);
	for (size_t i = 0; i < c->drawn; i++)
		chart_series(&chart, axes_label(c->r, c->lines[c->from + i], c->keys, c->key_count));
	free(which);
	return chart_add(f, c->r, &chart, set_axis_variables, &(struct axis){c, scale, name}, e);
}

static int add_axes(struct figures *f, const struct report *r, const char *key, struct err *e)
{
	struct axes_lines c;
	struct scale scale;
	size_t figures = 0;
	int rc = 0;

	if (!axes_lines_make(&c, r, key))
		return 0;
	scale = scale_of(&c);
	while (!rc && figures++ < FIGURES_MAX && axes_lines_next(&c))
		rc = add_axis(f, &c, &scale, e);
	axes_lines_free(&c);
	return rc;
}

int figure_axis_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = add_axes(f, r, AXES_SIZE, e);

	for (size_t i = 0; !rc && i < r->varying.count; i++)
		if (axes_is_axis(r, r->varying.key[i]))
			rc = add_axes(f, r, r->varying.key[i], e);
	return rc;
}
