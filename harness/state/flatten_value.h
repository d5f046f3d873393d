/*
 * Flatteners of a file of one value. Pure.
 */
#ifndef KBLAT_STATE_FLATTEN_VALUE_H
#define KBLAT_STATE_FLATTEN_VALUE_H

#include "state/sources.h"

FLATTENER(line);    /* the first line */
FLATTENER(int);	    /* a number, or else the line */
FLATTENER(words);   /* a number, or all words, one blank between two */
FLATTENER(cpulist); /* "0-3", in canonical form */
FLATTENER(cpumask); /* "f" as "0-3" */
FLATTENER(choice);  /* "always [madvise] never": what is in brackets */
FLATTENER(s32);	    /* four bytes in the machine's order */

#endif
