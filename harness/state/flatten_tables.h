/*
 * Flatteners of files of many values: lines, columns, pairs. Pure.
 */
#ifndef KBLAT_STATE_FLATTEN_TABLES_H
#define KBLAT_STATE_FLATTEN_TABLES_H

#include "state/sources.h"

FLATTENER(pairs);      /* a name and a value a line, divided by one of `arg` */
FLATTENER(field);      /* the values of the lines that begin "arg :" */
FLATTENER(flag);       /* yes or no: is `arg` one of the flags in /proc/cpuinfo? */
FLATTENER(columns);    /* counts by CPU, under a line of CPUs: interrupts, softirqs; zeros are left out */
FLATTENER(stat);       /* /proc/stat */
FLATTENER(psi);	       /* /proc/pressure: the totals */
FLATTENER(modules);    /* /proc/modules: sizes */
FLATTENER(parameters); /* of the kernel's command line */
FLATTENER(limits);     /* /proc/self/limits: soft and hard */
FLATTENER(interfaces); /* /proc/net/dev: counters */

#endif
