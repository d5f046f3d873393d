/*
 * Readers of the kernel's configuration, log and clock. Those of the clock and the log work only on the live machine.
 */
#ifndef KBLAT_STATE_READ_KERNEL_H
#define KBLAT_STATE_READ_KERNEL_H

#include "state/sources.h"

state_reader read_config;
state_reader read_kernel_log; /* and its lines about the TSC */
state_reader read_ntp;	      /* how the kernel's clock is disciplined */
state_reader read_smis;	      /* system management interrupts so far */

#endif
