/* Samples of other programs, in each format: what is read becomes a column, and what is refused has a message. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "fuzz.h"
#include "measure/import/formats.h"

static const struct import_format *choose(uint8_t byte)
{
	size_t count = 0;

	while (import_formats[count].name)
		count++;
	return &import_formats[byte % count];
}

static void check_column(const char *folder)
{
	char *path = fs_path("%s/points/0000/rep-00/" SAMPLES_COLUMN ".npy", folder);
	struct npy column;

	fuzz_require(!npy_open(path, &column, NULL) && column.count);
	for (size_t i = 0; i < column.count; i++)
		fuzz_require(column.data[i] >= 0 || column.data[i] == NEVER);
	npy_close(&column, NULL);
	free(path);
}

/* The first byte chooses the format. A histogram may claim a billion samples in a few bytes: counts have at most five
 * digits. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *folder = fs_path("%s/run", fuzz_folder());
	struct samples samples = {.run_path = folder};
	struct reading reading = {.path = "samples", .to = &samples};
	struct err e = ERR_INIT;
	size_t digits = 0;
	int rc;

	for (size_t i = 1; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 5)
			size = 0;
	}
	if (size > 1) {
		reading.in = fmemopen((void *)(data + 1), size - 1, "r");
		fuzz_require(reading.in);
		rc = format_read(choose(data[0]), &reading, &e);
		fuzz_require(rc ? e.status != STATUS_OK && *e.text : !e.status);
		samples_close(&samples);
		if (!rc)
			check_column(folder);
		fclose(reading.in);
		fs_remove_tree(folder, NULL);
	}
	free(folder);
	return 0;
}
