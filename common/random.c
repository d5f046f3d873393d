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
