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

#endif
