/*
 * The runs of a comparison: opened, and checked against their manifests (what is read of them, not
 * the raw columns).
 */
#ifndef KBLAT_COMPARE_RUNS_H
#define KBLAT_COMPARE_RUNS_H

#include <stdint.h>

#include "rundir/sealed.h"

struct err;

enum compare_arm { ARM_BASE, ARM_WITH, ARMS };
extern const char *const compare_arm_name[ARMS]; /* "BASE", "NEW" */

enum compare_unit_kind { UNIT_AUTO, UNIT_BOOT, UNIT_RUN };
extern const char *const compare_unit_name[]; /* "auto", "boot", "run" */

struct compare_run {
	struct run run;
	enum compare_arm arm;
	char *boot, *kernel, *hosts; /* of several hosts joined with '+' */
	/* state.json of the source's host before the run; NULL: it was not captured */
	json_t *state;
	json_int_t started_ns; /* CLOCK_REALTIME */
	size_t unit;
};

struct compare_runs {
	struct compare_run *run; /* by arm, then by time */
	size_t count;
	/* compare_units() */
	enum compare_unit_kind kind;
	/* a unit's number is below units[0] for the base, from there on for the other */
	size_t units[ARMS];
	bool pairs; /* unit i of the base and unit i of the other belong together */
	/* of runs as units: taken in turn, so that no drift of the machine looks like an effect */
	bool in_turn;
};

/*
 * Add what a path holds: a run directory, or a folder with run directories in it (three levels
 * deep). `experiment` (may be NULL): only runs of that name. STATUS_USAGE for one that is not
 * sealed, was changed since, is of a newer schema, or does not say which boot it was.
 */
int compare_runs_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
		     struct err *e);

void compare_runs_free(struct compare_runs *all);

/* For callers that open runs in another way: fill in what is known of the hosts, which is taken; and
 * add one to the others (it is freed where there are too many). */
void compare_run_take(struct compare_run *r, struct sealed_hosts *hosts);
int compare_runs_take(struct compare_runs *all, struct compare_run *r, struct err *e);

/* Free all but the first ones. */
void compare_runs_drop(struct compare_runs *all, size_t kept);

/* The experiment's name. */
const char *compare_run_name(const struct compare_run *r);

/* The values of a field of an arm's runs, each once, in order: "6.1.0-50, 6.1.0-56". The caller
 * frees. */
enum compare_field { FIELD_KERNEL, FIELD_HOSTS, FIELD_BOOT };
json_t *compare_values(const struct compare_runs *all, enum compare_arm arm, enum compare_field field);

#endif
