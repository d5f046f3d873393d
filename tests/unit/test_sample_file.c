/* The file sink: what was put is in the file, whole and in order, also where the ring went round; a full ring makes the putting thread wait, and counts. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "measure/instrument/sample_file.h"
#include "tap.h"

#define SIZE 1001 /* no power of two: samples lie across the ring's end, files end within a block */

static atomic_int stop;

/* Byte i of sample k. */
static unsigned char byte_of(unsigned k, unsigned i)
{
	return (unsigned char)(k * 31 + (k >> 8) + i);
}

static void make_sample(unsigned char *sample, unsigned k)
{
	for (unsigned i = 0; i < SIZE; i++)
		sample[i] = byte_of(k, i);
}

static bool is_whole(const char *path, unsigned samples)
{
	unsigned char want[SIZE], got[SIZE];
	struct stat st;
	FILE *in = fopen(path, "rb");
	bool whole = in && !fstat(fileno(in), &st) && st.st_size == (off_t)samples * SIZE;

	for (unsigned k = 0; whole && k < samples; k++) {
		make_sample(want, k);
		whole = fread(got, SIZE, 1, in) == 1 && !memcmp(want, got, SIZE);
	}
	if (in)
		fclose(in);
	return whole;
}

static int put_all(struct sample_file *f, unsigned samples)
{
	unsigned char sample[SIZE];
	int rc = 0;

	for (unsigned k = 0; !rc && k < samples; k++) {
		make_sample(sample, k);
		rc = sample_file_put(f, sample, SIZE);
	}
	return rc;
}

static void test_contents(const char *dir)
{
	const unsigned counts[] = {0, 1, 4096, SAMPLE_FILE_RING / SIZE * 3};
	struct err e = ERR_INIT;
	struct sample_file f;

	ok(!sample_file_open(&f, dir, "kept", true, -1, -1, &stop, &e), "open: %s", e.text);
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		int rc = sample_file_start(&f, i, &e);

		rc = rc ? rc : put_all(&f, counts[i]);
		ok(!rc && !sample_file_finish(&f, &e), "%u samples are put and written: %s", counts[i], e.text);
		ok(atomic_load(&f.written) == (uint64_t)counts[i] * SIZE, "so many bytes were written");
		ok(is_whole(f.at.path, counts[i]), "the file has them, in order, and nothing else");
		unlink(f.at.path);
	}
	sample_file_close(&f);
}

static void test_full(const char *dir)
{
	const unsigned room = SAMPLE_FILE_RING / SIZE;
	struct err e = ERR_INIT;
	struct sample_file f;

	ok(!sample_file_open(&f, dir, "full", true, -1, -1, &stop, &e), "open: %s", e.text);
	atomic_store(&stop, 1);
	/* Nobody writes: it has not been started. */
	ok(!put_all(&f, room) && f.waits == 0, "until the ring is full nothing waits");
	ok(put_all(&f, 1) == -EINTR, "then the next sample does, until the run is stopped");
	ok(f.waits == 1 && atomic_load(&f.put) == (uint64_t)room * SIZE, "counted once, and nothing was overwritten");
	atomic_store(&f.failed, -ENOSPC);
	ok(put_all(&f, 1) == -ENOSPC, "a failure of the writing thread ends the wait");
	atomic_store(&stop, 0);
	sample_file_close(&f);
}

static void test_nameless(const char *dir)
{
	struct err e = ERR_INIT;
	struct sample_file f;

	ok(!sample_file_open(&f, dir, "gone", false, -1, -1, &stop, &e) && !sample_file_start(&f, 0, &e), "start: %s",
	   e.text);
	ok(access(f.at.path, F_OK) && errno == ENOENT, "a file that is not kept has no name, while it is written");
	ok(!put_all(&f, 10) && !sample_file_finish(&f, &e), "and is written: %s", e.text);
	sample_file_close(&f);
	ok(!sample_file_open(&f, "/nonexistent", "x", true, -1, -1, &stop, &e), "nothing is made before it starts");
	ok(sample_file_start(&f, 0, &e) && strstr(e.text, "/nonexistent/x-00.bin") && strstr(e.text, "cannot create"),
	   "where there is no such directory, that is said: %s", e.text);
	sample_file_close(&f);
}

int main(void)
{
	/* On a disk where there is one: O_DIRECT has rules that tmpfs does not have. */
	char dir[] = "/var/tmp/kblat-sample-file.XXXXXX";

	if (!mkdtemp(dir))
		return 1;
	test_contents(dir);
	test_full(dir);
	test_nameless(dir);
	fs_remove_tree(dir, NULL);
	return done_testing();
}
