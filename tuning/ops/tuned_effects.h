/*
 * What a tuned profile changes on a machine, from what tuned's own code makes of it (tuned_resolve).
 */
#ifndef KBLAT_TUNING_TUNED_EFFECTS_H
#define KBLAT_TUNING_TUNED_EFFECTS_H

#include <jansson.h>

struct machine;
struct plan;
struct step;

/* The values that it changes in kernel files, as they are now: an array of {"path", "form", "raw", "want"} (op_tuned.c). */
json_t *tuned_effects_guards(const struct machine *m, const json_t *resolved);

/* The files on disk that it changes, which survive a reboot: an array of paths. */
json_t *tuned_effects_files(const struct machine *m, const json_t *resolved);

/* Steps that change nothing, to be made before it is applied: undone after it, they give threads and network cards back
 * what it takes from them. */
void tuned_effects_plan(struct plan *plan, const struct machine *m, const char *knob, const json_t *resolved);

/* State what only tuned itself could undo, and what nobody knows (step_cannot_undo). */
void tuned_effects_state(const struct machine *m, const json_t *resolved, struct step *s);

#endif
