/*
 * NumPy's opinion: what a one-line program prints. Debian's own interpreter first, where the package python3-numpy is.
 */
#ifndef KBLAT_TESTS_UNIT_NUMPY_H
#define KBLAT_TESTS_UNIT_NUMPY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const char *numpy_python(void)
{
	static const char *const candidates[] = {"/usr/bin/python3", "python3"};
	char command[128];

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		snprintf(command, sizeof(command), "%s -c 'import numpy' 2>/dev/null", candidates[i]);
		if (system(command) == 0)
			return candidates[i];
	}
	return NULL;
}

/*
 * What `program` prints (no apostrophes in it; `path` is sys.argv[1]), without the newline at its end; the caller
 * frees. NULL: there is no NumPy.
 */
static inline char *numpy_run(const char *program, const char *path)
{
	const char *python = numpy_python();
	char *command, *text = calloc(1, 4096);
	FILE *out;
	size_t n;

	if (!python || !text ||
	    asprintf(&command, "%s -c 'import sys, numpy as np\n%s' '%s' 2>&1", python, program, path) < 0) {
		free(text);
		return NULL;
	}
	out = popen(command, "r");
	n = out ? fread(text, 1, 4095, out) : 0;
	if (out)
		pclose(out);
	free(command);
	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	return text;
}

#endif
