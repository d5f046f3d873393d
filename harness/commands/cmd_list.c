#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/list_tables.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/sysroot.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/yaml.h"
#include "measure/spec/experiments.h"
#include "measure/transports/verbs_device.h"

const struct cli_command cmd_list_cli = {
    .name = "list",
    .synopsis = "[experiments|kernels|settings|transports|statistics|devices] [--json]",
    .summary = "list experiments, kernels and transports with their settings, statistics, RDMA devices",
    .details = "Experiments are listed from ./experiments; if that does not exist, from the directory "
	       "$KBLAT_EXPERIMENTS; otherwise from those installed with kblat.",
    .max_args = 1,
};

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
	char *experiments = experiments_directory(), **paths;
	struct sysroot root;
	int rc;

	if (!experiments)
		return err_set(e, -ENOENT, STATUS_FAILED, "experiments", NULL,
			       "found neither ./experiments nor installed experiments; set KBLAT_EXPERIMENTS to a "
			       "directory of experiments");
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

/* `only`: NULL for all topics. With all, those that work are shown even if one fails. */
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
	bool json = false, help = false;
	const struct cli_flag flags[] = {
	    {"json", CLI_FLAG, &json, NULL, "print the list as JSON", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args = {NULL, 0};
	enum status status = STATUS_OK;
	const char *only;

	if (cli_parse(&cmd_list_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	only = args.count ? args.items[0] : NULL;
	if (help) {
		cli_help("kblat", &cmd_list_cli, flags, stdout);
	} else if (only && check_topic(only, e)) {
		status = e->status;
	} else {
		status = list(only, json, e);
	}
	cli_list_free(&args);
	return status;
}
