#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "common/cli.h"
#include "common/feature.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/opt.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/yaml.h"
#include "judge/analysis/blocks.h"
#include "measure/kernels/kernel.h"
#include "measure/point/settings.h"
#include "measure/spec/experiments.h"
#include "measure/spec/spec.h"
#include "measure/transports/transport.h"
#include "measure/transports/verbs_device.h"

const struct cli_command cmd_list_cli = {
    .name = "list",
    .synopsis = "[experiments|kernels|settings|transports|statistics|features|devices [NAME]] [--json]",
    .summary = "list experiments, kernels and transports with their settings, statistics, features of this build, RDMA "
	       "devices",
    .details =
	"Without a topic only names are listed; `kblat list kernels` describes all kernels, `kblat list kernels "
	"oneway` "
	"describes one and its settings, `kblat list settings size` a setting of whatever has it, and `kblat list "
	"experiments thesis` the experiments of a study.\n\n"
	"Experiments are listed from ./experiments; if that does not exist, from the directory "
	"$KBLAT_EXPERIMENTS; otherwise from those installed with kblat.",
    .max_args = 2,
};

#define NAMES_COLUMN 15

/*
 * Topics of `kblat list` that are tables of this program: kernels, settings, transports,
 * statistics; each as JSON and as text.
 */

/* --- settings ----------------------------------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [OPT_INT] = "integer",  [OPT_TIME] = "time",   [OPT_BYTES] = "bytes", [OPT_RATE] = "rate", [OPT_SHARE] = "share",
    [OPT_BOOL] = "boolean", [OPT_ENUM] = "choice", [OPT_STR] = "text",	  [OPT_CPU] = "cpu",   [OPT_LIST] = "list",
};

/* Settings that belong neither to a kernel nor to a transport. */
static const struct {
	const struct opt *table;
	const char *owner, *title;
} of_points[] = {
    {common_options, "point", "settings of every point, whatever its kernel and transport:"},
    {flow_options, "flows",
     "settings of points with several flows (docs/spec.md); any other is given to one flow as NAME.setting:"},
};

#define OF_POINTS (sizeof(of_points) / sizeof(*of_points))

static json_t *choices_json(const struct opt *o)
{
	json_t *choices = json_array();

	for (const char *const *c = o->choices; c && *c; c++)
		json_array_append_new(choices, json_string(*c));
	return choices;
}

static json_t *option_json(const struct opt *o)
{
	char key[128], usage[OPT_USAGE_MAX], limits[OPT_USAGE_MAX];
	json_t *j =
	    json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:s}", "name", o->name, "key", opt_key(o, key, sizeof(key)),
		      "type", type_names[o->type], "default", opt_default(o), "help", o->help, "usage",
		      opt_usage(o, usage, sizeof(usage)), "limits", opt_limits(o, limits, sizeof(limits)));

	if (o->min || o->max) {
		json_object_set_new(j, "min", json_integer(o->min));
		json_object_set_new(j, "max", json_integer(o->max));
	}
	if (o->type == OPT_ENUM)
		json_object_set_new(j, "choices", choices_json(o));
	return j;
}

static json_t *options_json(const struct opt *table)
{
	json_t *options = json_array();

	for (const struct opt *o = table; o && o->name; o++)
		json_array_append_new(options, option_json(o));
	return options;
}

static int list_settings(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < OF_POINTS; i++)
		json_array_append_new(out, json_pack("{s:s, s:o}", "of", of_points[i].owner, "options",
						     options_json(of_points[i].table)));
	return 0;
}

static void list_settings_show(const json_t *list)
{
	(void)list;
	for (size_t i = 0; i < OF_POINTS; i++) {
		printf("\n%s\n", of_points[i].title);
		opt_help(of_points[i].table, stdout);
	}
}

/* Prints it, or adds it to `out`. */
static void take_table(const struct opt *table, const char *what, const char *owner, json_t *out)
{
	if (out) {
		json_array_append_new(out, json_pack("{s:s, s:o}", "of", owner, "options", options_json(table)));
		return;
	}
	printf("\n%s%s:\n", what, owner);
	opt_help(table, stdout);
}

static void take_setting_of(const struct opt *table, const char *setting, const char *what, const char *owner,
			    json_t *out)
{
	const struct opt *o = table ? opt_find(table, setting) : NULL;

	if (o)
		take_table((const struct opt[]){*o, {.name = NULL}}, what, owner, out);
}

static bool has_part(const struct spec *spec, const struct kernel_ops *k, const struct transport_ops *t)
{
	for (size_t i = 0; i < spec->point_count; i++)
		for (size_t f = 0; f < spec->point[i].flow_count; f++)
			if (spec->point[i].flow[f].kernel == k || spec->point[i].flow[f].transport == t)
				return true;
	return false;
}

/* Of all that an experiment uses. False: there is none of this name, or it cannot be read. */
static bool take_experiment(const char *name, json_t *out)
{
	const struct spec_overrides none = {.set_count = 0};
	char *path = experiments_find(name);
	struct spec spec;
	struct diag diag;
	const bool is_one = !access(path, F_OK);
	const bool is_read = is_one && !spec_load(path, &none, &spec, &diag);

	if (is_read)
		take_table(common_options, "of every ", "point", out);
	for (size_t i = 0; is_read && kernels[i]; i++)
		if (has_part(&spec, kernels[i], NULL))
			take_table(kernels[i]->options, "of kernel=", kernels[i]->name, out);
	for (size_t i = 0; is_read && transports[i]; i++)
		if (has_part(&spec, NULL, transports[i]))
			take_table(transports[i]->options, "of transport=", transports[i]->name, out);
	if (is_one) {
		diag_free(&diag);
		spec_free(&spec);
	}
	free(path);
	return is_read;
}

/* Of whatever has it; or all of an experiment. */
static void take_setting(const char *setting, json_t *out)
{
	for (size_t i = 0; i < OF_POINTS; i++)
		take_setting_of(of_points[i].table, setting, "of ", of_points[i].owner, out);
	for (size_t i = 0; kernels[i]; i++)
		take_setting_of(kernels[i]->options, setting, "of kernel=", kernels[i]->name, out);
	for (size_t i = 0; transports[i]; i++)
		take_setting_of(transports[i]->options, setting, "of transport=", transports[i]->name, out);
}

static void take_settings(const char *name, json_t *out)
{
	if (!take_experiment(name, out))
		take_setting(name, out);
}

static void add_setting_names(json_t *names, const struct opt *table)
{
	for (const struct opt *o = table; o && o->name; o++)
		json_array_append_new(names, json_string(o->name));
}

static void name_settings(const json_t *list, bool is_brief, json_t *names)
{
	(void)list;
	for (size_t i = 0; i < OF_POINTS; i++)
		add_setting_names(names, of_points[i].table);
	for (size_t i = 0; !is_brief && kernels[i]; i++)
		add_setting_names(names, kernels[i]->options);
	for (size_t i = 0; !is_brief && transports[i]; i++)
		add_setting_names(names, transports[i]->options);
}

/* --- kernels and transports --------------------------------------------------------------------------------------- */

static json_t *series_json(const struct kernel_ops *k)
{
	json_t *list = json_array();

	for (const struct kernel_series *s = k->series; s->name; s++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "name", s->name, "label", s->label));
	return list;
}

static json_t *transports_json(const struct kernel_ops *k)
{
	json_t *list = json_array();

	for (size_t i = 0; transports[i]; i++)
		if (kernel_loops_find(k, transports[i]->name))
			json_array_append_new(list, json_string(transports[i]->name));
	return list;
}

/* Append to the array `out`. Return 0. */
static int list_kernels(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; kernels[i]; i++) {
		const struct kernel_ops *k = kernels[i];

		json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", k->name, "summary",
						     k->summary, "series", series_json(k), "transports",
						     transports_json(k), "options", options_json(k->options)));
	}
	return 0;
}

/* Print to standard output a list that was made by the functions above. */
static void list_kernels_show(const json_t *list)
{
	const json_t *j;
	size_t i;

	json_array_foreach (list, i, j) {
		printf("\n%s: %s\n", json_text(j, "name"), json_text(j, "summary"));
		opt_help(kernel_find(json_text(j, "name"))->options, stdout);
	}
}

static int list_transports(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; transports[i]; i++) {
		const struct transport_ops *t = transports[i];
		json_t *polls = json_array();

		if (t->poll_modes & 1u << POLL_BUSY)
			json_array_append_new(polls, json_string("busy"));
		if (t->poll_modes & 1u << POLL_EVENT)
			json_array_append_new(polls, json_string("event"));
		json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:o}", "name", t->name, "summary", t->summary,
						     "poll", polls, "options", options_json(t->options)));
	}
	return 0;
}

static void list_transports_show(const json_t *list)
{
	const json_t *j;
	size_t i;

	json_array_foreach (list, i, j) {
		printf("\n%s: %s\n", json_text(j, "name"), json_text(j, "summary"));
		opt_help(transport_find(json_text(j, "name"))->options, stdout);
	}
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

static void add_statistic(json_t *out, const char *block, const char *key, const char *label, const char *help)
{
	json_array_append_new(
	    out, json_pack("{s:s?, s:s, s:s, s:s}", "block", block, "name", key, "label", label, "help", help));
}

static int list_statistics(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < STATISTICS; i++)
		add_statistic(out, NULL, statistics[i].key, statistics[i].label, statistics[i].help);
	for (size_t i = 0; blocks[i]; i++)
		for (const struct block_statistic *s = blocks[i]->statistics; s->key; s++)
			add_statistic(out, blocks[i]->name, s->key, s->label, s->help);
	return 0;
}

/* "lat_ns.p99", "pacing.missed_share": the names used in claims and comparisons. */
static void list_statistics_show(const json_t *list)
{
	const json_t *s;
	size_t i;

	json_array_foreach (list, i, s) {
		char *name = fs_path("%s.%s", json_text_or(s, "block", "SERIES"), json_text(s, "name"));

		cli_print_item(name, 32, json_text(s, "help"), stdout);
		free(name);
	}
}

/* "p50", "pacing". */
static void name_statistics(const json_t *list, bool is_brief, json_t *names)
{
	(void)list, (void)is_brief;
	for (size_t i = 0; i < STATISTICS; i++)
		json_array_append_new(names, json_string(statistics[i].key));
	for (size_t i = 0; blocks[i]; i++)
		json_array_append_new(names, json_string(blocks[i]->name));
}

/* --- experiments -------------------------------------------------------------------------------------------------- */

static const char *scalar(const struct ynode *map, const char *key)
{
	const struct ynode *n = map && map->kind == YNODE_MAPPING ? yaml_get(map, key) : NULL;

	return n && n->kind == YNODE_SCALAR ? n->scalar : NULL;
}

/* `folder`: relative to the directory of experiments; what one would pass to `kblat run`. */
static void gather_experiment(json_t *out, const char *experiments, const char *folder)
{
	char *dir = fs_path("%s/%s", experiments, folder), *file = fs_path("%s/spec.yaml", dir), *text = NULL;
	struct ynode *root = NULL;
	const char *name, *title;
	struct diag d;
	size_t length;

	diag_init(&d, file);
	if (yaml_load_file(file, &d, &root, &text, &length))
		root = NULL;
	name = scalar(root, "name");
	title = scalar(root, "title");
	json_array_append_new(out,
			      json_pack("{s:o, s:s, s:o, s:b}", "name", json_outside(name ? name : folder), "title",
					title ? title : "", "path", json_outside(dir), "readable", root != NULL));
	yaml_free(root);
	diag_free(&d);
	free(text);
	free(file);
	free(dir);
}

static int gather_experiments(json_t *out, struct err *e)
{
	char *experiments = experiments_directory(), **names = NULL;
	int rc;

	if (!experiments)
		return err_set(e, -ENOENT, STATUS_FAILED, "experiments", NULL,
			       "found neither ./experiments nor installed experiments; set KBLAT_EXPERIMENTS to a "
			       "directory of experiments");
	rc = experiments_names(experiments, &names, e);
	for (char **name = names; !rc && *name; name++)
		gather_experiment(out, experiments, *name);
	if (!rc)
		sysroot_names_free(names);
	free(experiments);
	return rc;
}

static const char *text_of(const json_t *object, const char *key, char *buf, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text_clean(text ? text : "", text ? strlen(text) : 0, buf, size);
}

static void show_experiments(const json_t *list)
{
	static const struct table_column columns[] = {
	    {.label = "path", .most = TABLE_WHOLE},
	    {.label = "title", .most = TABLE_WHOLE},
	};
	struct table t = table_of(columns, 2, json_array_size(list));
	const json_t *x;
	size_t i;

	json_array_foreach (list, i, x) {
		table_text(&t, 0, i, "%s", json_text(x, "path"));
		table_text(&t, 1, i, "%s",
			   json_is_true(json_object_get(x, "readable"))
			       ? json_text(x, "title")
			       : "(its spec.yaml cannot be read; `kblat run --dry-run` says why)");
	}
	table_print(&t, &(struct table_style){.bare = true, .indent = 2}, stdout);
	table_free(&t);
	if (!json_array_size(list))
		printf("  none\n");
}

/* "quickstart", "thesis/oneway-busy"; or "thesis (27)", and the names of studies, too. */
static void name_experiments(const json_t *list, bool is_brief, json_t *names)
{
	char *experiments = experiments_directory(), **all = NULL, before[256] = "";
	json_t *studies = json_object(), *count;
	const char *study;

	(void)list;
	if (!experiments || experiments_names(experiments, &all, NULL))
		all = NULL;
	for (char **name = all; name && *name; name++) {
		snprintf(before, sizeof(before), "%.*s", (int)strcspn(*name, "/"), *name);
		if (strcmp(before, *name) != 0)
			json_object_set_new(studies, before,
					    json_integer(json_integer_value(json_object_get(studies, before)) + 1));
		if (!is_brief || !strcmp(before, *name))
			json_array_append_new(names, json_outside(*name));
	}
	json_object_foreach (studies, study, count) {
		snprintf(before, sizeof(before), is_brief ? "%s (%lld)" : "%s", study,
			 (long long)json_integer_value(count));
		json_array_append_new(names, json_outside(before));
	}
	json_decref(studies);
	if (all)
		sysroot_names_free(all);
	free(experiments);
}

/* --- features ----------------------------------------------------------------------------------------------------- */

static int list_features(json_t *out, struct err *e)
{
	char advice[FEATURE_ADVICE_MAX];

	(void)e;
	for (const struct feature *f = features; f->name; f++)
		if (feature_is_of(f, "kblat"))
			json_array_append_new(
			    out, json_pack("{s:s, s:s, s:b, s:s*}", "name", f->name, "needed_by", f->needed_by, "built",
					   f->is_built, "advice",
					   f->is_built ? NULL : feature_advice(f, advice, sizeof(advice))));
	return 0;
}

static void list_features_show(const json_t *list)
{
	char text[FEATURE_ADVICE_MAX + 96];
	const json_t *f;
	size_t i;

	json_array_foreach (list, i, f) {
		const char *advice = json_text_or(f, "advice", NULL);

		snprintf(text, sizeof(text), "%s%s%s", json_text(f, "needed_by"), advice ? ": not in this build; " : "",
			 advice ? advice : "");
		cli_print_item(json_text(f, "name"), 14, text, stdout);
	}
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

static int gather_devices(json_t *out, struct err *e)
{
	json_t *devices = verbs_devices();

	(void)e;
	json_array_extend(out, devices);
	json_decref(devices);
	return 0;
}

static void show_devices(const json_t *list)
{
	static const char *const keys[] = {"state", "link_layer", "netdev", "driver", "firmware", "error"};
	const json_t *port;
	char text[128];
	size_t i;

	json_array_foreach (list, i, port) {
		printf("  %s port %lld:", text_of(port, "name", text, sizeof(text)),
		       (long long)json_integer_value(json_object_get(port, "port")));
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			if (json_is_string(json_object_get(port, keys[k])))
				printf(" %s %s", keys[k], text_of(port, keys[k], text, sizeof(text)));
		printf("\n");
	}
	if (!json_array_size(list))
		printf("  none on this machine; `make run`, in kblat's source, uses a guest with a Soft-RoCE device "
		       "instead\n");
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The names of what is in the list. */
static void name_all(const json_t *list, bool is_brief, json_t *names)
{
	const json_t *j;
	size_t i;

	(void)is_brief;
	json_array_foreach (list, i, j)
		json_array_append(names, json_object_get(j, "name"));
}

/* `name`: adds to `names` what the topic may be asked for, or, briefly, what it has. `take_one`: shows what
 * has that name, or adds it to `out`; NULL: that is in the list. */
static const struct topic {
	const char *name, *title;
	int (*gather)(json_t *out, struct err *e);
	void (*show)(const json_t *list);
	void (*add_names)(const json_t *list, bool is_brief, json_t *names);
	void (*take_one)(const char *name, json_t *out);
} topics[] = {
    {"experiments", "experiments (kblat run NAME or PATH):", gather_experiments, show_experiments, name_experiments,
     NULL},
    {"kernels", "kernels (kernel=NAME) and their settings:", list_kernels, list_kernels_show, name_all, NULL},
    {"settings", "settings of points:", list_settings, list_settings_show, name_settings, take_settings},
    {"transports", "transports (transport=NAME) and their settings:", list_transports, list_transports_show, name_all,
     NULL},
    {"statistics", "statistics of series and of summary blocks:", list_statistics, list_statistics_show,
     name_statistics, NULL},
    {"features", "features of this build, by the library that they need:", list_features, list_features_show, name_all,
     NULL},
    {"devices", "RDMA devices:", gather_devices, show_devices, name_all, NULL},
};

#define TOPICS (sizeof(topics) / sizeof(*topics))

/* Does this part of a list have the name, which may be that of a study, a block, or the last part of a path? */
static bool is_named(const json_t *j, const char *name)
{
	static const char *const keys[] = {"name", "block", "path"};
	char *inner = fs_path("/%s/", name), *last = fs_path("/%s", name);
	bool is = false;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *text = json_text_or(j, keys[i], "");

		is |= !strcmp(text, name) || (i == 2 && (strstr(text, inner) || text_ends_in(text, last)));
	}
	free(inner);
	free(last);
	return is;
}

/* The error has the nearest name. */
static int refuse_name(const struct topic *t, const json_t *list, const char *name, struct err *e)
{
	char hint[SUGGESTION_MAX], quoted[TEXT_QUOTE_MAX];
	json_t *names = json_array(), *j;
	const char **plain;
	size_t i;

	t->add_names(list, false, names);
	plain = or_abort(calloc(json_array_size(names) + 1, sizeof(*plain)));
	json_array_foreach (names, i, j)
		plain[i] = json_string_value(j);
	err_set(e, -EINVAL, STATUS_USAGE, "list", NULL, "there is no %s among the %s%s",
		text_quote(name, quoted, sizeof(quoted)), t->name,
		suggestion(suggest(name, plain), hint, sizeof(hint)));
	free(plain);
	json_decref(names);
	return -EINVAL;
}

/* Only what has that name. A new reference. */
static json_t *those_named(const struct topic *t, const json_t *list, const char *name)
{
	json_t *those = json_array(), *j;
	size_t i;

	if (t->take_one)
		t->take_one(name, those);
	else
		json_array_foreach (list, i, j)
			if (is_named(j, name))
				json_array_append(those, j);
	return those;
}

static void show_names(const struct topic *t, const json_t *list)
{
	json_t *names = json_array(), *j;
	char *text = NULL;
	size_t i, size;
	FILE *out = or_abort(open_memstream(&text, &size));

	t->add_names(list, true, names);
	json_array_foreach (names, i, j)
		fprintf(out, "%s%s", i ? ", " : "", text_shown(json_string_value(j)));
	if (!json_array_size(names))
		fprintf(out, "none on this machine");
	fclose(out);
	cli_print_item(t->name, NAMES_COLUMN, text, stdout);
	free(text);
	json_decref(names);
}

/* `name`: of one of them; NULL: all. `is_brief`: names only. */
static enum status list_topic(const struct topic *t, const char *name, bool is_brief, json_t *report, struct err *e)
{
	json_t *list = json_array();
	int rc = t->gather(list, e);

	if (!rc && name) {
		json_t *those = those_named(t, list, name);

		if (!json_array_size(those))
			rc = refuse_name(t, list, name, e);
		json_decref(list);
		list = those;
	}
	if (!rc && report) {
		json_object_set(report, t->name, list);
	} else if (!rc && is_brief) {
		show_names(t, list);
	} else if (!rc && name && t->take_one) {
		t->take_one(name, NULL);
	} else if (!rc) {
		printf("%s\n", t->title);
		t->show(list);
	}
	json_decref(list);
	return rc ? e->status : STATUS_OK;
}

/* The names of all topics, NULL-terminated. */
static void topic_names(const char *names[TOPICS + 1])
{
	for (size_t i = 0; i < TOPICS; i++)
		names[i] = topics[i].name;
	names[TOPICS] = NULL;
}

static int check_topic(const char *name, struct err *e)
{
	const char *names[TOPICS + 1];
	char hint[SUGGESTION_MAX], quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < TOPICS; i++)
		if (!strcmp(topics[i].name, name))
			return 0;
	topic_names(names);
	return err_set(e, -EINVAL, STATUS_USAGE, "list", NULL, "unknown topic %s%s; usage: list %s",
		       text_quote(name, quoted, sizeof(quoted)), suggestion(suggest(name, names), hint, sizeof(hint)),
		       cmd_list_cli.synopsis);
}

/* With all topics, those that work are shown even if one fails. */
static enum status list(const struct cli_list *args, void *options, struct err *e)
{
	const char *only = args->count ? args->items[0] : NULL, *name = args->count > 1 ? args->items[1] : NULL;
	enum status status = STATUS_OK;
	json_t *report;

	if (only && check_topic(only, e))
		return e->status;
	report = *(const bool *)options ? json_pack("{s:i}", "schema", 1) : NULL;
	for (size_t i = 0; i < TOPICS; i++)
		if (!only || !strcmp(only, topics[i].name)) {
			enum status s = list_topic(&topics[i], name, !only, report, e);

			status = status ? status : s;
		}
	if (report)
		json_print(report, stdout);
	else if (!only)
		cli_print_text(
		    "\n`kblat list TOPIC` describes all of them, `kblat list TOPIC NAME` one, with its settings.",
		    stdout);
	json_decref(report);
	return status;
}

enum status cmd_list(int argc, char **argv, struct err *e)
{
	bool json = false;
	const struct cli_flag flags[] = {
	    {"json", CLI_FLAG, &json, NULL, "print the list as JSON", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_list_cli, flags, argc, argv, list, &json, e);
}
