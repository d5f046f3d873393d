#include "measure/instrument/sample_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/monotonic.h"
#include "measure/instrument/clock.h"
#include "measure/instrument/pinned.h"

/* --- a file of one repetition --- */

/* `dir` is copied, `name` and `suffix` are borrowed. */
static void rep_file_open(struct rep_file *f, const char *dir, const char *name, const char *suffix, bool keep)
{
	*f = (struct rep_file){.dir = fs_path("%s", dir), .name = name, .suffix = suffix, .keep = keep};
}

/* A descriptor for writing, or a negative errno and `e`. `is_direct`: bypass the page cache if the file system supports
 * it, and return whether it does; NULL: do not. */
static int rep_file_make(struct rep_file *f, unsigned repetition, bool *is_direct, struct err *e)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	int fd, rc;

	free(f->path);
	f->path = fs_path("%s/%s-%02u.%s", f->dir, f->name, repetition, f->suffix);
	fd = open(f->path, flags | (is_direct ? O_DIRECT : 0), 0666);
	if (is_direct) {
		*is_direct = fd >= 0 || errno != EINVAL;
		if (!*is_direct) /* tmpfs */
			fd = open(f->path, flags, 0666);
	}
	if (fd < 0)
		return err_sys(e, -errno, f->path, "create");
	if (f->keep || !unlink(f->path))
		return fd;
	rc = err_sys(e, -errno, f->path, "remove");
	close(fd);
	return rc;
}

/* To be called when writing has failed with `rc` after `bytes` bytes: removes the file. Returns `rc`. */
static int rep_file_fail(struct rep_file *f, int rc, uint64_t bytes, struct err *e)
{
	if (f->keep)
		unlink(f->path);
	return err_set(e, rc, STATUS_FAILED, f->path, "write the samples",
		       "%s after %llu bytes; %schoose another folder with sink_dir", strerror(-rc),
		       (unsigned long long)bytes, rc == -ENOSPC || rc == -EDQUOT ? "free some space, or " : "");
}

static void rep_file_close(struct rep_file *f)
{
	free(f->dir);
	free(f->path);
	*f = (struct rep_file){0};
}

#define BLOCK 4096 /* O_DIRECT requires lengths to be multiples of this on all known devices */

static void nap(void)
{
	struct timespec ts = {0, 200000};

	nanosleep(&ts, NULL);
}

int sample_file_open(struct sample_file *f, const char *dir, const char *name, bool keep, int cpu, int node,
		     const atomic_int *stop, struct err *e)
{
	memset(f, 0, sizeof(*f));
	f->fd = -1;
	rep_file_open(&f->at, dir, name, "bin", keep);
	f->cpu = cpu;
	f->stop = stop;
	return memory_alloc(&f->ring, SAMPLE_FILE_RING, node, e);
}

static int write_piece(struct sample_file *f, uint64_t at, size_t size)
{
	const char *from = (const char *)f->ring.data + at % SAMPLE_FILE_RING;
	int64_t before = monotonic_ns();

	while (size) {
		ssize_t n = pwrite(f->fd, from, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		from += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	f->write_ns += monotonic_ns() - before;
	return 0;
}

/* Write the last piece, padded to whole blocks, and then truncate the file; but for one that has no name any more, whose
 * end nobody will see: 9p and its like truncate by name. */
static int write_rest(struct sample_file *f, uint64_t at, uint64_t end)
{
	size_t rest = (size_t)(end - at), filled = (rest + BLOCK - 1) / BLOCK * BLOCK;
	int rc = rest ? write_piece(f, at, f->is_direct ? filled : rest) : 0;

	if (!rc && f->is_direct && f->at.keep && ftruncate(f->fd, (off_t)end))
		rc = -errno;
	return rc;
}

static void *write_out(void *arg)
{
	struct sample_file *f = arg;
	uint64_t at = 0;
	int rc = 0;

	while (!rc) {
		bool ended = atomic_load(&f->ended); /* before `put` is read */
		uint64_t put = atomic_load_explicit(&f->put, memory_order_acquire);

		if (put - at >= SAMPLE_FILE_PIECE) {
			rc = write_piece(f, at, SAMPLE_FILE_PIECE);
			at += rc ? 0 : SAMPLE_FILE_PIECE;
		} else if (ended) {
			rc = write_rest(f, at, put);
			at = rc ? at : put;
			atomic_store_explicit(&f->written, at, memory_order_release);
			break;
		} else {
			nap();
		}
		atomic_store_explicit(&f->written, at, memory_order_release);
	}
	if (rc)
		atomic_store(&f->failed, rc);
	f->store_ns = monotonic_ns() - f->started_ns;
	return NULL;
}

/* Signals must go to the measuring threads, so this thread blocks them. */
static int start_writer(struct sample_file *f)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = f->cpu >= 0 ? pinned_start(&f->writer, f->cpu, write_out, f)
			 : -pthread_create(&f->writer, NULL, write_out, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int sample_file_start(struct sample_file *f, unsigned repetition, struct err *e)
{
	int rc;

	f->fd = rep_file_make(&f->at, repetition, &f->is_direct, e);
	if (f->fd < 0)
		return f->fd;
	f->known = f->waits = 0;
	f->write_ns = f->store_ns = 0;
	atomic_store(&f->put, 0);
	atomic_store(&f->written, 0);
	atomic_store(&f->failed, 0);
	atomic_store(&f->ended, false);
	f->started_ns = monotonic_ns();
	rc = start_writer(f);
	f->running = !rc;
	return rc ? err_sys(e, rc, "writing thread of the file sink", "start") : 0;
}

int sample_file_wait(struct sample_file *f, size_t size)
{
	uint64_t end = atomic_load_explicit(&f->put, memory_order_relaxed) + size;
	bool counted = false;

	for (;;) {
		int failed = atomic_load_explicit(&f->failed, memory_order_relaxed);

		f->known = atomic_load_explicit(&f->written, memory_order_acquire);
		if (failed)
			return failed;
		if (end - f->known <= SAMPLE_FILE_RING)
			return 0;
		f->waits += !counted;
		counted = true;
		if (atomic_load_explicit(f->stop, memory_order_relaxed))
			return -EINTR;
		cpu_relax();
	}
}

int sample_file_finish(struct sample_file *f, struct err *e)
{
	int rc = 0;

	if (f->running) {
		atomic_store(&f->ended, true);
		pthread_join(f->writer, NULL);
		rc = atomic_load(&f->failed);
	}
	f->running = false;
	if (f->fd >= 0 && close(f->fd) && !rc)
		rc = -errno;
	f->fd = -1;
	return rc ? rep_file_fail(&f->at, rc, atomic_load(&f->written), e) : 0;
}

void sample_file_close(struct sample_file *f)
{
	struct err ignored = ERR_INIT;

	if (f->at.dir)
		sample_file_finish(f, &ignored);
	memory_free(&f->ring);
	rep_file_close(&f->at);
}

/* --- a line per sample, as text --- */

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
