#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/diag.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/yaml.h"
#include "point/settings.h"
#include "spec/spec.h"
#include "spec/spec_claims.h"

/* A value as somebody wrote it, and where. */
struct written {
	const char *text;
	unsigned line, column;
};

/* A setting with the values that it takes: more than one make an axis of the matrix. */
struct axis {
	const char *name;
	unsigned line, column;
	const struct ynode *values; /* NULL: from the command line */
	const char *text;	    /* of the command line */
	bool optional;		    /* applies only to the points that have such a setting */
	bool *used;		    /* set when some point had it */
};

#define MAX_AXES 64

struct block {
	struct axis axes[MAX_AXES];
	size_t count;
	unsigned line, column;
};

struct reader {
	struct diag *d;
	const struct spec_overrides *overrides;
	const struct ynode *root;
	struct spec *spec;
	bool used[2 * MAX_AXES]; /* optional axes: the command line's, then those of `quick` */
};

static size_t value_count(const struct axis *a)
{
	return a->values && a->values->kind == YNODE_SEQUENCE ? a->values->count : 1;
}

static struct written value_at(const struct axis *a, size_t i)
{
	const struct ynode *n = a->values;

	if (!n)
		return (struct written){a->text, 0, 0};
	if (n->kind == YNODE_SEQUENCE)
		n = n->items[i];
	return (struct written){n->scalar, n->line, n->column};
}

static bool check_values(struct diag *d, const char *name, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR)
		return true;
	if (n->kind == YNODE_MAPPING || n->count == 0) {
		diag_add(d, n->line, n->column, "setting '%s' wants a value or a list of values, not %s", name,
			 n->kind == YNODE_MAPPING ? "a mapping" : "an empty list");
		return false;
	}
	for (size_t i = 0; i < n->count; i++)
		if (n->items[i]->kind != YNODE_SCALAR) {
			diag_add(d, n->items[i]->line, n->items[i]->column, "a value of setting '%s' must be a scalar",
				 name);
			return false;
		}
	return true;
}

/* A later axis of the same name replaces an earlier one in its place: quick over block over settings. */
static void put_axis(struct reader *r, struct block *b, const struct axis *axis)
{
	size_t i = 0;

	while (i < b->count && strcmp(b->axes[i].name, axis->name))
		i++;
	if (i == MAX_AXES) {
		diag_add(r->d, axis->line, axis->column, "more than %d settings", MAX_AXES);
		return;
	}
	bool was_required = i < b->count && !b->axes[i].optional;

	b->axes[i] = *axis;
	if (was_required)
		b->axes[i].optional = false;
	if (was_required && axis->used)
		*axis->used = true;
	if (i == b->count)
		b->count++;
}

static void add_mapping(struct reader *r, struct block *b, const struct ynode *map, bool *used)
{
	if (!map)
		return;
	if (map->kind != YNODE_MAPPING) {
		diag_add(r->d, map->line, map->column, "wants a mapping of settings");
		return;
	}
	for (size_t i = 0; i < map->count; i++) {
		const struct ynode *key = map->keys[i];
		struct axis a = {key->scalar,
				 key->line,
				 key->column,
				 map->items[i],
				 NULL,
				 used != NULL,
				 used && i < MAX_AXES ? &used[i] : NULL};

		if (strcmp(a.name, "quick") && check_values(r->d, a.name, map->items[i]))
			put_axis(r, b, &a);
	}
}

static void add_overrides(struct reader *r, struct block *b, char **names)
{
	for (size_t i = 0; i < r->overrides->set_count; i++) {
		const char *equals = strchr(r->overrides->set[i], '=');
		struct axis a = {names[i], 0, 0, NULL, equals + 1, true, &r->used[i]};

		put_axis(r, b, &a);
	}
}

static const struct axis *find_axis(const struct block *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (!strcmp(b->axes[i].name, name))
			return &b->axes[i];
	return NULL;
}

static void complain_unknown(struct diag *d, unsigned line, unsigned column, const char *what, const char *name,
			     const char *nearest)
{
	char hint[SUGGESTION_MAX];

	diag_add(d, line, column, "unknown %s '%s'%s", what, name, suggestion(nearest, hint, sizeof(hint)));
}

static const char *suggest_kernel(const char *name)
{
	const char *names[64] = {0};

	for (size_t i = 0; i < 63 && kernels[i]; i++)
		names[i] = kernels[i]->name;
	return suggest(name, names);
}

static const char *suggest_transport(const char *name)
{
	const char *names[64] = {0};

	for (size_t i = 0; i < 63 && transports[i]; i++)
		names[i] = transports[i]->name;
	return suggest(name, names);
}

/* One point of a block: which value of each axis. */
struct choice {
	const struct block *block;
	const size_t *index;
	const struct kernel_ops *kernel;
	const struct transport_ops *transport;
};

static struct written chosen(const struct choice *c, const char *name)
{
	const struct axis *a = find_axis(c->block, name);

	return a ? value_at(a, c->index[a - c->block->axes]) : (struct written){NULL, c->block->line, c->block->column};
}

static bool choose_parts(struct reader *r, struct choice *c)
{
	struct written kernel = chosen(c, "kernel"), transport = chosen(c, "transport");

	if (!kernel.text)
		diag_add(r->d, kernel.line, kernel.column, "no 'kernel' is given here or under 'settings'");
	else if (!(c->kernel = kernel_find(kernel.text)))
		complain_unknown(r->d, kernel.line, kernel.column, "kernel", kernel.text, suggest_kernel(kernel.text));
	if (!transport.text)
		diag_add(r->d, transport.line, transport.column, "no 'transport' is given here or under 'settings'");
	else if (!(c->transport = transport_find(transport.text)))
		complain_unknown(r->d, transport.line, transport.column, "transport", transport.text,
				 suggest_transport(transport.text));
	return c->kernel && c->transport;
}

static void complain_setting(struct diag *d, const struct axis *a, const struct choice *c)
{
	char owner[64];

	if (setting_find_anywhere(a->name, owner, sizeof(owner)))
		diag_add(d, a->line, a->column,
			 "setting '%s' belongs to %s; a point with kernel %s and transport %s has none of that name",
			 a->name, owner, c->kernel->name, c->transport->name);
	else
		complain_unknown(d, a->line, a->column, "setting", a->name, setting_suggest(a->name));
}

static void note_named(struct spec *s, const char *key)
{
	if (!json_has_string(s->named, key))
		json_array_append_new(s->named, json_string(key));
}

static void set_param(struct reader *r, json_t *params, const struct axis *a, const struct choice *c)
{
	const struct opt *row = setting_find(c->kernel, c->transport, a->name);
	struct written w = value_at(a, c->index[a - c->block->axes]);
	char why[256], key[64];

	if (!row) {
		if (!a->optional)
			complain_setting(r->d, a, c);
		return;
	}
	if (a->used)
		*a->used = true;
	json_t *value = opt_parse(row, w.text, why, sizeof(why));

	if (value) {
		json_object_set_new(params, opt_key(row, key, sizeof(key)), value);
		note_named(r->spec, key);
	} else {
		diag_add(r->d, w.line, w.column, "%s%s %s", w.line ? "" : "--set ", a->name, why);
	}
}

static void set_default(void *params, const struct opt *row)
{
	char key[64];

	json_object_set_new(params, opt_key(row, key, sizeof(key)), opt_default(row));
}

/* Settings as a transport is to see them: with the size of a message, where the kernel makes it from others. */
static json_t *with_size(const json_t *params, const struct choice *c)
{
	json_t *all = json_copy((json_t *)params);
	int64_t own = c->transport->overhead ? (int64_t)c->transport->overhead(params) : 0;

	if (c->kernel->size)
		json_object_set_new(all, "size_bytes", json_integer(c->kernel->size(params) + own));
	return all;
}

/* Contradictions between settings, each part's own. */
static void check_point(struct reader *r, const json_t *params, const struct choice *c)
{
	char why[256], poll[32];
	unsigned line = c->block->line, column = c->block->column;
	json_t *sized = with_size(params, c);

	if (c->kernel->check && c->kernel->check(params, why, sizeof(why)))
		diag_add(r->d, line, column, "%s", why);
	if (c->transport->check && c->transport->check(sized, why, sizeof(why)))
		diag_add(r->d, line, column, "%s", why);
	json_decref(sized);
	if (!kernel_loops_find(c->kernel, c->transport->name))
		diag_add(r->d, line, column, "the kernel %s does not run over the transport %s", c->kernel->name,
			 c->transport->name);
	setting_text(params, "poll", poll, sizeof(poll));
	if (!(c->transport->poll_modes & 1u << (strcmp(poll, "event") ? POLL_BUSY : POLL_EVENT)))
		diag_add(r->d, line, column, "the transport %s can't 'poll: %s'", c->transport->name, poll);
}

static void add_point(struct reader *r, const struct block *b, const size_t *index)
{
	struct choice c = {b, index, NULL, NULL};
	size_t complaints = r->d->count;

	if (!choose_parts(r, &c))
		return;

	json_t *params = json_object();

	json_object_set_new(params, "kernel", json_string(c.kernel->name));
	json_object_set_new(params, "transport", json_string(c.transport->name));
	setting_each(c.kernel, c.transport, set_default, params);
	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->axes[i].name, "kernel") && strcmp(b->axes[i].name, "transport"))
			set_param(r, params, &b->axes[i], &c);
	if (r->d->count == complaints)
		check_point(r, params, &c);
	json_array_append_new(r->spec->points, params);
}

static size_t product(const struct block *b)
{
	size_t n = 1;

	for (size_t i = 0; i < b->count && n <= SPEC_MAX_POINTS; i++)
		n *= value_count(&b->axes[i]);
	return n;
}

/* The cross product of a block's axes, the last varying fastest. */
static void expand(struct reader *r, const struct block *b)
{
	size_t index[MAX_AXES] = {0};

	if (json_array_size(r->spec->points) + product(b) > SPEC_MAX_POINTS) {
		diag_add(r->d, b->line, b->column, "makes more than %d points", SPEC_MAX_POINTS);
		return;
	}
	for (;;) {
		add_point(r, b, index);

		size_t i = b->count;

		while (i > 0 && ++index[i - 1] == value_count(&b->axes[i - 1]))
			index[--i] = 0;
		if (i == 0)
			return;
	}
}

static void read_block(struct reader *r, const struct ynode *node, char **names)
{
	struct block b = {.line = node->line, .column = node->column};
	bool *quick_used = r->used + MAX_AXES;

	add_mapping(r, &b, yaml_get(r->root, "settings"), NULL);
	if (node != r->root)
		add_mapping(r, &b, node, NULL);
	if (r->overrides->quick) {
		add_mapping(r, &b, yaml_get(r->root, "quick"), quick_used);
		if (node != r->root)
			add_mapping(r, &b, yaml_get(node, "quick"), NULL);
	}
	add_overrides(r, &b, names);
	expand(r, &b);
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
			 "'matrix' is empty; it wants a list of blocks, each a mapping of settings");
		return;
	}
	for (size_t i = 0; i < matrix->count; i++)
		if (matrix->items[i]->kind == YNODE_MAPPING)
			read_block(r, matrix->items[i], names);
		else
			diag_add(r->d, matrix->items[i]->line, matrix->items[i]->column,
				 "a block of 'matrix' wants a mapping of settings");
}

/* Settings that were to apply where they exist, and exist nowhere. */
static void complain_unused(struct reader *r, char **names)
{
	const struct ynode *quick = yaml_get(r->root, "quick");

	for (size_t i = 0; i < r->overrides->set_count; i++) {
		bool applies = r->used[i] || !strcmp(names[i], "kernel") || !strcmp(names[i], "transport");

		if (r->overrides->set_applies)
			r->overrides->set_applies[i] = applies;
		else if (!applies)
			diag_add(r->d, 0, 0, "--set %s: no point has a setting '%s'", r->overrides->set[i], names[i]);
	}
	for (size_t i = 0; r->overrides->quick && quick && i < quick->count && i < MAX_AXES; i++)
		if (!r->used[MAX_AXES + i])
			diag_add(r->d, quick->keys[i]->line, quick->keys[i]->column, "no point has a setting '%s'",
				 quick->keys[i]->scalar);
}

struct filter {
	const char *text;
	char name[64];
	char key[64];
	json_t *value;
};

static bool read_filter(struct diag *d, const char *text, struct filter *f)
{
	const char *equals = strchr(text, '=');
	char owner[64], why[256];

	f->text = text;
	f->value = NULL;
	if (!equals || equals == text) {
		diag_add(d, 0, 0, "--only %s: wants KEY=VALUE", text);
		return false;
	}
	snprintf(f->name, sizeof(f->name), "%.*s", (int)(equals - text), text);
	snprintf(f->key, sizeof(f->key), "%s", f->name);
	if (!strcmp(f->name, "kernel") || !strcmp(f->name, "transport")) {
		f->value = json_string(equals + 1);
		return true;
	}
	const struct opt *row = setting_find_anywhere(f->name, owner, sizeof(owner));

	if (!row) {
		char hint[SUGGESTION_MAX];

		diag_add(d, 0, 0, "--only %s: unknown setting '%s'%s", text, f->name,
			 suggestion(setting_suggest(f->name), hint, sizeof(hint)));
		return false;
	}
	opt_key(row, f->key, sizeof(f->key));
	f->value = opt_parse(row, equals + 1, why, sizeof(why));
	if (!f->value)
		diag_add(d, 0, 0, "--only %s: %s %s", text, f->name, why);
	return f->value != NULL;
}

/* Filters on one key are alternatives; different keys must all match. */
static bool matches(const json_t *params, const struct filter *filters, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool any = false;

		for (size_t j = 0; j < count; j++)
			if (!strcmp(filters[i].name, filters[j].name))
				any |= json_equal(json_object_get(params, filters[j].key), filters[j].value);
		if (!any)
			return false;
	}
	return true;
}

static bool is_repeated(const json_t *points, const json_t *params)
{
	size_t i;
	const json_t *p;

	json_array_foreach (points, i, p)
		if (json_equal(json_object_get(p, "params"), params))
			return true;
	return false;
}

/* Number what remains after --only; --set can make points alike: one is kept. */
static void keep_points(struct reader *r)
{
	const struct spec_overrides *o = r->overrides;
	struct filter *filters = calloc(o->only_count + 1, sizeof(*filters));
	bool good = true;
	json_t *kept = json_array(), *params;
	size_t i;

	for (i = 0; i < o->only_count; i++)
		good &= read_filter(r->d, o->only[i], &filters[i]);
	json_array_foreach (r->spec->points, i, params)
		if (good && matches(params, filters, o->only_count) && !is_repeated(kept, params))
			json_array_append_new(
			    kept, json_pack("{s:I, s:O}", "id", (json_int_t)json_array_size(kept), "params", params));
	if (good && r->d->count == 0 && json_array_size(kept) == 0 && !o->set_applies)
		diag_add(r->d, 0, 0, "--only leaves no point of %zu", json_array_size(r->spec->points));
	for (i = 0; i < o->only_count; i++)
		json_decref(filters[i].value);
	free(filters);
	json_decref(r->spec->points);
	r->spec->points = kept;
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n > 0 && n <= 64 && !s[n] && isalnum((unsigned char)s[0]);
}

static char *read_text(struct reader *r, const char *key)
{
	const struct ynode *n = yaml_get(r->root, key);

	if (n && n->kind != YNODE_SCALAR)
		diag_add(r->d, n->line, n->column, "'%s' wants a text", key);
	return strdup(n && n->kind == YNODE_SCALAR ? n->scalar : "");
}

static void read_head(struct reader *r)
{
	static const char *const known[] = {"kblat",	"name",	  "title", "source", "description",
					    "settings", "matrix", "quick", "claims", NULL};
	const struct ynode *root = r->root, *version = yaml_get(root, "kblat"), *name = yaml_get(root, "name");

	for (size_t i = 0; i < root->count; i++) {
		const struct ynode *key = root->keys[i];
		size_t k = 0;

		while (known[k] && strcmp(known[k], key->scalar))
			k++;
		if (!known[k])
			complain_unknown(r->d, key->line, key->column, "key", key->scalar, suggest(key->scalar, known));
	}
	if (!version)
		diag_add(r->d, root->line, root->column, "'kblat: 1', the version of the spec's form, is missing");
	else if (version->kind != YNODE_SCALAR || strcmp(version->scalar, "1"))
		diag_add(r->d, version->line, version->column, "this kblat reads specs of version 1 only");
	if (!name)
		diag_add(r->d, root->line, root->column, "'name' is missing");
	else if (name->kind != YNODE_SCALAR || !is_name(name->scalar))
		diag_add(r->d, name->line, name->column,
			 "'name' wants up to 64 lower-case letters, digits, '-' and '_', a letter or digit first");
	r->spec->name = read_text(r, "name");
	r->spec->title = read_text(r, "title");
	r->spec->source = read_text(r, "source");
}

/* The names of --set's settings, cut from "KEY=VALUE"; NULL-terminated. */
static char **override_names(struct reader *r)
{
	const struct spec_overrides *o = r->overrides;
	char **names = calloc(o->set_count + 1, sizeof(*names));

	if (o->set_count > MAX_AXES / 2)
		diag_add(r->d, 0, 0, "more than %d --set", MAX_AXES / 2);
	for (size_t i = 0; i < o->set_count; i++) {
		const char *equals = strchr(o->set[i], '=');
		char owner[64];

		names[i] = strndup(o->set[i], equals ? (size_t)(equals - o->set[i]) : strlen(o->set[i]));
		if (!equals || equals == o->set[i])
			diag_add(r->d, 0, 0, "--set %s: wants KEY=VALUE", o->set[i]);
		else if (strcmp(names[i], "kernel") && strcmp(names[i], "transport") &&
			 !setting_find_anywhere(names[i], owner, sizeof(owner))) {
			char hint[SUGGESTION_MAX];

			diag_add(r->d, 0, 0, "--set %s: unknown setting '%s'%s", o->set[i], names[i],
				 suggestion(setting_suggest(names[i]), hint, sizeof(hint)));
		}
	}
	return names;
}

static void read_root(struct reader *r)
{
	if (r->root->kind != YNODE_MAPPING) {
		diag_add(r->d, r->root->line, r->root->column, "a spec is a mapping with 'kblat', 'name', 'matrix', …");
		return;
	}
	read_head(r);

	size_t before = r->d->count;
	char **names = override_names(r);

	if (r->d->count == before) {
		read_matrix(r, names);
		if (r->d->count == before) {
			bool whole = !r->overrides->quick && !r->overrides->set_count;

			complain_unused(r, names);
			r->spec->claims = spec_claims_read(r->root, r->spec->points, whole, r->d);
			keep_points(r);
		}
	}
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

static char *find_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? fs_path("%s/spec.yaml", path) : fs_path("%s", path);
}

int spec_load(const char *path, const struct spec_overrides *overrides, struct spec *out, struct diag *d)
{
	struct ynode *root = NULL;

	memset(out, 0, sizeof(*out));
	out->path = find_file(path);
	out->quick = overrides->quick;
	out->points = json_array();
	out->named = json_pack("[s, s]", "kernel", "transport");
	diag_init(d, out->path);

	int rc = yaml_load_file(out->path, d, &root, &out->text, &out->length);

	if (root) {
		struct reader r = {d, overrides, root, out, {false}};

		read_root(&r);
	}
	yaml_free(root);
	if (d->count && !rc)
		rc = -EINVAL;
	return rc;
}

void spec_free(struct spec *s)
{
	free(s->path);
	free(s->name);
	free(s->title);
	free(s->source);
	free(s->text);
	json_decref(s->points);
	json_decref(s->named);
	claim_list_free(&s->claims);
	memset(s, 0, sizeof(*s));
}
