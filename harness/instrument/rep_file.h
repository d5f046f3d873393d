/*
 * The file to which the samples of a repetition are written (sample_file.h, sample_text.h): "DIR/NAME-NN.SUFFIX".
 * Unless it is to be kept, it has no name from the start, so that nothing is left behind in any case.
 */
#ifndef KBLAT_INSTRUMENT_REP_FILE_H
#define KBLAT_INSTRUMENT_REP_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct rep_file {
	char *dir, *path; /* path: of the last one */
	const char *name, *suffix;
	bool keep;
};

/* `dir` is copied, `name` and `suffix` are borrowed. */
void rep_file_open(struct rep_file *f, const char *dir, const char *name, const char *suffix, bool keep);

/* A descriptor for writing, or a negative errno and `e`. `is_direct`: bypass the page cache if the file system supports
 * it, and return whether it does; NULL: do not. */
int rep_file_make(struct rep_file *f, unsigned repetition, bool *is_direct, struct err *e);

/* To be called when writing has failed with `rc` after `bytes` bytes: removes the file. Returns `rc`. */
int rep_file_fail(struct rep_file *f, int rc, uint64_t bytes, struct err *e);
void rep_file_close(struct rep_file *f);

#endif
