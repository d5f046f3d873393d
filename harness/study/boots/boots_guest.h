/*
 * The loader "guest": kernels boot in a virtual machine (guest/kblat-guest), one boot after the other, as children of this
 * process. Nothing of this machine is changed, so nobody else's boots are in the way.
 */
#ifndef KBLAT_BOOTS_GUEST_H
#define KBLAT_BOOTS_GUEST_H

#include "study/boots/boots_plan.h"

#define GUEST_HUNG 75 /* the emulator has lost a CPU: what it ran is to be run again */

/* Is the program there, and are all kernels? Those that can be are downloaded. */
int guest_check(const struct boots_plan *p, struct err *e);

/* Says so if other programs keep this machine busy, and that matters. */
void guest_tell_load(const struct boots_plan *p);

/*
 * All runs of a boot, made in one guest. Its exit status: 0, then the cells of the boot have their runs; or 128 + the signal;
 * or a negative errno and `e`. `others_percent`: how much of this machine's CPUs other programs used meanwhile; NaN:
 * that makes no difference.
 */
int guest_boot(struct study *s, size_t boot, double *others_percent, struct err *e);

/* How busy the machine was in the boots of the comparison: a text to add to `notes` if that matters. */
void guest_note_load(const struct study *s, json_t *notes);

#endif
