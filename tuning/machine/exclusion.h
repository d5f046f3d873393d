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

struct err;
struct machine;

/* Take the file, unless we have it already. 0; -EBUSY and `e` if another user has it; another negative errno and `e`.
 * On a recorded machine without these folders there is nobody to exclude. */
int exclusion_take(struct machine *m, struct err *e);

/* Remove our file, but not that of another user. */
void exclusion_release(struct machine *m);

#endif
