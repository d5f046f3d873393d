/* kbtune irq list, set, restore. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/ranges.h"
#include "common/table_print.h"
#include "common/text.h"
#include "tuning/apply/apply.h"
#include "tuning/apply/output.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/change.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/irqs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/topology.h"
#include "tuning/ops/op_irq.h"
#include "tuning/steps/plan.h"

#define ARGS_MAX 4096

const struct cli_command tune_irq_cli = {
    .name = "irq",
    .synopsis =
	"list [--device DEV] | set NUMBER... --cpus LIST | set --device DEV (--cpus LIST|--near|--away) | restore",
    .summary = "Interrupts: list where they fire and which device they belong to; move some, and restore them.",
    .details = "set is recorded in the journal: 'kbtune irq restore' restores only the interrupts, 'kbtune restore' "
	       "everything. A managed interrupt is placed by the kernel and is left out, with a note.",
    .min_args = 1,
    .max_args = ARGS_MAX,
};

struct request {
	struct machine *m;
	const struct cli_list *args;
	const char *device, *cpus;
	bool near, away, json, dry_run;
	struct err *e;
};

static enum status irq_misuse(struct request *r, const char *text, const char *word)
{
	char quoted[TEXT_QUOTE_MAX];

	err_set(r->e, -EINVAL, STATUS_USAGE, "irq", NULL, "%s%s%s", text, word ? " " : "",
		word ? text_quote(word, quoted, sizeof(quoted)) : "");
	return STATUS_USAGE;
}

/* The CPUs on which an interrupt occurred most often so far: "2:1500 0:3". */
static char *top_cpus(const struct irq_table *t, const struct irq *irq, char *buf, size_t size)
{
	uint64_t below = UINT64_MAX;
	size_t used = 0;

	buf[0] = '\0';
	for (int shown = 0; shown < 3; shown++) {
		size_t best = t->cpu_count;

		for (size_t i = 0; i < t->cpu_count; i++)
			if (irq->counts[i] && irq->counts[i] < below &&
			    (best == t->cpu_count || irq->counts[i] > irq->counts[best]))
				best = i;
		if (best == t->cpu_count || used >= size)
			break;
		used += (size_t)snprintf(buf + used, size - used, "%s%d:%llu", shown ? " " : "", t->cpus[best],
					 (unsigned long long)irq->counts[best]);
		below = irq->counts[best];
	}
	return buf;
}

static json_t *irq_json(const struct machine *m, const struct irq_table *t, const struct irq *irq)
{
	char allowed[CPULIST_TEXT_MAX], effective[CPULIST_TEXT_MAX], names[200] = "", cpu[16];
	json_t *counts = json_object(), *j;

	for (size_t i = 0; i < t->cpu_count; i++)
		if (irq->counts[i]) {
			snprintf(cpu, sizeof(cpu), "%d", t->cpus[i]);
			json_object_set_new(counts, cpu, json_integer((json_int_t)irq->counts[i]));
		}
	j = json_pack("{s:i, s:s, s:s, s:s, s:b, s:i, s:I, s:o}", "irq", irq->number, "name", irq->name, "allowed_cpus",
		      cpulist_format(&irq->allowed, allowed, sizeof(allowed)), "effective_cpus",
		      cpulist_format(&irq->effective, effective, sizeof(effective)), "managed", irq->is_fixed, "node",
		      irq->node, "total", (json_int_t)irq->total, "by_cpu", counts);
	if (j && irq->device) {
		json_object_set_new(j, "pci", json_string(irq->device));
		json_object_set_new(j, "devices", json_string(irqs_device_names(m, irq->device, names, sizeof(names))));
	}
	return j;
}

enum irq_column { IRQ_NUMBER, IRQ_ALLOWED, IRQ_EFFECTIVE, IRQ_MOVABLE, IRQ_FIRED, IRQ_WHERE, IRQ_WHO, IRQ_COLUMNS };

static const struct table_column irq_columns[IRQ_COLUMNS] = {
    [IRQ_NUMBER] = {.label = "irq", .measure = MEASURE_COUNT, .align = TABLE_RIGHT},
    [IRQ_ALLOWED] = {.label = "allowed", .most = TABLE_WHOLE},
    [IRQ_EFFECTIVE] = {.label = "effective", .most = TABLE_WHOLE},
    [IRQ_MOVABLE] = {.label = "movable"},
    [IRQ_FIRED] = {.label = "fired", .measure = MEASURE_COUNT, .align = TABLE_RIGHT},
    [IRQ_WHERE] = {.label = "where (CPU:n)", .most = TABLE_WHOLE},
    [IRQ_WHO] = {.label = "who", .most = TABLE_WHOLE},
};

static void add_irq(struct table *list, const struct machine *m, const struct irq_table *t, const struct irq *irq)
{
	char text[CPULIST_TEXT_MAX], top[128], names[200] = "";
	const size_t row = table_row(list);

	if (irq->device)
		irqs_device_names(m, irq->device, names, sizeof(names));
	table_count(list, IRQ_NUMBER, row, irq->number);
	table_text(list, IRQ_ALLOWED, row, "%s", cpulist_format(&irq->allowed, text, sizeof(text)));
	table_text(list, IRQ_EFFECTIVE, row, "%s",
		   irq->has_effective ? cpulist_format(&irq->effective, text, sizeof(text)) : "?");
	table_text(list, IRQ_MOVABLE, row, "%s", irq->is_fixed ? "kernel" : "yes");
	table_count(list, IRQ_FIRED, row, (int64_t)irq->total);
	table_text(list, IRQ_WHERE, row, "%s", top_cpus(t, irq, top, sizeof(top)));
	table_text(list, IRQ_WHO, row, "%s%s%s", irq->name, *names ? "  " : "", names);
}

/* The numbers that --device stands for. */
static enum status device_irqs(struct request *r, struct ranges *irqs, char **path)
{
	*path = topology_device(r->m, r->device);
	if (!*path) {
		char **names = topology_device_names(r->m), hint[SUGGESTION_MAX];

		err_set(r->e, -ENODEV, STATUS_USAGE, r->device, NULL, "there is no such device%s",
			suggestion(suggest(r->device, (const char *const *)names), hint, sizeof(hint)));
		sysroot_names_free(names);
		return STATUS_USAGE;
	}
	if (topology_irqs(r->m, *path, irqs)) {
		err_set(r->e, -ENODATA, STATUS_IMPOSSIBLE, r->device, NULL, "it has no interrupts of its own");
		return STATUS_IMPOSSIBLE;
	}
	return STATUS_OK;
}

static bool is_asked_for(const struct request *r, const struct ranges *irqs, const struct irq *irq)
{
	return !r->device || ranges_has(irqs, (uint64_t)irq->number);
}

static void print_irqs_json(struct request *r, const struct irq_table *t, const struct ranges *irqs)
{
	json_t *list = json_array(), *all;
	char mask[CPULIST_TEXT_MAX];

	for (size_t i = 0; i < t->count; i++)
		if (is_asked_for(r, irqs, &t->irqs[i]))
			json_array_append_new(list, irq_json(r->m, t, &t->irqs[i]));
	if (sysroot_line(&r->m->root, "/proc/irq/default_smp_affinity", mask, sizeof(mask)))
		mask[0] = '\0';
	all = json_pack("{s:i, s:s, s:o}", "schema", 1, "default_mask", mask, "irqs", list);
	json_print(all, stdout);
	json_decref(all);
}

static void print_irqs(const struct request *r, const struct irq_table *t, const struct ranges *irqs)
{
	struct table list = table_of(irq_columns, IRQ_COLUMNS, 0);

	for (size_t i = 0; i < t->count; i++)
		if (is_asked_for(r, irqs, &t->irqs[i]))
			add_irq(&list, r->m, t, &t->irqs[i]);
	table_print(&list, &(struct table_style){.gap = 2}, stdout);
	table_free(&list);
}

static enum status irq_list(void *request)
{
	struct request *r = request;
	enum status status = STATUS_OK;
	struct irq_table t;
	struct ranges irqs = {0};
	char *path = NULL;
	int rc;

	if (r->device)
		status = device_irqs(r, &irqs, &path);
	free(path);
	rc = status ? 0 : irqs_read(r->m, &t, true);
	if (rc) {
		err_sys(r->e, rc, "/proc/interrupts", "read");
		status = err_status(r->e);
	}
	if (!status) {
		if (r->json)
			print_irqs_json(r, &t, &irqs);
		else
			print_irqs(r, &t, &irqs);
		irqs_free(&t);
	}
	ranges_free(&irqs);
	return status;
}

static enum status take_numbers(struct request *r, struct ranges *irqs)
{
	for (size_t i = 1; i < r->args->count; i++)
		if (ranges_parse(r->args->items[i], irqs))
			return irq_misuse(r, "not the number of an interrupt:", r->args->items[i]);
	return STATUS_OK;
}

static enum status find_cpus_asked_for(struct request *r, const struct topology *t, const char *device,
				       struct cpulist *out)
{
	struct cpulist near;

	if (r->cpus) {
		if (cpulist_parse(r->cpus, out, NULL, 0) || cpulist_first(out) < 0)
			return irq_misuse(r, "not a list of CPUs:", r->cpus);
		return cpulist_is_subset(out, &t->online)
			   ? STATUS_OK
			   : irq_misuse(r, "not all of these CPUs exist and are online:", r->cpus);
	}
	if (topology_near(r->m, t, device, &near)) {
		err_set(r->e, -ENODATA, STATUS_IMPOSSIBLE, r->device, NULL,
			"its NUMA node is not known: any CPU counts as near it");
		return STATUS_IMPOSSIBLE;
	}
	*out = r->near ? near : t->online;
	for (int cpu = cpulist_first(&near); r->away && cpu >= 0; cpu = cpulist_next(&near, cpu))
		cpulist_remove(out, (unsigned)cpu);
	if (cpulist_first(out) >= 0)
		return STATUS_OK;
	err_set(r->e, -ENODATA, STATUS_IMPOSSIBLE, r->device, NULL, "all CPUs are near it");
	return STATUS_IMPOSSIBLE;
}

/* The first number that is asked for and is none of an interrupt here; false: there is none. */
static bool find_unknown(const struct irq_table *t, const struct ranges *irqs, uint64_t *number)
{
	struct ranges here = {0};
	bool found = false;

	for (size_t i = 0; i < t->count; i++)
		ranges_add(&here, (uint64_t)t->irqs[i].number, (uint64_t)t->irqs[i].number);
	for (size_t i = 0; i < irqs->count && !found; i++)
		for (*number = irqs->items[i].first; *number <= irqs->items[i].last && !found; ++*number)
			found = !ranges_has(&here, *number);
	*number -= found;
	ranges_free(&here);
	return found;
}

static enum status plan_irqs(struct request *r, const struct ranges *irqs, const struct cpulist *cpus,
			     struct plan *plan)
{
	struct irq_table t;
	char unknown[32];
	uint64_t number;
	int rc = irqs_read(r->m, &t, false);
	bool missing;

	if (rc) {
		err_sys(r->e, rc, "/proc/interrupts", "read");
		return err_status(r->e);
	}
	for (size_t i = 0; i < t.count; i++)
		if (ranges_has(irqs, (uint64_t)t.irqs[i].number))
			op_irq_plan(plan, r->m, "irq", &t.irqs[i], cpus);
	missing = !r->device && find_unknown(&t, irqs, &number);
	irqs_free(&t);
	if (!missing)
		return STATUS_OK;
	snprintf(unknown, sizeof(unknown), "%llu", (unsigned long long)number);
	return irq_misuse(r, "there is no such interrupt, see kbtune irq list:", unknown);
}

static enum status irq_set_on(struct request *r, const struct topology *t)
{
	struct ranges irqs = {0};
	struct cpulist cpus;
	enum status status;
	struct plan plan;
	char *path = NULL;

	status = r->device ? device_irqs(r, &irqs, &path) : take_numbers(r, &irqs);
	if (!status)
		status = find_cpus_asked_for(r, t, path, &cpus);
	plan_init(&plan, "irq set", "");
	if (!status)
		status = plan_irqs(r, &irqs, &cpus, &plan);
	if (!status)
		status = apply_steps(r->m, &plan, r->dry_run, r->json, r->e);
	for (size_t i = 0; !status && !r->json && !r->dry_run && i < plan.missing_count; i++)
		fprintf(stderr, "kbtune: %s: %s\n", plan.missing[i].object, plan.missing[i].reason);
	plan_free(&plan);
	ranges_free(&irqs);
	free(path);
	return status;
}

static enum status irq_set(void *request)
{
	struct request *r = request;
	struct topology t;
	enum status status;

	if (!r->device == (r->args->count < 2))
		return irq_misuse(r, "set needs numbers of interrupts, or --device", NULL);
	if (!!r->cpus + r->near + r->away != 1 || (!r->cpus && !r->device))
		return irq_misuse(r, "set needs --cpus LIST or, for a --device, --near or --away", NULL);
	if (topology_read(r->m, &t, r->e))
		return err_status(r->e);
	status = irq_set_on(r, &t);
	topology_free(&t);
	return status;
}

static enum status irq_restore(void *request)
{
	struct request *r = request;
	const int undone = change_undo(r->m, "irq", r->e);

	if (undone < 0)
		return err_status(r->e);
	printf("%d interrupts are as before\n", undone);
	output_settle("%d interrupts are as before", undone);
	return STATUS_OK;
}

static const struct command_action actions[] = {
    {"list", 0, ARGS_MAX, irq_list},
    {"set", 0, ARGS_MAX, irq_set},
    {"restore", 0, ARGS_MAX, irq_restore},
    {.name = NULL},
};

static enum status irq_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->m = m;
	r->args = args;
	r->e = e;
	return command_act("irq", actions, args, r, e);
}

enum status tune_irq(int argc, char **argv, struct err *e)
{
	const char *sysroot = NULL;
	struct request r = {0};
	const struct cli_flag flags[] = {
	    {"device", CLI_STRING, &r.device, "DEV", "the interrupts of mlx5_0, eth0, nvme0, 0000:03:00.0, ...", 0, 0},
	    {"cpus", CLI_STRING, &r.cpus, "LIST", "for set: where they may fire", 0, 0},
	    {"near", CLI_FLAG, &r.near, NULL, "for set: on the CPUs of the device's NUMA node", 0, 0},
	    {"away", CLI_FLAG, &r.away, NULL, "for set: on all other CPUs", 0, 0},
	    {"dry-run", CLI_FLAG, &r.dry_run, NULL, "for set: show what would be done", 0, 0},
	    COMMAND_SYSROOT(&sysroot),
	    COMMAND_JSON(&r.json),
	    COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_irq_cli, flags, &sysroot, irq_act, &r}, argc, argv, e);
}
