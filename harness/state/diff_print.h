/*
 * Differences for people.
 */
#ifndef KBLAT_STATE_DIFF_PRINT_H
#define KBLAT_STATE_DIFF_PRINT_H

#include <jansson.h>

/* On standard output, what state_diff found: by class and group, equal differences of many CPUs in
 * one line. */
void diff_print(const json_t *differences);

#endif
