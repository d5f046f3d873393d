#include "instrument/sample_text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"

void sample_text_open(struct sample_text *t, const char *dir, const char *name, bool keep)
{
	*t = (struct sample_text){0};
	rep_file_open(&t->at, dir, name, "csv", keep);
}

int sample_text_start(struct sample_text *t, unsigned repetition, struct err *e)
{
	int fd = rep_file_make(&t->at, repetition, NULL, e);

	t->bytes = 0;
	t->failed = 0;
	if (fd < 0)
		return fd;
	t->file = fdopen(fd, "w");
	if (t->file)
		return 0;
	close(fd);
	return err_sys(e, -ENOMEM, t->at.path, "write");
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
	return rc ? rep_file_fail(&t->at, rc, t->bytes, e) : 0;
}

void sample_text_close(struct sample_text *t)
{
	if (t->file)
		fclose(t->file);
	t->file = NULL;
	rep_file_close(&t->at);
}
