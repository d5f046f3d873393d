/*
 * A guardian: a process of its own that sleeps on a pipe, sees our end of it close when we die, however that is, and
 * restores then what we applied. Uses no CPU meanwhile.
 */
#ifndef KBLAT_TUNING_GUARDIAN_H
#define KBLAT_TUNING_GUARDIAN_H

#include <sys/types.h>

struct err;

struct guardian {
	pid_t pid;
	int end; /* of the pipe; one byte says that all is well */
};

/* Start one, before anything is applied, for the machine at `sysroot` (NULL: this one). 0, or a negative errno and `e`. */
int guardian_start(struct guardian *g, const char *sysroot, struct err *e);

/* All is well: it ends without doing anything. */
void guardian_end(struct guardian *g);

/* Block SIGINT, SIGTERM and SIGHUP: what is applied has to be restored first. */
void guardian_hold_signals(void);

#endif
