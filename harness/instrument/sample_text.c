#include "instrument/sample_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

void sample_text_open(struct sample_text *t, const char *dir, const char *name, bool keep)
{
	*t = (struct sample_text){.dir = fs_path("%s", dir), .name = name, .keep = keep};
}

int sample_text_start(struct sample_text *t, unsigned repetition, struct err *e)
{
	char *path = fs_path("%s/%s-%02u.csv", t->dir, t->name, repetition);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	int rc = 0;

	free(t->path);
	t->path = path;
	t->bytes = 0;
	t->failed = 0;
	if (fd < 0)
		return err_sys(e, -errno, path, "create");
	if (!t->keep && unlink(path))
		rc = err_sys(e, -errno, path, "remove");
	t->file = rc ? NULL : fdopen(fd, "w");
	if (!t->file) {
		close(fd);
		rc = rc ? rc : err_sys(e, -ENOMEM, path, "write");
	}
	return rc;
}

int sample_text_put(struct sample_text *t, uint64_t sequence, int64_t origin_ns, const void *values, uint32_t count)
{
	const char *from = values;
	int n = fprintf(t->file, "%lld.%09lld,%llu", (long long)(origin_ns / 1000000000),
			(long long)(origin_ns % 1000000000), (unsigned long long)sequence);

	for (uint32_t i = 0; i < count && n >= 0; i++) {
		double value;
		int more;

		memcpy(&value, from + i * sizeof(value), sizeof(value));
		more = fprintf(t->file, ",%.17g", value);
		n = more < 0 ? more : n + more;
	}
	if (n < 0 || putc('\n', t->file) == EOF)
		return t->failed = -errno;
	t->bytes += (uint64_t)n + 1;
	return 0;
}

int sample_text_finish(struct sample_text *t, struct err *e)
{
	int rc = t->failed;

	if (t->file && fclose(t->file) && !rc)
		rc = -errno;
	t->file = NULL;
	if (!rc)
		return 0;
	if (t->keep)
		unlink(t->path);
	return err_set(e, rc, STATUS_FAILED, t->dir, "write the samples to a file in",
		       "%s after %llu bytes; make room, or name another place with sink_dir", strerror(-rc),
		       (unsigned long long)t->bytes);
}

void sample_text_close(struct sample_text *t)
{
	if (t->file)
		fclose(t->file);
	free(t->dir);
	free(t->path);
	*t = (struct sample_text){0};
}
