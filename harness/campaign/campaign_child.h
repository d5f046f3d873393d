/*
 * One experiment of a campaign: `kblat run` in a process of its own, so that nothing which happens to it ends the campaign; or
 * several at once.
 *
 * Not thread-safe: signals are the process'. SIGINT, SIGTERM and SIGHUP are caught from the first call of
 * child_catch_signals() on, counted, and handed on to what runs as SIGINT: once ends it in order, twice at once.
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
 * Run this program with `argv` (NULL-terminated) and wait for its end. What it prints goes to `echo` (NULL: nowhere), but for
 * the last line, which `last_line` gets (the caller frees; "" if there was none). The exit status; 128 + the signal's number
 * if one ended it; or a negative errno and `e` if it could not be started.
 */
int campaign_child_run(char *const *argv, FILE *echo, char **last_line, struct err *e);

/*
 * Start one, with `out` and `complaints` (-1: this process's) as its standard output and error: its process, or a negative
 * errno and `e`. Wait for it, or for any (-1): its exit status, as of campaign_child_run(), and which one it was (-1: there is
 * none). At most CAMPAIGN_CHILDREN_MAX at once.
 */
pid_t campaign_child_start(char *const *argv, int out, int complaints, struct err *e);
int campaign_child_await(pid_t pid, pid_t *ended);

#endif
