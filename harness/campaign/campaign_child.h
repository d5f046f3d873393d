/*
 * Runs an experiment of a campaign: `kblat run` in a separate process, so that whatever happens to it does not end the
 * campaign; or several at once.
 *
 * Not thread-safe, as signals belong to the process. From the first call of child_catch_signals() on, SIGINT, SIGTERM
 * and SIGHUP are caught, counted, and forwarded to the running processes as SIGINT: one ends a run in order, a second
 * one immediately.
 */
#ifndef KBLAT_CAMPAIGN_CHILD_H
#define KBLAT_CAMPAIGN_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct err;

#define CAMPAIGN_CHILDREN_MAX 2048 /* at once */

void child_catch_signals(void);
bool child_is_interrupted(void);

/*
 * Run this program with `argv` (NULL-terminated) and wait until it ends. What it prints is copied to `echo` (NULL:
 * nowhere), except the last line, which is stored in `last_line` (the caller frees; "" if there was none). Returns the
 * exit status, 128 + the number of the signal that ended it, or a negative errno and `e` if it could not be started.
 */
int campaign_child_run(char *const *argv, FILE *echo, char **last_line, struct err *e);

/*
 * Start an experiment, with `out` and `complaints` (-1: those of this process) as its standard
 * output and error. Returns its process ID, or a negative errno and `e`. The second function waits
 * for it, or for any (-1), and returns its exit status, like campaign_child_run(), and which one it
 * was (-1: there is none). At most CAMPAIGN_CHILDREN_MAX can run at the same time.
 */
pid_t campaign_child_start(char *const *argv, int out, int complaints, struct err *e);
int campaign_child_await(pid_t pid, pid_t *ended);

#endif
