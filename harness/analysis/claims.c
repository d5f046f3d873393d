#include "analysis/claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/claims_interval.h"
#include "analysis/claims_needs.h"
#include "analysis/claims_select.h"
#include "analysis/param.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/units.h"

#define HOLDS	   "holds"
#define FAILS	   "fails"
#define NOT_JUDGED "not judged"
#define LABELLED   4 /* cases that are told one by one */

/* What a claim compares with, or the points it is about. */
struct side {
	const struct claim_run *run;
	const char *metric;
	const json_t *conditions;
	json_t *points; /* those selected */
};

/* One claim while it is judged. */
struct work {
	const struct claim_run *runs;
	size_t count;
	const json_t *claim;
	struct side points, against;
	json_t *by;    /* keys */
	json_t *cases; /* the result's */
	char *trouble; /* why nothing can be judged; NULL: it can */
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static json_int_t id_of(const json_t *point)
{
	return json_integer_value(json_object_get(point, "id"));
}

static const json_t *param_of(const json_t *point, const char *key)
{
	return json_object_get(json_object_get(point, "params"), key);
}

/* Only the first reason counts. */
__attribute__((format(printf, 2, 3))) static void give_up(struct work *w, const char *format, ...)
{
	va_list ap;

	if (w->trouble)
		return;
	va_start(ap, format);
	if (vasprintf(&w->trouble, format, ap) < 0)
		abort();
	va_end(ap);
}

/* Selections --------------------------------------------------------------------------------------------- */

static void select_points(struct side *s)
{
	const json_t *point;
	size_t i;

	s->points = json_array();
	json_array_foreach (json_object_get(s->run->summary, "points"), i, point)
		if (claim_selects(s->conditions, json_object_get(point, "params")))
			json_array_append(s->points, (json_t *)point);
}

static json_t *host_names(const json_t *run)
{
	json_t *names = json_object(), *host;
	const char *name;

	json_object_foreach (json_object_get(run, "hosts"), name, host)
		json_object_set_new(names, name, json_true());
	return names;
}

static bool is_same_machine(const struct claim_run *a, const struct claim_run *b)
{
	json_t *one = host_names(a->run), *other = host_names(b->run);
	bool same = json_equal(one, other);

	json_decref(one);
	json_decref(other);
	return same;
}

/* The run of an experiment of that name; this one where it is its own. A run of the same variant and machine before others.
 */
static const struct claim_run *find_run(struct work *w, const char *experiment)
{
	const struct claim_run *found = NULL, *own = w->points.run;
	bool found_same = false;

	for (size_t i = 0; i < w->count; i++) {
		const struct claim_run *r = &w->runs[i];
		bool same = !strcmp(json_text(r->resolved, "variant"), json_text(own->resolved, "variant")) &&
			    is_same_machine(r, own);

		if (strcmp(json_text(r->resolved, "name"), experiment) || (found && (found_same || !same)))
			continue;
		found = r;
		found_same = same;
	}
	if (!found)
		give_up(w, "it compares with the experiment %s, which is not among the runs judged together",
			experiment);
	else if (strcmp(json_text(found->resolved, "variant"), json_text(own->resolved, "variant")))
		give_up(w, "%s was run in its %s variant, this in its %s one", experiment,
			json_text(found->resolved, "variant"), json_text(own->resolved, "variant"));
	else if (!found_same)
		give_up(w, "%s was run on another machine", experiment);
	return found;
}

static void select_against(struct work *w)
{
	const json_t *against = json_object_get(w->claim, "against");
	const char *experiment = json_string_value(json_object_get(against, "experiment"));

	w->against = (struct side){.run = w->points.run,
				   .metric = json_text(against, "metric"),
				   .conditions = json_object_get(against, "points")};
	if (!json_is_object(against)) {
		w->against.points = json_array();
		return;
	}
	if (experiment)
		w->against.run = find_run(w, experiment);
	if (!w->against.run) {
		w->against.points = json_array();
		return;
	}
	select_points(&w->against);
	if (!json_array_size(w->against.points))
		give_up(w, "no point of %s is what it compares with", experiment ? experiment : "the run");
}

/* Cases -------------------------------------------------------------------------------------------------- */

static bool varies(const json_t *points, const char *key)
{
	const json_t *first = param_of(json_array_get(points, 0), key), *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (!first || !param_of(point, key) || !json_equal(first, param_of(point, key)))
			return first != NULL;
	return false;
}

/* What the two selections name differently is what is compared; it joins nothing. */
static bool is_contrast(const struct work *w, const char *key)
{
	const json_t *a = json_object_get(w->points.conditions, key), *b = json_object_get(w->against.conditions, key);

	return a && b && !json_equal(a, b);
}

static void find_keys(struct work *w)
{
	const json_t *said = json_object_get(w->claim, "by");
	const char *key, *along = json_text(w->claim, "along");
	bool compares = json_is_object(json_object_get(w->claim, "against"));
	json_t *value;

	w->by = json_is_array(said) ? json_copy((json_t *)said) : json_array();
	if (json_is_array(said))
		return;
	json_object_foreach (json_object_get(json_array_get(w->points.points, 0), "params"), key, value)
		if (varies(w->points.points, key) && strcmp(key, along) && !is_contrast(w, key) &&
		    (!compares || varies(w->against.points, key)))
			json_array_append_new(w->by, json_string(key));
}

static bool agrees(const struct work *w, const json_t *a, const json_t *b)
{
	const json_t *key;
	size_t i;

	json_array_foreach (w->by, i, key) {
		const json_t *one = param_of(a, json_string_value(key)), *other = param_of(b, json_string_value(key));

		if (one != other && (!one || !other || !json_equal(one, other)))
			return false;
	}
	return true;
}

static void print_param(FILE *out, const char *key, const json_t *value)
{
	char name[64], text[128];
	enum unit unit = param_name_unit(key, name, sizeof(name));

	param_value_text(value, unit, text, sizeof(text));
	/* "rc" and "64B" say what they are. */
	if (!json_is_string(value) && unit == UNIT_ONE)
		fprintf(out, "%s ", name);
	fputs(text, out);
}

/* Does this setting tell cases apart? What joins them does, and so does what the points were selected by. */
static bool is_labelled(const struct work *w, const char *key)
{
	if (json_has_string(w->by, key))
		return true;
	return json_object_get(w->points.conditions, key) && strcmp(key, json_text(w->claim, "along")) != 0 &&
	       varies(w->points.points, key);
}

/* "rc, 64B" */
static char *label_of(const struct work *w, const json_t *point)
{
	char *label = NULL;
	size_t size, printed = 0;
	const char *key;
	json_t *value;
	FILE *out = must(open_memstream(&label, &size));

	json_object_foreach (json_object_get(point, "params"), key, value) {
		if (!is_labelled(w, key))
			continue;
		fputs(printed++ ? ", " : "", out);
		print_param(out, key, value);
	}
	fclose(out);
	return must(label);
}

/* Points in the order of `along`. */
static int by_axis(const void *a, const void *b, void *along)
{
	const json_t *x = param_of(*(json_t *const *)a, along), *y = param_of(*(json_t *const *)b, along);
	json_int_t i = json_integer_value(x), k = json_integer_value(y);

	return (i > k) - (i < k);
}

/* Samples ------------------------------------------------------------------------------------------------ */

static const json_t *statistic_in(const json_t *holder, const char *metric)
{
	const char *dot = strchr(metric, '.');
	char series[64];

	snprintf(series, sizeof(series), "%.*s", dot ? (int)(dot - metric) : 0, metric);
	const json_t *of = json_object_get(json_object_get(holder, "metrics"), series);

	/* What is no difference of stamps stands beside the metrics: "pacing". */
	return json_object_get(of ? of : json_object_get(holder, series), dot ? dot + 1 : "");
}

static enum sample_kind kind_of(const char *metric, bool *is_max)
{
	const char *statistic = strchr(metric, '.');

	*is_max = statistic && !strcmp(statistic, ".max");
	if (*is_max || (statistic && !strcmp(statistic, ".min")))
		return SAMPLE_EXTREME;
	if (statistic && (!strcmp(statistic, ".n") || !strcmp(statistic, ".lost")))
		return SAMPLE_SUM;
	return SAMPLE_SPREAD;
}

/* Fill the sample of a point; free its `rep`. Otherwise NULL is returned and the point's trouble is in `why`. */
static bool sample_of(const json_t *point, const char *metric, struct sample *s, char **why)
{
	const json_t *value = statistic_in(point, metric), *reps = json_object_get(point, "reps"), *rep;
	const char *reason = json_string_value(json_array_get(json_object_get(point, "reasons"), 0));
	double *values;
	size_t i;

	*s = (struct sample){.value = json_number_value(value)};
	s->kind = kind_of(metric, &s->is_max);
	if (!json_is_true(json_object_get(point, "valid")))
		*why = fs_path("point %" JSON_INTEGER_FORMAT " is not valid: %s", id_of(point), reason ? reason : "?");
	else if (!value)
		*why = fs_path("point %" JSON_INTEGER_FORMAT " has no %s", id_of(point), metric);
	else if (!json_is_number(value))
		*why = fs_path("point %" JSON_INTEGER_FORMAT ": too few samples for its %s", id_of(point), metric);
	if (*why)
		return false;
	values = must(calloc(json_array_size(reps) + 1, sizeof(*values)));
	json_array_foreach (reps, i, rep)
		if (json_is_number(statistic_in(rep, metric)))
			values[s->reps++] = json_number_value(statistic_in(rep, metric));
	s->rep = values;
	return true;
}

static void sample_free(struct sample *s)
{
	free((double *)s->rep);
	s->rep = NULL;
}

/* Verdicts ----------------------------------------------------------------------------------------------- */

struct verdict {
	const char *word;
	struct estimate estimate;
	bool has_estimate;
	char *why; /* NULL: nothing to say */
};

static struct verdict not_judged(char *why)
{
	return (struct verdict){.word = NOT_JUDGED, .why = why};
}

static bool is_share(const char *metric)
{
	const char *dot = strchr(metric, '.');

	return dot && (!strcmp(dot, ".over_limit") || !strcmp(dot, ".missed_share") || !strcmp(dot, ".unsent_share"));
}

/* Three digits, in the unit that the claim's numbers have. */
static char *number_text(const struct work *w, double value, char *buf, size_t size)
{
	const char *relation = json_text(w->claim, "relation");
	bool has_unit = !strcmp(relation, "value") || !strcmp(relation, "difference");
	char series[64], name[64], human[48];
	const char *dot = strchr(w->points.metric, '.');
	enum unit unit;

	snprintf(series, sizeof(series), "%.*s", dot ? (int)(dot - w->points.metric) : 0, w->points.metric);
	unit = param_name_unit(series, name, sizeof(name));
	if (!isfinite(value))
		snprintf(buf, size, "%s", value > 0 ? "infinity" : "-infinity");
	else if (has_unit && is_share(w->points.metric))
		snprintf(buf, size, "%.3g %%", 100 * value);
	else if (has_unit && unit == UNIT_TIME_NS && kind_of(w->points.metric, &(bool){false}) != SAMPLE_SUM)
		snprintf(buf, size, "%s", unit_human_ns(llround(value), human, sizeof(human)));
	else if (fabs(value) >= 1000)
		snprintf(buf, size, "%.0f", value);
	else
		snprintf(buf, size, "%.3g", value);
	return buf;
}

/* "2.21 (2.05 to 2.4)" */
static char *estimate_text(const struct work *w, const struct estimate *e, bool interval)
{
	char value[64], low[64], high[64];

	number_text(w, e->value, value, sizeof(value));
	if (!interval || !e->has_interval)
		return fs_path("%s", value);
	return fs_path("%s (%s to %s)", value, number_text(w, e->low, low, sizeof(low)),
		       number_text(w, e->high, high, sizeof(high)));
}

/* Which side of a bound: outside as a whole, inside as a whole, or neither. */
static struct verdict against_bounds(const struct work *w, struct estimate e)
{
	const json_t *min = json_object_get(w->claim, "min"), *max = json_object_get(w->claim, "max");
	double least = json_is_number(min) ? json_number_value(min) : -INFINITY;
	double most = json_is_number(max) ? json_number_value(max) : INFINITY;
	struct verdict v = {.word = HOLDS, .estimate = e, .has_estimate = true};
	char *measured = estimate_text(w, &e, true), bound[64];

	number_text(w, e.low < least ? least : most, bound, sizeof(bound));
	if (e.high < least || e.low > most) {
		v.word = FAILS;
		v.why = fs_path("%s is %s %s", measured, e.high < least ? "below" : "above", bound);
	} else if (e.low < least || e.high > most) {
		v.word = NOT_JUDGED;
		v.why = fs_path("too close to say: %s, and the bound is %s", measured, bound);
	}
	free(measured);
	return v;
}

/* Points in the order of an axis. */
struct course {
	struct sample *samples;
	const json_t **points;
	size_t count;
	double tolerance;
	const char *along;
};

/* Of one step or of the whole: is `e` (what should be at least `least`) certainly less, or is its number? */
struct doubt {
	bool is_wrong, is_certain;
};

static struct doubt doubt_of(const struct estimate *e, double least)
{
	return (struct doubt){e->value < least, e->high < least};
}

static char *axis_text(const struct course *c, size_t i, char *buf, size_t size)
{
	char name[64];
	enum unit unit = param_name_unit(c->along, name, sizeof(name));

	return param_value_text(param_of(c->points[i], c->along), unit, buf, size);
}

/* Rising or falling: a falling course is a rising one seen from its end. */
static struct verdict judge_monotone(struct course *c, bool rising)
{
	struct verdict v = {.word = HOLDS, .has_estimate = true};
	double least = rising ? 1 - c->tolerance : 1 / (1 + c->tolerance);
	size_t last = c->count - 1;
	struct estimate whole = rising ? estimate_ratio(&c->samples[last], &c->samples[0])
				       : estimate_ratio(&c->samples[0], &c->samples[last]);
	struct doubt end = doubt_of(&whole, 1);
	char from[64], to[64];

	v.estimate = estimate_ratio(&c->samples[last], &c->samples[0]);
	for (size_t i = 0; i < last; i++) {
		struct estimate step = rising ? estimate_ratio(&c->samples[i + 1], &c->samples[i])
					      : estimate_ratio(&c->samples[i], &c->samples[i + 1]);
		struct doubt doubt = doubt_of(&step, least);

		if (!doubt.is_wrong || !strcmp(v.word, FAILS) || (v.why && !doubt.is_certain))
			continue;
		free(v.why);
		v.word = doubt.is_certain ? FAILS : NOT_JUDGED;
		v.why = fs_path("%sfrom %s to %s it %s",
				doubt.is_certain ? "" : "too close to say: ", axis_text(c, i, from, sizeof(from)),
				axis_text(c, i + 1, to, sizeof(to)), rising ? "falls" : "rises");
	}
	if (!strcmp(v.word, HOLDS) && whole.low <= 1) {
		v.word = end.is_certain || (!whole.has_interval && whole.value <= 1) ? FAILS : NOT_JUDGED;
		v.why = fs_path("%s%s between %s and %s",
				strcmp(v.word, FAILS) ? "too close to say whether it " : "it does not ",
				strcmp(v.word, FAILS) ? (rising ? "rises" : "falls") : (rising ? "rise" : "fall"),
				axis_text(c, 0, from, sizeof(from)), axis_text(c, last, to, sizeof(to)));
	}
	return v;
}

static struct verdict judge_flat(struct course *c)
{
	struct verdict v = {.word = HOLDS, .has_estimate = true};
	size_t least = 0, most = 0;
	char from[64], to[64];

	for (size_t i = 1; i < c->count; i++) {
		least = c->samples[i].value < c->samples[least].value ? i : least;
		most = c->samples[i].value > c->samples[most].value ? i : most;
	}
	v.estimate = estimate_ratio(&c->samples[most], &c->samples[least]);
	if (v.estimate.high <= 1 + c->tolerance)
		return v;
	v.word = v.estimate.low > 1 + c->tolerance ? FAILS : NOT_JUDGED;
	v.why = fs_path("%sat %s it is %.3g of that at %s", strcmp(v.word, FAILS) ? "too close to say: " : "",
			axis_text(c, most, from, sizeof(from)), v.estimate.value, axis_text(c, least, to, sizeof(to)));
	return v;
}

static struct verdict judge_course(const struct work *w, struct course *c)
{
	const char *relation = json_text(w->claim, "relation");

	for (size_t i = 0; i < c->count; i++)
		if (c->samples[i].value <= 0)
			return not_judged(fs_path("a ratio of numbers that are not positive says nothing"));
	return !strcmp(relation, "flat") ? judge_flat(c) : judge_monotone(c, !strcmp(relation, "rising"));
}

static struct verdict judge_pair(const struct work *w, const struct sample *a, const struct sample *b)
{
	const char *relation = json_text(w->claim, "relation");

	if (!strcmp(relation, "value"))
		return against_bounds(w, estimate_value(a));
	if (!strcmp(relation, "difference"))
		return against_bounds(w, estimate_difference(a, b));
	if (strcmp(relation, "ratio"))
		return not_judged(fs_path("this kblat does not know the relation '%s'", relation));
	if (b->value == 0)
		return not_judged(fs_path("what it compares with is 0"));
	return against_bounds(w, estimate_ratio(a, b));
}

/* Case by case ------------------------------------------------------------------------------------------- */

static json_t *number_or_null(bool there, double value)
{
	return there && isfinite(value) ? json_real(value) : json_null();
}

static void add_case(struct work *w, const char *label, json_t *points, json_t *against, struct verdict *v)
{
	char *measured = v->has_estimate ? estimate_text(w, &v->estimate, true) : fs_path("%s", "");
	bool interval = v->has_estimate && v->estimate.has_interval;

	json_array_append_new(w->cases, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "label", label,
						  "points", points, "against", against, "value",
						  number_or_null(v->has_estimate, v->estimate.value), "low",
						  number_or_null(interval, v->estimate.low), "high",
						  number_or_null(interval, v->estimate.high), "measured", measured,
						  "verdict", v->word, "why", v->why ? v->why : ""));
	free(measured);
	free(v->why);
}

static json_t *id_list(const json_t *point)
{
	json_t *ids = json_array();

	if (point)
		json_array_append(ids, json_object_get(point, "id"));
	return ids;
}

/* The one point of `against` that agrees; NULL and why. */
static const json_t *find_partner(const struct work *w, const json_t *point, char **why)
{
	const json_t *found = NULL, *other;
	size_t i, count = 0;

	json_array_foreach (w->against.points, i, other) {
		if (!agrees(w, point, other))
			continue;
		found = other;
		count++;
	}
	if (count == 1)
		return found;
	*why = count ? fs_path("%zu points would do to compare point %" JSON_INTEGER_FORMAT
			       " with; 'by' must name more settings",
			       count, id_of(point))
		     : fs_path("there is nothing to compare point %" JSON_INTEGER_FORMAT " with", id_of(point));
	return NULL;
}

static void judge_point(struct work *w, const json_t *point, const char *label)
{
	bool alone = !strcmp(json_text(w->claim, "relation"), "value");
	struct sample a = {0}, b = {0};
	char *why = NULL;
	const json_t *partner = alone ? NULL : find_partner(w, point, &why);
	struct verdict v;

	if (!why && sample_of(point, w->points.metric, &a, &why) &&
	    (alone || sample_of(partner, w->against.metric, &b, &why)))
		v = judge_pair(w, &a, &b);
	else
		v = not_judged(why);
	add_case(w, label, id_list(point), id_list(partner), &v);
	sample_free(&a);
	sample_free(&b);
}

/* Does the case of this point stand before it already? Points of one course share a case. */
static bool is_first(const struct work *w, size_t index)
{
	const json_t *point = json_array_get(w->points.points, index);

	for (size_t i = 0; i < index; i++)
		if (agrees(w, json_array_get(w->points.points, i), point))
			return false;
	return true;
}

static void gather_course(const struct work *w, const json_t *of, struct course *c)
{
	const json_t *point;
	size_t i, size = json_array_size(w->points.points);

	*c = (struct course){.along = json_text(w->claim, "along")};
	c->tolerance = json_number_value(json_object_get(w->claim, "tolerance"));
	c->points = must(calloc(size + 1, sizeof(*c->points)));
	c->samples = must(calloc(size + 1, sizeof(*c->samples)));
	json_array_foreach (w->points.points, i, point)
		if (agrees(w, of, point))
			c->points[c->count++] = point;
	qsort_r(c->points, c->count, sizeof(*c->points), by_axis, (void *)c->along);
}

static void course_free(struct course *c)
{
	for (size_t i = 0; i < c->count; i++)
		sample_free(&c->samples[i]);
	free(c->samples);
	free(c->points);
}

/* Why a course can't be judged; NULL: its samples are there. */
static char *read_course(const struct work *w, struct course *c)
{
	char *why = NULL, text[64];

	if (c->count < 2)
		return fs_path("it has only one point along %s", c->along);
	for (size_t i = 0; i < c->count && !why; i++) {
		const json_t *at = param_of(c->points[i], c->along);

		if (!json_is_integer(at))
			return fs_path("point %" JSON_INTEGER_FORMAT " has no %s", id_of(c->points[i]), c->along);
		if (i && json_equal(at, param_of(c->points[i - 1], c->along)))
			return fs_path("it has several points at %s; 'by' must name more settings",
				       axis_text(c, i, text, sizeof(text)));
		sample_of(c->points[i], w->points.metric, &c->samples[i], &why);
	}
	return why;
}

static void judge_along(struct work *w, const json_t *point, const char *label)
{
	json_t *ids = json_array();
	struct course c;
	struct verdict v;
	char *why;

	gather_course(w, point, &c);
	why = read_course(w, &c);
	v = why ? not_judged(why) : judge_course(w, &c);
	for (size_t i = 0; i < c.count; i++)
		json_array_append(ids, json_object_get(c.points[i], "id"));
	add_case(w, label, ids, json_array(), &v);
	course_free(&c);
}

static bool is_order(const struct work *w)
{
	return json_is_string(json_object_get(w->claim, "along"));
}

static void judge_cases(struct work *w)
{
	const json_t *point;
	size_t i;

	find_keys(w);
	json_array_foreach (w->points.points, i, point) {
		char *label = label_of(w, point);

		if (!is_order(w))
			judge_point(w, point, label);
		else if (is_first(w, i))
			judge_along(w, point, label);
		free(label);
	}
}

/* The claim as a whole ----------------------------------------------------------------------------------- */

static void add_devices(json_t *devices, const struct claim_run *run, const json_t *points)
{
	const json_t *point;
	size_t i;
	char id[32];

	if (!run)
		return;
	json_array_foreach (points, i, point) {
		snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT, id_of(point));
		json_array_extend(devices, json_object_get(run->devices, id));
	}
}

/* Both runs must be of the kind; they are of the same machine. */
static void check_needs(struct work *w)
{
	json_t *devices = json_array();
	const struct claim_run *run = w->points.run;
	struct claim_machine machine = {run->run, {run->state[0], run->state[1]}, devices};
	char why[256];

	add_devices(devices, run, w->points.points);
	add_devices(devices, w->against.run, w->against.points);
	if (!claim_needs_met(json_object_get(w->claim, "needs"), &machine, why, sizeof(why)))
		give_up(w, "%s", why);
	json_decref(devices);
}

static size_t count_cases(const struct work *w, const char *verdict, const json_t **first)
{
	const json_t *one;
	size_t i, count = 0;

	json_array_foreach (w->cases, i, one) {
		if (strcmp(json_text(one, "verdict"), verdict))
			continue;
		*first = count++ ? *first : one;
	}
	return count;
}

/* "rc: 0.62 is above 0.5 (and 1 case more)" */
static char *say_why(const json_t *first, size_t count)
{
	const char *label = json_text(first, "label");
	char more[64] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu case%s more)", count - 1, count == 2 ? "" : "s");
	return fs_path("%s%s%s%s", label, *label ? ": " : "", json_text(first, "why"), more);
}

/* One failing case decides; then one that can't be judged. */
static const char *conclude(const struct work *w, char **why)
{
	const json_t *first = NULL;
	size_t count = count_cases(w, FAILS, &first);
	const char *word = count ? FAILS : NOT_JUDGED;

	if (!count)
		count = count_cases(w, NOT_JUDGED, &first);
	if (count) {
		*why = say_why(first, count);
		return word;
	}
	*why = fs_path("%s", "");
	return HOLDS;
}

/* What was measured stays to be seen even if nothing can be concluded from it. */
static void withdraw(struct work *w)
{
	json_t *one;
	size_t i;

	json_array_foreach (w->cases, i, one) {
		json_object_set_new(one, "verdict", json_string(NOT_JUDGED));
		json_object_set_new(one, "why", json_string(w->trouble));
	}
}

static void print_one_by_one(const struct work *w, FILE *out)
{
	const json_t *one;
	size_t i, printed = 0, known = 0;

	json_array_foreach (w->cases, i, one)
		known += json_is_number(json_object_get(one, "value"));
	json_array_foreach (w->cases, i, one) {
		struct estimate e = {.value = json_number_value(json_object_get(one, "value"))};
		char *value = known == 1 ? fs_path("%s", json_text(one, "measured")) : estimate_text(w, &e, false);

		if (json_is_number(json_object_get(one, "value"))) {
			fputs(printed++ ? "; " : "", out);
			fprintf(out, "%s%s%s", json_text(one, "label"), *json_text(one, "label") ? " " : "", value);
		}
		free(value);
	}
}

static void print_range(const struct work *w, FILE *out)
{
	double least = INFINITY, most = -INFINITY;
	const json_t *one;
	size_t i, count = 0;
	char from[64], to[64];

	json_array_foreach (w->cases, i, one) {
		const json_t *value = json_object_get(one, "value");

		if (!json_is_number(value))
			continue;
		count++;
		least = fmin(least, json_number_value(value));
		most = fmax(most, json_number_value(value));
	}
	if (count)
		fprintf(out, "%s to %s in %zu cases", number_text(w, least, from, sizeof(from)),
			number_text(w, most, to, sizeof(to)), count);
}

static char *measured_text(const struct work *w)
{
	char *text = NULL;
	size_t size;
	FILE *out = must(open_memstream(&text, &size));

	if (json_array_size(w->cases) <= LABELLED)
		print_one_by_one(w, out);
	else
		print_range(w, out);
	fclose(out);
	return must(text);
}

/* "ratio at most 0.5", "rising along size" */
static char *wanted_text(const struct work *w)
{
	const char *relation = json_text(w->claim, "relation");
	const json_t *min = json_object_get(w->claim, "min"), *max = json_object_get(w->claim, "max");
	char low[64], high[64], name[64];

	number_text(w, json_number_value(min), low, sizeof(low));
	number_text(w, json_number_value(max), high, sizeof(high));
	if (is_order(w)) {
		param_name_unit(json_text(w->claim, "along"), name, sizeof(name));
		return fs_path("%s along %s", relation, name);
	}
	if (json_is_number(min) && json_is_number(max))
		return fs_path("%s %s to %s", relation, low, high);
	return json_is_number(min) ? fs_path("%s at least %s", relation, low)
				   : fs_path("%s at most %s", relation, high);
}

static json_t *result(struct work *w)
{
	char *why = NULL, *measured = measured_text(w), *wanted = wanted_text(w);
	const char *verdict = w->trouble ? NOT_JUDGED : conclude(w, &why);
	json_t *j;

	if (w->trouble)
		withdraw(w);
	j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:O}", "experiment",
		      json_text(w->points.run->resolved, "name"), "id", json_text(w->claim, "id"), "claim",
		      json_text(w->claim, "claim"), "source", json_text(w->claim, "source"), "measured_by_source",
		      json_text(w->claim, "measured_by_source"), "metric", w->points.metric, "wanted", wanted,
		      "measured", measured, "verdict", verdict, "why", w->trouble ? w->trouble : why, "cases",
		      w->cases);
	free(measured);
	free(wanted);
	free(why);
	return must(j);
}

static json_t *judge(const struct claim_run *runs, size_t count, const struct claim_run *run, const json_t *claim)
{
	struct work w = {.runs = runs, .count = count, .claim = claim, .cases = json_array()};
	json_t *verdict;

	w.points = (struct side){
	    .run = run, .metric = json_text(claim, "metric"), .conditions = json_object_get(claim, "points")};
	select_points(&w.points);
	if (!json_array_size(w.points.points))
		give_up(&w, "no point of the run is what it is about");
	select_against(&w);
	if (!w.trouble) {
		judge_cases(&w);
		check_needs(&w);
	}
	verdict = result(&w);
	json_decref(w.points.points);
	json_decref(w.against.points);
	json_decref(w.by);
	json_decref(w.cases);
	free(w.trouble);
	return verdict;
}

json_t *claims_judge(const struct claim_run *runs, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++) {
		const json_t *claim;
		size_t k;

		json_array_foreach (json_object_get(runs[i].resolved, "claims"), k, claim)
			json_array_append_new(all, judge(runs, count, &runs[i], claim));
	}
	return json_pack("{s:i, s:o}", "schema", 1, "claims", all);
}

bool claims_are_made(const json_t *resolved)
{
	return json_array_size(json_object_get(resolved, "claims")) > 0;
}

size_t claims_count(const json_t *verdicts, const char *verdict)
{
	const json_t *claim;
	size_t i, count = 0;

	json_array_foreach (json_object_get(verdicts, "claims"), i, claim)
		count += !strcmp(json_text(claim, "verdict"), verdict);
	return count;
}

enum status claims_status(const json_t *verdicts)
{
	if (claims_count(verdicts, FAILS))
		return STATUS_NO;
	return claims_count(verdicts, HOLDS) ? STATUS_OK : STATUS_UNDECIDED;
}
