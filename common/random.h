/*
 * Random text, for names and tokens that nobody else has.
 */
#ifndef KBLAT_COMMON_RANDOM_H
#define KBLAT_COMMON_RANDOM_H

#include <stddef.h>

/* `digits` (even, at most 64) hexadecimal digits and a NUL. 0 or a negative errno: then they are zeros. */
int random_hex(char *text, size_t digits);

#endif
