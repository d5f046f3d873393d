#include "tuning/knobs/knob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/ranges.h"
#include "tuning/knobs/place.h"
#include "tuning/machine/irqs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/ops/op_file.h"
#include "tuning/ops/op_irq.h"
#include "tuning/ops/ops.h"

#define DEFAULT "/proc/irq/default_smp_affinity"

/* Make the smallest change: the interrupt keeps those of its CPUs that are in `all`; if there are
 * none, it gets all of `all`. */
static void plan_away(struct planner *p, const struct knob *k, const struct irq *irq, const struct cpulist *all)
{
	struct cpulist want = irq->allowed;

	cpulist_intersect(&want, all);
	if (cpulist_first(&want) < 0)
		want = *all;
	/* Many masks contain offline CPUs, which do not matter. */
	if (cpulist_is_subset(&irq->allowed, all))
		want = irq->allowed;
	op_irq_plan(p->plan, p->m, k->key, irq, &want);
}

/* False: there are no CPUs, and an error or a reason has been recorded. */
static bool find_cpus(struct planner *p, const struct setting *s, const struct ynode *n, struct cpulist *out)
{
	return !place_resolve(p, s, n, "placement", out) && cpulist_first(out) >= 0;
}

/* Plan an entry of `devices:`. Its interrupts are added to `taken`. */
static void plan_device(struct planner *p, const struct setting *s, const struct knob *k, const struct ynode *one,
			const struct irq_table *t, struct ranges *taken)
{
	static const char *const keys[] = {"device", "cpus", NULL};
	const struct ynode *device = yaml_get(one, "device"), *cpus = yaml_get(one, "cpus");
	struct ranges irqs = {0};
	struct cpulist want;
	char *path;

	setting_check_keys(s, one, keys);
	if (!device || device->kind != YNODE_SCALAR || !cpus) {
		setting_fault(s, one, "a device here is {device: NAME, cpus: PLACE}");
		return;
	}
	if (!find_cpus(p, s, cpus, &want))
		return;
	path = topology_device(p->m, device->scalar);
	if (!path)
		setting_fault(s, device, "there is no device '%s' here", device->scalar);
	else if (topology_irqs(p->m, path, &irqs))
		plan_missing(p->plan, k->key, device->scalar, "it has no interrupts of its own");
	else
		for (size_t i = 0; i < t->count; i++)
			if (ranges_has(&irqs, (uint64_t)t->irqs[i].number)) {
				ranges_add(taken, (uint64_t)t->irqs[i].number, (uint64_t)t->irqs[i].number);
				op_irq_plan(p->plan, p->m, k->key, &t->irqs[i], &want);
			}
	ranges_free(&irqs);
	free(path);
}

static void plan_default(struct planner *p, const struct knob *k, const struct cpulist *cpus)
{
	char mask[CPULIST_TEXT_MAX];

	op_file_plan(p->plan, p->m, k->key, DEFAULT, FORM_MASK, cpulist_format_mask(cpus, mask, sizeof(mask)),
		     "there is no such file here");
}

static void plan_table(struct planner *p, const struct setting *s, const struct knob *k, const struct irq_table *t)
{
	const struct ynode *all = yaml_get(s->value, "all"), *devices = yaml_get(s->value, "devices");
	struct ranges taken = {0};
	struct cpulist want;

	for (size_t i = 0; devices && i < devices->count; i++)
		plan_device(p, s, k, devices->items[i], t, &taken);
	if (all && find_cpus(p, s, all, &want))
		for (size_t i = 0; i < t->count; i++)
			if (!ranges_has(&taken, (uint64_t)t->irqs[i].number))
				plan_away(p, k, &t->irqs[i], &want);
	if (cpulist_first(&p->shielded) >= 0)
		op_irq_plan_watch(p->plan, k->key, t, &p->shielded);
	ranges_free(&taken);
}

void knob_irqs_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	static const char *const keys[] = {"default", "all", "devices", NULL};
	const struct ynode *deflt, *devices = yaml_get(s->value, "devices");
	struct cpulist want;
	struct irq_table t;

	if (s->value->kind != YNODE_MAPPING) {
		setting_must_be(s, s->value, s->key, "a mapping with default, all, devices");
		return;
	}
	setting_check_keys(s, s->value, keys);
	if (devices && devices->kind != YNODE_SEQUENCE) {
		setting_must_be(s, devices, "devices", "a list of {device, cpus}");
		return;
	}
	deflt = yaml_get(s->value, "default");
	if (deflt && find_cpus(p, s, deflt, &want))
		plan_default(p, k, &want);
	if (irqs_read(p->m, &t, false)) {
		plan_missing(p->plan, k->key, "/proc/interrupts", "it cannot be read");
		return;
	}
	plan_table(p, s, k, &t);
	irqs_free(&t);
}

void knob_irqs_plan_balance(struct planner *p, const struct setting *s, const struct knob *k)
{
	bool pause = setting_is_word(s->value, "pause");
	int pid = tasks_find(p->m, "irqbalance");
	char path[64];
	struct thread t;

	if (!pause && !setting_is_word(s->value, "leave"))
		setting_must_be(s, s->value, s->key, "pause or leave");
	/* One that somebody has stopped is to stay so afterwards, too. */
	if (!pause || !pid || tasks_read(p->m, pid, pid, &t) || t.state == 'T')
		return;
	snprintf(path, sizeof(path), "irqbalance (process %d)", pid);
	plan_step(p->plan, k->key, &op_pause, path, "running", "paused",
		  json_pack("{s:i, s:I}", "pid", pid, "start", (json_int_t)t.start));
}
