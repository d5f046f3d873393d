/*
 * Allocating. Texts, lists and structs: if there is no memory for them, the program stops, as it cannot continue
 * (or_abort). What may be large because of what is measured or read, such as samples: the caller gets NULL and reports
 * -ENOMEM (large_alloc, large_resize). Nothing is allocated otherwise (make lint checks that).
 */
#ifndef KBLAT_COMMON_OR_ABORT_H
#define KBLAT_COMMON_OR_ABORT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* It exits with a message and status 1. Anything that has to be removed or undone afterwards is left to the journal or
 * the coordinator. */
static inline void *or_abort(void *p)
{
	if (!p) {
		fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
		_exit(1);
	}
	return p;
}

/* A list of `count` items of `size` bytes, with room for one more. It doubles at each power of two,
 * so that a million items are not copied a million times. */
static inline void *grow_or_abort(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : or_abort(reallocarray(list, count ? count * 2 : 1, size));
}

/* `count` zeroed items of `size` bytes, or NULL. */
static inline void *large_alloc(size_t count, size_t size)
{
	return calloc(count, size);
}

/* A list from large_alloc(), or NULL, with another number of items, of which the new ones have no value yet. NULL: the
 * list is as it was. */
static inline void *large_resize(void *list, size_t count, size_t size)
{
	return reallocarray(list, count, size);
}

#endif
