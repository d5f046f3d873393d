/*
 * Reader of the cpusets: every one of the hierarchy that has the controller.
 */
#ifndef KBLAT_STATE_READ_CPUSETS_H
#define KBLAT_STATE_READ_CPUSETS_H

#include "state/sources.h"

state_reader read_cpusets; /* path: mountinfo */

#endif
