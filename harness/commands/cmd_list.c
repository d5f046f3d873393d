#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "common/yaml.h"
#include "kernels/kernel.h"
#include "point/settings.h"
#include "transports/transport.h"
#include "transports/verbs_device.h"

const struct cli_command cmd_list_cli = {
    .name = "list",
    .synopsis = "[experiments|kernels|transports|devices] [--json]",
    .summary = "list experiments, kernels and transports with their settings, RDMA devices",
    .details = "Experiments are looked for in ./experiments, else in the directory $KBLAT_EXPERIMENTS, else where "
	       "kblat was installed.",
    .max_args = 1,
};

/* --- settings ----------------------------------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [OPT_INT] = "integer",  [OPT_TIME] = "time",   [OPT_BYTES] = "bytes", [OPT_RATE] = "rate", [OPT_SHARE] = "share",
    [OPT_BOOL] = "boolean", [OPT_ENUM] = "choice", [OPT_STR] = "text",	  [OPT_CPU] = "cpu",   [OPT_LIST] = "list",
};

static json_t *choices_json(const struct opt *o)
{
	json_t *choices = json_array();

	for (const char *const *c = o->choices; c && *c; c++)
		json_array_append_new(choices, json_string(*c));
	return choices;
}

static json_t *option_json(const struct opt *o)
{
	char key[128];
	json_t *j = json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", o->name, "key", opt_key(o, key, sizeof(key)), "type",
			      type_names[o->type], "default", opt_default(o), "help", o->help);

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

/* --- kernels and transports --------------------------------------------------------------------------------------- */

static int gather_kernels(json_t *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; kernels[i]; i++) {
		const struct kernel_ops *k = kernels[i];

		json_array_append_new(out, json_pack("{s:s, s:s, s:o}", "name", k->name, "summary", k->summary,
						     "options", options_json(k->options)));
	}
	return 0;
}

static void show_kernels(const json_t *list)
{
	(void)list;
	for (size_t i = 0; kernels[i]; i++) {
		printf("\n%s: %s\n", kernels[i]->name, kernels[i]->summary);
		opt_help(kernels[i]->options, stdout);
	}
	printf("\nsettings of every point, whatever its kernel and transport:\n");
	opt_help(common_options, stdout);
	printf("\nsettings of points with several flows (docs/spec.md); any other is given to one flow as "
	       "NAME.setting:\n");
	opt_help(flow_options, stdout);
}

static int gather_transports(json_t *out, struct err *e)
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

static void show_transports(const json_t *list)
{
	(void)list;
	for (size_t i = 0; transports[i]; i++) {
		printf("\n%s: %s\n", transports[i]->name, transports[i]->summary);
		opt_help(transports[i]->options, stdout);
	}
}

/* --- experiments -------------------------------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The directory of experiments, or NULL; the caller frees. */
static char *find_experiments(void)
{
	const char *places[] = {"experiments", getenv("KBLAT_EXPERIMENTS"), KBLAT_DATADIR "/experiments"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (places[i] && is_directory(places[i]))
			return fs_path("%s", places[i]);
	return NULL;
}

static const char *scalar(const struct ynode *map, const char *key)
{
	const struct ynode *n = map && map->kind == YNODE_MAPPING ? yaml_get(map, key) : NULL;

	return n && n->kind == YNODE_SCALAR ? n->scalar : NULL;
}

/* `folder`: relative to the directory of experiments, what one would pass to `kblat run`. */
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
	json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:b}", "name", name ? name : folder, "title",
					     title ? title : "", "path", dir, "readable", root != NULL));
	yaml_free(root);
	diag_free(&d);
	free(text);
	free(file);
	free(dir);
}

/* Studies group experiments, so specs are one or two folders deep. */
static int gather_experiments(json_t *out, struct err *e)
{
	static const char *const patterns[] = {"/*/spec.yaml", "/*/*/spec.yaml"};
	char *experiments = find_experiments(), **paths;
	struct sysroot root;
	int rc;

	if (!experiments)
		return err_set(
		    e, -ENOENT, STATUS_FAILED, "experiments", NULL,
		    "there is no ./experiments and none installed; set KBLAT_EXPERIMENTS to a directory of them");
	rc = sysroot_open(&root, experiments, e);
	for (size_t i = 0; !rc && i < sizeof(patterns) / sizeof(*patterns); i++) {
		int n = sysroot_glob(&root, patterns[i], &paths);

		for (int k = 0; k < n; k++) {
			*strrchr(paths[k], '/') = '\0';
			gather_experiment(out, experiments, paths[k] + 1);
		}
		if (n >= 0)
			sysroot_names_free(paths);
	}
	if (!rc)
		sysroot_close(&root);
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
	char path[256], title[256];
	const json_t *x;
	size_t i;

	json_array_foreach (list, i, x) {
		bool readable = json_is_true(json_object_get(x, "readable"));

		printf("  %-40s %s\n", text_of(x, "path", path, sizeof(path)),
		       readable ? text_of(x, "title", title, sizeof(title))
				: "(its spec.yaml cannot be read; `kblat run --dry-run` says why)");
	}
	if (!json_array_size(list))
		printf("  none\n");
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

static int gather_devices(json_t *out, struct err *e)
{
	json_t *devices = NULL;
	int rc = verbs_devices(&devices, e);

	json_array_extend(out, devices);
	json_decref(devices);
	return rc;
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
		printf("  none on this machine; a Soft-RoCE device takes their place in the guest of `make run`\n");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static const struct topic {
	const char *name, *title;
	int (*gather)(json_t *out, struct err *e);
	void (*show)(const json_t *list);
} topics[] = {
    {"experiments", "experiments (kblat run PATH):", gather_experiments, show_experiments},
    {"kernels", "kernels (kernel=NAME) and their settings:", gather_kernels, show_kernels},
    {"transports", "transports (transport=NAME) and their settings:", gather_transports, show_transports},
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

static bool is_topic(const char *name)
{
	for (size_t i = 0; i < TOPICS; i++)
		if (!strcmp(topics[i].name, name))
			return true;
	return false;
}

/* `only`: NULL for all. Of all, those that work are shown even where one does not. */
static enum status list(const char *only, bool json, struct err *e)
{
	json_t *report = json ? json_pack("{s:i}", "schema", 1) : NULL;
	enum status status = STATUS_OK;

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
	static const char *const names[] = {"experiments", "kernels", "transports", "devices", NULL};
	bool json = false, help = false;
	const struct cli_flag flags[] = {
	    {"json", CLI_FLAG, &json, NULL, "print the list as JSON", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args = {NULL, 0};
	enum status status = STATUS_OK;
	const char *only, *nearest;

	if (cli_parse(&cmd_list_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	only = args.count ? args.items[0] : NULL;
	if (help) {
		cli_help("kblat", &cmd_list_cli, flags, stdout);
	} else if (only && !is_topic(only)) {
		nearest = suggest(only, names);
		err_set(e, -EINVAL, STATUS_USAGE, "list", NULL,
			"knows experiments, kernels, transports and devices, not '%.48s'%s%s%s", only,
			nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
		status = e->status;
	} else {
		status = list(only, json, e);
	}
	cli_list_free(&args);
	return status;
}
