/*
 * One user at a time: each user has a journal of their own (state_folder.h), and what one restores another may have applied
 * on top. So whoever changes a machine has a file that says so as long as their journal is there: /run/kbtune.owner, which
 * only root and who may write everywhere (CAP_DAC_OVERRIDE) can make; others make /dev/shm/kbtune, which nobody but its owner
 * and root can remove. As anybody can make the latter, it refuses only those who can make no better one; the others are told
 * of it. Both go with a reboot, as the changes do.
 */
#ifndef KBLAT_TUNING_EXCLUSION_H
#define KBLAT_TUNING_EXCLUSION_H

struct err;
struct machine;

/* Take it, or have it already. 0; -EBUSY and `e` where another user has it; another negative errno and `e`. A recorded
 * machine without these folders has nobody to exclude. */
int exclusion_take(struct machine *m, struct err *e);

/* Give it back; that of another user stays. */
void exclusion_release(struct machine *m);

#endif
