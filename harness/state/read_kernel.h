/*
 * Readers of what the kernel was made with, and of what it has to say. Those of the clock and of the log ask the live
 * machine only.
 */
#ifndef KBLAT_STATE_READ_KERNEL_H
#define KBLAT_STATE_READ_KERNEL_H

#include "state/sources.h"

READER(config);
READER(kernel_log); /* and its lines about the TSC */
READER(ntp);	    /* how the kernel's clock is disciplined */
READER(smis);	    /* system management interrupts so far */

#endif
