#include "knobs/knobs_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

/* In a session of its own: what ends a whole group of processes, such as Ctrl-C, does not end it. */
static void __attribute__((noreturn)) guard_folder(const char *path, int alive)
{
	char byte;

	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(alive, &byte, 1) < 0 && errno == EINTR)
		;
	fs_remove_tree(path, NULL);
	_exit(0);
}

static int start_guard(struct knobs_folder *f)
{
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	f->guard = fork();
	rc = f->guard < 0 ? -errno : 0;
	if (!f->guard) {
		close(ends[1]);
		guard_folder(f->path, ends[0]);
	}
	close(ends[0]);
	f->alive = ends[1];
	if (rc)
		close(f->alive);
	return rc;
}

int knobs_folder_make(struct knobs_folder *f, struct err *e)
{
	int rc;

	/* The process in the name is for kblat doctor. */
	snprintf(f->path, sizeof(f->path), "/dev/shm/kblat-%u-%d-knobsXXXXXX", (unsigned)getuid(), (int)getpid());
	if (!mkdtemp(f->path))
		return err_sys(e, -errno, "/dev/shm", "make a folder in");
	rc = start_guard(f);
	if (!rc)
		return 0;
	rmdir(f->path);
	return err_sys(e, rc, "knobs", "start a process");
}

void knobs_folder_remove(struct knobs_folder *f)
{
	close(f->alive);
	while (waitpid(f->guard, NULL, 0) < 0 && errno == EINTR)
		;
}
