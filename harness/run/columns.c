#include "run/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"

struct column_file {
	int fd;
	const char *path;
};

static int columns_write_piece(void *arg, const void *data, size_t size, struct err *e)
{
	struct column_file *f = arg;
	int rc = fs_write_fd(f->fd, data, size);

	return rc ? err_sys(e, rc, f->path, "write") : 0;
}

static int store_column(struct peer *p, const char *dir, const char *name, uint32_t entries, struct err *e)
{
	char header[NPY_HEADER];
	char *path = fs_path("%s/%s.npy", dir, name);
	struct column_file f = {open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), path};
	int rc = f.fd < 0 ? err_sys(e, -errno, path, "create") : 0;

	npy_header(header, entries);
	if (!rc)
		rc = columns_write_piece(&f, header, sizeof(header), e);
	if (!rc)
		rc = channel_raw(&p->channel, entries * sizeof(int64_t), columns_write_piece, &f, e);
	if (f.fd >= 0 && close(f.fd) && !rc)
		rc = err_sys(e, -errno, path, "write");
	free(path);
	return rc;
}

static int columns_check_end(void *arg, const void *data, size_t size, struct err *e)
{
	const struct peer *p = arg;

	if (size == 1 && *(const char *)data == '\n')
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint's columns do not end where they must");
}

static bool is_column_of(const struct peer *p, const char *name)
{
	for (const struct kernel_column *c = p->flow->kernel->columns; c->name; c++)
		if (name && flow_has_column(p->flow, c, p->role) && !strcmp(c->name, name))
			return true;
	return false;
}

int columns_store(struct peer *p, const json_t *done, uint32_t messages, const char *dir, struct err *e)
{
	const json_t *column;
	size_t i;
	int rc = 0;

	if (json_integer_value(json_object_get(done, "messages")) != messages)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint reports another number of messages than it was asked for");
	json_array_foreach (json_object_get(done, "columns"), i, column) {
		const char *name = json_string_value(column);

		if (rc)
			break;
		rc = is_column_of(p, name) ? store_column(p, dir, name, flow_entries(p->flow, messages), e)
					   : err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
						     "endpoint sends a column that its kernel does not have");
	}
	return rc ? rc : channel_raw(&p->channel, 1, columns_check_end, p, e);
}

static int shorten_column(const char *path, uint64_t count, struct err *e)
{
	char header[NPY_HEADER];
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), rc = 0;

	npy_header(header, count);
	if (fd < 0 || pwrite(fd, header, sizeof(header), 0) != NPY_HEADER ||
	    ftruncate(fd, NPY_HEADER + (off_t)(count * sizeof(int64_t))))
		rc = err_sys(e, -errno, path, "shorten");
	if (fd >= 0)
		close(fd);
	return rc;
}

int columns_shorten(const json_t *done, const char *dir, uint64_t count, struct err *e)
{
	const json_t *column;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(done, "columns"), i, column) {
		char *path = fs_path("%s/%s.npy", dir, json_string_value(column));

		if (!rc)
			rc = shorten_column(path, count, e);
		free(path);
	}
	return rc;
}
