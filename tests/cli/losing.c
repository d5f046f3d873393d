/*
 * Preloaded (LD_PRELOAD): of the messages that are sent, and of the acknowledgements, every LOSE-th disappears, after the first
 * ten, which connect the two sides; or the first datagram with the number LOSE_NUMBER (an acknowledgement's has bit 29 set).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A datagram begins with its number, above which are two bits of the repetition. */
static uint32_t number_of(const void *data, size_t size)
{
	uint32_t number = 0;

	memcpy(&number, data, size < sizeof(number) ? size : sizeof(number));
	return le32toh(number) & UINT32_C(0x3fffffff);
}

static bool is_first_of_number(uint32_t number)
{
	static bool was_lost;
	const char *lost = getenv("LOSE_NUMBER");

	if (!lost || was_lost)
		return false;
	was_lost = number == strtoul(lost, NULL, 0);
	return was_lost;
}

static bool is_every_nth(uint32_t number)
{
	static unsigned sent[2];
	const char *every = getenv("LOSE");
	const unsigned lose = every ? (unsigned)atoi(every) : 0, n = ++sent[number >> 29];

	return lose && n > 10 && n % lose == 0;
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	static ssize_t (*real)(int, const void *, size_t, int);
	int type = 0;
	socklen_t length = sizeof(type);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "send");
	if (size < 2000 && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) && type == SOCK_DGRAM &&
	    (is_every_nth(number_of(data, size)) || is_first_of_number(number_of(data, size))))
		return (ssize_t)size;
	return real(fd, data, size, flags);
}
