/*
 * What a tuned profile leaves on disk, where it would survive a reboot: tuned's own record of its
 * active profile; other files that it changes ("of_others"), such as grub.cfg; and a profile of
 * kbtune that is installed temporarily. Parts of op_tuned's data: "files", as they were ("raw" or
 * "absent"), and what tuned made of those of others ("made"); "install", the text of a profile, and
 * "folder", where.
 */
#ifndef KBLAT_TUNING_TUNED_FILES_H
#define KBLAT_TUNING_TUNED_FILES_H

#include <jansson.h>
#include <stdbool.h>

struct err;
struct machine;
struct step;

/* Write down the files, and the profile that is to be installed (`own` is its text; NULL: none). `resolved`: of
 * tuned_resolve(), or NULL. */
void tuned_files_plan(const struct machine *m, struct step *s, const char *name, const char *own,
		      const json_t *resolved);

/* When it is applied: what tuned made of other files. */
void tuned_files_settle(struct machine *m, struct step *s);

/* Before tuned undoes its own changes: adds to the object `changed` the paths of files that somebody else has changed
 * since. */
void tuned_files_look(struct machine *m, const struct step *s, json_t *changed);

/* 0, or a negative errno and `e`. */
int tuned_files_install(struct machine *m, const struct step *s, struct err *e);

/* Remove it, unless it is somebody else's. 0, or a negative errno and `e`. */
int tuned_files_uninstall(struct machine *m, const struct step *s, struct err *e);

/* Do tuned's notes name a profile? */
bool tuned_files_name(const struct machine *m, const char *profile);

/* Restore tuned's notes (if `notes`), and the files of others, but not those that are in `changed`. 0, or a negative
 * errno and `e`. */
int tuned_files_put_back(struct machine *m, const struct step *s, bool notes, const json_t *changed, struct err *e);

#endif
