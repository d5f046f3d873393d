/* kbtune card list, bind, restore. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/table_print.h"
#include "common/text.h"
#include "tuning/apply/apply.h"
#include "tuning/apply/output.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/change.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/pci.h"
#include "tuning/machine/topology.h"
#include "tuning/ops/op_bind.h"
#include "tuning/steps/plan.h"

#define ARGS_MAX 64

const struct cli_command tune_card_cli = {
    .name = "card",
    .synopsis = "list | bind CARD... [--driver vfio-pci|uio_pci_generic] | restore",
    .summary = "Network cards: list who has them; hand some over to programs such as DPDK's, and take them back.",
    .details = "CARD is a PCI address or an interface. While it is bound to such a driver, the system has neither its "
	       "interfaces nor what went over them; a card that is in use is refused. It is recorded in the journal: "
	       "'kbtune card restore' takes back the cards, 'kbtune restore' everything.",
    .min_args = 1,
    .max_args = ARGS_MAX,
};

struct request {
	struct machine *m;
	const struct cli_list *args;
	const char *driver;
	bool json, dry_run;
	struct err *e;
};

static json_t *names_json(char **names)
{
	json_t *list = json_array();

	for (char **name = names; *name; name++)
		json_array_append_new(list, json_string(*name));
	sysroot_names_free(names);
	return list;
}

static json_t *card_json(const struct machine *m, const char *address)
{
	char driver[PCI_DRIVER_MAX], why[PCI_REASON_MAX] = "";
	const bool is_in_use = pci_is_in_use(m, address, why);

	return json_pack("{s:s, s:s, s:o, s:o, s:b, s:s}", "pci", address, "driver", pci_driver(m, address, driver),
			 "interfaces", names_json(pci_interfaces(m, address)), "rdma",
			 names_json(pci_rdma_devices(m, address)), "in_use", (int)is_in_use, "why",
			 is_in_use ? why : "");
}

enum card_column { CARD_PCI, CARD_DRIVER, CARD_INTERFACES, CARD_USE, CARD_COLUMNS };

static const struct table_column card_columns[CARD_COLUMNS] = {
    [CARD_PCI] = {.label = "card"},
    [CARD_DRIVER] = {.label = "driver"},
    [CARD_INTERFACES] = {.label = "interfaces", .most = TABLE_WHOLE},
    [CARD_USE] = {.label = "in use", .most = TABLE_WHOLE, .wrap = 60},
};

static void print_cards(const json_t *cards)
{
	struct table list = table_of(card_columns, CARD_COLUMNS, 0);
	const json_t *card, *name;
	size_t i, k;

	json_array_foreach (cards, i, card) {
		const size_t row = table_row(&list);
		char names[256] = "";

		json_array_foreach (json_object_get(card, "interfaces"), k, name)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", k ? " " : "",
				 json_string_value(name));
		table_text(&list, CARD_PCI, row, "%s", json_text(card, "pci"));
		table_text(&list, CARD_DRIVER, row, "%s", json_text(card, "driver"));
		table_text(&list, CARD_INTERFACES, row, "%s", names);
		table_text(&list, CARD_USE, row, "%s",
			   json_is_true(json_object_get(card, "in_use")) ? json_text(card, "why") : "no");
	}
	table_print(&list, &(struct table_style){.gap = 2}, stdout);
	table_free(&list);
}

static enum status card_list(void *request)
{
	const struct request *r = request;
	char **cards = pci_cards(r->m);
	json_t *list = json_array(), *all = json_pack("{s:i, s:o}", "schema", 1, "cards", list);

	for (char **card = cards; *card; card++)
		json_array_append_new(list, card_json(r->m, *card));
	sysroot_names_free(cards);
	if (r->json)
		json_print(all, stdout);
	else if (json_array_size(list))
		print_cards(list);
	else
		printf("there are no network cards on a PCI bus here\n");
	json_decref(all);
	return STATUS_OK;
}

static enum status refuse_unknown(const struct request *r, const char *card)
{
	char **names = topology_device_names(r->m), hint[SUGGESTION_MAX];

	err_set(r->e, -ENODEV, STATUS_USAGE, text_shown(card), NULL, "there is no such card, see kbtune card list%s",
		suggestion(suggest(card, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
	return STATUS_USAGE;
}

static enum status plan_cards(const struct request *r, struct plan *plan)
{
	enum status status = STATUS_OK;

	for (size_t i = 1; i < r->args->count && !status; i++) {
		char *address = pci_find(r->m, r->args->items[i]);

		if (!address)
			status = refuse_unknown(r, r->args->items[i]);
		else if (op_bind_plan(plan, r->m, "card", address, r->driver, r->e))
			status = err_status(r->e);
		free(address);
	}
	return status;
}

static enum status card_bind(void *request)
{
	struct request *r = request;
	char quoted[TEXT_QUOTE_MAX];
	enum status status;
	struct plan plan;

	if (!r->driver)
		r->driver = op_bind_drivers[0];
	if (!text_is_among(r->driver, op_bind_drivers)) {
		err_set(r->e, -EINVAL, STATUS_USAGE, "--driver", NULL, "must be " OP_BIND_DRIVERS ", not %s",
			text_quote(r->driver, quoted, sizeof(quoted)));
		return STATUS_USAGE;
	}
	plan_init(&plan, "card bind", "");
	status = plan_cards(r, &plan);
	if (!status)
		status = apply_steps(r->m, &plan, r->dry_run, r->json, r->e);
	for (size_t i = 0; !status && !r->json && !r->dry_run && i < plan.missing_count; i++)
		fprintf(stderr, "kbtune: %s: %s\n", plan.missing[i].object, plan.missing[i].reason);
	for (size_t i = 0; !status && !r->json && !r->dry_run && i < plan.warning_count; i++)
		fprintf(stderr, "kbtune: %s\n", plan.warnings[i]);
	plan_free(&plan);
	return status;
}

static enum status card_restore(void *request)
{
	struct request *r = request;
	const int undone = change_undo(r->m, "card", r->e);

	if (undone < 0)
		return err_status(r->e);
	printf("%d cards are as before\n", undone);
	output_settle("%d cards are as before", undone);
	return STATUS_OK;
}

static const struct command_action actions[] = {
    {"list", 0, 0, card_list},
    {"bind", 1, ARGS_MAX, card_bind},
    {"restore", 0, 0, card_restore},
    {.name = NULL},
};

static enum status card_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->m = m;
	r->args = args;
	r->e = e;
	return command_act("card", actions, args, r, e);
}

enum status tune_card(int argc, char **argv, struct err *e)
{
	const char *sysroot = NULL;
	struct request r = {0};
	const struct cli_flag flags[] = {
	    {"driver", CLI_STRING, &r.driver, "DRIVER", "for bind: vfio-pci (default), or uio_pci_generic", 0, 0},
	    {"dry-run", CLI_FLAG, &r.dry_run, NULL, "for bind: show what would be done", 0, 0},
	    COMMAND_SYSROOT(&sysroot),
	    COMMAND_JSON(&r.json),
	    COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_card_cli, flags, &sysroot, card_act, &r}, argc, argv, e);
}
