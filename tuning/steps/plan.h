/*
 * The plan for applying a profile to a machine: the steps in the order in which they will be made, what is not possible
 * here and why, what only a reboot can change, and notes for the user. Nothing has been changed yet.
 */
#ifndef KBLAT_TUNING_PLAN_H
#define KBLAT_TUNING_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/cpulist.h"
#include "tuning/machine/cgroups.h"
#include "tuning/steps/step.h"

struct err;

#define SHIELDS_MAX 32

struct shield {
	char name[CGROUPS_NAME_MAX];
	struct cpulist cpus, memory;
	char partition[16]; /* isolated, root or member */
};

struct missing {
	char *knob, *object, *reason;
};

struct boot_argument {
	char *name, *want, *have; /* have: NULL if it is not on the kernel's command line */
	bool is_met;
};

struct plan {
	char *profile, *title;
	bool from_profile; /* knobs of a profile, which --without leaves out */
	bool strict;	   /* plan_check_strict(); and what turns out not to be possible fails the transaction */
	struct shield shields[SHIELDS_MAX];
	size_t shield_count;
	struct cpulist online, housekeeping;
	struct step *steps;
	size_t step_count;
	struct missing *missing;
	size_t missing_count;
	struct boot_argument *boot;
	size_t boot_count;
	char **warnings;
	size_t warning_count;
	json_t *without; /* keys of the profile's settings that are left out */
	json_t *gone;	 /* names of interfaces and RDMA devices that the system will not have meanwhile */
};

void plan_init(struct plan *p, const char *profile, const char *title);
void plan_free(struct plan *p);

/* Each returns what it added, so that details can be set. The step's texts are copied; `data` is stolen. */
struct step *plan_step(struct plan *p, const char *knob, const struct op *op, const char *path, const char *before,
		       const char *after, json_t *data);
void plan_missing(struct plan *p, const char *knob, const char *object, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));
void plan_boot(struct plan *p, const char *name, const char *want, const char *have, bool is_met);
void plan_warn(struct plan *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The system will not have it; so there is nothing to plan for it, or for a file of it. */
void plan_gone(struct plan *p, const char *name);
bool plan_is_gone(const struct plan *p, const char *name_or_path);

/* --strict: -ENOTSUP and `e` (STATUS_IMPOSSIBLE) if something is not possible here or cannot be undone; each such thing
 * is printed to `list` (NULL: nowhere). */
int plan_check_strict(const struct plan *p, FILE *list, struct err *e);

/*
 * What this process may not change: a new list of {"knob", "object", "reason", "right": the capability that it takes, "" if
 * another reason, "changes": how many of the knob's}, one for each knob, in the order of the steps. `rc` (NULL: not wanted) gets
 * the first negative errno, or 0.
 */
json_t *plan_refusals(const struct plan *p, struct machine *m, int *rc);

/* Print it; `refusals` may be NULL. */
void plan_print_refusals(const json_t *refusals, FILE *out);

void plan_print(const struct plan *p, FILE *out);
json_t *plan_to_json(const struct plan *p);

#endif
