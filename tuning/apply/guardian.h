/*
 * A guardian: a separate process that sleeps on a socket. When we die for whatever reason, our end of the socket is
 * closed, and the guardian restores what we applied. It leaves our control group, by itself or into a scope that systemd
 * makes for it, so that it survives if the whole group is killed. It uses no CPU while it waits.
 */
#ifndef KBLAT_TUNING_GUARDIAN_H
#define KBLAT_TUNING_GUARDIAN_H

#include <stdbool.h>

#include "common/err.h"

struct machine;

/*
 * Call `act`, which applies something as `owner` (see journal.h) and restores it. Meanwhile a guardian stands by to
 * restore what belongs to that owner, and SIGINT, SIGTERM and SIGHUP are blocked, since we must restore before we end.
 * `sysroot` is that of the machine (NULL: this one). If the guardian cannot leave our control group, that is said on
 * standard error, or with `strict` nothing is applied (STATUS_IMPOSSIBLE).
 */
enum status guardian_run(struct machine *m, const char *sysroot, bool strict,
			 enum status (*act)(struct machine *m, const char *owner, void *request, struct err *e),
			 void *request, struct err *e);

#endif
