#include "measure/spec/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/yaml.h"
#include "measure/spec/observatory_spec.h"
#include "measure/spec/spec_claims.h"
#include "measure/spec/spec_points.h"

struct filter {
	const char *text, *value;
	char name[96], flow[FLOW_NAME_MAX];
	json_t *wanted; /* {"key": [value, …]}: what the text means to each table that has such a setting */
	char why[256];	/* the first table for which it means nothing */
};

static void filter_want(struct filter *f, const char *key, json_t *value)
{
	json_t *values = json_object_get(f->wanted, key);

	if (!values) {
		values = json_array();
		json_object_set_new(f->wanted, key, values);
	}
	json_array_append_new(values, value);
}

/* The key of a setting, of all flows or of the one that is named. Returns `key`. */
static char *flow_setting_key(const struct opt *row, const char *flow, char *key, size_t size)
{
	char plain[64];

	return setting_of_flow(flow, opt_key(row, plain, sizeof(plain)), key, size);
}

static void filter_read_as(void *arg, const struct opt *row, const char *kind, const char *name)
{
	char key[FLOW_NAME_MAX + 64], why[sizeof(((struct filter *)0)->why)];
	struct filter *f = arg;
	json_t *value = opt_parse(row, f->value, why, sizeof(why));

	(void)kind, (void)name;
	if (value)
		filter_want(f, flow_setting_key(row, f->flow, key, sizeof(key)), value);
	else if (!*f->why)
		memcpy(f->why, why, sizeof(why));
}

static bool filter_read(struct diag *d, const char *text, struct filter *f)
{
	const char *equals = strchr(text, '='), *name;

	f->text = text;
	f->wanted = or_abort(json_object());
	if (!equals || equals == text) {
		diag_add(d, 0, 0, "--only %s: must be KEY=VALUE", text);
		return false;
	}
	f->value = equals + 1;
	snprintf(f->name, sizeof(f->name), "%.*s", (int)(equals - text), text);
	name = setting_cut_flow(f->name, f->flow, sizeof(f->flow));
	if (!strcmp(name, "kernel") || !strcmp(name, "transport")) {
		filter_want(f, f->name, json_string(f->value));
		return true;
	}
	setting_each_named(name, filter_read_as, f);
	if (json_object_size(f->wanted))
		return true;
	if (*f->why) {
		diag_add(d, 0, 0, "--only %s: %s %s", text, f->name, f->why);
	} else {
		char hint[SUGGESTION_MAX];

		diag_add(d, 0, 0, "--only %s: unknown setting '%s'%s", text, f->name,
			 suggestion(setting_suggest(name), hint, sizeof(hint)));
	}
	return false;
}

/* Of a point that does not have all settings yet: could it have that one? */
static bool filter_is_open(const struct filter *f, const json_t *params)
{
	json_t *values;
	const char *key;

	json_object_foreach (f->wanted, key, values)
		if (json_object_get(params, key))
			return false;
	return true;
}

static bool filter_matches(const struct filter *f, const json_t *params)
{
	json_t *values, *value;
	const char *key;
	size_t i;

	json_object_foreach (f->wanted, key, values) {
		json_array_foreach (values, i, value) {
			if (json_equal(json_object_get(params, key), value))
				return true;
		}
	}
	return false;
}

/* Filters on one key are alternatives; different keys must all match. */
static bool filters_match(const json_t *params, const struct filter *filters, size_t count, bool is_whole)
{
	for (size_t i = 0; i < count; i++) {
		bool any = !is_whole && filter_is_open(&filters[i], params);

		for (size_t j = 0; j < count; j++)
			if (!strcmp(filters[i].name, filters[j].name))
				any |= filter_matches(&filters[j], params);
		if (!any)
			return false;
	}
	return true;
}

/* --set can make points equal. `seen`: a set of the params of those before, as text. */
static bool is_repeated(json_t *seen, const struct point *p)
{
	char *text = or_abort(json_dumps(p->params, JSON_COMPACT | JSON_SORT_KEYS));
	const bool repeated = json_object_get(seen, text);

	json_object_set_new(seen, text, json_true());
	free(text);
	return repeated;
}

static void keep_matching(struct spec *s, const struct filter *filters, size_t count)
{
	const size_t all = s->point_count;
	json_t *seen = or_abort(json_object());

	s->point_count = 0;
	for (size_t i = 0; i < all; i++) {
		struct point p = s->point[i];

		if (!filters_match(p.params, filters, count, true) || is_repeated(seen, &p)) {
			point_free(&p);
			continue;
		}
		p.id = (unsigned)s->point_count;
		s->point[s->point_count++] = p;
	}
	json_decref(seen);
}

/* The values that a filter's setting has in the points, as people write them; a set. */
struct values {
	const struct spec *spec;
	const char *flow;
	json_t *texts;
};

static void gather_values(void *arg, const struct opt *row, const char *kind, const char *name)
{
	struct values *v = arg;
	char key[FLOW_NAME_MAX + 64], text[128];

	(void)kind, (void)name;
	flow_setting_key(row, v->flow, key, sizeof(key));
	for (size_t i = 0; i < v->spec->point_count; i++) {
		const json_t *value = json_object_get(v->spec->point[i].params, key);

		if (value)
			json_object_set_new(v->texts, opt_text(row, value, text, sizeof(text)), json_true());
	}
}

/* Of no point that is left: which filter no point matches, and what it could have been. */
static void complain_unmatched(const struct spec *s, const struct filter *f, struct diag *d)
{
	struct values v = {s, f->flow, or_abort(json_object())};
	char list[400] = "";
	const char *text, *plain = f->name + (*f->flow ? strlen(f->flow) + 1 : 0);
	json_t *is_set;

	for (size_t i = 0; i < s->point_count; i++) {
		const char *named = json_string_value(json_object_get(s->point[i].params, f->name));

		if (filter_matches(f, s->point[i].params)) {
			json_decref(v.texts);
			return;
		}
		if (named)
			json_object_set_new(v.texts, named, json_true());
	}
	setting_each_named(plain, gather_values, &v);
	json_object_foreach (v.texts, text, is_set)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "", text);
	diag_add(d, 0, 0, "--only %s: no point has %s%s", f->text, *list ? "that, but " : "such a setting", list);
	json_decref(v.texts);
}

/* --only: its filters ("KEY=VALUE"; several for the same key are alternatives), and what is wrong with points that they leave
 * out. */
struct selection {
	struct filter *filters;
	size_t count;
	struct diag others;
};

/* Reads the filters, and complains. With one that cannot be read, nothing is left out. */
static void selection_open(struct selection *s, const struct spec_overrides *o, const char *path, struct diag *d)
{
	bool good = true;

	*s = (struct selection){.filters = or_abort(calloc(o->only_count + 1, sizeof(*s->filters))),
				.count = o->only_count};
	diag_init(&s->others, path);
	for (size_t i = 0; i < s->count; i++)
		good &= filter_read(d, o->only[i], &s->filters[i]);
	if (!good)
		for (size_t i = s->count; i; s->count = --i)
			json_decref(s->filters[i - 1].wanted);
}

static void selection_close(struct selection *s)
{
	for (size_t i = 0; i < s->count; i++)
		json_decref(s->filters[i].wanted);
	free(s->filters);
	diag_free(&s->others);
}

static bool selection_has(const void *arg, const json_t *params, bool is_whole)
{
	const struct selection *s = arg;

	return filters_match(params, s->filters, s->count, is_whole);
}

/* Why no point is left. What is wrong with those left out may be why they do not match, but for their kernels and transports. */
static void complain_selection(const struct spec *s, struct selection *only, struct diag *d)
{
	for (size_t i = 0; i < only->count; i++) {
		const char *name = only->filters[i].name;

		if (!only->others.said || !strcmp(name, "kernel") || !strcmp(name, "transport"))
			complain_unmatched(s, &only->filters[i], d);
	}
	if (d->count == 0)
		diag_move(&only->others, d);
	if (d->count == 0)
		diag_add(d, 0, 0, "none of %zu points matches --only", s->point_count);
}

/* Keep the points that match all filters, drop duplicates, and number the rest. */
static void spec_keep_points(struct spec *s, struct selection *only, const struct spec_overrides *o, struct diag *d)
{
	bool any = false;

	for (size_t i = 0; i < s->point_count; i++)
		any |= filters_match(s->point[i].params, only->filters, only->count, true);
	if (!any && d->count == 0 && !o->set_applies)
		complain_selection(s, only, d);
	keep_matching(s, only->filters, only->count);
}

/* "TITLE (only transport=shmem, size=32B)": whoever reads the title later knows what was left out. */
static void select_in_title(struct spec *s, const struct spec_overrides *o)
{
	char *only = NULL;

	for (size_t i = 0; i < o->only_count; i++)
		text_list_add(&only, ", ", "%s", o->only[i]);
	if (only) {
		char *title = fs_path("%s%s(only %s)", s->title, *s->title ? " " : "", only);

		free(s->title);
		s->title = title;
	}
	free(only);
}

struct reader {
	struct diag *d;
	const struct spec_overrides *overrides;
	const struct ynode *root;
	struct spec *spec;
	struct selection only;
	bool used[2 * AXES_MAX]; /* for optional axes: the command line's, then those of `quick` */
};

/* --- blocks --- */

static void add_overrides(struct reader *r, struct axes_block *b, char **names)
{
	for (size_t i = 0; i < r->overrides->set_count; i++) {
		const char *equals = strchr(r->overrides->set[i], '=');
		struct axis a = {names[i], 0, 0, NULL, equals + 1, true, &r->used[i]};

		axes_add(r->d, b, &a);
	}
}

static void read_block(struct reader *r, const struct ynode *node, char **names)
{
	struct axes_block b = {.line = node->line, .column = node->column};
	bool *quick_used = r->used + AXES_MAX;

	axes_add_mapping(r->d, &b, yaml_get(r->root, "settings"), NULL);
	if (node != r->root)
		axes_add_mapping(r->d, &b, node, NULL);
	if (r->overrides->quick) {
		axes_add_mapping(r->d, &b, yaml_get(r->root, "quick"), quick_used);
		if (node != r->root)
			axes_add_mapping(r->d, &b, yaml_get(node, "quick"), NULL);
	}
	add_overrides(r, &b, names);
	spec_add_points(r->spec, &b,
			&(struct points_wanted){r->only.count ? selection_has : NULL, &r->only, &r->only.others}, r->d);
}

static void read_matrix(struct reader *r, char **names)
{
	const struct ynode *matrix = yaml_get(r->root, "matrix");

	if (!matrix) {
		read_block(r, r->root, names);
		return;
	}
	if (matrix->kind != YNODE_SEQUENCE || matrix->count == 0) {
		diag_add(r->d, matrix->line, matrix->column,
			 "'matrix' is empty; it must be a list of blocks, each a mapping of settings");
		return;
	}
	for (size_t i = 0; i < matrix->count; i++)
		if (matrix->items[i]->kind == YNODE_MAPPING)
			read_block(r, matrix->items[i], names);
		else
			diag_add(r->d, matrix->items[i]->line, matrix->items[i]->column,
				 "a block of 'matrix' must be a mapping of settings");
}

/* Report settings that apply only where they exist, but do not exist anywhere. */
static void complain_unused(struct reader *r, char **names)
{
	const struct ynode *quick = yaml_get(r->root, "quick");

	for (size_t i = 0; i < r->overrides->set_count; i++) {
		bool applies = r->used[i];

		if (r->overrides->set_applies)
			r->overrides->set_applies[i] = applies;
		else if (!applies)
			diag_add(r->d, 0, 0, "--set %s: no point has a setting '%s'", r->overrides->set[i], names[i]);
	}
	for (size_t i = 0; r->overrides->quick && quick && i < quick->count && i < AXES_MAX; i++)
		if (!r->used[AXES_MAX + i])
			diag_add(r->d, quick->keys[i]->line, quick->keys[i]->column, "no point has a setting '%s'",
				 quick->keys[i]->scalar);
}

/* --- head --- */

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n > 0 && n <= 64 && !s[n] && isalnum((unsigned char)s[0]);
}

static char *read_text(struct reader *r, const char *key)
{
	const struct ynode *n = yaml_get(r->root, key);

	if (n && n->kind != YNODE_SCALAR)
		diag_add(r->d, n->line, n->column, "'%s' must be a text", key);
	return or_abort(strdup(n && n->kind == YNODE_SCALAR ? n->scalar : ""));
}

static void read_head(struct reader *r)
{
	static const char *const known[] = {"kblat",  "name",  "title",	 "source", "description", "settings",
					    "matrix", "quick", "claims", "judge",  NULL};
	const struct ynode *root = r->root, *version = yaml_get(root, "kblat"), *name = yaml_get(root, "name");

	for (size_t i = 0; i < root->count; i++) {
		const struct ynode *key = root->keys[i];

		if (!text_is_among(key->scalar, known))
			spec_complain_unknown(r->d, key->line, key->column, "key", key->scalar,
					      suggest(key->scalar, known));
	}
	if (!version)
		diag_add(r->d, root->line, root->column, "'kblat: 1', the version of the format, is missing");
	else if (version->kind != YNODE_SCALAR || strcmp(version->scalar, "1"))
		diag_add(r->d, version->line, version->column, "this kblat reads specs of version 1 only");
	if (!name)
		diag_add(r->d, root->line, root->column, "'name' is missing");
	else if (name->kind != YNODE_SCALAR || !is_name(name->scalar))
		diag_add(r->d, name->line, name->column,
			 "'name' must be up to 64 lower-case letters, digits, '-' and '_', a letter or digit first");
	r->spec->name = read_text(r, "name");
	r->spec->title = read_text(r, "title");
	r->spec->source = read_text(r, "source");
	r->spec->judge = claim_reader_judge(root, r->d);
}

/* The names of the settings in --set, from "KEY=VALUE"; NULL-terminated. */
static char **override_names(struct reader *r)
{
	const struct spec_overrides *o = r->overrides;
	char **names = or_abort(calloc(o->set_count + 1, sizeof(*names)));

	if (o->set_count > AXES_MAX / 2)
		diag_add(r->d, 0, 0, "more than %d --set", AXES_MAX / 2);
	for (size_t i = 0; i < o->set_count; i++) {
		const char *equals = strchr(o->set[i], '='), *name;
		char owner[64], flow[FLOW_NAME_MAX], hint[SUGGESTION_MAX];

		names[i] = or_abort(strndup(o->set[i], equals ? (size_t)(equals - o->set[i]) : strlen(o->set[i])));
		name = setting_cut_flow(names[i], flow, sizeof(flow));
		if (!equals || equals == o->set[i])
			diag_add(r->d, 0, 0, "--set %s: must be KEY=VALUE", o->set[i]);
		else if (strcmp(name, "kernel") && strcmp(name, "transport") &&
			 !setting_find_anywhere(name, owner, sizeof(owner)))
			diag_add(r->d, 0, 0, "--set %s: unknown setting '%s'%s", o->set[i], name,
				 suggestion(setting_suggest(name), hint, sizeof(hint)));
	}
	return names;
}

/* Keys of `a` that `b` lacks, or with another value. */
static void note_differing(json_t *keys, json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	json_object_foreach (a, key, value)
		if (!json_equal(value, json_object_get(b, key)))
			json_object_set_new(keys, key, json_true());
}

static void find_differing(struct spec *s)
{
	for (size_t i = 1; i < s->point_count; i++) {
		note_differing(s->differing, s->point[i].params, s->point[0].params);
		note_differing(s->differing, s->point[0].params, s->point[i].params);
	}
}

static void read_root(struct reader *r)
{
	if (r->root->kind != YNODE_MAPPING) {
		diag_add(r->d, r->root->line, r->root->column, "a spec is a mapping with 'kblat', 'name', 'matrix', …");
		return;
	}
	read_head(r);

	size_t before = r->d->said;
	char **names = override_names(r);

	selection_open(&r->only, r->overrides, r->d->file, r->d);
	if (r->d->said == before) {
		read_matrix(r, names);
		if (r->d->said == before) {
			bool whole = !r->overrides->quick && !r->overrides->set_count && !r->only.others.said;

			complain_unused(r, names);
			r->spec->claims = spec_claims_read(r->root, r->spec->point, r->spec->point_count, whole, r->d);
			spec_keep_points(r->spec, &r->only, r->overrides, r->d);
			select_in_title(r->spec, r->overrides);
			find_differing(r->spec);
		}
	}
	selection_close(&r->only);
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

static char *find_file(const char *path)
{
	return fs_is_directory(path) ? fs_path("%s/spec.yaml", path) : fs_path("%s", path);
}

int spec_load(const char *path, const struct spec_overrides *overrides, struct spec *out, struct diag *d)
{
	struct ynode *root = NULL;

	memset(out, 0, sizeof(*out));
	out->path = find_file(path);
	out->quick = overrides->quick;
	out->named = json_pack("[s, s]", "kernel", "transport");
	out->named_keys = json_pack("{s:b, s:b}", "kernel", 1, "transport", 1);
	out->differing = json_object();
	diag_init(d, out->path);
	diag_init(&out->warnings, out->path);

	int rc = yaml_load_file(out->path, d, &root, &out->text, &out->length);

	if (root)
		spec_import(out, &root, overrides, d);
	if (root) {
		struct reader r = {.d = d, .overrides = overrides, .root = root, .spec = out};

		read_root(&r);
	}
	yaml_free(root);
	if (d->count && !rc)
		rc = -EINVAL;
	return rc;
}

json_t *spec_points_json(const struct spec *s)
{
	json_t *points = json_array();

	for (size_t i = 0; i < s->point_count; i++)
		json_array_append_new(points,
				      json_pack("{s:I, s:O}", "id", (json_int_t)i, "params", s->point[i].params));
	return points;
}

void spec_free(struct spec *s)
{
	free(s->path);
	free(s->name);
	free(s->title);
	free(s->source);
	free(s->text);
	free(s->original);
	diag_free(&s->warnings);
	for (size_t i = 0; i < s->point_count; i++)
		point_free(&s->point[i]);
	free(s->point);
	json_decref(s->named);
	json_decref(s->named_keys);
	json_decref(s->differing);
	claim_list_free(&s->claims);
	json_decref(s->judge);
	memset(s, 0, sizeof(*s));
}
