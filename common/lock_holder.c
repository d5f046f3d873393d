#include "common/lock_holder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* proc_locks(5): "1: FLOCK  ADVISORY  WRITE 4711 fd:01:131074 0 EOF"; those that wait have "->" before the kind. The
 * process is 0 if it has ended, or is in another PID namespace. */
static int holder_in_line(const char *line, const struct stat *st)
{
	unsigned major_number, minor_number;
	unsigned long inode;
	int pid;

	if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major_number, &minor_number, &inode) != 4)
		return 0;
	return inode == st->st_ino && major_number == major(st->st_dev) && minor_number == minor(st->st_dev) ? pid : 0;
}

char *lock_holder(int fd, char *buf, size_t size)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct stat st;
	int pid = 0;

	while (locks && !fstat(fd, &st) && pid <= 0 && fgets(line, sizeof(line), locks))
		pid = holder_in_line(line, &st);
	if (locks)
		fclose(locks);
	*buf = '\0';
	if (pid > 0)
		snprintf(buf, size, " (process %d)", pid);
	return buf;
}
