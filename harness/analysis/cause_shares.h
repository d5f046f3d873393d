/*
 * How much time of an interval each cause took. Nothing is allocated: there is room for
 * CAUSE_SHARES causes, further ones are ignored.
 */
#ifndef KBLAT_ANALYSIS_CAUSE_SHARES_H
#define KBLAT_ANALYSIS_CAUSE_SHARES_H

#include <stddef.h>
#include <stdint.h>

struct cause_share {
	unsigned cause;
	int64_t time;
};

#define CAUSE_SHARES 32

struct cause_shares {
	struct cause_share list[CAUSE_SHARES];
	size_t count;
};

void cause_shares_add(struct cause_shares *s, unsigned cause, int64_t time);

/* NULL if there is none. */
const struct cause_share *cause_shares_longest(const struct cause_shares *s);
void cause_shares_sort(struct cause_shares *s);

#endif
