#include "judge/compare/compare_join.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"
#include "judge/analysis/varying.h"

#define NAME_MAX_ 64

/* --- settings that runs of an earlier version did not have yet: they count as having the current default --- */

/* Existing entries are kept. */
static void settings_add_defaults(json_t *all, const json_t *more)
{
	const char *key;
	json_t *value, *known;

	json_object_foreach ((json_t *)more, key, value) {
		known = json_object_get(all, key);
		if (!known)
			json_object_set_new(all, key, json_deep_copy(value));
		else if (json_is_object(known) && json_is_object(value))
			settings_add_defaults(known, value);
	}
}

/* The defaults that the runs record ("defaults" of resolved.json); for each setting, the first run
 * that has it counts. A new reference. */
static json_t *settings_defaults(const struct compare_runs *runs)
{
	json_t *all = json_object();

	for (size_t i = 0; i < runs->count; i++)
		settings_add_defaults(all, json_object_get(runs->run[i].run.resolved, "defaults"));
	return all;
}

static void add_missing(json_t *params, const char *flow, const json_t *defaults)
{
	char full[FLOWS_KEY_MAX];
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)defaults, key, value) {
		if (!json_object_get(params, flows_key(flow, key, full, sizeof(full))))
			json_object_set(params, full, value);
	}
}

/* The defaults of a flow's kernel or transport. */
static const json_t *defaults_of_choice(const json_t *defaults, const char *group, const json_t *params,
					const char *flow, const char *setting)
{
	const char *name = json_string_value(flows_get(params, flow, setting));

	return name ? json_object_get(json_object_get(defaults, group), name) : NULL;
}

/* A point's settings, with defaults for those that it does not have: a new reference. */
static json_t *settings_with_defaults(const json_t *params, const json_t *defaults)
{
	json_t *all = json_copy((json_t *)params), *names = flows_names(params);
	const json_t *name;
	size_t i;

	add_missing(all, "", json_object_get(defaults, "point"));
	json_array_foreach (names, i, name) {
		const char *flow = json_string_value(name);

		add_missing(all, flow, json_object_get(defaults, "flow"));
		add_missing(all, flow, defaults_of_choice(defaults, "kernels", params, flow, "kernel"));
		add_missing(all, flow, defaults_of_choice(defaults, "transports", params, flow, "transport"));
	}
	json_decref(names);
	return all;
}

/* --- joining --- */

/* A setting may be given with or without its unit ("size_bytes", "size"), and with the name of a
 * flow, or without it for all flows. */
static bool is_ignored(const char *key, const struct compare_choice *choice)
{
	char name[NAME_MAX_];

	param_name_unit(key, name, sizeof(name));

	const char *const forms[] = {key, name, flows_bare_key(key), flows_bare_key(name)};
	bool found = false;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		found |= compare_is_among(forms[i], choice->ignore, choice->ignore_count);
	return found;
}

static char *settings_key(const json_t *params, const struct compare_choice *choice)
{
	json_t *kept = json_object(), *value;
	const char *name;
	char *text;

	json_object_foreach ((json_t *)params, name, value) {
		if (!is_ignored(name, choice))
			json_object_set(kept, name, value);
	}
	text = json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(kept);
	return or_abort(text);
}

static struct compare_point *new_point(struct compare_join *j, const struct summary_point *point, json_t *params)
{
	struct compare_point *p;

	j->point = or_abort(realloc(j->point, (j->count + 1) * sizeof(*j->point)));
	p = &j->point[j->count++];
	*p = (struct compare_point){
	    .params = json_incref(params),
	    .id = point->id,
	    .flow = fs_path("%s", ""),
	    .of_run = or_abort(calloc(j->runs->count, sizeof(*p->of_run))),
	    .reasons = json_array(),
	};
	return p;
}

static int join_point(struct compare_join *j, json_t *index, size_t run, const struct summary_point *point,
		      json_t *params, const struct compare_choice *choice, struct err *e)
{
	char *key = settings_key(params, choice);
	const json_t *at = json_object_get(index, key);
	size_t i = at ? (size_t)json_integer_value(at) : j->count;

	if (!at) {
		new_point(j, point, params);
		json_object_set_new(index, key, json_integer((json_int_t)i));
	}
	free(key);
	if (j->point[i].of_run[run])
		return err_set(e, -EINVAL, STATUS_USAGE, j->runs->run[run].run.path, "compare",
			       "its points %" JSON_INTEGER_FORMAT " and %" JSON_INTEGER_FORMAT
			       " have the same settings apart from those ignored; ignore fewer",
			       j->point[i].of_run[run]->id, point->id);
	j->point[i].of_run[run] = point;
	return 0;
}

static int join_all(struct compare_join *j, const struct compare_choice *choice, struct err *e)
{
	json_t *index = json_object(), *defaults = settings_defaults(j->runs), *params;
	int rc = 0;

	for (size_t run = 0; run < j->runs->count; run++) {
		const struct summary *s = j->runs->run[run].summary;

		for (size_t i = 0; !rc && i < s->point_count; i++) {
			params = settings_with_defaults(s->points[i].params, defaults);
			rc = join_point(j, index, run, &s->points[i], params, choice, e);
			json_decref(params);
		}
	}
	json_decref(defaults);
	json_decref(index);
	return rc;
}

static bool arm_has(const struct compare_join *j, const struct compare_point *p, enum compare_arm arm)
{
	for (size_t i = 0; i < j->runs->count; i++)
		if (j->runs->run[i].arm == arm && p->of_run[i])
			return true;
	return false;
}

/* The settings in which two points without a counterpart differ, as a hint for the reader. */
static char *difference_of(const json_t *a, const json_t *b)
{
	char *text = NULL, name[NAME_MAX_], one[NAME_MAX_], other[NAME_MAX_];
	const char *key;
	json_t *value;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	json_object_foreach ((json_t *)a, key, value) {
		const json_t *there = json_object_get(b, key);
		enum unit unit = param_name_unit(key, name, sizeof(name));

		/* A message cannot be longer. */
		if ((there && json_equal(there, value)) || ftell(out) > ERR_TEXT_MAX)
			continue;
		fprintf(out, "%s%s %s and %s", ftell(out) ? ", " : "", name,
			param_value_text(value, unit, one, sizeof(one)),
			param_value_text(there, unit, other, sizeof(other)));
	}
	if (!ftell(out))
		fputs("a setting that only one has", out);
	fclose(out);
	return or_abort(text);
}

static int refuse_disjoint(const struct compare_join *j, struct err *e)
{
	const struct compare_point *first[ARMS] = {NULL};
	char *text;
	int rc;

	for (size_t i = 0; i < j->count; i++)
		for (enum compare_arm arm = 0; arm < ARMS; arm++)
			if (!first[arm] && arm_has(j, &j->point[i], arm))
				first[arm] = &j->point[i];
	if (!first[ARM_BASE] || !first[ARM_WITH])
		return err_set(e, -ENOENT, STATUS_USAGE, NULL, "compare", "there are no points");
	text = difference_of(first[ARM_BASE]->params, first[ARM_WITH]->params);
	rc = err_set(e, -ENOENT, STATUS_USAGE, NULL, "compare",
		     "BASE and NEW have no point in common: their settings differ, first in %s; use --ignore for "
		     "settings that need not agree",
		     text);
	free(text);
	return rc;
}

/* Points that only one arm has are left out, with a note. */
static int keep_common(struct compare_join *j, struct err *e)
{
	size_t kept = 0, alone[ARMS] = {0};

	if (!j->runs->units[ARM_WITH])
		return 0;
	for (size_t i = 0; i < j->count; i++)
		kept += arm_has(j, &j->point[i], ARM_BASE) && arm_has(j, &j->point[i], ARM_WITH);
	if (!kept)
		return refuse_disjoint(j, e);
	kept = 0;
	for (size_t i = 0; i < j->count; i++) {
		bool base = arm_has(j, &j->point[i], ARM_BASE), with = arm_has(j, &j->point[i], ARM_WITH);

		if (base && with) {
			j->point[kept++] = j->point[i];
			continue;
		}
		alone[base ? ARM_BASE : ARM_WITH]++;
		compare_point_free(&j->point[i]);
	}
	j->count = kept;
	for (enum compare_arm arm = 0; arm < ARMS; arm++)
		if (alone[arm])
			json_array_append_new(j->notes,
					      json_sprintf("%zu point%s only in %s, and not compared", alone[arm],
							   alone[arm] == 1 ? " is" : "s are", compare_arm_name[arm]));
	return 0;
}

/* --- flows --- */

static struct compare_point copy_for_flow(const struct compare_join *j, const struct compare_point *p, const char *flow)
{
	struct compare_point copy = *p;
	size_t size = j->runs->count * sizeof(*p->of_run);

	copy.params = json_incref((json_t *)p->params);
	copy.flow = fs_path("%s", flow);
	copy.of_run = memcpy(or_abort(malloc(size)), p->of_run, size);
	copy.reasons = json_array();
	return copy;
}

/* Make a point of its own for each flow of a point that has the metric asked for. If none has it,
 * for the last flow, for which the error is then reported. */
static void split_point(const struct compare_join *j, struct compare_point *p, const json_t *names, const char *asked,
			struct compare_join *to)
{
	const json_t *name;
	size_t i, before = to->count;

	json_array_foreach (names, i, name) {
		const char *flow = json_string_value(name);
		struct compare_point one = copy_for_flow(j, p, flow);
		char key[FLOWS_KEY_MAX];
		bool last = i + 1 == json_array_size(names) && to->count == before;

		if (asked)
			one.metric =
			    fs_path("%s", flows_owns("", asked) ? flows_key(flow, asked, key, sizeof(key)) : asked);
		if (asked && !last && !(flows_owns(flow, one.metric) && compare_point_has(p, j->runs, one.metric))) {
			compare_point_free(&one);
			continue;
		}
		to->point = grow_or_abort(to->point, to->count, sizeof(*to->point));
		to->point[to->count++] = one;
	}
	compare_point_free(p);
}

static void split_flows(struct compare_join *j, const char *asked)
{
	struct compare_join to = {.runs = j->runs, .notes = j->notes};

	for (size_t i = 0; i < j->count; i++) {
		json_t *names = flows_names(j->point[i].params);

		split_point(j, &j->point[i], names, asked, &to);
		json_decref(names);
	}
	free(j->point);
	*j = to;
}

static json_t *find_varying_settings(const struct compare_join *j)
{
	const json_t **params = or_abort(calloc(j->count + 1, sizeof(*params)));
	json_t *keys;

	for (size_t i = 0; i < j->count; i++)
		params[i] = j->point[i].params;
	keys = varying_keys(params, j->count);
	free(params);
	return keys;
}

int compare_join(struct compare_join *j, const struct compare_runs *runs, const struct compare_choice *choice,
		 struct err *e)
{
	int rc;

	*j = (struct compare_join){.runs = runs, .notes = json_array()};
	rc = join_all(j, choice, e) ?: keep_common(j, e);
	if (!rc)
		split_flows(j, choice->metric);
	j->varying = find_varying_settings(j);
	for (size_t i = 0; !rc && i < j->count; i++)
		rc = compare_point_fill(&j->point[i], runs, choice->quantity, choice->quantity_count, e);
	return rc;
}

void compare_join_free(struct compare_join *j)
{
	for (size_t i = 0; i < j->count; i++)
		compare_point_free(&j->point[i]);
	free(j->point);
	json_decref(j->notes);
	json_decref(j->varying);
	*j = (struct compare_join){0};
}
