/*
 * Readers of the software that measures, of the live machine only, and of the profile that tuned applies.
 */
#ifndef KBLAT_STATE_READ_SOFTWARE_H
#define KBLAT_STATE_READ_SOFTWARE_H

#include "state/sources.h"

READER(environment); /* this process', without secrets */
READER(program);     /* this program and its libraries */
READER(tuned);	     /* the active profile's text */

#endif
