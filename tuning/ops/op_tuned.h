/*
 * A tuned profile.
 */
#ifndef KBLAT_TUNING_OP_TUNED_H
#define KBLAT_TUNING_OP_TUNED_H

#include "tuning/ops/ops.h"

struct machine;
struct plan;

/* A profile, or several of them (`names`, separated by spaces), as tuned-adm takes them. `path` and `text`: that of one
 * which is to be installed meanwhile; or NULL. */
struct tuned_choice {
	const char *names, *path, *text;
};

/* Apply it, or a reason why not. */
void op_tuned_plan(struct plan *plan, struct machine *m, const char *knob, const struct tuned_choice *c);

#endif
