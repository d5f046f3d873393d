/*
 * Restores everything.
 */
#ifndef KBLAT_TUNING_RESTORE_H
#define KBLAT_TUNING_RESTORE_H

#include "common/err.h"
#include "tuning/apply/output.h"

struct cli_list;
struct machine;

/* The same for everybody; but what waits for these CPUs, or these paths, and cannot be restored without, is left as it is
 * and recorded (given_up.h). */
enum status restore_without(struct machine *m, const struct cli_list *give_up, enum output output, struct err *e);

/* What restores a machine by itself tries again for so long: a cause may pass, such as a process that is ending in a
 * cpuset, and there may be nobody who reads the message. */
#define RESTORE_PATIENCE_MS 30000

/* As restore_all(), once a second until it succeeds, or the patience is over. */
enum status restore_patiently(struct machine *m, const char *owner, enum output output, struct err *e);

#endif
