/*
 * A knob is a setting that a profile may contain. It turns the setting into steps (step.h describes how they are made,
 * checked and undone), into reasons why something is not possible, and into errors in the profile.
 */
#ifndef KBLAT_TUNING_KNOB_H
#define KBLAT_TUNING_KNOB_H

#include "tuning/machine/cgroups.h"
#include "tuning/machine/topology.h"
#include "tuning/profile/profile.h"
#include "tuning/steps/plan.h"

struct err;
struct machine;

/* What knobs work with. */
struct planner {
	struct machine *m;
	struct profile *profile;
	struct topology topo;
	struct cgroups cg;
	struct cpulist shielded; /* the CPUs of all shields */
	char **cards;		 /* the network cards that settings are for; NULL: not looked for yet */
	struct plan *plan;
	struct err *e; /* filled if the profile cannot be applied to this machine; ends the planning */
};

struct knob {
	const char *key;  /* in profiles */
	const char *help; /* NULL: a second row of the same key */
	void (*plan)(struct planner *p, const struct setting *s, const struct knob *k);
	const void *row;  /* parameter of `plan`, if several knobs share that function */
	const char *cost; /* its cost for other programs, or in power; NULL: none worth mentioning */
	bool each_name;	  /* every name in its mapping is a knob by itself for kblat knobs */
	bool of_cards;	  /* it is for the cards that `interfaces` names */
};

/*
 * What the rows of knobs.c plan; the source of each is the knob_NAME.c that is named.
 */
typedef void knob_plan(struct planner *p, const struct setting *s, const struct knob *k);

/* knob_bind.c: network cards that a program drives itself. */
knob_plan knob_bind_plan;

/* knob_boot.c: kernel_arguments, compared with the command line that was booted, never written. */
knob_plan knob_boot_plan;

/* knob_values.c: the network cards that the other settings of cards are for (interfaces); what their drivers let be set,
 * where `row` is a struct ethtool_group. */
knob_plan knob_cards_plan, knob_cards_plan_group;

/* knob_idle.c: which idle states each CPU may enter (cstates); the global PM QoS request (dma_latency). */
knob_plan knob_idle_plan_states, knob_idle_plan_latency;

/* knob_irqs.c: the CPUs on which interrupts may fire (irqs); a daemon that moves them sleeps (irqbalance). */
knob_plan knob_irqs_plan, knob_irqs_plan_balance;

/* knob_shields.c: one cpuset for each, with version 1 or 2 of the controller, whichever is available. */
knob_plan knob_shields_plan;

/*
 * knob_tasks.c: programs and movable kernel threads leave the shields. `again`, after the cpusets, which widen the masks
 * of threads that had one of their own: the masks once more, and what `verify` compares. `to_keep`, before the cpusets,
 * which forget the threads' affinities: they are recorded; not needed where threads are moved anyway.
 */
knob_plan knob_tasks_plan, knob_tasks_plan_again;
void knob_tasks_plan_to_keep(struct planner *p, const char *knob);
void knob_tasks_plan_pins(struct planner *p, const char *knob);

/* Before SMT is switched off: the threads of its CPUs, which the kernel then lets run anywhere. */
knob_plan knob_tasks_plan_smt;

/* knob_tuned.c: a profile of the distribution, or the tuned.conf next to our profile. */
knob_plan knob_tuned_plan;

#endif
