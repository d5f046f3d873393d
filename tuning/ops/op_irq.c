/*
 * The affinity of an interrupt. data: "irq"; "raw", "effective_raw": the files as they were, for
 * recorded machines. Or "known": a step that does not change anything, but lets `verify` notice new
 * interrupts; "off" are the CPUs where they must not be. Writing to interrupts that the kernel
 * manages, or cannot move, fails with EIO (before 6.12) or EPERM (since then), or with what their chip answers, such as
 * EINVAL (multiplexed ones of PCIe hosts and GPIO); they stay where they are, which is recorded. The effective affinity
 * shows whether an interrupt has moved; with some chips it only changes at the next interrupt.
 */
#include "tuning/ops/op_irq.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/irqs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/topology.h"
#include "tuning/ops/op_file.h"
#include "tuning/steps/plan.h"

#define TRIES 20 /* 10 ms each, after EAGAIN, EBUSY or ENOMEM */

static json_t *irq_file(const struct machine *m, int number, const char *file)
{
	char path[64], *text;
	json_t *raw;

	if (machine_read(m, irqs_path(number, file, path, sizeof(path)), &text))
		return NULL;
	raw = json_string(text);
	free(text);
	return raw;
}

void op_irq_plan(struct plan *plan, const struct machine *m, const char *knob, const struct irq *irq,
		 const struct cpulist *want)
{
	char path[64], before[CPULIST_TEXT_MAX], after[CPULIST_TEXT_MAX];
	json_t *raw, *data, *effective;

	irqs_path(irq->number, "smp_affinity_list", path, sizeof(path));
	cpulist_format(&irq->allowed, before, sizeof(before));
	cpulist_format(want, after, sizeof(after));
	if (irq->is_fixed) {
		if (strcmp(before, after))
			plan_missing(plan, knob, path, "%s: the kernel manages it (mode 0444); it stays on CPUs %s",
				     irq->name, before);
		return;
	}
	if (strcmp(before, after) && cpulist_first(&irq->allowed) >= 0 && topology_are_offline(m, &irq->allowed)) {
		plan_missing(plan, knob, path,
			     "%s: all of its CPUs, %s, are offline, and it could not be put back there", irq->name,
			     before);
		return;
	}
	raw = cpulist_first(&irq->allowed) < 0 ? NULL : irq_file(m, irq->number, "smp_affinity_list");
	if (!raw) {
		plan_missing(plan, knob, path, "%s: its affinity cannot be read", irq->name);
		return;
	}
	data = json_pack("{s:i, s:o, s:s+}", "irq", irq->number, "raw", raw, "name", irq->name, "");
	effective = m->root.live ? NULL : irq_file(m, irq->number, "effective_affinity_list");
	if (effective)
		json_object_set_new(data, "effective_raw", effective);
	plan_step(plan, knob, &op_irq, path, before, after, data);
}

void op_irq_plan_watch(struct plan *plan, const char *knob, const struct irq_table *t, const struct cpulist *off)
{
	json_t *known = json_array();
	char list[CPULIST_TEXT_MAX];

	for (size_t i = 0; i < t->count; i++)
		json_array_append_new(known, json_integer(t->irqs[i].number));
	plan_step(plan, knob, &op_irq, "new interrupts", "", "",
		  json_pack("{s:o, s:s}", "known", known, "off", cpulist_format(off, list, sizeof(list))));
}

static bool is_watch(const struct step *s)
{
	return json_object_get(s->data, "known") != NULL;
}

static int irq_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	int rc = is_watch(s) ? 0 : machine_foresee_write(m, s->path, why, size);

	/* A device may be removed at any time. */
	return rc == -ENOENT ? 0 : rc;
}

static bool may_pass(int rc)
{
	return rc == -EAGAIN || rc == -EBUSY || rc == -ENOMEM;
}

static int write_patiently(struct machine *m, const char *path, const char *text)
{
	struct timespec pause = {.tv_nsec = 10000000};
	int rc = machine_write(m, path, text, strlen(text));

	for (int i = 0; i < TRIES && may_pass(rc); i++) {
		nanosleep(&pause, NULL);
		rc = machine_write(m, path, text, strlen(text));
	}
	return rc;
}

static char *effective_path(const struct step *s, char *buf, size_t size)
{
	return irqs_path((int)step_number(s, "irq"), "effective_affinity_list", buf, size);
}

/* The effective affinity of a recorded machine changes immediately. */
static int write_recorded(struct machine *m, const struct step *s)
{
	char path[64], *text = fs_path("%s\n", s->after);
	int rc = machine_write(m, s->path, text, strlen(text));

	if (!rc && json_object_get(s->data, "effective_raw"))
		rc = machine_write(m, effective_path(s, path, sizeof(path)), text, strlen(text));
	free(text);
	return rc;
}

/* That it cannot be moved: not that it is gone, that a right is missing, or that its new CPUs have no vector left. */
static bool is_immovable(int rc)
{
	return rc == -EIO || rc == -EPERM || rc == -EINVAL || rc == -EOPNOTSUPP || rc == -MACHINE_ENOTSUPP ||
	       rc == -ENODEV || rc == -ENXIO || rc == -ENOSYS;
}

static int set_refused(struct step *s)
{
	json_object_set_new(s->data, "refused", json_true());
	step_note(s, "the kernel manages it or cannot move it: it stays on CPUs %s", s->before);
	return 0;
}

/* Are a list and a set equal? */
static bool is_list_of(const char *list, const struct cpulist *set)
{
	struct cpulist cpus;

	return !cpulist_parse(list, &cpus, NULL, 0) && !memcmp(&cpus, set, sizeof(cpus));
}

/* Does the interrupt have the affinity that was written? */
static int read_back(struct machine *m, const struct step *s, const char *operation, const char *cpus, struct err *e)
{
	char list[CPULIST_TEXT_MAX];
	struct cpulist have;
	int rc = machine_read_cpus(m, s->path, &have);

	if (rc)
		return err_sys(e, rc, s->path, "read back");
	if (!is_list_of(cpus, &have))
		return err_set(e, -EIO, STATUS_FAILED, s->path, operation, "wrote '%s', but read back '%s'", cpus,
			       cpulist_format(&have, list, sizeof(list)));
	return 0;
}

static int irq_apply(struct machine *m, struct step *s, struct err *e)
{
	int rc;

	if (is_watch(s) || !strcmp(s->before, s->after))
		return 0;
	rc = m->root.live ? write_patiently(m, s->path, s->after) : write_recorded(m, s);
	if (is_immovable(rc))
		return set_refused(s);
	if (rc == -ENOENT) {
		step_note(s, "it has disappeared meanwhile");
		return 0;
	}
	if (rc == -ENOSPC)
		return err_set(e, rc, STATUS_FAILED, s->path, "change",
			       "the CPUs %s have no interrupt vector left; allow more CPUs", s->after);
	if (rc)
		return err_sys(e, rc, s->path, "change");
	return read_back(m, s, "change", s->after, e);
}

static bool was_known(const struct step *s, int number)
{
	const json_t *known = json_object_get(s->data, "known"), *one;
	size_t i;

	json_array_foreach (known, i, one)
		if (json_integer_value(one) == number)
			return true;
	return false;
}

static enum check check_newborn(struct machine *m, const struct step *s, char *now, size_t size)
{
	struct irq_table t;
	struct cpulist off;
	size_t used = 0, count = 0;

	if (cpulist_parse(step_text(s, "off"), &off, NULL, 0) || irqs_read(m, &t, false))
		return CHECK_SAME;
	for (size_t i = 0; i < t.count; i++) {
		const struct irq *irq = &t.irqs[i];

		if (was_known(s, irq->number) || irq->is_fixed ||
		    !cpulist_intersects(irq->has_effective ? &irq->effective : &irq->allowed, &off))
			continue;
		if (count++ < 5 && used < size)
			used +=
			    (size_t)snprintf(now + used, size - used, "%sinterrupt %d (%s), which is new, fires there",
					     count > 1 ? "; " : "", irq->number, irq->name);
	}
	irqs_free(&t);
	return count ? CHECK_DRIFT : CHECK_SAME;
}

static enum check irq_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	struct cpulist have, effective;
	char path[64], list[CPULIST_TEXT_MAX];

	if (is_watch(s))
		return check_newborn(m, s, now, size);
	if (json_is_true(json_object_get(s->data, "refused")) || machine_read_cpus(m, s->path, &have))
		return CHECK_SAME;
	snprintf(now, size, "%s", cpulist_format(&have, list, sizeof(list)));
	if (!is_list_of(s->after, &have))
		return CHECK_DRIFT;
	if (machine_read_cpus(m, effective_path(s, path, sizeof(path)), &effective) ||
	    cpulist_is_subset(&effective, &have))
		return CHECK_SAME;
	snprintf(now, size, "allowed on CPUs %s, still on CPU %s until it fires the next time", s->after,
		 cpulist_format(&effective, list, sizeof(list)));
	return CHECK_PENDING;
}

static int irq_undo(struct machine *m, const struct step *s, struct err *e)
{
	struct cpulist want, have;
	char path[64];
	int rc;

	if (is_watch(s) || !strcmp(s->before, s->after))
		return 0;
	if (!m->root.live) {
		rc = machine_put_back(m, s->path, step_text(s, "raw"));
		if (!rc && json_object_get(s->data, "effective_raw"))
			rc = machine_put_back(m, effective_path(s, path, sizeof(path)), step_text(s, "effective_raw"));
		if (rc == -ENOENT)
			return STEP_GONE;
		return rc ? err_sys(e, rc, s->path, "put back") : read_back(m, s, "put back", s->before, e);
	}
	rc = machine_read_cpus(m, s->path, &have);
	if (!rc && is_list_of(s->before, &have))
		return 0;
	/* The current content is not a list: write one. */
	if (rc == -EINVAL)
		rc = 0;
	if (!rc)
		rc = write_patiently(m, s->path, s->before);
	if (rc == -ENOENT)
		return STEP_GONE;
	if (rc == -EINVAL && !cpulist_parse(s->before, &want, NULL, 0) && topology_are_offline(m, &want))
		return op_file_leave(m, s, &want, e);
	/* It was never moved. */
	if (is_immovable(rc) && rc != -EINVAL)
		return 0;
	return rc ? err_sys(e, rc, s->path, "put back") : read_back(m, s, "put back", s->before, e);
}

const struct op op_irq = {
    .name = "irq",
    .right = "CAP_DAC_OVERRIDE",
    .probe = irq_probe,
    .apply = irq_apply,
    .check = irq_check,
    .undo = irq_undo,
};
