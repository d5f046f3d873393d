/* kbtune profiles. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/knobs/knobs.h"

const struct cli_command tune_profiles_cli = {
    .name = "profiles",
    .synopsis = "[--settings] [--json]",
    .summary = "List the profiles, or with --settings what a profile may contain.",
    .min_args = 0,
    .max_args = 0,
};

static bool has_profile(const json_t *list, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "name")), name))
			return true;
	return false;
}

static void list_one(json_t *list, const char *folder, const char *name)
{
	char *path = fs_path("%s/%s", folder, name), *file = fs_path("%s/profile.yaml", path);
	struct profile p;

	if (name[0] != '.' && !access(file, F_OK) && !has_profile(list, name)) {
		int rc = profile_load(path, knobs_keys(), &p, NULL);

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b}", "name", name, "title",
						      p.title ? p.title : "", "path", file, "good", !rc));
		profile_free(&p);
	}
	free(path);
	free(file);
}

static json_t *profiles_json(void)
{
	char **folders = profile_folders();
	json_t *list = json_array();

	for (char **f = folders; *f; f++) {
		struct dirent **entries;
		int n = scandir(*f, &entries, NULL, alphasort);

		for (int i = 0; i < n; i++) {
			list_one(list, *f, entries[i]->d_name);
			free(entries[i]);
		}
		if (n >= 0)
			free(entries);
	}
	fs_files_free(folders);
	return list;
}

static json_t *settings_json(void)
{
	json_t *list = json_array();

	for (const struct knob *k = knobs; k->key; k++)
		if (k->help)
			json_array_append_new(
			    list, json_pack("{s:s, s:s, s:s?}", "setting", k->key, "help", k->help, "cost", k->cost));
	return list;
}

static void print_pairs(const json_t *list, const char *key, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		printf("%-26s %s%s\n", json_string_value(json_object_get(one, key)),
		       json_string_value(json_object_get(one, text)),
		       json_is_false(json_object_get(one, "good")) ? " (has errors: see kbtune plan)" : "");
}

enum status tune_profiles(int argc, char **argv, struct err *e)
{
	bool json = false, settings = false, help;
	const struct cli_flag flags[] = {
	    {"settings", CLI_FLAG, &settings, NULL, "list the settings that a profile may contain", 0, 0},
	    COMMAND_JSON(&json),
	    COMMAND_FLAGS_END};
	struct cli_list args;
	json_t *list;

	if (cli_parse(&tune_profiles_cli, flags, argc, argv, &args, &help, e))
		return STATUS_USAGE;
	cli_list_free(&args);
	if (help) {
		cli_help("kbtune", &tune_profiles_cli, flags, stdout);
		return STATUS_OK;
	}
	list = settings ? settings_json() : profiles_json();
	if (json)
		json_print(list, stdout);
	else
		print_pairs(list, settings ? "setting" : "name", settings ? "help" : "title");
	json_decref(list);
	return STATUS_OK;
}
