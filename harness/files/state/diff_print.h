/*
 * Prints differences.
 */
#ifndef KBLAT_STATE_DIFF_PRINT_H
#define KBLAT_STATE_DIFF_PRINT_H

#include <jansson.h>

/* Print the result of state_diff on standard output, by class and group; CPUs with the same difference share a line. */
void diff_print(const json_t *differences);

#endif
