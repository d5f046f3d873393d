#include "measure/run/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "common/trace_kinds.h"
#include "measure/run/transfer.h"

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

static int take_column(struct peer *p, const char *path, size_t entries, struct transfer *t, struct err *e)
{
	char header[NPY_HEADER];
	struct column_file f = {open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), path};
	int rc = f.fd < 0 ? err_sys(e, -errno, path, "create") : 0;

	npy_header(header, entries);
	if (!rc)
		rc = columns_write_piece(&f, header, sizeof(header), e);
	if (!rc)
		rc = channel_raw(&p->channel, t, entries * sizeof(int64_t), columns_write_piece, &f, e);
	if (f.fd >= 0 && close(f.fd) && !rc)
		rc = err_sys(e, -errno, path, "write");
	return rc;
}

/* If this process is killed meanwhile, it does not leave an incomplete column. */
static int store_column(struct peer *p, const char *dir, const char *name, size_t entries, struct transfer *t,
			struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name), *part = fs_path("%s.tmp", path);
	int rc = take_column(p, part, entries, t, e);

	if (!rc && rename(part, path))
		rc = err_sys(e, -errno, path, "rename");
	if (rc)
		unlink(part);
	free(part);
	free(path);
	return rc;
}

static int columns_check_end(void *arg, const void *data, size_t size, struct err *e)
{
	const struct peer *p = arg;

	if (size == 1 && *(const char *)data == '\n')
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint's columns do not end where expected");
}

/* Are these the columns of this side, each of them once? */
static bool has_its_columns(const struct peer *p, const json_t *columns)
{
	size_t count = 0;

	for (const struct kernel_column *c = p->flow->kernel->columns; c->name; c++) {
		const char *name = json_string_value(json_array_get(columns, count));

		if (!flow_has_column(p->flow, c, p->role))
			continue;
		if (!name || strcmp(name, c->name) != 0)
			return false;
		count++;
	}
	return json_array_size(columns) == count;
}

int columns_store(struct peer *p, const json_t *done, uint32_t messages, const char *dir, struct err *e)
{
	const json_t *columns = json_object_get(done, "columns"), *column;
	const size_t entries = flow_entries(p->flow, messages);
	struct transfer t;
	size_t i;
	int rc = 0;

	if (json_integer_value(json_object_get(done, "messages")) != messages)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint reports a different number of messages than requested");
	if (!has_its_columns(p, columns))
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint sent other columns than its kernel has");
	transfer_begin(&t, p->channel.patience_ms);
	transfer_expect(&t, (unsigned long long)json_array_size(columns) * entries * sizeof(int64_t) + 1);
	json_array_foreach (columns, i, column)
		if (!rc)
			rc = store_column(p, dir, json_string_value(column), entries, &t, e);
	return rc ? rc : channel_raw(&p->channel, &t, 1, columns_check_end, p, e);
}

#define TRACE_MOST ((json_int_t)TRACE_EVENTS_MOST * TRACE_WORDS)

static int check_trace(const struct peer *p, const json_t *about, bool asked, struct err *e)
{
	const json_int_t words = json_integer_value(json_object_get(about, "words"));

	if (!asked || p->flow->common.explain == EXPLAIN_NO)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL,
			       "endpoint sent a trace that it was not asked for");
	if (!json_is_object(about) || words < 0 || words > TRACE_MOST || words % TRACE_WORDS)
		return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint sent no valid trace");
	return 0;
}

static int store_trace(struct peer *p, const char *dir, const char *name, json_t *about, struct err *e)
{
	const size_t words = (size_t)json_integer_value(json_object_get(about, "words"));
	char *path = fs_path("%s/%s.json", dir, name);
	struct transfer t;
	int rc;

	json_object_del(about, "words");
	transfer_begin(&t, p->channel.patience_ms);
	transfer_expect(&t, words * sizeof(int64_t) + 1);
	rc = store_column(p, dir, name, words, &t, e);
	if (!rc)
		rc = channel_raw(&p->channel, &t, 1, columns_check_end, p, e);
	if (!rc)
		rc = json_write(path, about, e);
	free(path);
	return rc;
}

int columns_store_trace(struct peer *p, json_t *done, bool asked, const char *dir, struct err *e)
{
	json_t *about = json_object_get(done, "trace");
	char name[32];
	int rc;

	if (!about)
		return 0;
	snprintf(name, sizeof(name), "trace-%s", role_names[p->role]);
	rc = check_trace(p, about, asked, e);
	return rc ? rc : store_trace(p, dir, name, about, e);
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
