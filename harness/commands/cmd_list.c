#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/cli.h"
#include "common/feature.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/opt.h"
#include "common/sysroot.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/yaml.h"
#include "judge/analysis/blocks.h"
#include "measure/kernels/kernel.h"
#include "measure/point/settings.h"
#include "measure/spec/experiments.h"
#include "measure/transports/transport.h"
#include "measure/transports/verbs_device.h"

const struct cli_command cmd_list_cli = {
    .name = "list",
    .synopsis = "[experiments|kernels|settings|transports|statistics|features|devices] [--json]",
    .summary = "list experiments, kernels and transports with their settings, statistics, features of this build, RDMA "
	       "devices",
    .details = "Experiments are listed from ./experiments; if that does not exist, from the directory "
	       "$KBLAT_EXPERIMENTS; otherwise from those installed with kblat.",
    .max_args = 1,
};

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
	(void)list;
	for (size_t i = 0; kernels[i]; i++) {
		printf("\n%s: %s\n", kernels[i]->name, kernels[i]->summary);
		opt_help(kernels[i]->options, stdout);
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
	(void)list;
	for (size_t i = 0; transports[i]; i++) {
		printf("\n%s: %s\n", transports[i]->name, transports[i]->summary);
		opt_help(transports[i]->options, stdout);
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

static const struct topic {
	const char *name, *title;
	int (*gather)(json_t *out, struct err *e);
	void (*show)(const json_t *list);
} topics[] = {
    {"experiments", "experiments (kblat run NAME or PATH):", gather_experiments, show_experiments},
    {"kernels", "kernels (kernel=NAME) and their settings:", list_kernels, list_kernels_show},
    {"settings", "settings of points:", list_settings, list_settings_show},
    {"transports", "transports (transport=NAME) and their settings:", list_transports, list_transports_show},
    {"statistics", "statistics of series and of summary blocks:", list_statistics, list_statistics_show},
    {"features", "features of this build, by the library that they need:", list_features, list_features_show},
    {"devices", "RDMA devices:", gather_devices, show_devices},
};

#define TOPICS (sizeof(topics) / sizeof(*topics))

static enum status list_topic(const struct topic *t, json_t *report, bool is_first, struct err *e)
{
	json_t *list = json_array();
	int rc = t->gather(list, e);

	if (!rc && report) {
		json_object_set(report, t->name, list);
	} else if (!rc) {
		printf("%s%s\n", is_first ? "" : "\n", t->title);
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
	const char *only = args->count ? args->items[0] : NULL;
	enum status status = STATUS_OK;
	json_t *report;

	if (only && check_topic(only, e))
		return e->status;
	report = *(const bool *)options ? json_pack("{s:i}", "schema", 1) : NULL;
	for (size_t i = 0; i < TOPICS; i++)
		if (!only || !strcmp(only, topics[i].name)) {
			enum status s = list_topic(&topics[i], report, only || !i, e);

			status = status ? status : s;
		}
	if (report)
		json_print(report, stdout);
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
