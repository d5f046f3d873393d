/*
 * Ensures that only one user at a time changes a machine. Each user has a separate journal (state_folder.h), so
 * otherwise a user could restore values over which another user has applied something. As long as users have a journal,
 * they own a file: /run/kbtune.owner, which only root and users with CAP_DAC_OVERRIDE can create, or else
 * /dev/shm/kbtune, which only its owner and root can remove. Anybody can create the latter; therefore it stops only
 * users who cannot create the former, and others just see a message. Both files disappear with a reboot, as the changes
 * do.
 */
#ifndef KBLAT_TUNING_EXCLUSION_H
#define KBLAT_TUNING_EXCLUSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct machine;

/* Take the file, unless we have it already. 0; -EBUSY and `e` if another user has it; another negative errno and `e`.
 * On a recorded machine without these folders there is nobody to exclude. */
int exclusion_take(struct machine *m, struct err *e);

/* Remove our file, but not that of another user. */
void exclusion_release(struct machine *m);

/*
 * What everybody may know of what is applied. It is written to the file that we own, as nobody else can read our
 * journal. Texts are clean, but of a user who may write anything there; "": unknown.
 */
struct exclusion_note {
	uid_t user;
	char profile[256], since[32], state[32];
	char folder[1024]; /* of the journal, below the machine's root */
};

/* Write it, if we own a file. */
void exclusion_describe(struct machine *m, const struct exclusion_note *n);

/* Is anything applied of which the journal is not in our state folder: another user's, or in another folder of ours? */
bool exclusion_note_of_others(const struct machine *m, struct exclusion_note *n);

/* "user 0 (root) has the profile thesis here, applied since ...; the journal is in /run/kbtune". Returns `buf`. */
char *exclusion_note_text(const struct exclusion_note *n, char *buf, size_t size);

/* If anything is: -EPERM and `e` (STATUS_IMPOSSIBLE), for a command that would have to do `operation` with it; root only
 * gets a message. Else 0. */
int exclusion_refuse_others(const struct machine *m, const char *operation, struct err *e);

#endif
