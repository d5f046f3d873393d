#include "common/csv.h"

#include <stdbool.h>
#include <string.h>

#include "common/text.h"

void csv_text(const char *text, FILE *out)
{
	const bool quoted = text[strcspn(text, ",\"\r\n")];
	const char *end = text + strlen(text);

	if (quoted)
		fputc('"', out);
	while (text < end) {
		uint32_t cp;
		size_t n = text_utf8(text, (size_t)(end - text), &cp);

		if (*text == '"') /* doubled inside quotes */
			fputc('"', out);
		if (n && (text_is_printable(cp) || strchr("\n\t", *text)))
			fwrite(text, 1, n, out);
		else
			fputc('?', out);
		text += n ? n : 1;
	}
	if (quoted)
		fputc('"', out);
}
