#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "measure/instrument/recorder.h"

static int make_scratch(struct recorder *r, const char *name, struct err *e)
{
	snprintf(r->dir, sizeof(r->dir), "/dev/shm/kblat-%u-%d-%.16sXXXXXX", (unsigned)getuid(), (int)getpid(), name);
	if (mkdtemp(r->dir))
		return 0;

	int rc = -errno;

	r->dir[0] = '\0';
	return err_set(e, rc, STATUS_IMPOSSIBLE, "/dev/shm", "make a scratch directory in",
		       "%s; stamps need a tmpfs there", strerror(-rc));
}

static int recorder_check_space(uint64_t need, struct err *e)
{
	unsigned long long free_bytes;
	int rc = fs_free_bytes("/dev/shm", &free_bytes, e);

	if (rc)
		return rc;
	if (free_bytes >= need)
		return 0;
	return err_set(e, -ENOSPC, STATUS_IMPOSSIBLE, "/dev/shm", "hold the stamps",
		       "%llu bytes are needed, %llu are free; use fewer messages, or make it larger",
		       (unsigned long long)need, free_bytes);
}

static int open_column(struct recorder *r, struct recorder_column *c, const char *name, size_t size, int node,
		       struct err *e)
{
	char *path = fs_path("%s/%s.npy", r->dir, name);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd < 0 ? err_sys(e, -errno, path, "create") : 0;

	snprintf(c->name, sizeof(c->name), "%s", name);
	if (!rc) {
		/* Reserves the pages now: running out of space on tmpfs later would raise SIGBUS in
		 * the timed loop. */
		int failed = r->touch ? posix_fallocate(fd, 0, (off_t)size) : ftruncate(fd, (off_t)size) ? errno : 0;

		if (failed)
			rc = err_sys(e, -failed, path, "reserve memory for");
	}
	if (!rc)
		rc = memory_map(&c->memory, fd, size, r->touch, node, path, e);
	if (!rc) {
		npy_header(c->memory.data, r->capacity);
		c->data = (int64_t *)((char *)c->memory.data + NPY_HEADER);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

int recorder_open(struct recorder *r, const char *name, const char *const *names, unsigned count, uint64_t capacity,
		  bool touch, int node, struct err *e)
{
	size_t size = NPY_HEADER + capacity * sizeof(int64_t);

	memset(r, 0, sizeof(*r));
	r->capacity = capacity;
	r->touch = touch;
	int rc = count > RECORDER_COLUMNS
		     ? err_set(e, -EINVAL, STATUS_FAILED, "recorder", NULL, "has room for %d columns", RECORDER_COLUMNS)
		     : recorder_check_space((uint64_t)size * count, e);

	if (!rc)
		rc = make_scratch(r, name, e);
	for (; !rc && r->columns < count; r->columns++)
		rc = open_column(r, &r->column[r->columns], names[r->columns], size, node, e);
	if (rc)
		recorder_close(r);
	else
		recorder_reset(r);
	return rc;
}

int64_t recorder_blank(const struct recorder *r)
{
	return r->touch ? NEVER : 0;
}

void recorder_reset(struct recorder *r)
{
	for (unsigned i = 0; i < r->columns && !r->touch; i++)
		madvise(r->column[i].data, r->capacity * sizeof(int64_t), MADV_REMOVE);
	for (unsigned i = 0; i < r->columns && r->touch; i++)
		for (uint64_t at = 0; at < r->capacity; at++)
			r->column[i].data[at] = NEVER;
}

void recorder_convert_column(struct recorder *r, unsigned column, const struct clock_conversion *c, uint64_t count)
{
	int64_t *data = r->column[column].data;

	for (uint64_t at = 0; at < count; at++)
		data[at] = data[at] == recorder_blank(r) ? NEVER : clock_to_ns(c, data[at]);
}

void recorder_close(struct recorder *r)
{
	for (unsigned i = 0; i < RECORDER_COLUMNS; i++)
		memory_free(&r->column[i].memory);
	if (r->dir[0])
		fs_remove_tree(r->dir, NULL);
	memset(r, 0, sizeof(*r));
}
