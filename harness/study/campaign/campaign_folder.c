#include "study/campaign/campaign_folder.h"

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
#include "common/text.h"
#include "common/yaml.h"
#include "measure/run/environment.h"
#include "measure/run/forecast.h"
#include "measure/run/preflight.h"

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

bool experiments_is(const char *path)
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

static void add_experiment(struct experiments *s, const char *name)
{
	s->items = or_abort(realloc(s->items, (s->count + 1) * sizeof(*s->items)));
	s->items[s->count++] =
	    (struct experiment){.name = fs_path("%s", name), .path = fs_path("%s/%s", s->path, name)};
}

static int by_name(const void *a, const void *b)
{
	const struct experiment *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int find_experiments(struct experiments *s, struct err *e)
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
static bool move_to(struct experiments *s, const char *name, size_t place)
{
	struct experiment found;
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

static void read_order(struct experiments *s, const struct ynode *order, struct diag *d)
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

static void read_study(struct experiments *s, const struct ynode *root, struct diag *d)
{
	static const char *const known[] = {"kblat", "title", "order", NULL};
	const struct ynode *title = yaml_get(root, "title"), *order = yaml_get(root, "order");
	char hint[SUGGESTION_MAX];

	if (root->kind != YNODE_MAPPING) {
		diag_add(d, root->line, root->column, "a study is a mapping with 'title' and 'order'");
		return;
	}
	for (size_t i = 0; i < root->count; i++) {
		const struct ynode *key = root->keys[i];

		if (!text_is_among(key->scalar, known))
			diag_add(d, key->line, key->column, "unknown key '%s'%s", key->scalar,
				 suggestion(suggest(key->scalar, known), hint, sizeof(hint)));
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

static int read_yaml(struct experiments *s, FILE *complaints)
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

/* What is wrong with the command line is so for each experiment, and is said for the first. */
static bool is_news(const struct diag *d, struct diag *said)
{
	const size_t before = said->count;
	bool is = false;

	for (size_t i = 0; i < d->count; i++)
		if (d->items[i].line || strncmp(d->items[i].text, "--", 2) != 0)
			is = true;
		else
			diag_add(said, 0, 0, "%s", d->items[i].text);
	return is || said->count > before;
}

static int load_spec(struct experiment *x, const struct spec_overrides *overrides, const char *runs,
		     json_t *environments, struct diag *said, FILE *complaints)
{
	struct spec_overrides own = *overrides;
	struct spec spec;
	struct diag d;
	int rc;

	x->applies = or_abort(calloc(overrides->set_count + 1, sizeof(*x->applies)));
	own.set_applies = x->applies;
	rc = spec_load(x->path, &own, &spec, &d);
	if (rc && complaints && is_news(&d, said))
		diag_print(&d, complaints);
	if (!rc)
		x->expected = forecast_run(&spec, runs, NULL);
	x->points = spec_points_json(&spec);
	x->messages = preflight_messages(spec.point, spec.point_count);
	if (environments)
		environment_names(spec.point, spec.point_count, environments);
	x->missing = preflight_count_missing(spec.point, spec.point_count, &x->why_missing);
	diag_free(&d);
	spec_free(&spec);
	return rc;
}

/* Rejects settings that no experiment has, and overrides that leave no points. */
static int check_overrides(const struct experiments *s, const struct spec_overrides *o, struct err *e)
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

int experiments_load(const char *path, const struct spec_overrides *overrides, const char *runs,
		     struct experiments *out, FILE *complaints, struct err *e)
{
	struct diag said;
	char *own_runs;
	int rc, bad = 0;

	*out = (struct experiments){.path = realpath(path, NULL), .environments = json_object()};
	if (!out->path)
		return err_set(e, -errno, STATUS_USAGE, path, NULL, "this study cannot be read: %s", strerror(errno));
	out->name = fs_path("%s", base_name(out->path));
	out->title = fs_path("%s", "");
	rc = find_experiments(out, e);
	if (rc)
		return rc;
	bad = read_yaml(out, complaints);
	own_runs = fs_path("%s/runs", out->path);
	diag_init(&said, path);
	for (size_t i = 0; i < out->count; i++)
		if (load_spec(&out->items[i], overrides, runs ? runs : own_runs, out->environments, &said, complaints))
			bad = -EINVAL;
	diag_free(&said);
	free(own_runs);
	return bad ? -EINVAL : check_overrides(out, overrides, e);
}

int experiments_forecast(const struct study *s, const struct cell *c, const char *runs, struct forecast *expected)
{
	const struct spec_overrides o = {.quick = s->options.quick,
					 .set = (const char *const *)c->set.word,
					 .set_count = c->set.count,
					 .only = (const char *const *)s->options.only.word,
					 .only_count = s->options.only.count};
	struct experiment again = {.path = c->spec};
	int rc = load_spec(&again, &o, runs, NULL, NULL, NULL);

	*expected = again.expected;
	free(again.applies);
	json_decref(again.points);
	return rc;
}

void experiments_free(struct experiments *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->items[i].name);
		free(s->items[i].path);
		free(s->items[i].applies);
		json_decref(s->items[i].points);
	}
	free(s->items);
	json_decref(s->environments);
	free(s->path);
	free(s->name);
	free(s->title);
	*s = (struct experiments){0};
}

void experiments_say_missing(const struct experiments *all, FILE *out)
{
	size_t points = 0, missing = 0, experiments = 0;
	const char *why = NULL;

	for (size_t i = 0; i < all->count; i++) {
		const struct experiment *x = &all->items[i];

		points += json_array_size(x->points);
		missing += x->missing;
		experiments += x->missing > 0;
		why = x->missing ? x->why_missing : why;
	}
	if (missing)
		fprintf(out, "kblat: %zu of %zu points, in %zu of %zu experiments, are not possible here: %s\n",
			missing, points, experiments, all->count, why);
}

/* --- a dry run --- */

static json_t *experiment_json(const struct experiment *x)
{
	json_t *j = json_pack("{s:s, s:o, s:O}", "name", x->name, "spec", json_outside(x->path), "points", x->points);

	forecast_to_json(&x->expected, j);
	return j;
}

static void print_experiment(const struct experiment *x, bool is_left)
{
	char text[FORECAST_TEXT_MAX];

	printf("%-28s %5zu points %12llu messages  %12s%s\n", x->name, json_array_size(x->points), x->messages,
	       forecast_text(forecast_seconds(&x->expected), text, sizeof(text)), is_left ? "  left" : "");
}

void experiments_show(const struct experiments *all, double budget_s, bool json)
{
	json_t *list = json_array(), *j;
	unsigned long long messages = 0;
	struct forecast sum = {0};
	double left_s = budget_s;
	char text[FORECAST_TEXT_MAX];

	for (size_t i = 0; i < all->count; i++) {
		const struct experiment *x = &all->items[i];
		const bool is_left = budget_s > 0 && forecast_seconds(&x->expected) > left_s;

		messages += x->messages;
		left_s -= is_left ? 0 : forecast_seconds(&x->expected);
		sum.paced_s += x->expected.paced_s;
		sum.rest_s += x->expected.rest_s;
		json_array_append_new(list, j = experiment_json(x));
		if (budget_s > 0)
			json_object_set_new(j, "left", json_boolean(is_left));
		if (!json)
			print_experiment(x, is_left);
	}
	if (json)
		json_print(list, stdout);
	else
		printf("%zu experiments, %llu messages, %s\n", all->count, messages,
		       forecast_sentence(&sum, text, sizeof(text)));
	json_decref(list);
}
