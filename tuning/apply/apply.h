/*
 * Applies profiles and single steps to a machine. Functions return an exit status, and fill `e` on failure.
 */
#ifndef KBLAT_TUNING_APPLY_H
#define KBLAT_TUNING_APPLY_H

#include <stdbool.h>

#include "common/cli.h"
#include "common/err.h"
#include "tuning/apply/output.h"

struct machine;
struct plan;

struct apply_options {
	bool replace;		 /* restore what is applied first */
	bool strict;		 /* refuse what is not possible here, or cannot be undone */
	struct cli_list without; /* keys of settings that are left out */
	const char *in;		 /* a shield that the profile must have; NULL: none */
	const char *owner;	 /* the owner, so that only what it applied is undone when it ends; NULL: none */
	enum output output;
};

/* Load, plan and apply; errors in the profile are printed. */
enum status apply_profile(struct machine *m, const char *name, const struct apply_options *o, struct err *e);

/* Make all checks of apply_profile, including that of the rights, and print the plan; changes nothing. */
enum status apply_check(struct machine *m, const char *name, const struct apply_options *o, struct err *e);

/* Apply a plan of single steps on top of what is applied. */
enum status apply_steps(struct machine *m, const struct plan *plan, bool dry_run, bool json, struct err *e);

#endif
