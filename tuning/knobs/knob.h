/*
 * A knob: what a profile may ask for. It turns a setting into steps (step.h says how these are
 * made, checked and undone), into reasons why not, and into faults of the profile.
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
	struct plan *plan;
	struct err *e; /* a machine on which the profile cannot be: filled once, ends the planning */
};

struct knob {
	const char *key;  /* in profiles */
	const char *help; /* NULL: a second row of the same key */
	void (*plan)(struct planner *p, const struct setting *s, const struct knob *k);
	const void *row;  /* what `plan` needs to know, where several knobs share it */
	const char *cost; /* what it takes from others, or in power; NULL: nothing that one would notice */
};

#endif
