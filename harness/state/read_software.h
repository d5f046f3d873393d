/*
 * Readers of the measuring software, only on the live machine; and of tuned's active profile.
 */
#ifndef KBLAT_STATE_READ_SOFTWARE_H
#define KBLAT_STATE_READ_SOFTWARE_H

#include "state/sources.h"

state_reader read_environment; /* this process', without secrets */
state_reader read_program;     /* this program and its libraries */
state_reader read_tuned;       /* the active profile's text */

#endif
