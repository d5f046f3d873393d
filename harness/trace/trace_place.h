/*
 * Where the kernel's tracing files are, and the instances that kblat makes in them. Each is named after the process
 * that made it, so that those of processes that were killed are known.
 */
#ifndef KBLAT_TRACE_PLACE_H
#define KBLAT_TRACE_PLACE_H

#include <stddef.h>

struct err;

/*
 * The directory of tracefs, for all of the process' life: where it is mounted, or a mount that only this process sees
 * (nothing of the machine changes). NULL, and STATUS_IMPOSSIBLE with the reason in `e`, if there is none that may be
 * used.
 */
const char *trace_place(struct err *e);

/* Say why the kernel refuses to be traced, from the errno that it gave. STATUS_IMPOSSIBLE; a negative errno. */
int trace_place_refuse(int why, struct err *e);

#define TRACE_INSTANCE_NAME 96

/* A name for an instance of this process. Returns `buf`, of TRACE_INSTANCE_NAME bytes. */
char *trace_place_name(char *buf);

/* Remove the instances whose processes have ended. Silent: without tracefs there are none. */
void trace_place_sweep(void);

#endif
