/*
 * Flatteners of files with many values: lines, columns, pairs. Pure.
 */
#ifndef KBLAT_STATE_FLATTEN_TABLES_H
#define KBLAT_STATE_FLATTEN_TABLES_H

#include "state/sources.h"

state_flattener flatten_pairs;	    /* each line has a name and a value, separated by one of the characters in `arg` */
state_flattener flatten_field;	    /* the values of the lines that begin "arg :" */
state_flattener flatten_flag;	    /* yes or no: is `arg` one of the flags in /proc/cpuinfo? */
state_flattener flatten_columns;    /* counts by CPU, under a line of CPUs: interrupts, softirqs; zeros are left out */
state_flattener flatten_stat;	    /* /proc/stat */
state_flattener flatten_psi;	    /* /proc/pressure: the totals */
state_flattener flatten_modules;    /* /proc/modules: sizes */
state_flattener flatten_parameters; /* of the kernel's command line */
state_flattener flatten_limits;	    /* /proc/self/limits: soft and hard */
state_flattener flatten_interfaces; /* /proc/net/dev: counters */

#endif
