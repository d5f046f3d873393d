/*
 * Preloaded by a test: what a bypass library does, in small. UDP sockets become datagram sockets of the local host, so that
 * no network interface sees what they carry. An address is a name in the abstract namespace that contains its port.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static in_port_t ports[1024]; /* by descriptor; 0: not one of ours */

static int is_ours(int fd)
{
	int family = AF_UNSPEC;
	socklen_t size = sizeof(family);

	return fd >= 0 && fd < 1024 && !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) && family == AF_UNIX &&
	       ports[fd];
}

static socklen_t name_of(in_port_t port, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	return (
	    socklen_t)(sizeof(name->sun_family) + 1 +
		       (size_t)snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "past-kernel-%u", ntohs(port)));
}

int socket(int domain, int type, int protocol)
{
	int fd;

	if (domain != AF_INET || (type & 0xf) != SOCK_DGRAM)
		return NEXT(socket)(domain, type, protocol);
	fd = NEXT(socket)(AF_UNIX, type, 0);
	if (fd >= 0 && fd < 1024)
		ports[fd] = htons((uint16_t)(20000 + getpid() % 40000));
	return fd;
}

int bind(int fd, const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_un name;

	if (!is_ours(fd))
		return NEXT(bind)(fd, address, size);
	size = name_of(ports[fd], &name);
	return NEXT(bind)(fd, (const struct sockaddr *)&name, size);
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_un name;

	if (!is_ours(fd))
		return NEXT(connect)(fd, address, size);
	size = name_of(((const struct sockaddr_in *)(const void *)address)->sin_port, &name);
	for (int i = 0; NEXT(connect)(fd, (const struct sockaddr *)&name, size); i++)
		if (i == 1000 || usleep(1000))
			return -1;
	return 0;
}

int getsockname(int fd, struct sockaddr *address, socklen_t *size)
{
	const struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	if (!is_ours(fd))
		return NEXT(getsockname)(fd, address, size);
	*(struct sockaddr_in *)(void *)address = own;
	((struct sockaddr_in *)(void *)address)->sin_port = ports[fd];
	*size = sizeof(own);
	return 0;
}
