/* The libraries of kbtune. */
#ifndef KBLAT_TUNING_KBTUNE_LIBRARIES_H
#define KBLAT_TUNING_KBTUNE_LIBRARIES_H

#include "common/library.h"

extern const struct library kbtune_libraries[];

#endif
