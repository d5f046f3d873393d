/*
 * A tuned profile.
 */
#ifndef KBLAT_TUNING_OP_TUNED_H
#define KBLAT_TUNING_OP_TUNED_H

#include "tuning/steps/step.h"

struct machine;
struct plan;

extern const struct op op_tuned;

/* Apply the profile `name`, or a reason why not. `own`: its text, which is to be installed
 * meanwhile; or NULL. */
void op_tuned_plan(struct plan *plan, struct machine *m, const char *knob, const char *name, const char *own);

#endif
