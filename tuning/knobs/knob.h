/*
 * Knobs: what a profile may ask for. A knob is one row of one table: its key in profiles, and the function that turns
 * the setting into steps (step.h says how these are made, checked and undone), into reasons why not, and into faults of
 * the profile. The table's order is the order of the writes.
 */
#ifndef KBLAT_TUNING_KNOB_H
#define KBLAT_TUNING_KNOB_H

#include <stdbool.h>

#include "tuning/machine/cgroups.h"
#include "tuning/machine/form.h"
#include "tuning/machine/topology.h"
#include "tuning/profile/profile.h"
#include "tuning/steps/plan.h"

struct err;
struct machine;

struct planner {
	struct machine *m;
	struct profile *profile;
	struct topology topo;
	struct cgroups cg;
	struct cpulist shielded;
	struct plan *plan;
	struct err *e; /* a machine on which the profile cannot be: filled once, ends the planning */
};

struct knob {
	const char *key;
	void (*plan)(struct planner *p, const struct setting *s, const struct knob *k);
	const char *help;
	const void *row; /* what `plan` needs to know, where several knobs share it */
};

extern const struct knob knobs[]; /* ends with a key of NULL */
const struct knob *knob_find(const char *key);

/*
 * What `profile` means on `m`. 0; -EINVAL where the profile has faults (profile_print_faults); another negative errno
 * and `e` where it cannot be applied to this machine. plan_free in any case.
 */
int knobs_plan(struct machine *m, struct profile *profile, struct plan *plan, struct err *e);

/*
 * The CPUs that a placement stands for: "2-3", all, housekeeping, shields, a shield's name, or a mapping
 *   {cpus: 2-3} {node: 0} {near: mlx5_0}   with  take: 2 | 1/3 | all   and   cores: yes (whole cores)
 * 0; -EINVAL with a fault; -ENODEV where there is no such place here, with the reason in `why`.
 */
int place_resolve(struct planner *p, const struct setting *s, const struct ynode *n, struct cpulist *out, char *why,
		  size_t size);

/* The shields of the profile, placed: into plan->shields, housekeeping. 0 or as place_resolve. */
int place_shields(struct planner *p, const struct setting *s);

/* For knobs: is this setting "off"/"no"/"false" or "on"/"yes"/"true"? A fault where it is neither. */
bool setting_is_on(const struct setting *s, const struct ynode *n);

/* Faults for keys of a mapping that are not in `names` (NULL-terminated). */
void setting_check_keys(const struct setting *s, const struct ynode *map, const char *const *names);

void plan_values(struct planner *p, const struct setting *s, const struct knob *k);
void plan_files(struct planner *p, const struct setting *s, const struct knob *k);
void plan_cstates(struct planner *p, const struct setting *s, const struct knob *k);
void plan_shields(struct planner *p, const struct setting *s, const struct knob *k);
void plan_tasks(struct planner *p, const struct setting *s, const struct knob *k);
void plan_tasks_again(struct planner *p);
void plan_irqs(struct planner *p, const struct setting *s, const struct knob *k);
void plan_irqbalance(struct planner *p, const struct setting *s, const struct knob *k);
void plan_latency(struct planner *p, const struct setting *s, const struct knob *k);
void plan_tuned(struct planner *p, const struct setting *s, const struct knob *k);
void plan_boot_arguments(struct planner *p, const struct setting *s, const struct knob *k);

#endif
