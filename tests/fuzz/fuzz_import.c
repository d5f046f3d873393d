/* Samples of other programs, in each format: what is read becomes a column, and what is refused has a message. */
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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
	return &import_formats[byte % 16 % count];
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

/* A log of HdrHistogram around any bytes as its histogram: a mutation does not get past zlib's checksum. */
static char *wrap(const uint8_t *data, size_t size)
{
	uLongf length = compressBound(size);
	unsigned char *packed = malloc(8 + length);
	char *text = calloc(BASE64_ENCODE_RAW_LENGTH(8 + length) + 1, 1);
	static const unsigned char cookie[] = {0x1c, 0x84, 0x93, 0x14, 0, 0, 0, 0};
	char *log;

	fuzz_require(packed && text && compress(packed + 8, &length, data, size) == Z_OK);
	memcpy(packed, cookie, sizeof(cookie));
	base64_encode_raw(text, 8 + length, packed);
	log = fs_path("#[Histogram log format version 1.3]\n0.1,1.0,2.5,%s\n", text);
	free(packed);
	free(text);
	return log;
}

static int read_all(const struct import_format *f, struct reading *r, const char *data, size_t size, struct err *e)
{
	int rc;

	r->in = fmemopen((void *)data, size, "r");
	fuzz_require(r->in);
	rc = format_read(f, r, e);
	fclose(r->in);
	return rc;
}

#define COLUMN 0x10 /* of the first byte: which column, and whether there is a unit */
#define UNIT   0x40
#define WRAP   0x80

/* The first byte chooses the format. A few bytes may claim a billion samples, and a million lost ones: less may do that here. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const columns[] = {NULL, "Thr", "read", "b_us"};
	const struct import_format *f = size ? choose(data[0]) : NULL;
	char *folder = fs_path("%s/run", fuzz_folder()), *log = NULL;
	struct samples samples = {.run_path = folder};
	struct reading reading = {.path = "samples", .to = &samples, .most = 20000};
	struct err e = ERR_INIT;
	int rc;

	if (f && data[0] & WRAP) {
		f = format_find("hdr");
		log = wrap(data + 1, size - 1);
	}
	if (size > 1) {
		reading.column = f->takes_column ? columns[data[0] / COLUMN % 4] : NULL;
		reading.unit = f->takes_unit && (log || data[0] & UNIT) ? "us" : NULL;
		rc = read_all(f, &reading, log ? log : (const char *)data + 1, log ? strlen(log) : size - 1, &e);
		fuzz_require(rc ? e.status != STATUS_OK && *e.text : !e.status);
		samples_close(&samples);
		if (!rc)
			check_column(folder);
		fs_remove_tree(folder, NULL);
	}
	free(log);
	free(folder);
	return 0;
}
