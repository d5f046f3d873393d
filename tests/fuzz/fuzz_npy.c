/* Columns: each entry that is announced is there. */
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *path;
	struct err e = ERR_INIT;
	struct npy n;
	int64_t sum = 0;

	if (!path)
		path = fs_path("%s/column.npy", fuzz_folder());
	fuzz_write(path, data, size);
	if (npy_open(path, &n, &e)) {
		fuzz_require(e.status == STATUS_USAGE && *e.text);
		return 0;
	}
	for (size_t i = 0; i < n.count; i++)
		sum ^= n.data[i];
	fuzz_require(n.count * sizeof(int64_t) < size && (!sum || n.count));
	npy_close(&n, NULL);
	return 0;
}
