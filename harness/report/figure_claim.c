#include "report/run_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "files/claim/claim_json.h"
#include "judge/claims/claim_verdict.h"
#include "report/axes.h"
#include "report/chart.h"
#include "report/labels.h"

#define WIDTH	   800
#define HEIGHT	   400
#define VALUES_MIN 2 /* fewer do not make a line */
#define LINES_MAX  8
#define LABEL_MAX  80
#define ROOM	   1.1

/* A case that was measured: one point, compared with another. */
struct claim_dot {
	const struct claim_case *is;
	const struct report_point *point;
	size_t x, line;
};

struct claim_view {
	const struct report *r;
	const struct claim *claim;
	const struct claim_verdict *verdict;
	struct claim_dot *dots;
	size_t count;
	const char *key; /* of the axis */
	int64_t values[AXES_VALUES_MAX];
	size_t value_count;
	const struct report_point *lines[LINES_MAX]; /* the first point of each line */
	size_t line_count;
};

/* --- which cases --- */

static const struct report_point *claim_point(const struct report *r, size_t run, int64_t id)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->points[i].run == run && r->points[i].id == id)
			return &r->points[i];
	return NULL;
}

static void view_add_dots(struct claim_view *v, size_t run)
{
	v->dots = or_abort(calloc(v->verdict->case_count + 1, sizeof(*v->dots)));
	for (size_t i = 0; i < v->verdict->case_count; i++) {
		const struct claim_case *c = &v->verdict->cases[i];
		const struct report_point *p = c->points.count == 1 ? claim_point(v->r, run, c->points.id[0]) : NULL;

		if (p && isfinite(c->value))
			v->dots[v->count++] = (struct claim_dot){.is = c, .point = p};
	}
}

/* --- the axis --- */

static bool value_of(const struct claim_dot *d, const char *key, int64_t *value)
{
	const json_t *is = json_object_get(d->point->params, key);

	*value = json_integer_value(is);
	return json_is_integer(is);
}

/* Use this setting as the axis if all dots have a value and there are enough different ones. */
static bool view_take_axis(struct claim_view *v, const char *key)
{
	v->value_count = 0;
	for (size_t i = 0; i < v->count; i++) {
		int64_t value;
		size_t k = 0;

		if (!value_of(&v->dots[i], key, &value))
			return false;
		while (k < v->value_count && v->values[k] != value)
			k++;
		if (k == AXES_VALUES_MAX)
			return false;
		if (k == v->value_count)
			v->values[v->value_count++] = value;
	}
	if (v->value_count < VALUES_MIN)
		return false;
	v->key = key;
	sort_integers(v->values, v->value_count);
	return true;
}

/* Prefer sizes. */
static bool view_find_axis(struct claim_view *v)
{
	bool found = view_take_axis(v, AXES_SIZE);

	for (size_t i = 0; !found && i < v->r->varying.count; i++)
		found = *v->r->varying.key[i] && view_take_axis(v, v->r->varying.key[i]);
	return found;
}

/* --- lines: other settings that distinguish cases --- */

static bool is_on_line(const struct claim_view *v, const struct report_point *a, const struct report_point *b)
{
	for (size_t i = 0; i < v->r->varying.count; i++) {
		const char *key = v->r->varying.key[i];

		if (strcmp(key, v->key) != 0 &&
		    !axes_same(json_object_get(a->params, key), json_object_get(b->params, key)))
			return false;
	}
	return true;
}

static bool view_make_lines(struct claim_view *v)
{
	for (size_t i = 0; i < v->count; i++) {
		struct claim_dot *d = &v->dots[i];
		int64_t value;

		while (d->line < v->line_count && !is_on_line(v, v->lines[d->line], d->point))
			d->line++;
		if (d->line == LINES_MAX)
			return false;
		if (d->line == v->line_count)
			v->lines[v->line_count++] = d->point;
		value_of(d, v->key, &value);
		while (v->values[d->x] != value)
			d->x++;
	}
	return true;
}

/* The settings in which the lines differ. */
static char *line_text(const struct claim_view *v, size_t line)
{
	char *text = NULL;
	size_t size, printed = 0;
	FILE *out = or_abort(open_memstream(&text, &size));

	for (size_t i = 0; i < v->r->varying.count; i++) {
		const char *key = v->r->varying.key[i];
		const json_t *own = json_object_get(v->lines[line]->params, key);
		bool differs = false;

		for (size_t k = 0; strcmp(key, v->key) != 0 && k < v->line_count; k++)
			differs |= !axes_same(own, json_object_get(v->lines[k]->params, key));
		if (!differs || !own)
			continue;
		fputs(printed++ ? ", " : "", out);
		label_setting(out, key, own);
	}
	fclose(out);
	return or_abort(text);
}

/* --- a figure --- */

static double bound_or(double bound, double otherwise)
{
	return isfinite(bound) ? bound : otherwise;
}

enum { LINE, X, RATIO, LOW, HIGH, HOLDS, CASE, COLUMNS };

/* A case that is not decided, or of a claim that is not judged, neither holds nor fails. */
static void claim_row(struct table *t, const struct claim_view *v, const struct claim_dot *d)
{
	size_t row = table_row(t);

	table_count(t, LINE, row, (int64_t)d->line + 1);
	table_count(t, X, row, (int64_t)d->x + 1);
	table_number(t, RATIO, row, d->is->value);
	table_number(t, LOW, row, bound_or(d->is->low, d->is->value));
	table_number(t, HIGH, row, bound_or(d->is->high, d->is->value));
	if (v->verdict->verdict != CLAIM_NOT_JUDGED && d->is->verdict != CLAIM_NOT_JUDGED)
		table_count(t, HOLDS, row, d->is->verdict == CLAIM_HOLDS);
	table_text(t, CASE, row, "%s", d->is->label);
}

static struct table claim_rows(const struct claim_view *v)
{
	static const struct table_column columns[COLUMNS] = {{.key = "line"}, {.key = "x"},    {.key = "ratio"},
							     {.key = "low"},  {.key = "high"}, {.key = "holds"},
							     {.key = "case"}};
	struct table t = table_of(columns, COLUMNS, 0);

	for (size_t line = 0; line < v->line_count; line++)
		for (size_t x = 0; x < v->value_count; x++)
			for (size_t i = 0; i < v->count; i++)
				if (v->dots[i].line == line && v->dots[i].x == x)
					claim_row(&t, v, &v->dots[i]);
	return t;
}

static double highest(const struct claim_view *v)
{
	double most = 1;

	for (size_t i = 0; i < v->count; i++)
		most = fmax(most, v->dots[i].is->value);
	/* intervals may reach far beyond; they are cut off at twice the highest value */
	for (size_t i = 0; i < v->count; i++)
		most = fmax(most, fmin(bound_or(v->dots[i].is->high, 0), 2 * most));
	return most;
}

static void set_claim_variables(struct figures *f, const void *what)
{
	const struct claim_view *v = what;
	const double top = highest(v) * ROOM;
	char name[LABEL_MAX];

	figure_set(f, "axis_name", label_key(v->key, name, sizeof(name)));
	figure_set(f, "wanted", v->verdict->wanted);
	figure_set_number(f, "top", top);
	figure_set_number(f, "bound_least", bound_or(v->claim->min, 0));
	figure_set_number(f, "bound_most", fmin(bound_or(v->claim->max, top), top));
}

static int add_claim(struct figures *f, const struct claim_view *v, struct err *e)
{
	struct chart chart = {
	    .kind = "claim",
	    .shows_text = true,
	    .name = fs_path("claim-%zu", f->count),
	    .text = fs_path("Ratios of the claim %s, against its setting: %s%s%s%s%s", v->verdict->id,
			    v->verdict->claim, *v->verdict->source ? ". The source: " : "", v->verdict->source,
			    *v->verdict->measured_by_source ? ": " : "", v->verdict->measured_by_source),
	    .title = fs_path("claim %s: %s", v->verdict->id, v->verdict->metric),
	    .rows = claim_rows(v),
	    .longest = CHART_LONGEST,
	    .entries = v->line_count > 1 ? v->line_count : 0,
	    .key = v->key,
	    .values = v->values,
	    .value_count = v->value_count,
	    .room = WIDTH / v->value_count,
	    .width = WIDTH,
	    .height = HEIGHT,
	};

	for (size_t i = 0; i < v->line_count; i++)
		chart_series(&chart, line_text(v, i));
	return chart_add(f, v->r, &chart, set_claim_variables, v, e);
}

/* --- which figures --- */

static const struct claim_verdict *claim_verdict_of(const struct report *r, const char *experiment, const char *id)
{
	for (size_t i = 0; r->claims && i < r->claims->count; i++)
		if (!strcmp(r->claims->all[i].id, id) && !strcmp(r->claims->all[i].experiment, experiment))
			return &r->claims->all[i];
	return NULL;
}

static int add_of_run(struct figures *f, const struct report *r, size_t run, struct err *e)
{
	const json_t *resolved = r->runs[run].run->resolved;
	struct claim_list list = claim_list_of_run(resolved);
	int rc = 0;

	for (size_t i = 0; !rc && i < list.count; i++) {
		struct claim_view v = {.r = r, .claim = &list.claims[i]};

		v.verdict = claim_verdict_of(r, json_text(resolved, "name"), v.claim->id);
		if (!v.verdict || v.claim->relation != CLAIM_RATIO || v.claim->pools)
			continue;
		view_add_dots(&v, run);
		if (view_find_axis(&v) && view_make_lines(&v))
			rc = add_claim(f, &v, e);
		free(v.dots);
	}
	claim_list_free(&list);
	return rc;
}

int figure_claim_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = 0;

	for (size_t run = 0; !rc && run < r->run_count; run++)
		rc = add_of_run(f, r, run, e);
	return rc;
}
