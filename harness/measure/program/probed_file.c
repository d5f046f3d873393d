#include "measure/program/probed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

#define DELETED	   " (deleted)"
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

void probed_file_close(struct probed_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f->root);
	*f = (struct probed_file){.fd = -1};
}

/* --- what a process runs --- */

/* A line of /proc/<pid>/maps. */
struct mapping {
	char place[48]; /* "55d0c0a0b000-55d0c0a0c000" */
	char rights[8];
	unsigned long inode;
	char *path; /* without DELETED */
};

/* Lines that are executed, and of a file. */
static bool read_mapping(char *line, struct mapping *m)
{
	int path = 0;
	size_t length;

	if (sscanf(line, "%47s %7s %*x %*s %lu %n", m->place, m->rights, &m->inode, &path) != 3 || !m->inode || !path)
		return false;
	m->path = line + path;
	length = strlen(m->path);
	if (length > strlen(DELETED) && !strcmp(m->path + length - strlen(DELETED), DELETED))
		m->path[length - strlen(DELETED)] = '\0';
	return *m->path == '/' && m->rights[2] == 'x';
}

/* What is meant: a name, or files that are. */
struct wanted_file {
	const char *name;
	char *resolved; /* its path here; NULL: there is none */
	struct stat known[2];
	size_t known_count;
};

static bool is_wanted(const struct wanted_file *w, const struct mapping *m, const char *link)
{
	const char *base = strrchr(m->path, '/') + 1;
	struct stat st;

	if (!strcmp(strchr(w->name, '/') ? m->path : base, w->name) || (w->resolved && !strcmp(m->path, w->resolved)))
		return true;
	for (size_t i = 0; i < w->known_count && !stat(link, &st); i++)
		if (st.st_dev == w->known[i].st_dev && st.st_ino == w->known[i].st_ino)
			return true;
	return false;
}

static void know_file(struct wanted_file *w, int fd)
{
	if (fd < 0)
		return;
	w->known_count += !fstat(fd, &w->known[w->known_count]);
	close(fd);
}

/* A path as the process resolves it, links included. */
static int open_in_root(pid_t pid, const char *name)
{
	struct open_how how = {.flags = OPEN_FLAGS | O_PATH, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char *root = fs_path("/proc/%d/root", (int)pid);
	const int dir = open(root, O_PATH | O_CLOEXEC | O_DIRECTORY);
	int fd = -1;

	how.flags &= ~(uint64_t)O_NONBLOCK;
	if (dir >= 0 && *name == '/')
		fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	if (dir >= 0)
		close(dir);
	free(root);
	return fd;
}

/* The first thread of a process may have ended, and has no root then; others go on. */
static int open_in_roots(const pid_t *tasks, size_t count, const char *name)
{
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < count; i++)
		fd = open_in_root(tasks[i], name);
	return fd;
}

static int take_mapping(pid_t task, const struct mapping *m, const char *link, struct probed_file *out, struct err *e)
{
	char *beside = fs_path("/proc/%d/root%s", (int)task, m->path);

	if (m->rights[3] == 's' || m->rights[1] == 'w') {
		free(beside);
		return err_set(e, -ENOTSUP, STATUS_USAGE, m->path, NULL,
			       "process %d maps its code %s: the kernel sets no probes there", (int)task,
			       m->rights[3] == 's' ? "shared" : "so that it may be written");
	}
	out->fd = open(link, OPEN_FLAGS);
	if (out->fd < 0)
		out->fd = open(beside, OPEN_FLAGS);
	free(beside);
	if (out->fd < 0)
		return err_sys(e, -errno, m->path, "open");
	out->path = or_abort(strdup(m->path));
	out->root = fs_path("/proc/%d/root", (int)task);
	out->runner = task;
	return 0;
}

static bool is_other_file(const struct probed_file *f, const char *link)
{
	struct stat a, b;

	return !fstat(f->fd, &a) && !stat(link, &b) && (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

static int look_at_mapping(pid_t task, const struct wanted_file *w, const struct mapping *m, struct probed_file *out,
			   struct err *e)
{
	char *link = fs_path("/proc/%d/map_files/%s", (int)task, m->place);
	int rc = 0;

	if (is_wanted(w, m, link)) {
		if (out->fd < 0)
			rc = take_mapping(task, m, link, out, e);
		else if (is_other_file(out, link))
			rc =
			    err_set(e, -EINVAL, STATUS_USAGE, w->name, NULL,
				    "process %d runs several files that are called so, such as '%s' and '%s': give the "
				    "whole path of one, or end the process that runs a replaced one",
				    (int)task, out->path, m->path);
	}
	free(link);
	return rc;
}

static int look_at_task(pid_t task, const struct wanted_file *w, struct probed_file *out, struct err *e)
{
	char *path = fs_path("/proc/%d/maps", (int)task), *text = NULL, *rest, *line;
	size_t size;
	int rc = 0;

	if (!fs_read_followed(path, 64 << 20, &text, &size, NULL)) {
		rest = text;
		while (!rc && (line = strsep(&rest, "\n"))) {
			struct mapping m;

			if (read_mapping(line, &m))
				rc = look_at_mapping(task, w, &m, out, e);
		}
	}
	free(text);
	free(path);
	return rc;
}

int probed_file_open(const char *name, const pid_t *tasks, size_t count, struct probed_file *out, struct err *e)
{
	struct wanted_file w = {.name = name, .resolved = fs_program(name)};
	int rc = 0;

	*out = (struct probed_file){.fd = -1};
	if (count) {
		know_file(&w, open(w.resolved ? w.resolved : name, O_PATH | O_CLOEXEC));
		know_file(&w, open_in_roots(tasks, count, name));
	}
	for (size_t i = 0; !rc && out->fd < 0 && i < count; i++)
		rc = look_at_task(tasks[i], &w, out, e);
	if (!rc && out->fd < 0) {
		out->fd = open(w.resolved ? w.resolved : strchr(name, '/') ? name : "", OPEN_FLAGS);
		out->path = or_abort(strdup(w.resolved ? w.resolved : name));
		out->root = or_abort(strdup(""));
		rc = out->fd < 0 ? -ENOENT : 0;
	}
	free(w.resolved);
	return rc;
}
