/*
 * Parts of the programs that need a library which not every distribution has: without it they are left out when the
 * programs are built. The table is common/features, from which the build makes the rows.
 */
#ifndef KBLAT_FEATURE_H
#define KBLAT_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;

struct feature {
	const char *name; /* of the library */
	bool is_built;
	const char *program;   /* "kblat", "kbtune", or "loaded": kblat loads the library while it runs */
	const char *needed_by; /* "the transport uring" */
	const char *debian;    /* packages, of Debian and Ubuntu, to install before building */
	const char *fedora;    /* likewise, of Fedora and RHEL; "-": there is none */
};

extern const struct feature features[]; /* name NULL ends */

/* Is it one of this program ("kblat", "kbtune")? */
bool feature_is_of(const struct feature *f, const char *program);

bool feature_is_built(const char *name);

/* "install libdw-dev (Debian, Ubuntu) or elfutils-devel (Fedora, RHEL), and build again": what to do to have it. */
char *feature_advice(const struct feature *f, char *buf, size_t size);
#define FEATURE_ADVICE_MAX 256

/* Fill `e` (STATUS_IMPOSSIBLE): `object` cannot be used, as this build is without that feature. Returns a negative errno. */
int feature_missing(const char *name, const char *object, struct err *e);

/* For --version: a line for each feature of `program` that this build is without. */
void features_print(const char *program, FILE *out);

#endif
