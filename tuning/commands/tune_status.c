/* kbtune status. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/card_drivers.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/text.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/given_up.h"
#include "tuning/journal/journal.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/latency.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/pci.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/topology.h"
#include "tuning/machine/tuned.h"

const struct cli_command tune_status_cli = {
    .name = "status",
    .synopsis = "[--sysroot DIR] [--json]",
    .summary = "Show what is applied, since when, and the state of CPUs, cpusets, cards, PM QoS, tuned and "
	       "irqbalance.",
    .min_args = 0,
    .max_args = 0,
};

struct request {
	const char *sysroot;
	bool json;
};

/* Network cards that programs drive themselves, whoever has bound them: "0000:03:00.0 vfio-pci"; NULL: none. The caller
 * frees. */
static char *bound_cards(const struct machine *m)
{
	char **cards = pci_cards(m), *list = NULL, driver[PCI_DRIVER_MAX];

	for (char **card = cards; *card; card++)
		if (card_driver_hands_over(pci_driver(m, *card, driver)))
			text_list_add(&list, ", ", "%s %s", *card, driver);
	sysroot_names_free(cards);
	return list;
}

static json_t *status_json(struct machine *m, const struct journal *j, struct err *e)
{
	char cpus[CPULIST_TEXT_MAX], folder[5200];
	struct tuned_active active;
	struct topology topo;
	struct exclusion_note others;
	struct cgroups cg;
	long long us;
	char *cards;
	json_t *all;

	if (topology_read(m, &topo, e))
		return NULL;
	cgroups_find(m, &cg);
	all = json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:I, s:i, s:s, s:b}", "schema", 1, "state",
			!j->profile	? "nothing applied"
			: j->other_boot ? "moot"
			: j->leftovers	? "left by an earlier boot"
					: journal_state_name(j->state),
			"profile", j->profile ? j->profile : "", "since", j->applied ? j->applied : "", "changes",
			(json_int_t)journal_changes(j, 0), "online_cpus",
			cpulist_format(&topo.online, cpus, sizeof(cpus)), "numa_nodes", (json_int_t)topo.node_count,
			"cpuset_version", cg.version, "journal", state_folder_path(m, folder, sizeof(folder)),
			"irqbalance", tasks_find(m, "irqbalance") != 0);
	if (m->root.live && !latency_read(m, &us))
		json_object_set_new(all, "dma_latency_us", json_integer(us));
	if (m->root.live && tuned_daemon(m) && tuned_active(&active))
		json_object_set_new(all, "tuned_daemon_profile", json_string(active.profile));
	cards = bound_cards(m);
	if (cards)
		json_object_set_new(all, "bound_cards", json_string(cards));
	free(cards);
	if (j->about && json_object_get(j->about, "shields"))
		json_object_set(all, "shields", json_object_get(j->about, "shields"));
	if (j->about && json_object_get(j->about, "impossible"))
		json_object_set(all, "impossible", json_object_get(j->about, "impossible"));
	if (!j->profile && exclusion_note_of_others(m, &others)) {
		json_object_set_new(all, "state", json_string("nothing applied by this user"));
		json_object_set_new(all, "others",
				    json_pack("{s:I, s:s, s:s, s:s, s:s}", "user", (json_int_t)others.user, "profile",
					      others.profile, "state", others.state, "since", others.since, "journal",
					      others.folder));
	}
	topology_free(&topo);
	return all;
}

static void print_others(const json_t *others)
{
	struct exclusion_note n = {.user = (uid_t)json_integer_value(json_object_get(others, "user"))};
	char text[1600];

	snprintf(n.profile, sizeof(n.profile), "%s", json_string_value(json_object_get(others, "profile")));
	snprintf(n.state, sizeof(n.state), "%s", json_string_value(json_object_get(others, "state")));
	snprintf(n.since, sizeof(n.since), "%s", json_string_value(json_object_get(others, "since")));
	snprintf(n.folder, sizeof(n.folder), "%s", json_string_value(json_object_get(others, "journal")));
	printf("%-22s %s\n", "others", exclusion_note_text(&n, text, sizeof(text)));
}

static void print_status(const json_t *all)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)all, key, value) {
		const json_t *shield;
		size_t i;

		if (!strcmp(key, "schema"))
			continue;
		if (json_is_string(value) && *json_string_value(value))
			printf("%-22s %s\n", key, text_shown(json_string_value(value)));
		else if (json_is_integer(value))
			printf("%-22s %lld\n", key, (long long)json_integer_value(value));
		else if (json_is_object(value))
			print_others(value);
		else if (json_is_boolean(value))
			printf("%-22s %s\n", key, json_is_true(value) ? "running" : "not running");
		json_array_foreach (strcmp(key, "shields") ? NULL : value, i, shield)
			printf("%-22s %s: CPUs %s\n", "shield", text_shown(json_text(shield, "name")),
			       text_shown(json_text(shield, "cpus")));
		json_array_foreach (strcmp(key, "impossible") ? NULL : value, i, shield)
			printf("%-22s %s %s: %s\n", "not possible here", text_shown(json_text(shield, "knob")),
			       text_shown(json_text(shield, "object")), text_shown(json_text(shield, "reason")));
	}
}

static enum status status_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;
	struct journal j = {0};
	json_t *all, *left = NULL;
	int rc = journal_find(m, &j, e);

	(void)args;
	if (rc && rc != -ENOENT)
		return err_status(e);
	all = given_up_load(m, &left, e) ? NULL : status_json(m, &j, e);
	journal_free(&j);
	if (!all) {
		json_decref(left);
		return err_status(e);
	}
	json_object_set(all, "given_up", left);
	if (r->json)
		json_print(all, stdout);
	else
		print_status(all);
	if (!r->json)
		given_up_print(left, stdout);
	json_decref(left);
	json_decref(all);
	return STATUS_OK;
}

enum status tune_status(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_SYSROOT(&r.sysroot), COMMAND_JSON(&r.json), COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_status_cli, flags, &r.sysroot, status_act, &r}, argc, argv, e);
}
