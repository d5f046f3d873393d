#include "report/run_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "files/rundir/flows.h"
#include "report/axes.h"
#include "report/chart.h"
#include "report/labels.h"
#include "report/missed_steps.h"

#define VALUES_MAX   24 /* number of labels that fit on an axis */
#define KEYS_MAX     8
#define SURFACES_MAX 16	 /* per pair; more are not an overview */
#define STEPS_SHARE  0.1 /* share from which on the point is red and labelled with it, as in the thesis */
#define LABEL_MAX    80
#define WIDTH	     800
#define HEIGHT	     560

struct axis {
	const char *key;
	int64_t values[VALUES_MAX];
	size_t count;
};

struct surface {
	const struct report *r;
	struct axis x, y;
	const char *keys[KEYS_MAX]; /* settings that distinguish surfaces; "" stands for the run */
	size_t key_count;
	const struct report_item *first;			 /* of this surface */
	const struct report_item *cells[VALUES_MAX][VALUES_MAX]; /* [x][y]; NULL: not measured */
	const struct report_item *least, *most;			 /* by their medians */
};

/* --- which points --- */

static bool surface_draws(const struct surface *s, const struct report_item *item)
{
	int64_t median;

	return axes_has_number(item, s->x.key) && axes_has_number(item, s->y.key) &&
	       model_metric(item->series, STATISTIC_P50, &median);
}

static int64_t surface_median(const struct report_item *item)
{
	int64_t median = 0;

	model_metric(item->series, STATISTIC_P50, &median);
	return median;
}

static bool is_like(const struct surface *s, const struct report_item *a, const struct report_item *b)
{
	return axes_agree(a, b, s->keys, s->key_count);
}

/* Would two points coincide without this setting? */
static bool surface_tells_apart(const struct surface *s, const char *key)
{
	for (size_t i = 0; i < s->r->leading_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct report_item *a = &s->r->leading[i], *b = &s->r->leading[k];

			if (surface_draws(s, a) && surface_draws(s, b) && !axes_differ(a, b, s->x.key) &&
			    !axes_differ(a, b, s->y.key) && axes_differ(a, b, key) && is_like(s, a, b))
				return true;
		}
	return false;
}

static void find_keys(struct surface *s)
{
	const struct report *r = s->r;

	if (r->run_count > 1 && surface_tells_apart(s, ""))
		s->keys[s->key_count++] = "";
	for (size_t i = 0; i < r->varying.count && s->key_count < KEYS_MAX; i++)
		if (strcmp(r->varying.key[i], s->x.key) != 0 && strcmp(r->varying.key[i], s->y.key) != 0 &&
		    surface_tells_apart(s, r->varying.key[i]))
			s->keys[s->key_count++] = r->varying.key[i];
}

static bool is_first(const struct surface *s, const struct report_item *item)
{
	for (const struct report_item *before = s->r->leading; before < item; before++)
		if (surface_draws(s, before) && is_like(s, before, item))
			return false;
	return surface_draws(s, item);
}

/* --- its shape --- */

static bool surface_find_values(struct surface *s, struct axis *axis)
{
	int64_t all[VALUES_MAX];
	size_t count = axes_values(s->r, axis->key, all, VALUES_MAX);

	axis->count = 0;
	for (size_t v = 0; v < count && count <= VALUES_MAX; v++) {
		bool found = false;

		for (size_t i = 0; i < s->r->leading_count; i++) {
			const struct report_item *item = &s->r->leading[i];

			found |= surface_draws(s, item) && is_like(s, s->first, item) &&
				 json_integer_value(axes_setting(item, axis->key)) == all[v];
		}
		if (found)
			axis->values[axis->count++] = all[v];
	}
	return axis->count >= AXES_VALUES_MIN;
}

static size_t index_of(const struct axis *axis, const struct report_item *item)
{
	size_t i = 0;

	while (axis->values[i] != json_integer_value(axes_setting(item, axis->key)))
		i++;
	return i;
}

/* False if there would be more holes than surface: two settings that change together are a line. */
static bool fill_cells(struct surface *s)
{
	size_t filled = 0;

	memset(s->cells, 0, sizeof(s->cells));
	s->least = s->most = s->first;
	for (size_t i = 0; i < s->r->leading_count; i++) {
		const struct report_item *item = &s->r->leading[i], **cell;

		if (!surface_draws(s, item) || !is_like(s, s->first, item))
			continue;
		cell = &s->cells[index_of(&s->x, item)][index_of(&s->y, item)];
		filled += !*cell;
		*cell = item;
		s->least = surface_median(item) < surface_median(s->least) ? item : s->least;
		s->most = surface_median(item) > surface_median(s->most) ? item : s->most;
	}
	return 2 * filled > s->x.count * s->y.count;
}

/* --- the table --- */

enum { X, Y, VALID, P50, MISSED, UNSENT, X_VALUE, Y_VALUE, RUN, POINT, LABEL, COLUMNS };

static void surface_row(struct table *t, const struct surface *s, size_t x, size_t y)
{
	const struct report_item *item = s->cells[x][y];
	size_t row = table_row(t);

	table_count(t, X, row, (int64_t)x + 1);
	table_count(t, Y, row, (int64_t)y + 1);
	table_count(t, X_VALUE, row, s->x.values[x]);
	table_count(t, Y_VALUE, row, s->y.values[y]);
	if (!item)
		return;
	table_count(t, VALID, row, model_is_valid(item->point));
	table_count(t, P50, row, surface_median(item));
	missed_steps_put(t, MISSED, row, item);
	table_text(t, RUN, row, "%s", s->r->runs[item->point->run].label);
	table_count(t, POINT, row, item->point->id);
	table_text(t, LABEL, row, "%s", item->point->label);
}

/* Every cell, measured or not; an empty line ends a row of the wire frame, as gnuplot requires. */
static struct table surface_rows(const struct surface *s)
{
	const struct table_column columns[COLUMNS] = {
	    [X] = {.key = "x"}, {.key = "y"},	   {.key = "valid"}, {.key = "p50_ns"}, MISSED_STEPS_COLUMNS,
	    {.key = s->x.key},	{.key = s->y.key}, {.key = "run"},   {.key = "point"},	{.key = "label"},
	};
	struct table t = table_of(columns, COLUMNS, 0);

	for (size_t y = 0; y < s->y.count; y++) {
		if (y)
			table_row(&t);
		for (size_t x = 0; x < s->x.count; x++)
			surface_row(&t, s, x, y);
	}
	return t;
}

/* --- variables --- */

static void surface_axis(struct figures *f, const struct axis *axis, const char *array, const char *count,
			 const char *title)
{
	char text[LABEL_MAX];

	figure_set_values(f, array, axis->key, axis->values, axis->count);
	fprintf(f->script, "%s = %zu\n", count, axis->count);
	figure_set(f, title, label_key(axis->key, text, sizeof(text)));
}

static void set_mark(struct figures *f, const struct surface *s, const struct report_item *item, const char *name)
{
	char variable[32], text[32], label[LABEL_MAX];

	snprintf(variable, sizeof(variable), "%s_x", name);
	figure_set_number(f, variable, (double)index_of(&s->x, item) + 1);
	snprintf(variable, sizeof(variable), "%s_y", name);
	figure_set_number(f, variable, (double)index_of(&s->y, item) + 1);
	snprintf(variable, sizeof(variable), "%s_ns", name);
	figure_set_number(f, variable, (double)surface_median(item));
	snprintf(variable, sizeof(variable), "%s_text", name);
	snprintf(label, sizeof(label), "%s %s", name, unit_human_ns(surface_median(item), text, sizeof(text)));
	figure_set(f, variable, label);
}

static void set_height(struct figures *f, const struct surface *s)
{
	double least = (double)surface_median(s->least), most = (double)surface_median(s->most);
	struct axis_unit unit = figure_axis_unit(most);

	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "bottom", least < 0 ? least * 1.1 / unit.ns : 0);
	figure_set_number(f, "top", (most > 0 ? most * 1.1 : 1) / unit.ns);
}

static char *surface_title(const struct surface *s, const char *which)
{
	char x[LABEL_MAX], y[LABEL_MAX];

	return fs_path("median of %s by %s and %s%s%s", s->first->series->label, label_key(s->x.key, x, sizeof(x)),
		       label_key(s->y.key, y, sizeof(y)), *which ? "; " : "", which);
}

static size_t count_points(const struct surface *s, bool (*is_one)(const struct report_item *item))
{
	size_t count = 0;

	for (size_t x = 0; x < s->x.count; x++)
		for (size_t y = 0; y < s->y.count; y++)
			count += s->cells[x][y] && is_one(s->cells[x][y]);
	return count;
}

static bool is_invalid(const struct report_item *item)
{
	return !model_is_valid(item->point);
}

static bool has_steps(const struct report_item *item)
{
	struct missed_steps steps;

	return missed_steps_of(item->point, item->series->flow, &steps);
}

static void set_surface_variables(struct figures *f, const void *what)
{
	const struct surface *s = what;

	surface_axis(f, &s->x, "x_labels", "x_count", "x_name");
	surface_axis(f, &s->y, "y_labels", "y_count", "y_name");
	set_mark(f, s, s->least, "min");
	set_mark(f, s, s->most, "max");
	set_height(f, s);
	fprintf(f->script, "paced_count = %zu\n", count_points(s, has_steps));
	figure_set_number(f, "steps_share", STEPS_SHARE);
}

/* --- which figures --- */

static int add_surface(struct figures *f, const struct surface *s, struct err *e)
{
	char *which = axes_label(s->r, s->first, s->keys, s->key_count), x[LABEL_MAX], y[LABEL_MAX];
	struct chart chart = {
	    .kind = "surface",
	    .name = fs_path("surface-%zu", f->count),
	    .text = fs_path("Surface of the medians over %s and %s%s%s", label_key(s->x.key, x, sizeof(x)),
			    label_key(s->y.key, y, sizeof(y)), *which ? ": " : "", which),
	    .title = surface_title(s, which),
	    .rows = surface_rows(s),
	    .width = WIDTH,
	    .height = HEIGHT,
	    .invalid = count_points(s, is_invalid),
	};

	free(which);
	return chart_add(f, s->r, &chart, set_surface_variables, s, e);
}

static int add_pair(struct figures *f, const struct report *r, const char *x, const char *y, struct err *e)
{
	struct surface *s = or_abort(calloc(1, sizeof(*s)));
	size_t drawn = 0;
	int rc = 0;

	s->r = r;
	s->x.key = x;
	s->y.key = y;
	find_keys(s);
	for (size_t i = 0; !rc && i < r->leading_count && drawn < SURFACES_MAX; i++) {
		s->first = &r->leading[i];
		if (!is_first(s, s->first) || !surface_find_values(s, &s->x) || !surface_find_values(s, &s->y) ||
		    !fill_cells(s))
			continue;
		rc = add_surface(f, s, e);
		drawn++;
	}
	free(s);
	return rc;
}

static bool is_an_axis(const struct report *r, const char *key)
{
	int64_t values[VALUES_MAX];
	size_t count = axes_values(r, key, values, VALUES_MAX);

	return (!strcmp(key, AXES_SIZE) || axes_is_axis(r, key)) && count >= AXES_VALUES_MIN && count <= VALUES_MAX;
}

/* Rate comes first, so that it is on the left axis and the other setting on the axis of depth. With
 * more than two settings there would be many pairs, none of which shows everything. */
int figure_surface_add(struct figures *f, const struct report *r, struct err *e)
{
	const char *axes[2];
	size_t count = 0;

	for (size_t i = 0; axes_are_comparable(r) && i < r->varying.count; i++) {
		if (!is_an_axis(r, r->varying.key[i]))
			continue;
		if (count == 2)
			return 0;
		axes[count++] = r->varying.key[i];
	}
	if (count < 2)
		return 0;
	return !strcmp(flows_bare_key(axes[1]), "rate_hz") ? add_pair(f, r, axes[1], axes[0], e)
							   : add_pair(f, r, axes[0], axes[1], e);
}
