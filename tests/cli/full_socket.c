/*
 * Preloaded (LD_PRELOAD): a TCP socket takes nothing at every second send (EAGAIN), as if its buffer were full for a moment.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#define FDS 1024

static bool is_full(int fd)
{
	static _Thread_local bool was_full[FDS];
	int protocol = 0;
	socklen_t length = sizeof(protocol);

	if (fd >= FDS || getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) || protocol != IPPROTO_TCP)
		return false;
	was_full[fd] = !was_full[fd];
	errno = EAGAIN;
	return was_full[fd];
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	static ssize_t (*real)(int, const void *, size_t, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "send");
	return is_full(fd) ? -1 : real(fd, data, size, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	static ssize_t (*real)(int, const struct msghdr *, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
	return is_full(fd) ? -1 : real(fd, message, flags);
}
