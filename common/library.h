/*
 * The libraries that a program runs with, and their versions at run time.
 */
#ifndef KBLAT_COMMON_LIBRARY_H
#define KBLAT_COMMON_LIBRARY_H

#include <stdio.h>

struct library {
	const char *name;	      /* NULL ends a table */
	const char *(*version)(void); /* NULL: `name` is a file ("libnuma.so.1"), whose full name has it */
	const char *feature;	      /* it is left out of builds without that (common/feature.h); NULL: it is in all */
};

/* "glibc 2.36, libnuma.so.1.0.0" */
void libraries_print(const struct library *libraries, FILE *out);

#endif
