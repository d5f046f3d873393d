/*
 * A fuzz target without the fuzzer, for tests: each file of the folders that are named is an input. One TAP line; the last
 * "# input" tells which one ended it where it did not come to its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "fuzz.h"

#define INPUT_MAX ((size_t)1 << 22)

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	(void)data, (void)max;
	return size;
}

static int take(const char *folder, const char *name, FILE *out)
{
	char *path = fs_path("%s/%s", folder, name), *text;
	struct err e = ERR_INIT;
	size_t size;
	uint8_t *data;

	fprintf(out, "# input %s\n", path);
	if (fs_read_followed(path, INPUT_MAX, &text, &size, &e)) {
		fprintf(out, "not ok 1 - %s\n", e.text);
		return -1;
	}
	free(path);
	/* In a block that ends where it ends. */
	data = malloc(size ? size : 1);
	if (!data)
		abort();
	memcpy(data, text, size);
	free(text);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *out = fdopen(dup(STDOUT_FILENO), "w");
	struct err e = ERR_INIT;
	size_t inputs = 0;

	if (!out || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		return 1;
	setvbuf(out, NULL, _IOLBF, 0);
	fprintf(out, "1..1\n");
	for (int i = 1; i < argc; i++) {
		char **files;
		size_t count;

		if (fs_files(argv[i], &files, &count, &e)) {
			fprintf(out, "not ok 1 - %s\n", e.text);
			return 1;
		}
		for (size_t k = 0; k < count; k++)
			if (take(argv[i], files[k], out))
				return 1;
		inputs += count;
		fs_files_free(files);
	}
	fprintf(out, "ok 1 - %s: %zu inputs\n", strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0], inputs);
	return 0;
}
