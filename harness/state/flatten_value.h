/*
 * Flatteners of files with one value. Pure.
 */
#ifndef KBLAT_STATE_FLATTEN_VALUE_H
#define KBLAT_STATE_FLATTEN_VALUE_H

#include "state/sources.h"

state_flattener flatten_line;	 /* the first line */
state_flattener flatten_int;	 /* a number, or else the line */
state_flattener flatten_words;	 /* a number, or all words, one blank between two */
state_flattener flatten_cpulist; /* "0-3", in canonical form */
state_flattener flatten_cpumask; /* "f" as "0-3" */
state_flattener flatten_choice;	 /* "always [madvise] never": what is in brackets */
state_flattener flatten_s32;	 /* four bytes in the machine's order */

#endif
