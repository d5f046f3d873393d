/* What files of a machine say, flattened by each row of the table of sources: the capture that comes out can be read again. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/sysroot.h"
#include "files/state/capture.h"
#include "files/state/load.h"
#include "files/state/sources.h"
#include "fuzz.h"

static const struct state_source *row_of(unsigned n)
{
	static unsigned count;
	unsigned i = 0;

	for (; !count && state_sources[i].group; i++)
		;
	count = count ? count : i;
	return &state_sources[n % count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct state_source *s;
	static struct sysroot root;
	static char *dir, *file;
	struct err e = ERR_INIT;
	struct capture *c;
	json_t *state;
	char *text, key[CAPTURE_KEY_MAX];

	if (size < 3)
		return 0;
	s = row_of(data[0] | (unsigned)data[1] << 8);
	if (!s->flatten)
		return 0;
	if (!dir) {
		dir = fs_path("%s/capture", fuzz_folder());
		file = fs_path("%s/state.json", dir);
		fuzz_require(!sysroot_open(&root, fuzz_folder(), &e));
	}
	text = fuzz_text(data + 3, size - 3);
	fuzz_require(!capture_open(&c, &root, dir, data[2] & 1, &e));
	snprintf(key, sizeof(key), "%s.%s", s->group, s->key);
	s->flatten(c, s, key, text, size - 3);
	fuzz_require(!capture_close(c, false));
	state = json_read(file, &e);
	fuzz_require(state && !state_check(state, file, &e));
	json_decref(state);
	unlink(file);
	free(text);
	return 0;
}
