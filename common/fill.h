/*
 * Texts with places to be filled in, such as "{file}". It is done in one pass: what was filled in is not looked at again,
 * whatever it contains.
 */
#ifndef KBLAT_COMMON_FILL_H
#define KBLAT_COMMON_FILL_H

#include <stddef.h>

struct fill_place {
	const char *place, *word;
};

/* `text` with the word of each place wherever that place occurs. The caller frees it. */
char *fill_places(const char *text, const struct fill_place *places, size_t count);

#endif
