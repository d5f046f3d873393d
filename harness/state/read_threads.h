/*
 * Reader of threads: where they may run, and with which policy and priority.
 */
#ifndef KBLAT_STATE_READ_THREADS_H
#define KBLAT_STATE_READ_THREADS_H

#include "state/sources.h"

state_reader read_threads; /* path: /proc */

#endif
