/*
 * What a tuned profile leaves on disk, where it would survive a reboot: tuned's own record of its
 * active profile, and a profile of kbtune that is installed temporarily. Parts of op_tuned's data:
 * "files", the notes as they were; "install", the text of a profile, and "folder", where.
 */
#ifndef KBLAT_TUNING_TUNED_FILES_H
#define KBLAT_TUNING_TUNED_FILES_H

#include <stdbool.h>

struct err;
struct machine;
struct step;

/* Write down tuned's notes, and the profile that is to be installed (`own` is its text; NULL:
 * none). */
void tuned_files_plan(const struct machine *m, struct step *s, const char *name, const char *own);

/* 0, or a negative errno and `e`. */
int tuned_files_install(struct machine *m, const struct step *s, struct err *e);

/* Remove it, unless it is somebody else's. 0, or a negative errno and `e`. */
int tuned_files_uninstall(struct machine *m, const struct step *s, struct err *e);

/* Do tuned's notes name a profile? */
bool tuned_files_name(const struct machine *m, const char *profile);

/* Restore the notes. 0, or a negative errno and `e`. */
int tuned_files_put_back(struct machine *m, const struct step *s, struct err *e);

#endif
