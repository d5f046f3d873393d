/* Diagnostics as a text. */
#ifndef KBLAT_TESTS_FIXTURE_DIAG_H
#define KBLAT_TESTS_FIXTURE_DIAG_H

#include <stdio.h>

#include "common/diag.h"

/* The caller frees. */
static inline char *fixture_diag_text(const struct diag *d)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	diag_print(d, out);
	fclose(out);
	return text;
}

#endif
