#include "common/random.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define DIGITS_MAX 64

int random_hex(char *text, size_t digits)
{
	unsigned char bytes[DIGITS_MAX / 2] = {0};
	int rc = getentropy(bytes, digits / 2) ? -errno : 0;

	for (size_t i = 0; i < digits / 2; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return rc;
}

uint64_t random_below(uint64_t *state, uint64_t n)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint64_t)((unsigned __int128)(z ^ z >> 31) * n >> 64);
}

void random_shuffle(size_t *order, size_t n, uint64_t *state)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(state, i), last = order[i - 1];

		order[i - 1] = order[k];
		order[k] = last;
	}
}
