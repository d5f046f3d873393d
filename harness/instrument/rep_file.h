/*
 * The file of a repetition that samples are written to (sample_file.h, sample_text.h): "DIR/NAME-NN.SUFFIX". Unless it is kept it has
 * no name from the start, so that nothing is left however this ends.
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

/* A descriptor for writing, or a negative errno and `e`. `is_direct`: past the page cache, if the file system can; said there. NULL: not. */
int rep_file_make(struct rep_file *f, unsigned repetition, bool *is_direct, struct err *e);

/* Writing failed with `rc` after so many bytes: what there is of it is removed. Returns `rc`. */
int rep_file_fail(struct rep_file *f, int rc, uint64_t bytes, struct err *e);
void rep_file_close(struct rep_file *f);

#endif
