/*
 * What a restore has left as it is, and how it was before: because somebody gave it up (kbtune restore --give-up), or
 * because it needs a CPU that is offline and is not waited for. It is kept in given-up.json beside the journal until the
 * next reboot; a process that changes it must hold the journal's lock.
 */
#ifndef KBLAT_TUNING_GIVEN_UP_H
#define KBLAT_TUNING_GIVEN_UP_H

#include <jansson.h>
#include <stdio.h>

struct err;
struct journal;
struct machine;
struct step;

/* All of this boot, oldest first: [{"knob", "path", "before", "why", "when", "step"}], a new array; empty if there is none.
 * It is read like a journal: 0, or a negative errno and `e`, and then it is empty, too. */
int given_up_load(struct machine *m, json_t **list, struct err *e);

/* Add a step, which is left because of `why`. 0, or a negative errno and `e`. */
int given_up_add(struct machine *m, const struct step *s, const char *why, struct err *e);

/* Threads that have lost a CPU which is online again get it back, unless somebody else has placed them meanwhile. */
void given_up_retry(struct machine *m);

void given_up_print(const json_t *list, FILE *out);

/*
 * Mark the steps of a journal that shall be given up: all that wait for the CPUs of a list ("1,4-5"), or those of a path.
 * 0, or -EINVAL and `e` (STATUS_USAGE) if that CPU is online, or no step has that path. The caller saves the journal.
 */
int given_up_mark(const struct machine *m, struct journal *j, const char *what, struct err *e);

#endif
