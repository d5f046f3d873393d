/*
 * Files that another program, such as tuned, changes for kbtune: their original content ("raw", in
 * "form"), so that they can be restored whatever happens to the program, and their changed content
 * ("made"), with the files that change with them ("beside", see op_file.h). An array of {"path", "form",
 * "raw"} and more.
 */
#ifndef KBLAT_TUNING_GUARDS_H
#define KBLAT_TUNING_GUARDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct machine;

/* To be called after the change: stores the new content of files that differ from before. Live
 * machines only. */
void guards_settle(struct machine *m, json_t *guards);

/* Has one of them changed since? Then `text` contains which one. */
bool guards_find_changed(struct machine *m, const json_t *guards, char *text, size_t size);

/* Restore all of them. 0, or the negative errno of the first failure and `e`. */
int guards_undo(struct machine *m, const json_t *guards, struct err *e);

#endif
