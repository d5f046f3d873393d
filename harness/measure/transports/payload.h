/*
 * Payloads that can be verified: byte i of message seq is a hash of both, so stale, shifted and
 * foreign payloads are detected. Used with `check: yes`, outside of all measured intervals.
 */
#ifndef KBLAT_TRANSPORTS_PAYLOAD_H
#define KBLAT_TRANSPORTS_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline unsigned char payload_byte(uint32_t seq, size_t i)
{
	uint32_t x = (seq + 1) * 2654435761u + (uint32_t)i * 40503u;

	return (unsigned char)(x ^ x >> 13 ^ x >> 24);
}

static inline void payload_fill(void *buffer, size_t size, uint32_t seq)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)buffer)[i] = payload_byte(seq, i);
}

static inline bool payload_is_right(const void *buffer, size_t size, uint32_t seq)
{
	for (size_t i = 0; i < size; i++)
		if (((const unsigned char *)buffer)[i] != payload_byte(seq, i))
			return false;
	return true;
}

#endif
