#include "report/labels.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/flows.h"
#include "judge/analysis/param.h"
#include "judge/analysis/varying.h"

#define APART_MAX 6 /* maximum number of settings in a label */
#define LABEL_MAX 160
#define VALUE_MAX 40

/* --- settings --- */

char *label_key(const char *key, char *buf, size_t size)
{
	param_name_unit(key, buf, size);
	for (char *p = buf; *p; p++)
		if (*p == '_')
			*p = ' ';
	return buf;
}

char *label_value(const char *key, const json_t *value, char *buf, size_t size)
{
	char name[VALUE_MAX];

	if (json_is_string(value) && json_string_length(value))
		return text_clean(json_string_value(value), json_string_length(value), buf, size);
	if (json_is_real(value))
		snprintf(buf, size, "%.6g", json_real_value(value));
	else if (json_is_integer(value) || json_is_boolean(value))
		param_value_text(value, param_name_unit(key, name, sizeof(name)), buf, size);
	else
		snprintf(buf, size, "%s", json_is_string(value) ? "none" : "-");
	return buf;
}

void label_setting(FILE *out, const char *key, const json_t *value)
{
	char name[VALUE_MAX], text[VALUE_MAX];

	label_value(key, value, text, sizeof(text));
	if (!param_speaks(value))
		fprintf(out, "%s ", label_key(key, name, sizeof(name)));
	fputs(text, out);
}

/* --- points --- */

/* The label of a flow without settings that vary: "oneway, verbs, size 32B". False: it would be empty. */
static bool print_plain(FILE *out, const struct layout_flow *flow)
{
	static const char *const keys[] = {"kernel", "transport", "size_bytes"};
	const char *separator = "";

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *value = json_object_get(flow->params, keys[i]);

		if (!value)
			continue;
		fputs(separator, out);
		label_setting(out, keys[i], value);
		separator = ", ";
	}
	return *separator;
}

static void print_flows(FILE *out, const struct report_point *p)
{
	for (size_t i = 0; i < p->layout.flow_count; i++) {
		const struct layout_flow *flow = &p->layout.flows[i];

		fprintf(out, "%s%s%s", i ? "; " : "", flow->name, *flow->name ? ": " : "");
		if (!print_plain(out, flow))
			fprintf(out, "point %u", p->id);
	}
}

static char *label_of_point(const struct report *r, const struct report_point *p)
{
	char *label = NULL;
	size_t size, printed = 0;
	FILE *out = or_abort(open_memstream(&label, &size));

	for (size_t i = 0; i < r->varying.count; i++) {
		const char *key = r->varying.key[i];
		const json_t *value = json_object_get(p->params, key);

		if (!value || !json_object_get(r->runs[p->run].varying, key) || ftell(out) > LABEL_MAX)
			continue;
		fputs(printed++ ? ", " : "", out);
		label_setting(out, key, value);
	}
	if (!printed)
		print_flows(out, p);
	fclose(out);
	return or_abort(label);
}

/* --- what varies --- */

/* The settings of a point or of one of its flows. */
struct settings {
	size_t run;
	const char *flow; /* "" */
	const json_t *params;
};

struct all_settings {
	const struct report *r;
	struct settings *of;
	size_t count;
	/* How values differ: among all runs, and within each. */
	struct spread overall, *in_run;
	json_t **named; /* for each run: param_named() */
};

static void note_settings(struct all_settings *all, size_t run, const char *flow, const json_t *params)
{
	all->of = grow_or_abort(all->of, all->count, sizeof(*all->of));
	all->of[all->count++] = (struct settings){run, flow, params};
}

/* Does the spec name this setting, for this flow or for all? */
static bool is_named_by_spec(const json_t *named, const struct settings *s, const char *key)
{
	char full[FLOWS_KEY_MAX];

	return param_is_named(named, key) || param_is_named(named, flows_bare_key(key)) ||
	       param_is_named(named, flows_key(s->flow, key, full, sizeof(full)));
}

/* Points of different runs are told apart by their kind. Other settings that only differ between runs
 * ("repetitions") belong to the run. */
static struct spread *spread_for_key(struct all_settings *all, const struct settings *s, const char *key)
{
	return varying_is_kind(key) ? &all->overall : &all->in_run[s->run];
}

static void open_spreads(struct all_settings *all)
{
	const char *key;
	json_t *value;

	all->overall = spread_new();
	all->in_run = or_abort(calloc(all->r->run_count + 1, sizeof(*all->in_run)));
	all->named = or_abort(calloc(all->r->run_count + 1, sizeof(*all->named)));
	for (size_t i = 0; i < all->r->run_count; i++) {
		all->in_run[i] = spread_new();
		all->named[i] = param_named(json_object_get(all->r->runs[i].run->resolved, "named"));
	}
	for (size_t i = 0; i < all->count; i++) {
		json_object_foreach ((json_t *)all->of[i].params, key, value) {
			spread_add(spread_for_key(all, &all->of[i], key), key, value);
		}
	}
}

static void close_spreads(struct all_settings *all)
{
	spread_free(&all->overall);
	for (size_t i = 0; i < all->r->run_count; i++) {
		spread_free(&all->in_run[i]);
		json_decref(all->named[i]);
	}
	free(all->in_run);
	free(all->named);
}

/* A key varies if two points that have it differ in it. A setting that only one transport has does
 * not distinguish anything, and neither does one that is just a transport's default. */
static bool key_varies(struct all_settings *all, const char *key, const struct settings *s)
{
	return spread_differs(spread_for_key(all, s, key), key) && is_named_by_spec(all->named[s->run], s, key);
}

static void note_key(struct report_keys *found, json_t *known, const char *key)
{
	if (found->count == PARAM_VARYING_MOST || json_object_get(known, key))
		return;
	json_object_set_new(known, key, json_true());
	found->key = grow_or_abort(found->key, found->count, sizeof(*found->key));
	found->key[found->count++] = key;
}

/* Takes `all`. */
static void find_varying(struct all_settings *all, struct report_keys *found)
{
	json_t *known = json_object(), *value;
	const char *key;

	open_spreads(all);
	for (size_t i = 0; i < all->count; i++) {
		json_t *in_run = all->r->runs[all->of[i].run].varying;

		json_object_foreach ((json_t *)all->of[i].params, key, value) {
			if ((json_object_get(known, key) && json_object_get(in_run, key)) ||
			    !key_varies(all, key, &all->of[i]))
				continue;
			note_key(found, known, key);
			json_object_set_new(in_run, key, json_true());
		}
	}
	json_decref(known);
	close_spreads(all);
	free(all->of);
}

static void label_settings(struct report *r)
{
	struct all_settings points = {.r = r}, flows = {.r = r};

	for (size_t i = 0; i < r->count; i++) {
		const struct report_point *p = &r->points[i];

		note_settings(&points, p->run, "", p->params);
		for (size_t k = 0; k < p->layout.flow_count; k++)
			note_settings(&flows, p->run, p->layout.flows[k].name, p->layout.flows[k].params);
	}
	for (size_t i = 0; i < r->run_count; i++)
		r->runs[i].varying = or_abort(json_object());
	find_varying(&points, &r->varying);
	find_varying(&flows, &r->in_flows);
}

/* --- runs --- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool are_on_different_hosts(const struct report *r)
{
	for (size_t i = 0; i < r->run_count; i++)
		for (size_t k = 0; k < i; k++)
			if (!*r->runs[i].hosts || !strcmp(r->runs[i].hosts, r->runs[k].hosts))
				return false;
	return true;
}

static const char *experiment_of(const struct report_run *run)
{
	return run->record->name ? run->record->name : "";
}

static bool are_of_different_experiments(const struct report *r)
{
	for (size_t i = 0; i < r->run_count; i++)
		for (size_t k = 0; k <= i; k++)
			if (!*experiment_of(&r->runs[i]) ||
			    (k < i && !strcmp(experiment_of(&r->runs[i]), experiment_of(&r->runs[k]))))
				return false;
	return r->run_count > 1;
}

static const char *label_of_run(const struct report *r, const struct report_run *run)
{
	if (r->of_experiments)
		return experiment_of(run);
	if (r->run_count > 1 && are_on_different_hosts(r))
		return run->hosts;
	return last_part(run->run->path);
}

static void label_runs(struct report *r)
{
	r->of_experiments = are_of_different_experiments(r);
	for (size_t i = 0; i < r->run_count; i++)
		r->runs[i].label = fs_path("%s", label_of_run(r, &r->runs[i]));
}

void label_all(struct report *r)
{
	label_runs(r);
	label_settings(r);
	for (size_t i = 0; i < r->count; i++)
		r->points[i].label = label_of_point(r, &r->points[i]);
}

/* --- settings that tell points apart --- */

static char *label_from_keys(const json_t *settings, json_t *keys)
{
	char *label = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&label, &size));
	const char *key, *separator = "";
	size_t number = 0;
	json_t *is_key;

	json_object_foreach (keys, key, is_key) {
		const json_t *value = json_object_get(settings, key);

		if (number++ == APART_MAX)
			break;
		if (!value)
			continue;
		fputs(separator, out);
		label_setting(out, key, value);
		separator = ", ";
	}
	fclose(out);
	return or_abort(label);
}

void label_apart(json_t *const *settings, size_t count, char **labels)
{
	json_t *keys = varying_keys((const json_t *const *)settings, count);

	for (size_t i = 0; i < count; i++)
		labels[i] = label_from_keys(settings[i], keys);
	json_decref(keys);
}
