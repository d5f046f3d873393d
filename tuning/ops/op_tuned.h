/*
 * A tuned profile.
 */
#ifndef KBLAT_TUNING_OP_TUNED_H
#define KBLAT_TUNING_OP_TUNED_H

#include "tuning/ops/ops.h"

struct machine;
struct plan;

/* Apply the profile `name`, or a reason why not. `own`: its text, which is to be installed
 * meanwhile; or NULL. */
void op_tuned_plan(struct plan *plan, struct machine *m, const char *knob, const char *name, const char *own);

#endif
