/*
 * Profiles and single steps, applied to a machine. Functions return an exit status, and fill `e`
 * where it is a failure.
 */
#ifndef KBLAT_TUNING_APPLY_H
#define KBLAT_TUNING_APPLY_H

#include <stdbool.h>

#include "common/err.h"
#include "tuning/apply/output.h"

struct machine;
struct plan;

struct apply_options {
	bool replace;	   /* restore what is applied first */
	bool strict;	   /* refuse where a setting is not possible here */
	const char *owner; /* whose it is, so that only that is undone when the owner ends; or NULL: nobody's */
	enum output output;
};

/* Load, plan and apply; faults are printed. */
enum status apply_profile(struct machine *m, const char *name, const struct apply_options *o, struct err *e);

/* All checks of apply_profile, rights among them, and the plan printed; changes nothing. */
enum status apply_check(struct machine *m, const char *name, const struct apply_options *o, struct err *e);

/* Apply a plan of single steps on top of what is applied. */
enum status apply_steps(struct machine *m, const struct plan *plan, bool dry_run, bool json, struct err *e);

#endif
