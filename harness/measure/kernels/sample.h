/*
 * A sample: a header of 24 bytes with its number and time, followed by `values` doubles.
 * VILLASnode's samples have the same sizes: 88 bytes for 8 values.
 */
#ifndef KBLAT_KERNELS_SAMPLE_H
#define KBLAT_KERNELS_SAMPLE_H

#include <string.h>

#include "measure/transports/payload.h"

/* It may be preceded by bytes of the transport, so only an alignment of four bytes is guaranteed. */
struct __attribute__((packed, aligned(4))) sample {
	uint64_t sequence;
	int64_t origin_ns; /* when the pacer reached this step, since the run's t0 */
	uint32_t count;	   /* number of values */
	uint32_t flags;	   /* 0 */
	uint64_t value[];  /* doubles */
};

#define SAMPLE_HEADER 24

_Static_assert(sizeof(struct sample) == SAMPLE_HEADER, "a sample's header has 24 bytes");

static inline void *sample_values(const struct sample *s)
{
	return (char *)s + SAMPLE_HEADER;
}

static inline size_t sample_size(int64_t values)
{
	return SAMPLE_HEADER + (size_t)values * sizeof(double);
}

/* Doubles from 1 to 2: random bits below the exponent of 1 (Marsaglia's xorshift64). */
static inline uint64_t sample_value(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return UINT64_C(0x3ff0000000000000) | *random >> 12;
}

static inline void sample_fill(struct sample *s, uint32_t values, uint64_t *random)
{
	for (uint32_t i = 0; i < values; i++)
		s->value[i] = sample_value(random);
}

static inline void sample_head(struct sample *s, uint32_t sequence, int64_t origin_ns, uint32_t values)
{
	s->sequence = sequence;
	s->origin_ns = origin_ns;
	s->count = values;
	s->flags = 0;
}

/* If values come from payload.h: is the sample complete and correct for this number? */
static inline bool sample_is_right(const struct sample *s, uint32_t sequence, uint32_t values)
{
	return s->sequence == sequence && s->count == values && !s->flags &&
	       payload_is_right(sample_values(s), values * sizeof(double), sequence);
}

#endif
