/*
 * Readers of one file: its content, its link target, its permissions.
 */
#ifndef KBLAT_STATE_READ_FILE_H
#define KBLAT_STATE_READ_FILE_H

#include "state/sources.h"

state_reader read_file;
state_reader read_link; /* last component */
state_reader read_mode; /* permissions */

#endif
