/*
 * Pauses a daemon.
 */
#ifndef KBLAT_TUNING_OP_PAUSE_H
#define KBLAT_TUNING_OP_PAUSE_H

#include "tuning/steps/step.h"

extern const struct op op_pause;

#endif
