/*
 * Readers of one file: what it says, where it leads, who may use it.
 */
#ifndef KBLAT_STATE_READ_FILE_H
#define KBLAT_STATE_READ_FILE_H

#include "state/sources.h"

state_reader read_file;
state_reader read_link; /* last component */
state_reader read_mode; /* permissions */

#endif
