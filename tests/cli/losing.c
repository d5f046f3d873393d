/*
 * Preloaded (LD_PRELOAD): every LOSE-th datagram that is sent disappears, after the first ten, which connect the two sides;
 * or the first one with the number LOSE_NUMBER (an acknowledgement's has bit 29 set).
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
static bool is_first_of_number(const void *data, size_t size)
{
	static bool was_lost;
	const char *lost = getenv("LOSE_NUMBER");
	uint32_t number;

	if (!lost || was_lost || size < sizeof(number))
		return false;
	memcpy(&number, data, sizeof(number));
	was_lost = (le32toh(number) & UINT32_C(0x3fffffff)) == strtoul(lost, NULL, 0);
	return was_lost;
}

static bool is_every_nth(void)
{
	static unsigned sent;
	const char *every = getenv("LOSE");
	const unsigned lose = every ? (unsigned)atoi(every) : 0;

	return lose && ++sent > 10 && sent % lose == 0;
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	static ssize_t (*real)(int, const void *, size_t, int);
	int type = 0;
	socklen_t length = sizeof(type);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "send");
	if (size < 2000 && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) && type == SOCK_DGRAM &&
	    (is_every_nth() || is_first_of_number(data, size)))
		return (ssize_t)size;
	return real(fd, data, size, flags);
}
