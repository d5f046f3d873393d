/*
 * Finds experiments by name: in ./experiments, otherwise in the directory $KBLAT_EXPERIMENTS, otherwise among those
 * installed with the program.
 */
#ifndef KBLAT_SPEC_EXPERIMENTS_H
#define KBLAT_SPEC_EXPERIMENTS_H

#include <stdbool.h>

struct err;

/* The directory of experiments, or NULL; the caller frees. */
char *experiments_directory(void);

/* The same, but never ./experiments: the working folder may be that of somebody else's artifact. */
char *experiments_of_program(void);

/* Resolves the argument of `kblat run ASKED`: the path itself if it exists, or the experiment with that name
 * ("quickstart", "thesis/oneway-busy"); if there is neither, the argument unchanged. The caller frees. */
char *experiments_find(const char *asked);

/* The names of all experiments in a directory of them, as `kblat run` takes them: NULL-terminated, to be freed with
 * sysroot_names_free. 0, or a negative errno and `e`. */
int experiments_names(const char *experiments, char ***names, struct err *e);

/* The experiment whose name is nearest to one that there is not, or NULL; the caller frees. */
char *experiments_suggest(const char *asked);

/* Was it installed with the program, so that no runs may be stored next to it? */
bool experiments_is_installed(const char *path);

#endif
