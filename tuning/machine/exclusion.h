/*
 * One user at a time: each user has a journal of their own (state_folder.h), and what one restores another may have applied
 * on top. So whoever changes a machine has the file /dev/shm/kbtune, which every user can make and nobody but its owner and
 * root can remove, as long as their journal is there. It goes with a reboot, as the changes do.
 */
#ifndef KBLAT_TUNING_EXCLUSION_H
#define KBLAT_TUNING_EXCLUSION_H

struct err;
struct machine;

/* Take it, or have it already. 0; -EBUSY and `e` where another user has it; another negative errno and `e`. A recorded
 * machine without /dev/shm has nobody to exclude. */
int exclusion_take(struct machine *m, struct err *e);

/* Give it back; that of another user stays. */
void exclusion_release(struct machine *m);

#endif
