/* A stream cut into lines and raw bytes: nothing is lost, and nothing is there that was not sent. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/wire.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire w;
	size_t seen = 0;
	char raw[16], *line;
	int rc = 0;

	wire_init(&w, fuzz_descriptor(data, size));
	while (!rc && !w.eof) {
		fuzz_require(!wire_fill(&w));
		while ((rc = wire_take_line(&w, &line)) > 0) {
			json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
			size_t length = strlen(line);

			/* A NUL in a line ends its text, not the line. */
			fuzz_require(seen + length < size && !memcmp(line, data + seen, length));
			seen += (size_t)((const uint8_t *)memchr(data + seen, '\n', size - seen) - data) + 1 - seen;
			json_decref(j);
			free(line);
			if (length % 3 == 0) {
				size_t n = wire_take_raw(&w, raw, sizeof(raw));

				fuzz_require(!memcmp(raw, data + seen, n));
				seen += n;
			}
		}
	}
	fuzz_require(rc < 0 || seen + w.used == size);
	close(w.fd);
	wire_free(&w);
	return 0;
}
