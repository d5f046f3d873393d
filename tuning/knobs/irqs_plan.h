/* One interrupt's step, for the knob and for `kbtune irq set`. */
#ifndef KBLAT_TUNING_IRQS_PLAN_H
#define KBLAT_TUNING_IRQS_PLAN_H

struct cpulist;
struct irq;
struct machine;
struct plan;

void irqs_plan_one(struct plan *plan, const struct machine *m, const char *knob, const struct irq *irq,
		   const struct cpulist *want);

#endif
