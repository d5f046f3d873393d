/*
 * Whose are the machine's next boots? One comparison's at a time: /var/lib/kblat/boots-claim has its folder, from when it
 * is started until it ends or is stopped, over all boots. (For a user who is not root, and has a program that boots:
 * ~/.local/state/kblat/boots-claim.)
 */
#ifndef KBLAT_BOOTS_CLAIM_H
#define KBLAT_BOOTS_CLAIM_H

#include <stdbool.h>

#include "study/boots/boots_loader.h"

/* May this study ask for the next boot? -EBUSY and `e`, which names who may: another one that has not ended, or one whose
 * unit is enabled. */
int boots_claim_check(const struct loader *l, struct err *e);

/* The same, and from now on it is this one that may. */
int boots_claim_take(const struct loader *l, struct err *e);

/* No longer, unless it is another one. */
int boots_claim_leave(const struct loader *l, struct err *e);

/* Is it this one, or another one? Neither: nobody is. */
bool boots_claim_is(const struct loader *l);
bool boots_claim_is_others(const struct loader *l);

#endif
