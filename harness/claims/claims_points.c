/*
 * The points that a claim is about, those that it compares them with, and which of the two belong together.
 */
#include <string.h>

#include "analysis/param.h"
#include "claims/claims_select.h"
#include "claims/claims_work.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/units.h"

void claim_select_points(struct claim_side *s)
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
static const struct claim_run *find_run(struct claim_work *w, const char *experiment)
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
		claim_give_up(w, "it compares with the experiment %s, which is not among the runs judged together",
			      experiment);
	else if (strcmp(json_text(found->resolved, "variant"), json_text(own->resolved, "variant")))
		claim_give_up(w, "%s was run in its %s variant, this in its %s one", experiment,
			      json_text(found->resolved, "variant"), json_text(own->resolved, "variant"));
	else if (!found_same)
		claim_give_up(w, "%s was run on another machine", experiment);
	return found;
}

void claim_select_against(struct claim_work *w)
{
	const json_t *against = json_object_get(w->claim, "against");
	const char *experiment = json_string_value(json_object_get(against, "experiment"));

	w->against = (struct claim_side){.run = w->points.run,
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
	claim_select_points(&w->against);
	if (!json_array_size(w->against.points))
		claim_give_up(w, "no point of %s is what it compares with", experiment ? experiment : "the run");
}

static bool varies(const json_t *points, const char *key)
{
	const json_t *first = claim_param(json_array_get(points, 0), key), *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (!first || !claim_param(point, key) || !json_equal(first, claim_param(point, key)))
			return first != NULL;
	return false;
}

/* What the two selections name differently is what is compared; it joins nothing. */
static bool is_contrast(const struct claim_work *w, const char *key)
{
	const json_t *a = json_object_get(w->points.conditions, key), *b = json_object_get(w->against.conditions, key);

	return a && b && !json_equal(a, b);
}

void claim_find_keys(struct claim_work *w)
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

bool claim_agrees(const struct claim_work *w, const json_t *a, const json_t *b)
{
	const json_t *key;
	size_t i;

	json_array_foreach (w->by, i, key) {
		const json_t *one = claim_param(a, json_string_value(key)),
			     *other = claim_param(b, json_string_value(key));

		if (one != other && (!one || !other || !json_equal(one, other)))
			return false;
	}
	return true;
}

/* The one point of `against` that agrees; NULL and why. */
const json_t *claim_find_partner(const struct claim_work *w, const json_t *point, char **why)
{
	const json_t *found = NULL, *other;
	size_t i, count = 0;

	json_array_foreach (w->against.points, i, other) {
		if (!claim_agrees(w, point, other))
			continue;
		found = other;
		count++;
	}
	if (count == 1)
		return found;
	*why = count
		   ? fs_path("%zu points would do to compare point %" JSON_INTEGER_FORMAT
			     " with; 'by' must name more settings",
			     count, claim_point_id(point))
		   : fs_path("there is nothing to compare point %" JSON_INTEGER_FORMAT " with", claim_point_id(point));
	return NULL;
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
static bool is_labelled(const struct claim_work *w, const char *key)
{
	if (json_has_string(w->by, key))
		return true;
	return json_object_get(w->points.conditions, key) && strcmp(key, json_text(w->claim, "along")) != 0 &&
	       varies(w->points.points, key);
}

/* "rc, 64B" */
char *claim_label(const struct claim_work *w, const json_t *point)
{
	char *label = NULL;
	size_t size, printed = 0;
	const char *key;
	json_t *value;
	FILE *out = or_abort(open_memstream(&label, &size));

	json_object_foreach (json_object_get(point, "params"), key, value) {
		if (!is_labelled(w, key))
			continue;
		fputs(printed++ ? ", " : "", out);
		print_param(out, key, value);
	}
	fclose(out);
	return or_abort(label);
}
