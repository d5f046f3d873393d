/* The libraries that kblat uses. */
#ifndef KBLAT_COMMANDS_KBLAT_LIBRARIES_H
#define KBLAT_COMMANDS_KBLAT_LIBRARIES_H

#include "common/library.h"

extern const struct library kblat_libraries[];

#endif
