/*
 * Files that somebody else changes for us, as tuned does: how they were ("raw", in "form"), so that
 * they can be put back whatever becomes of it, and how they were made ("made"). An array of
 * {"path", "form", "raw"} and more.
 */
#ifndef KBLAT_TUNING_GUARDS_H
#define KBLAT_TUNING_GUARDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct machine;

/* They have been changed: keep what was made of those that are no longer as before. Live machines
 * only. */
void guards_settle(struct machine *m, json_t *guards);

/* Is one of them no longer as it was made? Then `text` says which. */
bool guards_find_changed(struct machine *m, const json_t *guards, char *text, size_t size);

/* Restore all of them. 0, or the negative errno of the first failure and `e`. */
int guards_undo(struct machine *m, const json_t *guards, struct err *e);

#endif
