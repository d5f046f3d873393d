/*
 * Files to which samples are written in the data path: by another thread, without delaying it, or as
 * text by the sending thread itself (struct sample_text).
 *
 * struct sample_file: the sink copies each sample into a ring in
 * memory, and another thread writes the ring to the file in large pieces, bypassing the page cache if the file system
 * supports it (O_DIRECT). Nothing is lost: if the ring is full, the sink waits, which is counted. A copy takes a few
 * nanoseconds and no system call.
 *
 * One thread calls sample_file_put(); all other functions are called between repetitions.
 */
#ifndef KBLAT_INSTRUMENT_SAMPLE_FILE_H
#define KBLAT_INSTRUMENT_SAMPLE_FILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "measure/instrument/memory.h"

struct err;

#define SAMPLE_FILE_RING  ((size_t)64 << 20)
#define SAMPLE_FILE_PIECE ((size_t)1 << 20) /* written at once; the ring is a multiple of it */

/*
 * The file to which the samples of a repetition are written: "DIR/NAME-NN.SUFFIX". Unless it is to be
 * kept, it has no name from the start, so that nothing is left behind in any case.
 */
struct rep_file {
	char *dir, *path; /* path: of the last one */
	const char *name, *suffix;
	bool keep;
};

struct sample_file {
	struct memory ring;
	struct rep_file at;
	int cpu; /* of the writing thread; -1: any */
	const atomic_int *stop;
	int fd;
	bool is_direct, running;
	pthread_t writer;
	int64_t started_ns;
	uint64_t known;		    /* the putting thread's last look at `written` */
	uint64_t waits;		    /* samples that found the ring full */
	int64_t write_ns, store_ns; /* inside write(); from start to the last one */
	_Alignas(64) _Atomic uint64_t put;
	_Alignas(64) _Atomic uint64_t written;
	atomic_int failed; /* negative errno of the first write that failed */
	atomic_bool ended; /* nothing more will be put */
};

/* `dir` is copied, `name` and `stop` are borrowed; close in either case. */
int sample_file_open(struct sample_file *f, const char *dir, const char *name, bool keep, int cpu, int node,
		     const atomic_int *stop, struct err *e);

/* Begin the file of a repetition, and its thread. */
int sample_file_start(struct sample_file *f, unsigned repetition, struct err *e);

/* Write the rest and close the file. Reports errors, including earlier ones. */
int sample_file_finish(struct sample_file *f, struct err *e);
void sample_file_close(struct sample_file *f);

/* To be called when the ring is full: waits until it has room for `size`. 0 or a negative errno. */
int sample_file_wait(struct sample_file *f, size_t size);

/* 0 or a negative errno; `size` is much smaller than the ring. */
static inline int sample_file_put(struct sample_file *f, const void *sample, size_t size)
{
	uint64_t put = atomic_load_explicit(&f->put, memory_order_relaxed);
	size_t at = put % SAMPLE_FILE_RING, first = SAMPLE_FILE_RING - at < size ? SAMPLE_FILE_RING - at : size;

	if (__builtin_expect(put + size - f->known > SAMPLE_FILE_RING, 0)) {
		int rc = sample_file_wait(f, size);

		if (rc)
			return rc;
	}
	memcpy((char *)f->ring.data + at, sample, first);
	memcpy(f->ring.data, (const char *)sample + first, size - first);
	atomic_store_explicit(&f->put, put + size, memory_order_release);
	return 0;
}

/*
 * A text file with a line per sample, written in the data path by the sending thread, as VILLASnode's
 * node `file` does. Formatting and writing take time that the sender then lacks. (struct sample_file
 * does not delay anything.)
 *
 * A line is "SECONDS.NANOSECONDS,SEQUENCE,VALUE,…", values with 17 significant digits, so that reading
 * them gives the same doubles.
 */
struct sample_text {
	FILE *file;
	struct rep_file at;
	uint64_t bytes; /* written since the repetition began */
	int failed;	/* negative errno of the first write that failed */
};

/* `dir` is copied, `name` is borrowed. */
void sample_text_open(struct sample_text *t, const char *dir, const char *name, bool keep);

/* Begin the file of a repetition. */
int sample_text_start(struct sample_text *t, unsigned repetition, struct err *e);

/* One line; `values` are `count` doubles of any alignment. 0 or a negative errno. */
int sample_text_put(struct sample_text *t, uint64_t sequence, int64_t origin_ns, const void *values, uint32_t count);

/* Write the rest and close the file. Reports errors, including earlier ones. */
int sample_text_finish(struct sample_text *t, struct err *e);
void sample_text_close(struct sample_text *t);

#endif
