/*
 * The runs of a comparison. Files that are read from them (not the raw columns) are checked against
 * their manifests.
 */
#ifndef KBLAT_COMPARE_RUNS_H
#define KBLAT_COMPARE_RUNS_H

#include <stdint.h>
#include <sys/types.h>

#include "rundir/sealed.h"

struct err;

enum compare_arm { ARM_BASE, ARM_WITH, ARMS };
extern const char *const compare_arm_name[ARMS]; /* "BASE", "NEW" */

enum compare_unit_kind { UNIT_AUTO, UNIT_BOOT, UNIT_RUN };
extern const char *const compare_unit_name[]; /* "auto", "boot", "run" */

struct compare_run {
	struct run run;
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
 * levels deep). `experiment` (may be NULL): only runs of that name. STATUS_USAGE for a run that is
 * not sealed, has changed since, has a newer schema, or does not record its boot.
 */
int compare_runs_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
		     struct err *e);

/* The permissions of what is made from them (rundir/run_mode.h). */
mode_t compare_runs_mode(const struct compare_runs *all);

void compare_runs_free(struct compare_runs *all);

/* For callers that open runs in another way. The first function fills in what is known about the
 * hosts and takes ownership of it; the second adds a run to the others (and frees it if there are
 * too many). */
void compare_run_take(struct compare_run *r, struct sealed_hosts *hosts);
int compare_runs_take(struct compare_runs *all, struct compare_run *r, struct err *e);

/* Free all but the first `kept` ones. */
void compare_runs_drop(struct compare_runs *all, size_t kept);

/* The experiment's name. */
const char *compare_run_name(const struct compare_run *r);

/* The values of a field of an arm's runs, each once, in order: ["6.1.0-50", "6.1.0-56"]. A new reference. */
enum compare_field { FIELD_KERNEL, FIELD_HOSTS, FIELD_BOOT };
json_t *compare_values(const struct compare_runs *all, enum compare_arm arm, enum compare_field field);

#endif
