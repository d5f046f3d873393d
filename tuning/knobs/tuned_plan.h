/* The step of a tuned profile, for the knob and for `kbtune tuned apply`. */
#ifndef KBLAT_TUNING_TUNED_PLAN_H
#define KBLAT_TUNING_TUNED_PLAN_H

struct machine;
struct plan;

/* `own`: a profile's text that is to be installed under `name` meanwhile, or NULL. */
void tuned_plan(struct plan *plan, struct machine *m, const char *knob, const char *name, const char *own);

#endif
