/* A note of a USDT probe, and its arguments: what the kernel is given of them names a register and a type. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "measure/program/binary.h"

static void check_arguments(const char *arguments)
{
	char out[USDT_FETCH];

	for (unsigned number = 0; number < 14; number++) {
		if (!usdt_argument(arguments, number, out))
			continue;
		fuzz_require(strlen(out) < sizeof(out) && strchr(out, '%') && strchr(out, ':'));
		/* Nothing that would be another argument, or another line. */
		fuzz_require(!strpbrk(out, " \n\t") &&
			     strspn(out, "+-%()0123456789:abcdefghijklmnopqrstuvwxyz") == strlen(out));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct usdt_note note;
	uint8_t *copy = size ? malloc(size) : NULL; /* without the NUL */

	check_arguments(text);
	binary_is_usdt(text);
	if (copy)
		memcpy(copy, data, size);
	for (size_t word = 4; copy && word <= 8; word += 4)
		if (usdt_note_read(copy, size, word, &note)) {
			fuzz_require(
			    strlen(note.provider) + strlen(note.name) + strlen(note.arguments) + 3 * word + 3 <= size);
			check_arguments(note.arguments);
		}
	free(copy);
	free(text);
	return 0;
}
