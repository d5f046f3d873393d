/*
 * The libraries that a program runs with, and their versions at run time.
 */
#ifndef KBLAT_COMMON_LIBRARY_H
#define KBLAT_COMMON_LIBRARY_H

#include <stdio.h>

struct library {
	const char *name; /* "zlib", or of a library that does not tell its version a file: "libnuma.so.1"; NULL ends a table */
	const char *(*version)(void); /* NULL: the name of the file that is loaded has it */
};

/* "glibc 2.36, libnuma.so.1.0.0" */
void libraries_print(const struct library *libraries, FILE *out);

#endif
