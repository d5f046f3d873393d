/*
 * What has no answer but to stop: no memory for the few bytes of a text or a list.
 */
#ifndef KBLAT_COMMON_MUST_H
#define KBLAT_COMMON_MUST_H

#include <stdlib.h>

static inline void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* A list of `count` items of `size` bytes, with room for one more: twice as much at each power of two, so that a million items are not copied a million
 * times. */
static inline void *must_grow(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : must(reallocarray(list, count ? count * 2 : 1, size));
}

#endif
