/*
 * What the fuzz targets share. A target is one file, fuzz_NAME.c, with LLVMFuzzerTestOneInput(): what it is given it hands
 * to one reader of ours, and what the reader made of it must hold. Linked with libFuzzer it looks for inputs that break
 * something; linked with replay.c it takes those that were found, in tests. Single-threaded, but for what is tested.
 */
#ifndef KBLAT_TESTS_FUZZ_H
#define KBLAT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Mutators: at most `max` bytes at `data`; the new size. A target that defines LLVMFuzzerCustomMutator() calls one of
 * them. `words`: texts that mean something to the reader, NULL-terminated. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
typedef size_t fuzz_mutator(uint8_t *data, size_t size, size_t max, const char *const *words);

fuzz_mutator mutate_json;  /* one document */
fuzz_mutator mutate_yaml;  /* likewise */
fuzz_mutator mutate_lines; /* JSON documents, one a line */
fuzz_mutator mutate_files; /* what file_tree_apply() takes, each file by its name's end */

#define FUZZ_MUTATOR(mutate, words)                                                                                    \
	size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)                          \
	{                                                                                                              \
		fuzz_seed(seed);                                                                                       \
		return mutate(data, size, max, words);                                                                 \
	}

/* Random numbers of mutators: the same for the same seed. 0 up to below `n`. */
void fuzz_seed(unsigned seed);
unsigned fuzz_below(unsigned n);

/* It must hold, or the input is a finding. */
#define fuzz_require(condition)                                                                                        \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			__builtin_trap();                                                                              \
	} while (0)

/* A copy that ends in a NUL, in a block of its own so that a sanitizer sees what reads behind it. The caller frees. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A folder in memory that is this process' own, removed at its end. */
const char *fuzz_folder(void);

/* A file with that content. */
void fuzz_write(const char *path, const void *data, size_t size);

/* An anonymous file with that content, at its beginning. */
int fuzz_descriptor(const void *data, size_t size);

#endif
