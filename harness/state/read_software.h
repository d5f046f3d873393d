/*
 * Readers of the software that measures, of the live machine only, and of the profile that tuned
 * applies.
 */
#ifndef KBLAT_STATE_READ_SOFTWARE_H
#define KBLAT_STATE_READ_SOFTWARE_H

#include "state/sources.h"

state_reader read_environment; /* this process', without secrets */
state_reader read_program;     /* this program and its libraries */
state_reader read_tuned;       /* the active profile's text */

#endif
