/*
 * The signals with which users and systems end a program: SIGINT, SIGTERM, SIGHUP. What is applied must be restored
 * before they take effect.
 */
#ifndef KBLAT_TUNING_SIGNALS_H
#define KBLAT_TUNING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* All of them, as a set. */
void signals_ending(sigset_t *set);

/* Block them; `before` (may be NULL) gets the previous signal mask. */
void signals_block(sigset_t *before);

/* Is one pending? */
bool signals_are_pending(void);

#endif
