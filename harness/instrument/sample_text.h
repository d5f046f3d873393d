/*
 * A text file with a line per sample, written in the data path by the sending thread, as VILLASnode's node `file` does.
 * Formatting and writing take time that the sender then lacks. (The file of sample_file.h does not delay anything.)
 *
 * A line is "SECONDS.NANOSECONDS,SEQUENCE,VALUE,…", values with 17 significant digits, so that reading them gives the
 * same doubles.
 */
#ifndef KBLAT_INSTRUMENT_SAMPLE_TEXT_H
#define KBLAT_INSTRUMENT_SAMPLE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "instrument/rep_file.h"

struct err;

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
