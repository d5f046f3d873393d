#include "report/figure_axis.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "report/axes.h"
#include "report/escape.h"
#include "report/labels.h"
#include "report/missed_steps.h"

#define VALUES_MAX   64
#define PANELS_MAX   4
#define LINES_MAX    8 /* more can't be told apart */
#define KEYS_MAX     8
#define PANEL_KEY    "qp"
#define BEYOND	     20 /* samples that a quantile needs on its outer side, as everywhere */
#define SIDES	     110
#define WIDTH_MIN    800
#define WIDTH_MAX    2400
#define ROOM	     24 /* pixels for a value */
#define ROOM_LINE    9	/* for each line at a value */
#define UPRIGHT	     44 /* pixels that an upright label needs */
#define PLOT_HEIGHT  420
#define STEPS_HEIGHT 130 /* of the strip of missed steps below */
#define LABEL_MAX    80
#define LOGARITHMIC  8 /* largest / smallest, from which on the axis is logarithmic */

struct chart {
	const struct report *r;
	const char *key; /* of the axis */
	int64_t values[VALUES_MAX];
	size_t value_count;
	const json_t *panels[PANELS_MAX]; /* values of PANEL_KEY; one NULL where it does not vary */
	size_t panel_count;
	const char *keys[KEYS_MAX]; /* what tells lines apart; "" stands for the run */
	size_t key_count;
	const struct report_item *lines[LINES_MAX]; /* the first of each */
	size_t line_count;
	struct figure_range range; /* ns, over what is drawn */
	bool is_paced;		   /* some of it has steps */
	double most_steps;	   /* share that was missed or not sent, over what is drawn */
};

static bool axis_draws(const struct chart *c, const struct report_item *item)
{
	return axes_has_number(item, c->key);
}

/* --- which axis --- */

/* False: not an axis. */
static bool axis_find_values(struct chart *c)
{
	c->value_count = axes_values(c->r, c->key, c->values, VALUES_MAX);
	return c->value_count >= AXES_VALUES_MIN && c->value_count <= VALUES_MAX;
}

static size_t value_index(const struct chart *c, const struct report_item *item)
{
	size_t i = 0;

	while (c->values[i] != json_integer_value(axes_setting(item, c->key)))
		i++;
	return i;
}

/* --- which panels and lines --- */

static size_t panel_index(const struct chart *c, const struct report_item *item)
{
	size_t i = 0;

	while (i < c->panel_count && c->panels[i] && !axes_same(c->panels[i], axes_setting(item, PANEL_KEY)))
		i++;
	return i;
}

static bool find_panels(struct chart *c)
{
	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];

		if (!axis_draws(c, item) || (axes_setting(item, PANEL_KEY) && panel_index(c, item) < c->panel_count))
			continue;
		/* Points of a transport without such a setting among others: no panels, but lines. */
		if (!axes_setting(item, PANEL_KEY) || c->panel_count == PANELS_MAX) {
			c->panel_count = 0;
			break;
		}
		c->panels[c->panel_count++] = axes_setting(item, PANEL_KEY);
	}
	if (c->panel_count < 2) {
		c->panel_count = 1;
		c->panels[0] = NULL;
	}
	return true;
}

static bool is_on_one_line(const struct chart *c, const struct report_item *a, const struct report_item *b)
{
	for (size_t i = 0; i < c->key_count; i++)
		if (axes_differ(a, b, c->keys[i]))
			return false;
	return axes_of_one_flow(a, b);
}

/* Would two points lie upon each other but for this setting? Others need not tell lines apart:
 * what only goes along with the axis does not. */
static bool axis_tells_apart(const struct chart *c, const char *key)
{
	for (size_t i = 0; i < c->r->leading_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct report_item *a = &c->r->leading[i], *b = &c->r->leading[k];

			if (axis_draws(c, a) && axis_draws(c, b) && value_index(c, a) == value_index(c, b) &&
			    panel_index(c, a) == panel_index(c, b) && axes_differ(a, b, key) && is_on_one_line(c, a, b))
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

/* False: too many to be told apart. */
static bool find_lines(struct chart *c)
{
	if (c->r->run_count > 1 && axis_tells_apart(c, ""))
		c->keys[c->key_count++] = "";
	for (size_t i = 0; i < c->r->varying.count && c->key_count < KEYS_MAX; i++)
		if (strcmp(c->r->varying.key[i], c->key) != 0 && axis_tells_apart(c, c->r->varying.key[i]))
			c->keys[c->key_count++] = c->r->varying.key[i];
	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];

		if (!axis_draws(c, item) || line_index(c, item) < c->line_count)
			continue;
		if (c->line_count == LINES_MAX)
			return false;
		c->lines[c->line_count++] = item;
	}
	return true;
}

/* --- the table --- */

static void axis_number(FILE *table, struct chart *c, bool there, const int64_t *number)
{
	int64_t value = *number;

	fputc('\t', table);
	if (!there)
		return;
	fprintf(table, "%" PRId64, value);
	figure_range_add(&c->range, value);
}

static void axis_row(FILE *table, struct chart *c, const struct report_item *item)
{
	const struct report_series *s = item->series;
	int64_t value = 0;

	fprintf(table, "%zu\t%zu\t%zu\t%d", panel_index(c, item) + 1, line_index(c, item) + 1, value_index(c, item) + 1,
		model_is_valid(item->point));
	axis_number(table, c, model_metric(s, "p50", &value), &value);
	axis_number(table, c, model_quantile(s, 0.1, BEYOND, &value), &value);
	axis_number(table, c, model_metric(s, "p90", &value), &value);
	missed_steps_cells(table, item->point, s->flow);
	fprintf(table, "\t%" PRId64 "\t", c->values[value_index(c, item)]);
	escape_tsv(table, c->r->runs[item->point->run].label);
	fprintf(table, "\t%u\t", item->point->id);
	escape_tsv(table, item->point->label);
	fputc('\n', table);
}

/* In the order in which lines are drawn. Texts last, as everywhere. */
static void axis_table(FILE *table, struct chart *c)
{
	fprintf(table, "panel\tline\tx\tvalid\tp50_ns\tp10_ns\tp90_ns" MISSED_STEPS_HEADING "\t%s\trun\tpoint\tlabel\n",
		c->key);
	for (size_t panel = 0; panel < c->panel_count; panel++)
		for (size_t line = 0; line < c->line_count; line++)
			for (size_t x = 0; x < c->value_count; x++)
				for (size_t i = 0; i < c->r->leading_count; i++) {
					const struct report_item *item = &c->r->leading[i];

					if (axis_draws(c, item) && panel_index(c, item) == panel &&
					    line_index(c, item) == line && value_index(c, item) == x)
						axis_row(table, c, item);
				}
}

/* --- variables --- */

static size_t figure_width(const struct chart *c)
{
	size_t room = c->line_count * ROOM_LINE < ROOM ? ROOM : c->line_count * ROOM_LINE;
	size_t width = SIDES + c->panel_count * (c->value_count * room + 20);

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static size_t count_invalid(const struct chart *c)
{
	size_t invalid = 0;

	for (size_t i = 0; i < c->r->leading_count; i++)
		invalid += axis_draws(c, &c->r->leading[i]) && !model_is_valid(c->r->leading[i].point);
	return invalid;
}

static void set_lines(struct figures *f, const struct chart *c)
{
	size_t longest = 9, invalid = count_invalid(c);

	figure_set_array(f, "lines", c->line_count);
	for (size_t i = 0; i < c->line_count; i++) {
		char *label = axes_label(c->r, c->lines[i], c->keys, c->key_count);

		figure_set_item(f, "lines", i, label);
		longest = strlen(label) > longest ? strlen(label) : longest;
		free(label);
	}
	fprintf(f->script, "line_count = %zu\ninvalid_count = %zu\n", c->line_count, invalid);
	figure_set_key(f, figure_width(c), (c->line_count > 1 ? c->line_count : 0) + (invalid > 0), longest);
}

static void set_panels(struct figures *f, const struct chart *c)
{
	char text[LABEL_MAX];

	figure_set_array(f, "panels", c->panel_count);
	for (size_t i = 0; i < c->panel_count; i++) {
		if (c->panels[i])
			label_value(PANEL_KEY, c->panels[i], text, sizeof(text));
		else
			text[0] = '\0';
		for (char *t = text; *t; t++)
			*t = *t >= 'a' && *t <= 'z' ? (char)(*t - 'a' + 'A') : *t;
		figure_set_item(f, "panels", i, text);
	}
	fprintf(f->script, "panel_count = %zu\n", c->panel_count);
}

/* gnuplot reads a tic's label as a format. */
static void set_values(struct figures *f, const struct chart *c)
{
	figure_set_array(f, "labels", c->value_count);
	for (size_t i = 0; i < c->value_count; i++) {
		json_t *value = json_integer(c->values[i]);
		char text[LABEL_MAX];

		figure_set_item(f, "labels", i, label_value(c->key, value, text, sizeof(text)));
		json_decref(value);
	}
	fprintf(f->script, "points = %zu\n", c->value_count);
}

static void set_size(struct figures *f, const struct chart *c)
{
	size_t width = figure_width(c);

	fprintf(f->script, "width = %zu\nheight = %d\nsteps_height = %d\nrotate = %d\n", width,
		PLOT_HEIGHT + (c->is_paced ? STEPS_HEIGHT : 0), c->is_paced ? STEPS_HEIGHT : 0,
		(width - SIDES) / c->panel_count / c->value_count < UPRIGHT);
}

static void find_steps(struct chart *c)
{
	for (size_t i = 0; i < c->r->leading_count; i++) {
		const struct report_item *item = &c->r->leading[i];
		struct missed_steps steps;

		if (!axis_draws(c, item) || !missed_steps_of(item->point, item->series->flow, &steps))
			continue;
		c->is_paced = true;
		c->most_steps = fmax(c->most_steps, steps.missed_share + steps.unsent_share);
	}
}

static void axis_range(struct figures *f, const struct chart *c)
{
	double most = c->range.most > 0 ? c->range.most : 1000, least = c->range.least > 0 ? c->range.least : 100;
	bool logarithmic = most > LOGARITHMIC * least;
	struct axis_unit unit = figure_axis_unit(logarithmic ? 2 * sqrt(least * most) : most);

	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	fprintf(f->script, "logarithmic = %d\n", logarithmic);
	figure_set_number(f, "bottom", logarithmic ? least * 0.8 / unit.ns : 0);
	figure_set_number(f, "top", most * (logarithmic ? 1.3 : 1.08) / unit.ns);
	figure_set_number(f, "steps_most", 100 * c->most_steps);
}

/* What the lines show; NULL where they are of several flows, which the key names. */
static const char *label_of_all(const struct chart *c)
{
	for (size_t i = 1; i < c->line_count; i++)
		if (!axes_of_one_flow(c->lines[i], c->lines[0]))
			return NULL;
	return c->lines[0]->series->label;
}

static void set_titles(struct figures *f, const struct chart *c)
{
	const char *label = label_of_all(c);
	char text[LABEL_MAX];

	label_key(c->key, text, sizeof(text));
	figure_set_title(f, c->r, "median%s%s against %s, bars from P10 to P90", label ? " of " : "",
			 label ? label : "", text);
	figure_set(f, "axis_name", text);
}

/* --- which figures --- */

static int add_axis(struct figures *f, const struct report *r, const char *key, struct err *e)
{
	struct chart c = {.r = r, .key = key};
	char name[LABEL_MAX];
	FILE *table;

	if (!axis_find_values(&c) || !find_panels(&c) || !find_lines(&c))
		return 0;
	label_key(key, name, sizeof(name));
	table = figure_begin(f, "axis", NULL, fs_path("axis-%zu", f->count),
			     fs_path("Medians with P10 and P90 against %s", name), e);
	if (!table)
		return figure_end(f, table, e);
	axis_table(table, &c);
	find_steps(&c);
	set_titles(f, &c);
	set_lines(f, &c);
	set_panels(f, &c);
	set_values(f, &c);
	set_size(f, &c);
	axis_range(f, &c);
	return figure_end(f, table, e);
}

int figure_axis_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = add_axis(f, r, AXES_SIZE, e);

	for (size_t i = 0; !rc && i < r->varying.count; i++)
		if (axes_is_axis(r, r->varying.key[i]))
			rc = add_axis(f, r, r->varying.key[i], e);
	return rc;
}
