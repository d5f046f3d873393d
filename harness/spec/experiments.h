/*
 * Experiments by name: those in ./experiments, else in the directory $KBLAT_EXPERIMENTS, else those
 * that came with the program.
 */
#ifndef KBLAT_SPEC_EXPERIMENTS_H
#define KBLAT_SPEC_EXPERIMENTS_H

#include <stdbool.h>

/* The directory of experiments, or NULL; the caller frees. */
char *experiments_directory(void);

/* What `kblat run ASKED` means: the path, if there is something, or the experiment of that name
 * ("quickstart", "thesis/oneway-busy"); where there is neither, what was asked. The caller frees. */
char *experiments_find(const char *asked);

/* Is it one that was installed with the program, so that no run is to be kept beside it? */
bool experiments_is_installed(const char *path);

#endif
