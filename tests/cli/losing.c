/*
 * Preloaded (LD_PRELOAD): every LOSE-th datagram that is sent disappears, after the first ten, which connect the two sides.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	static ssize_t (*real)(int, const void *, size_t, int);
	static unsigned sent, lose;
	int type = 0;
	socklen_t length = sizeof(type);

	if (!real) {
		const char *every = getenv("LOSE");

		lose = every ? (unsigned)atoi(every) : 0;
		*(void **)&real = dlsym(RTLD_NEXT, "send");
	}
	if (lose && size < 2000 && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) && type == SOCK_DGRAM &&
	    ++sent > 10 && sent % lose == 0)
		return (ssize_t)size;
	return real(fd, data, size, flags);
}
