/* Runs a command until it ends, and forwards signals to it. */
#ifndef KBLAT_TUNING_CHILD_H
#define KBLAT_TUNING_CHILD_H

struct machine;

/*
 * Run argv (NULL-terminated), inside the cpuset `in` unless that is NULL. If we die, it gets SIGTERM; SIGINT, SIGTERM,
 * SIGHUP and SIGQUIT are forwarded to it. Returns its exit status, 128 + N if signal N ended it, 126 or 127 if it could
 * not be started, which it says on standard error.
 */
int child_run(struct machine *m, const char *in, char *const argv[]);

#endif
