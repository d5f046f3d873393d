/* Columns: readable as .npy at any time, NEVER until written, converted in place, nothing left behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "measure/instrument/recorder.h"
#include "tap.h"

int main(void)
{
	static const char *const names[] = {"t_subm", "t_comp"};
	struct recorder r;
	struct err e = ERR_INIT;
	struct clock_conversion c = clock_conversion_from(1000, 2e9);
	struct npy column;
	struct stat st;
	char dir[256];

	is_int(recorder_open(&r, "test", names, 2, 100, true, -1, &e), 0, "opens %s", e.text);
	snprintf(dir, sizeof(dir), "%s", r.dir);
	ok(stat(dir, &st) == 0 && (st.st_mode & 0777) == 0700, "the scratch directory is private");

	char *path = fs_path("%s/t_comp.npy", dir);

	is_int(npy_open(path, &column, &e), 0, "a column can be read while it is filled %s", e.text);
	is_int((long long)column.count, 100, "it has its capacity");
	ok(column.data[0] == NEVER && column.data[99] == NEVER, "nothing happened yet");
	r.column[1].data[7] = 3000;
	is_int(column.data[7], 3000, "what is stored is seen at once");
	recorder_convert_column(&r, 1, &c, 100);
	is_int(column.data[7], 1000, "2000 ticks after t0 at 2 GHz are 1000 ns");
	ok(column.data[8] == NEVER, "never stays never");
	recorder_reset(&r);
	ok(column.data[7] == NEVER, "and is what a reset leaves");
	npy_close(&column, NULL);
	recorder_close(&r);
	ok(stat(dir, &st) != 0, "nothing is left behind");
	free(path);

	is_int(recorder_open(&r, "test", names, 2, 1ULL << 50, true, -1, &e) != 0, 1,
	       "more than there is memory for is refused");
	ok(e.status == STATUS_IMPOSSIBLE && strstr(e.text, "/dev/shm") != NULL, "and says so: %s", e.text);
	return done_testing();
}
