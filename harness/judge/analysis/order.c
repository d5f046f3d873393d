#include "judge/analysis/order.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 8
#define DIGITS	   (1u << DIGIT_BITS)

/* Maps signed numbers to unsigned ones in the same order. */
static uint64_t order_key(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

static unsigned digit_of(int64_t value, unsigned shift)
{
	return (unsigned)(order_key(value) >> shift) & (DIGITS - 1);
}

/* Stable sort by one digit. False: all values have the same digit, and nothing was done. */
static bool order_by_digit(const int64_t *values, size_t count, unsigned shift, const uint32_t *from, uint32_t *to)
{
	size_t place[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		place[digit_of(values[i], shift)]++;
	if (place[digit_of(values[0], shift)] == count)
		return false;
	for (size_t d = 0; d < DIGITS; d++) {
		const size_t here = place[d];

		place[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(values[from[i]], shift)]++] = from[i];
	return true;
}

void order_of(const int64_t *values, size_t count, uint32_t *order, uint32_t *spare)
{
	uint32_t *from = order, *to = spare;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (unsigned shift = 0; count && shift < 64; shift += DIGIT_BITS) {
		uint32_t *last = from;

		if (!order_by_digit(values, count, shift, from, to))
			continue;
		from = to;
		to = last;
	}
	if (from != order)
		memcpy(order, from, count * sizeof(*order));
}
