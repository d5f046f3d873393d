#include "report/figure_axis.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/labels.h"
#include "report/missed_steps.h"

#define FIGURES_MAX  8	/* maximum for one setting with many lines */
#define BEYOND	     20 /* samples required on the outer side of a quantile, as everywhere */
#define SIDES	     110
#define WIDTH_MIN    800
#define WIDTH_MAX    2400
#define ROOM	     24 /* pixels per value */
#define ROOM_LINE    9	/* for each line, per value */
#define UPRIGHT	     44 /* pixels that an upright label needs */
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
	return which == 1 ? model_quantile(s, 0.1, BEYOND, value) : model_metric(s, which ? "p90" : "p50", value);
}

static void axis_row(FILE *table, const struct chart *c, const struct report_item *item)
{
	const struct report_series *s = item->series;
	int64_t value = 0;

	fprintf(table, "%zu\t%zu\t%zu\t%d", chart_panel(c, item) + 1, chart_line(c, item) + 1, chart_value(c, item) + 1,
		model_is_valid(item->point));
	for (size_t i = 0; i < NUMBERS; i++) {
		fputc('\t', table);
		if (axis_number(s, i, &value))
			fprintf(table, "%" PRId64, value);
	}
	missed_steps_cells(table, item->point, s->flow);
	fprintf(table, "\t%" PRId64 "\t", c->values[chart_value(c, item)]);
	escape_tsv(table, c->r->runs[item->point->run].label);
	fprintf(table, "\t%u\t", item->point->id);
	escape_tsv(table, item->point->label);
	fputc('\n', table);
}

/* In the order in which lines are drawn. Texts come last, as everywhere. */
static void axis_table(FILE *table, const struct chart *c)
{
	fputs("panel\tline\tx\tvalid\tp50_ns\tp10_ns\tp90_ns" MISSED_STEPS_HEADING "\t", table);
	escape_tsv(table, c->key);
	fputs("\trun\tpoint\tlabel\n", table);
	for (size_t panel = 0; panel < c->panel_count; panel++)
		for (size_t line = 0; line < c->drawn; line++)
			for (size_t x = 0; x < c->value_count; x++)
				for (size_t i = 0; i < c->r->leading_count; i++) {
					const struct report_item *item = &c->r->leading[i];

					if (chart_has(c, item) && chart_panel(c, item) == panel &&
					    chart_line(c, item) == line && chart_value(c, item) == x)
						axis_row(table, c, item);
				}
}

/* --- variables --- */

static size_t figure_width(const struct chart *c)
{
	size_t room = c->drawn * ROOM_LINE < ROOM ? ROOM : c->drawn * ROOM_LINE;
	size_t width = SIDES + c->panel_count * (c->value_count * room + 20);

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static size_t count_invalid(const struct chart *c)
{
	size_t invalid = 0;

	for (size_t i = 0; i < c->r->leading_count; i++)
		invalid += chart_draws(c, &c->r->leading[i]) && !model_is_valid(c->r->leading[i].point);
	return invalid;
}

static void set_lines(struct figures *f, const struct chart *c)
{
	size_t longest = 9, invalid = count_invalid(c);

	figure_set_array(f, "lines", c->drawn);
	for (size_t i = 0; i < c->drawn; i++) {
		char *label = axes_label(c->r, c->lines[c->from + i], c->keys, c->key_count);

		figure_set_item(f, "lines", i, label);
		longest = strlen(label) > longest ? strlen(label) : longest;
		free(label);
	}
	fprintf(f->script, "line_count = %zu\ninvalid_count = %zu\n", c->drawn, invalid);
	figure_set_key(f, figure_width(c), (c->drawn > 1 ? c->drawn : 0) + (invalid > 0), longest);
}

static void set_panels(struct figures *f, const struct chart *c)
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
	fprintf(f->script, "panel_count = %zu\n", c->panel_count);
}

static void set_values(struct figures *f, const struct chart *c)
{
	figure_set_values(f, "labels", c->key, c->values, c->value_count);
	fprintf(f->script, "points = %zu\n", c->value_count);
}

static void set_size(struct figures *f, const struct chart *c, const struct scale *scale)
{
	size_t width = figure_width(c);

	fprintf(f->script, "width = %zu\nheight = %d\nsteps_height = %d\nrotate = %d\n", width,
		PLOT_HEIGHT + (scale->is_paced ? STEPS_HEIGHT : 0), scale->is_paced ? STEPS_HEIGHT : 0,
		(width - SIDES) / c->panel_count / c->value_count < UPRIGHT);
}

static struct scale scale_of(const struct chart *c)
{
	struct scale scale = {.is_paced = false};

	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];
		struct missed_steps steps;
		int64_t value;

		if (!chart_has(c, item))
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
static const char *label_of_all(const struct chart *c)
{
	for (size_t i = 1; i < c->line_count; i++)
		if (!axes_of_one_flow(c->lines[i], c->lines[0]))
			return NULL;
	return c->lines[0]->series->label;
}

/* ", lines 9 to 12 of 12"; "" if all are drawn. The caller frees. */
static char *which_lines(const struct chart *c)
{
	if (c->drawn == c->line_count)
		return fs_path("%s", "");
	return fs_path(", lines %zu to %zu of %zu", c->from + 1, c->from + c->drawn, c->line_count);
}

static void set_titles(struct figures *f, const struct chart *c, const char *name, const char *which)
{
	const char *label = label_of_all(c);

	figure_set_title(f, c->r, "median%s%s against %s, bars from P10 to P90%s", label ? " of " : "",
			 label ? label : "", name, which);
	figure_set(f, "axis_name", name);
}

/* --- which figures --- */

static int add_axis(struct figures *f, const struct chart *c, const struct scale *scale, struct err *e)
{
	char name[LABEL_MAX], *which = which_lines(c);
	FILE *table;

	label_key(c->key, name, sizeof(name));
	table =
	    figure_begin(f, "axis", NULL, fs_path("axis-%zu", f->count),
			 figure_text_medians(c->r, fs_path("Medians with P10 and P90 against %s%s", name, which)), e);
	if (table) {
		axis_table(table, c);
		set_titles(f, c, name, which);
		set_lines(f, c);
		set_panels(f, c);
		set_values(f, c);
		set_size(f, c, scale);
		axis_range(f, scale);
	}
	free(which);
	return figure_end(f, table, e);
}

static int add_axes(struct figures *f, const struct report *r, const char *key, struct err *e)
{
	struct chart c;
	struct scale scale;
	size_t figures = 0;
	int rc = 0;

	if (!chart_make(&c, r, key))
		return 0;
	scale = scale_of(&c);
	while (!rc && figures++ < FIGURES_MAX && chart_next(&c))
		rc = add_axis(f, &c, &scale, e);
	chart_free(&c);
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
