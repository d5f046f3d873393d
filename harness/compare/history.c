#include "compare/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text_table.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "compare/changepoint.h"
#include "compare/compare_judge.h"

#define LEAST 2 /* minimum number of builds per level: a single one may be an outlier */
#define WIDTH 110

/* A point's values without gaps, and the unit of each. */
struct levels {
	double *value;
	size_t *unit, *change, count, changes;
};

static double native(const struct compare_values *v, double value)
{
	return v->logarithms ? exp(value) : value;
}

static struct levels levels_find(const struct compare_values *v, size_t units)
{
	struct levels c = {.value = or_abort(calloc(units + 1, sizeof(double))),
			   .unit = or_abort(calloc(units + 1, sizeof(size_t))),
			   .change = or_abort(calloc(units + 1, sizeof(size_t)))};

	for (size_t u = 0; v->value && u < units; u++)
		if (!isnan(v->value[u])) {
			c.unit[c.count] = u;
			c.value[c.count++] = v->value[u];
		}
	c.changes = changepoints(c.value, c.count, LEAST, c.change);
	return c;
}

static void levels_free(struct levels *c)
{
	free(c->value);
	free(c->unit);
	free(c->change);
}

/* The mean of the segment that starts at the `k`-th change (0: the first segment). */
static double level_of(const struct levels *c, size_t k)
{
	size_t from = k ? c->change[k - 1] : 0, to = k < c->changes ? c->change[k] : c->count;
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += c->value[i];
	return sum / (double)(to - from);
}

/* The first run of a unit that has the point, and the number of them. NULL: none has it. */
static const struct compare_run *first_of(const struct compare_runs *runs, const struct compare_point *p, size_t unit,
					  size_t *count)
{
	const struct compare_run *first = NULL;

	*count = 0;
	for (size_t i = 0; i < runs->count; i++)
		if (runs->run[i].unit == unit && p->of_run[i]) {
			first = first ? first : &runs->run[i];
			++*count;
		}
	return first;
}

static json_t *build_json(const struct compare_run *run, size_t count)
{
	const char *when = json_string_value(json_object_get(run->run.run, "started_utc"));

	return json_pack("{s:s, s:s, s:s, s:i, s:n, s:n}", "kernel", run->kernel, "boot", run->boot, "started_utc",
			 when ? when : "", "runs", (int)count, "value", "level");
}

/* The units in which the point was measured. `place`: the place of each in the array. */
static json_t *builds_json(const struct compare_runs *runs, const struct compare_point *p,
			   const struct compare_values *v, const struct levels *c, size_t *place)
{
	json_t *builds = json_array();
	size_t segment = 0, count;

	for (size_t u = 0; u < runs->units[ARM_BASE]; u++) {
		const struct compare_run *run = first_of(runs, p, u, &count);

		place[u] = json_array_size(builds);
		if (run)
			json_array_append_new(builds, build_json(run, count));
	}
	for (size_t i = 0; i < c->count; i++) {
		json_t *build = json_array_get(builds, place[c->unit[i]]);

		segment += segment < c->changes && c->change[segment] == i;
		json_object_set_new(build, "value", json_real(native(v, c->value[i])));
		json_object_set_new(build, "level", json_real(native(v, level_of(c, segment))));
	}
	return builds;
}

static json_t *changes_json(const struct compare_values *v, const struct levels *c, const json_t *builds,
			    const size_t *place)
{
	json_t *changes = json_array();

	for (size_t k = 0; k < c->changes; k++) {
		size_t at = place[c->unit[c->change[k]]], before = place[c->unit[c->change[k] - 1]];
		double from = native(v, level_of(c, k)), to = native(v, level_of(c, k + 1));

		json_array_append_new(changes, json_pack("{s:I, s:s, s:s, s:f, s:f, s:o}", "at", (json_int_t)at,
							 "before", json_text(json_array_get(builds, before), "kernel"),
							 "after", json_text(json_array_get(builds, at), "kernel"),
							 "from", from, "to", to, "effect_percent",
							 from != 0 ? json_real(100 * (to / from - 1)) : json_null()));
	}
	return changes;
}

/* For people; "ns" for a series. */
static const char *unit_of(const struct compare_values *v, const char *metric)
{
	return v->of.measure == MEASURE_SERIES ? "ns" : compare_quantity_unit(&v->of, metric ? metric : "");
}

/* If a point's metric does not have the quantity, its values are marked as not compared. */
static const struct compare_values *history_values(const struct compare_point *p, const char *quantity)
{
	static const struct compare_values none = {.of.key = "", .why = "it has no such statistic"};

	for (size_t q = 0; q < p->quantity_count; q++)
		if (!strcmp(p->quantity[q].of.key, quantity))
			return &p->quantity[q];
	return &none;
}

static json_t *history_point_json(const struct compare_join *j, const struct compare_point *p, const char *quantity)
{
	const struct compare_values *v = history_values(p, quantity);
	struct levels c = levels_find(v, j->runs->units[ARM_BASE]);
	char *label = compare_label(j, p);
	size_t *place = or_abort(calloc(j->runs->units[ARM_BASE] + 1, sizeof(*place)));
	json_t *builds = builds_json(j->runs, p, v, &c, place);
	json_t *point =
	    json_pack("{s:I, s:s, s:s, s:s, s:s, s:o, s:o}", "id", p->id, "label", label, "metric",
		      p->metric ? p->metric : "", "unit", unit_of(v, p->metric), "why", v->why ? v->why : "", "builds",
		      builds, "changes", changes_json(v, &c, builds, place));

	free(place);
	free(label);
	levels_free(&c);
	return point;
}

static json_t *answer_of(const json_t *points, const struct compare_runs *runs)
{
	const json_t *point, *change, *worst = NULL, *where = NULL;
	size_t i, k, count = 0;
	double most = -1;

	json_array_foreach (points, i, point) {
		json_array_foreach (json_object_get(point, "changes"), k, change) {
			double effect = fabs(json_number_value(json_object_get(change, "effect_percent")));

			count++;
			if (effect <= most)
				continue;
			most = effect;
			worst = change;
			where = point;
		}
	}
	if (!worst)
		return json_sprintf("no change of level in %zu %ss", runs->units[ARM_BASE],
				    compare_unit_name[runs->kind]);
	return json_sprintf("%zu change%s of level; the largest, %+.2f %%, at point %" JSON_INTEGER_FORMAT
			    " from %s to %s; as a hint, compare the runs before it with those after it",
			    count, count == 1 ? "" : "s", json_number_value(json_object_get(worst, "effect_percent")),
			    json_integer_value(json_object_get(where, "id")),
			    json_string_value(json_object_get(worst, "before")),
			    json_string_value(json_object_get(worst, "after")));
}

json_t *history_of(const struct compare_join *j, const char *quantity)
{
	const char *name = json_string_value(json_object_get(j->runs->run[0].run.resolved, "name"));
	json_t *points = json_array();

	for (size_t i = 0; i < j->count; i++)
		json_array_append_new(points, history_point_json(j, &j->point[i], quantity));
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "schema", 1, "experiment", name ? name : "", "unit",
			 compare_unit_name[j->runs->kind], "quantity", quantity, "answer", answer_of(points, j->runs),
			 "points", points);
}

/* --- for people --- */

static void history_put_value(struct text_table *t, size_t column, size_t row, const json_t *value, const char *unit)
{
	char text[32];

	if (!json_is_number(value))
		text_table_set(t, column, row, "-");
	else if (!strcmp(unit, "share"))
		text_table_set(t, column, row, "%.3g %%", 100 * json_number_value(value));
	else if (!strcmp(unit, "ns"))
		text_table_set(t, column, row, "%s",
			       unit_human_ns((int64_t)llround(json_number_value(value)), text, sizeof(text)));
	else
		text_table_set(t, column, row, "%.4g%s%s", json_number_value(value), *unit ? " " : "", unit);
}

static void history_put_point(const json_t *point, FILE *out)
{
	const json_t *builds = json_object_get(point, "builds"), *build, *change;
	const char *unit = json_text(point, "unit");
	size_t when, kernel, boot, runs, value, level, mark, i;
	struct text_table t;

	text_table_init(&t, json_array_size(builds));
	when = text_table_add(&t, "began", ALIGN_LEFT, 0);
	kernel = text_table_add(&t, "kernel", ALIGN_LEFT, 0);
	boot = text_table_add(&t, "boot", ALIGN_LEFT, 1);
	runs = text_table_add(&t, "runs", ALIGN_RIGHT, 2);
	value = text_table_add(&t, "value", ALIGN_RIGHT, 0);
	level = text_table_add(&t, "level", ALIGN_RIGHT, 0);
	mark = text_table_add(&t, "", ALIGN_LEFT, 0);
	json_array_foreach (builds, i, build) {
		text_table_set(&t, when, i, "%s", json_text(build, "started_utc"));
		text_table_set(&t, kernel, i, "%s", json_text(build, "kernel"));
		text_table_set(&t, boot, i, "%.8s", json_text(build, "boot"));
		text_table_set(&t, runs, i, "%" JSON_INTEGER_FORMAT,
			       json_integer_value(json_object_get(build, "runs")));
		history_put_value(&t, value, i, json_object_get(build, "value"), unit);
		history_put_value(&t, level, i, json_object_get(build, "level"), unit);
	}
	json_array_foreach (json_object_get(point, "changes"), i, change)
		text_table_set(&t, mark, (size_t)json_integer_value(json_object_get(change, "at")), "<- %+.2f %%",
			       json_number_value(json_object_get(change, "effect_percent")));
	text_table_print(&t, WIDTH, out);
	text_table_free(&t);
}

static void history_put_clean(const char *text, FILE *out)
{
	char clean[1024];

	fputs(text_clean(text, strlen(text), clean, sizeof(clean)), out);
}

void history_table(const json_t *history, FILE *out)
{
	const json_t *point;
	size_t i;

	json_array_foreach (json_object_get(history, "points"), i, point) {
		fprintf(out, "point %" JSON_INTEGER_FORMAT "%s", json_integer_value(json_object_get(point, "id")),
			*json_text(point, "label") ? ", " : "");
		history_put_clean(json_text(point, "label"), out);
		fprintf(out, ": %s of ", compare_quantity_label(json_text(history, "quantity")));
		history_put_clean(json_text(point, "metric"), out);
		fputc('\n', out);
		if (*json_text(point, "why"))
			fprintf(out, "%s\n", json_text(point, "why"));
		history_put_point(point, out);
		fputc('\n', out);
	}
	history_put_clean(json_text(history, "answer"), out);
	fputc('\n', out);
}
