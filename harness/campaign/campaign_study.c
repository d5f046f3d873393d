#include "campaign/campaign_study.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/yaml.h"
#include "run/forecast_run.h"
#include "run/preflight.h"

static bool has_file(const char *dir, const char *name)
{
	char *path = fs_path("%s/%s", dir, name);
	struct stat st;
	bool there = !stat(path, &st) && S_ISREG(st.st_mode);

	free(path);
	return there;
}

static bool has_spec(const char *dir, const char *name)
{
	char *path = fs_path("%s/%s", dir, name);
	bool there = *name != '.' && has_file(path, "spec.yaml");

	free(path);
	return there;
}

/* --- the study's folder --- */

bool study_is(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = has_spec(path, entry->d_name);
	closedir(dir);
	return found && !has_file(path, "spec.yaml");
}

static void add_experiment(struct study *s, const char *name)
{
	s->items = or_abort(realloc(s->items, (s->count + 1) * sizeof(*s->items)));
	s->items[s->count++] =
	    (struct study_experiment){.name = fs_path("%s", name), .path = fs_path("%s/%s", s->path, name)};
}

static int by_name(const void *a, const void *b)
{
	const struct study_experiment *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int study_find_experiments(struct study *s, struct err *e)
{
	DIR *dir = opendir(s->path);
	const struct dirent *entry;

	if (!dir)
		return err_sys(e, -errno, s->path, "look for experiments");
	while ((entry = readdir(dir)))
		if (has_spec(s->path, entry->d_name))
			add_experiment(s, entry->d_name);
	closedir(dir);
	qsort(s->items, s->count, sizeof(*s->items), by_name);
	return 0;
}

/* --- study.yaml --- */

/* Move an experiment to index `place`; the others keep their order. False if there is none of that
 * name at or after it. */
static bool move_to(struct study *s, const char *name, size_t place)
{
	struct study_experiment found;
	size_t i = place;

	while (i < s->count && strcmp(s->items[i].name, name))
		i++;
	if (i == s->count)
		return false;
	found = s->items[i];
	memmove(&s->items[place + 1], &s->items[place], (i - place) * sizeof(found));
	s->items[place] = found;
	return true;
}

static void read_order(struct study *s, const struct ynode *order, struct diag *d)
{
	size_t place = 0;

	if (order->kind != YNODE_SEQUENCE) {
		diag_add(d, order->line, order->column, "'order' must be a list of experiments");
		return;
	}
	for (size_t i = 0; i < order->count; i++) {
		const struct ynode *n = order->items[i];

		if (n->kind == YNODE_SCALAR && move_to(s, n->scalar, place))
			place++;
		else
			diag_add(d, n->line, n->column,
				 "'order' names an experiment that is not in this folder, or is listed twice");
	}
}

static void read_study(struct study *s, const struct ynode *root, struct diag *d)
{
	static const char *const known[] = {"kblat", "title", "order", NULL};
	const struct ynode *title = yaml_get(root, "title"), *order = yaml_get(root, "order");

	if (root->kind != YNODE_MAPPING) {
		diag_add(d, root->line, root->column, "a study is a mapping with 'title' and 'order'");
		return;
	}
	for (size_t i = 0; i < root->count; i++) {
		const struct ynode *key = root->keys[i];
		const char *near = suggest(key->scalar, known);
		size_t k = 0;

		while (known[k] && strcmp(known[k], key->scalar))
			k++;
		if (!known[k])
			diag_add(d, key->line, key->column, "unknown key '%s'%s%s%s", key->scalar,
				 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	if (title && title->kind != YNODE_SCALAR)
		diag_add(d, title->line, title->column, "'title' must be a text");
	else if (title) {
		free(s->title);
		s->title = fs_path("%s", title->scalar);
	}
	if (order)
		read_order(s, order, d);
}

static int read_yaml(struct study *s, FILE *complaints)
{
	char *path = fs_path("%s/study.yaml", s->path), *text = NULL;
	struct ynode *root = NULL;
	struct diag d;
	size_t length;
	int rc = 0;

	if (has_file(s->path, "study.yaml")) {
		diag_init(&d, path);
		rc = yaml_load_file(path, &d, &root, &text, &length);
		if (root)
			read_study(s, root, &d);
		if (d.count) {
			diag_print(&d, complaints);
			rc = -EINVAL;
		}
		diag_free(&d);
		yaml_free(root);
		free(text);
	}
	free(path);
	return rc;
}

/* --- specs --- */

static int load_spec(struct study_experiment *x, const struct spec_overrides *overrides, const char *runs,
		     FILE *complaints)
{
	struct spec_overrides own = *overrides;
	struct spec spec;
	struct diag d;
	int rc;

	x->applies = calloc(overrides->set_count + 1, sizeof(*x->applies));
	own.set_applies = x->applies;
	rc = spec_load(x->path, &own, &spec, &d);
	if (rc && complaints)
		diag_print(&d, complaints);
	if (!rc)
		x->expected = forecast_run(spec.point, spec.point_count, runs, spec.name, NULL);
	x->points = spec_points_json(&spec);
	x->messages = preflight_messages(spec.point, spec.point_count);
	diag_free(&d);
	spec_free(&spec);
	return rc;
}

/* Rejects settings that no experiment has, and overrides that leave no points. */
static int check_overrides(const struct study *s, const struct spec_overrides *o, struct err *e)
{
	size_t points = 0;

	for (size_t k = 0; k < o->set_count; k++) {
		bool applies = false;

		for (size_t i = 0; i < s->count; i++)
			applies |= s->items[i].applies[k];
		if (!applies)
			return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
				       "--set %s: no point of any experiment has this setting", o->set[k]);
	}
	for (size_t i = 0; i < s->count; i++)
		points += json_array_size(s->items[i].points);
	return points ? 0
		      : err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL, "no point of any experiment matches --only");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : "study";
}

int study_load(const char *path, const struct spec_overrides *overrides, const char *runs, struct study *out,
	       FILE *complaints, struct err *e)
{
	char *own_runs;
	int rc, bad = 0;

	*out = (struct study){.path = realpath(path, NULL)};
	if (!out->path)
		return err_sys(e, -errno, path, "find the study");
	out->name = fs_path("%s", base_name(out->path));
	out->title = fs_path("%s", "");
	rc = study_find_experiments(out, e);
	if (rc)
		return rc;
	bad = read_yaml(out, complaints);
	own_runs = fs_path("%s/runs", out->path);
	for (size_t i = 0; i < out->count; i++)
		if (load_spec(&out->items[i], overrides, runs ? runs : own_runs, complaints))
			bad = -EINVAL;
	free(own_runs);
	return bad ? -EINVAL : check_overrides(out, overrides, e);
}

/* Borrowed strings; the caller frees the array. */
static const char **borrow_strings(const json_t *list, size_t *count)
{
	const char **items;
	const json_t *text;
	size_t i;

	*count = json_array_size(list);
	items = or_abort(calloc(*count + 1, sizeof(*items)));
	json_array_foreach (list, i, text)
		items[i] = json_is_string(text) ? json_string_value(text) : "";
	return items;
}

int study_forecast(const json_t *x, const json_t *options, const char *runs, struct forecast *expected)
{
	struct spec_overrides o = {.quick = json_is_true(json_object_get(options, "quick"))};
	const char **set = borrow_strings(json_object_get(x, "set"), &o.set_count);
	const char **only = borrow_strings(json_object_get(options, "only"), &o.only_count);
	struct study_experiment again = {.path = (char *)json_text(x, "spec")};
	int rc;

	o.set = set;
	o.only = only;
	rc = load_spec(&again, &o, runs, NULL);
	*expected = again.expected;
	free(again.applies);
	json_decref(again.points);
	free(only);
	free(set);
	return rc;
}

void study_free(struct study *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->items[i].name);
		free(s->items[i].path);
		free(s->items[i].applies);
		json_decref(s->items[i].points);
	}
	free(s->items);
	free(s->path);
	free(s->name);
	free(s->title);
	*s = (struct study){0};
}
