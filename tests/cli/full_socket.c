/*
 * Preloaded (LD_PRELOAD): a TCP socket takes nothing at every second send (EAGAIN), as if its buffer were full for a moment. A
 * new connection's buffer is empty and takes its first messages, as the kernel's does: UCX 1.18 relies on it, and loses what is
 * refused while two of its endpoints agree on one connection.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#define FDS   1024
#define FIRST 4 /* segments with data that are never refused */

static bool is_full(int fd)
{
	static _Thread_local bool was_full[FDS];
	struct tcp_info info = {.tcpi_data_segs_out = 0};
	socklen_t length = sizeof(info);

	if (fd >= FDS || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) || info.tcpi_data_segs_out < FIRST)
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
