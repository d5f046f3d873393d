/*
 * Reader of a folder with everything below it, such as /proc/sys/kernel.
 */
#ifndef KBLAT_STATE_READ_SYSCTLS_H
#define KBLAT_STATE_READ_SYSCTLS_H

#include "state/sources.h"

state_reader read_sysctls;

#endif
