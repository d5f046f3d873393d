#include "tuning/machine/process.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fs.h"
#include "tuning/machine/tasks.h"

#define STAT_MAX 4096

struct process process_of(pid_t pid)
{
	char path[64], *text = NULL;
	struct thread t = {.start = 0};

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!fs_read(path, STAT_MAX, &text, NULL, NULL))
		tasks_read_stat(text, &t);
	free(text);
	return (struct process){pid, t.start};
}

static bool process_is_same(const struct process *p)
{
	return !p->start || process_of(p->pid).start == p->start;
}

int process_signal(const struct process *p, int number)
{
	int fd, rc = 0;

	if (p->pid <= 0) /* would mean a group of processes */
		return -ESRCH;
	fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (fd < 0 && errno != ENOSYS && errno != EPERM)
		return -errno;
	if (!process_is_same(p))
		rc = -ESRCH;
	else if (fd < 0 ? kill(p->pid, number) : syscall(SYS_pidfd_send_signal, fd, number, NULL, 0))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}
