/*
 * Sets of numbers without a bound, as the kernel lists them ("2-3,9000"): of interrupts, ports, PIDs. For CPUs see cpulist.h.
 */
#ifndef KBLAT_COMMON_RANGES_H
#define KBLAT_COMMON_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t first, last;
};

/* {0} is the empty set. Ranges are in order, and do not touch. */
struct ranges {
	struct range *items;
	size_t count;
};

/* Add what a text lists. 0; -EINVAL (it lists nothing, is no list, or runs backwards) or -ERANGE (no number can hold it). */
int ranges_parse(const char *text, struct ranges *out);
void ranges_add(struct ranges *r, uint64_t first, uint64_t last);
void ranges_free(struct ranges *r);

bool ranges_has(const struct ranges *r, uint64_t number);
bool ranges_equal(const struct ranges *a, const struct ranges *b);

#endif
