/*
 * Reader of the processes that have a device open, such as /dev/cpu_dma_latency.
 */
#ifndef KBLAT_STATE_READ_HOLDERS_H
#define KBLAT_STATE_READ_HOLDERS_H

#include "state/sources.h"

state_reader read_holders;

#endif
