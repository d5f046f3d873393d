/* A command that is run to its end, with signals passed on to it. */
#ifndef KBLAT_TUNING_CHILD_H
#define KBLAT_TUNING_CHILD_H

struct err;
struct machine;

/*
 * Run argv (NULL-terminated), inside the cpuset `in` where that is not NULL. It ends with us
 * (SIGTERM), and SIGINT, SIGTERM, SIGHUP and SIGQUIT sent to us go to it. Returns its exit status,
 * 128 + N for signal N, 126 or 127 where it could not be started; or a negative errno and `e`.
 */
int child_run(struct machine *m, const char *in, char *const argv[], struct err *e);

#endif
