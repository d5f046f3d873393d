/*
 * Readers of one file: what it says, where it leads, who may use it.
 */
#ifndef KBLAT_STATE_READ_FILE_H
#define KBLAT_STATE_READ_FILE_H

#include "state/sources.h"

READER(file);
READER(link); /* last component */
READER(mode); /* permissions */

#endif
