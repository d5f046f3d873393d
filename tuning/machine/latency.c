#include "tuning/machine/latency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "tuning/machine/machine.h"

int latency_read(const struct machine *m, long long *us)
{
	int fd = machine_openat(m, LATENCY_DEVICE, O_RDONLY | O_NONBLOCK);
	int32_t value;
	int rc = 0;

	if (fd < 0)
		return fd;
	if (read(fd, &value, sizeof(value)) != sizeof(value))
		rc = -EIO;
	close(fd);
	if (!rc)
		*us = value;
	return rc;
}

int latency_open(int us)
{
	int32_t value = us;
	int fd = open(LATENCY_DEVICE, O_RDWR | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	/* The kernel treats exactly four bytes as binary, and everything else as hexadecimal text. */
	if (write(fd, &value, sizeof(value)) == sizeof(value))
		return fd;
	rc = errno ? -errno : -EIO;
	close(fd);
	return rc;
}
