/*
 * The signals by which people and systems end a program: SIGINT, SIGTERM, SIGHUP. What is applied
 * has to be put back before they may.
 */
#ifndef KBLAT_TUNING_SIGNALS_H
#define KBLAT_TUNING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* All of them, as a set. */
void signals_ending(sigset_t *set);

/* Hold them back; `before` (may be NULL) gets what was held back until now. */
void signals_block(sigset_t *before);

/* Has one come meanwhile? */
bool signals_are_pending(void);

#endif
