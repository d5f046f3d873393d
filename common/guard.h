/*
 * Undoes something if this process is killed: a child waits for its end, in a session of its own, so that what ends a whole
 * group of processes (Ctrl-C) does not end it.
 */
#ifndef KBLAT_COMMON_GUARD_H
#define KBLAT_COMMON_GUARD_H

#include <sys/types.h>

struct guard {
	pid_t pid; /* 0: there is none */
	int alive; /* closed when this process ends */
};

/* From now on `undo` is called, in a copy of this process as it is now, if this process ends, once the programs that it has
 * started have ended, too. 0 or a negative errno. */
int guard_start(struct guard *g, void (*undo)(void *context), void *context);

/* No longer: what is to be undone has been, or is to stay. */
void guard_dismiss(struct guard *g);

#endif
