/*
 * The runs of a comparison. Files that are read from them (not the raw columns) are checked against
 * their manifests.
 */
#ifndef KBLAT_COMPARE_RUNS_H
#define KBLAT_COMPARE_RUNS_H

#include <stdint.h>
#include <sys/types.h>

#include "files/rundir/sealed.h"

struct err;
struct summary;

enum compare_arm { ARM_BASE, ARM_WITH, ARMS };
extern const char *const compare_arm_name[ARMS]; /* "BASE", "NEW" */

enum compare_unit_kind { UNIT_AUTO, UNIT_BOOT, UNIT_RUN };
extern const char *const compare_unit_name[]; /* "auto", "boot", "run" */

struct compare_run {
	struct run run;
	struct summary *summary; /* of its file; the points of a join point into it */
	enum compare_arm arm;
	char *boot, *kernel, *hosts; /* names of several hosts are joined with '+' */
	/* state.json of the source's host before the run; NULL: it was not captured */
	json_t *state;
	json_int_t started_ns; /* CLOCK_REALTIME */
	size_t unit;
};

struct compare_runs {
	struct compare_run *run; /* by arm, then by time */
	size_t count;
	size_t passed_over; /* that have not ended, or were killed */
	char *first_passed; /* the path of the first of them */
	/* set by compare_units() */
	enum compare_unit_kind kind;
	/* units of the base are numbered from 0, those of the other arm from units[0] */
	size_t units[ARMS];
	bool pairs; /* unit i of the base and unit i of the other arm are a pair */
	/* if units are runs: the arms alternated, so that a drift of the machine does not look like
	 * an effect */
	bool in_turn;
};

/*
 * Add the runs at `path`: a run directory, or a folder with run directories in it (up to three
 * levels deep, of which those that have not ended are passed over). `experiment` (may be NULL): only runs of that name.
 * STATUS_USAGE for a run that is not sealed, has changed since, has a newer schema, or does not record its boot.
 */
int compare_runs_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
		     struct err *e);

/* The same, but uses the index of `path` if it is up to date and has the data; otherwise the directories. */
int compare_runs_add_indexed(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
			     struct err *e);

/* What was passed over, as a sentence, or NULL; the caller frees. */
char *compare_runs_passed_text(const struct compare_runs *all);

/* The permissions of what is made from them (files/rundir/run_mode.h). */
mode_t compare_runs_mode(const struct compare_runs *all);

void compare_runs_free(struct compare_runs *all);

/* The experiment's name. */
const char *compare_run_name(const struct compare_run *r);

/* The values of a field of an arm's runs, each once, in order: ["6.1.0-50", "6.1.0-56"]. A new reference. */
enum compare_field { FIELD_KERNEL, FIELD_HOSTS, FIELD_BOOT };
json_t *compare_values(const struct compare_runs *all, enum compare_arm arm, enum compare_field field);

/*
 * Group the runs into units, which count as independent measurements. To compare kernels, the unit is
 * the boot: what differs from boot to boot (memory layout, interrupt placement) matters as much as what differs from
 * run to run, and many runs of one boot still represent only that boot. To compare settings within a boot, the unit is
 * the run. STATUS_USAGE if they are of different experiments, one occurs twice, or the units make no sense.
 */
int compare_units(struct compare_runs *all, enum compare_unit_kind kind, struct err *e);

#endif
