/*
 * A guardian: a process of its own that sleeps on a socket, sees our end of it close when we die,
 * however that is, and restores then what we applied. It has left our control group, if it may, so
 * that what ends that as a whole does not end it. Uses no CPU meanwhile.
 */
#ifndef KBLAT_TUNING_GUARDIAN_H
#define KBLAT_TUNING_GUARDIAN_H

#include "common/err.h"

struct machine;

/*
 * Call `act`, which applies something as `owner` (see journal.h) and restores it, with a guardian
 * beside us that restores what is that owner's; SIGINT, SIGTERM and SIGHUP are blocked meanwhile,
 * since what is applied has to be restored first. `sysroot` is the machine's (NULL: this one).
 */
enum status guardian_run(struct machine *m, const char *sysroot,
			 enum status (*act)(struct machine *m, const char *owner, void *request, struct err *e),
			 void *request, struct err *e);

#endif
