/*
 * The affinity of an interrupt.
 */
#ifndef KBLAT_TUNING_OP_IRQ_H
#define KBLAT_TUNING_OP_IRQ_H

#include "tuning/ops/ops.h"

struct cpulist;
struct irq;
struct irq_table;
struct machine;
struct plan;

/* Add a step that moves one, or a reason why that is not possible. */
void op_irq_plan(struct plan *plan, const struct machine *m, const char *knob, const struct irq *irq,
		 const struct cpulist *want);

/* Notice, later, interrupts that are not in `t` and fire on CPUs of `off`. */
void op_irq_plan_watch(struct plan *plan, const char *knob, const struct irq_table *t, const struct cpulist *off);

#endif
