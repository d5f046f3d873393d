/* Needs no library, unlike what is then found in the file (binary.h). */
#ifndef KBLAT_PROGRAM_PROBED_FILE_H
#define KBLAT_PROGRAM_PROBED_FILE_H

#include <stddef.h>
#include <sys/types.h>

struct err;

/*
 * Which file is meant by the name of a program or library: the one that a process runs, whatever has become of its path, or
 * what that is in its own file system (a container's); or else the one that a shell would find.
 */
struct probed_file {
	int fd;	      /* open for reading; -1: none */
	char *path;   /* as its process sees it */
	char *root;   /* where its process' file system is to be found: "/proc/<pid>/root", or "" */
	pid_t runner; /* a process that runs it; 0: none does */
};

/* `tasks`: of the traced program, if it runs already. -ENOENT: there is no such file, of which `e` says nothing. Close in
 * either case. */
int probed_file_open(const char *name, const pid_t *tasks, size_t count, struct probed_file *out, struct err *e);
void probed_file_close(struct probed_file *f);

#endif
