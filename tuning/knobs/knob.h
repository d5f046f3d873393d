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
	struct plan *plan;
	struct err *e; /* filled if the profile cannot be applied to this machine; ends the planning */
};

struct knob {
	const char *key;  /* in profiles */
	const char *help; /* NULL: a second row of the same key */
	void (*plan)(struct planner *p, const struct setting *s, const struct knob *k);
	const void *row;  /* parameter of `plan`, if several knobs share that function */
	const char *cost; /* its cost for other programs, or in power; NULL: none worth mentioning */
};

#endif
