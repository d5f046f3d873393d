/*
 * A guardian: a separate process that sleeps on a socket. When we die for whatever reason, our end of the socket is
 * closed, and the guardian restores what we applied. If permitted, it leaves our control group, so that it survives if
 * the whole group is killed. It uses no CPU while it waits.
 */
#ifndef KBLAT_TUNING_GUARDIAN_H
#define KBLAT_TUNING_GUARDIAN_H

#include "common/err.h"

struct machine;

/*
 * Call `act`, which applies something as `owner` (see journal.h) and restores it. Meanwhile a guardian stands by to
 * restore what belongs to that owner, and SIGINT, SIGTERM and SIGHUP are blocked, since we must restore before we end.
 * `sysroot` is that of the machine (NULL: this one).
 */
enum status guardian_run(struct machine *m, const char *sysroot,
			 enum status (*act)(struct machine *m, const char *owner, void *request, struct err *e),
			 void *request, struct err *e);

#endif
