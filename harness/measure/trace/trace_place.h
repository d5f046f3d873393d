/*
 * The location of the kernel's tracing files, and the instances that kblat creates in them. Each is named after the
 * process that created it, so that those of killed processes can be recognised.
 */
#ifndef KBLAT_TRACE_PLACE_H
#define KBLAT_TRACE_PLACE_H

#include <stddef.h>

struct err;

/*
 * The directory of tracefs, valid as long as the process lives: where it is mounted, or a mount that only this process
 * sees (nothing on the machine changes). NULL, and STATUS_IMPOSSIBLE with the reason in `e`, if there is none that may
 * be used.
 */
const char *trace_place(struct err *e);

/* Explains in `e` (STATUS_IMPOSSIBLE) why the kernel cannot be traced, from the errno that it returned. Returns a
 * negative errno. */
int trace_place_refuse(int why, struct err *e);

/* Do the kernel's events name threads by the IDs that this process knows? 0, or a negative errno and `e`
 * (STATUS_IMPOSSIBLE): not inside a PID namespace. */
int trace_place_check_ids(struct err *e);

#define TRACE_INSTANCE_NAME 96

/* A name for an instance of this process. Returns `buf`, of TRACE_INSTANCE_NAME bytes. */
char *trace_place_name(char *buf);

/* Likewise the system of this process' probes in programs, in whose name the kernel allows no hyphen. */
char *trace_place_probes(char *buf);

/* Remove the instances, and the probes, whose processes have ended, which trace on. Returns their number; 0 without
 * access to tracefs. */
int trace_place_sweep(void);

#endif
