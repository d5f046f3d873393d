#include "analysis/reasons.h"

#include <string.h>

#include "analysis/notes.h"
#include "common/text.h"

#define LINES_MAX 20 /* for reasons, and likewise for warnings */

/* Print the words of `text` on lines of at most `width`, the first one after `head`, the others
 * indented by its width. */
static void put_wrapped(const char *head, const char *text, size_t width, FILE *out)
{
	size_t indent = strlen(head), at = indent;

	fputs(head, out);
	while (*text) {
		size_t word = strcspn(text, " "), blanks = strspn(text + word, " ");

		if (at > indent && at + word > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
		fwrite(text, 1, word, out);
		text += word + blanks;
		at += word + 1;
		if (*text && at + strcspn(text, " ") <= width)
			fputc(' ', out);
	}
	fputc('\n', out);
}

static void put_reasons(const json_t *summary, const char *key, const char *mark, size_t run, size_t runs, size_t width,
			FILE *out)
{
	json_t *list = notes_of_points(json_object_get(summary, "points"), key, NOTES_BY_WORDS), *text;
	size_t i;

	json_array_foreach (list, i, text) {
		char head[64], clean[2048];
		const char *raw = json_is_string(text) ? json_string_value(text) : "?";

		if (i == LINES_MAX) {
			fprintf(out, "%sand %zu more; --json shows all\n", mark, json_array_size(list) - i);
			break;
		}
		if (runs > 1)
			snprintf(head, sizeof(head), "%srun %zu, ", mark, run + 1);
		else
			snprintf(head, sizeof(head), "%s", mark);
		put_wrapped(head, text_clean(raw, strlen(raw), clean, sizeof(clean)), width, out);
	}
	json_decref(list);
}

void reasons_print(const json_t *const *summaries, size_t count, size_t width, FILE *out)
{
	size_t lines = 0;

	for (size_t i = 0; i < count; i++)
		lines += json_array_size(json_object_get(summaries[i], "reasons")) +
			 json_array_size(json_object_get(summaries[i], "warnings"));
	if (lines)
		fputc('\n', out);
	for (size_t i = 0; i < count; i++)
		put_reasons(summaries[i], "reasons", "! ", i, count, width, out);
	for (size_t i = 0; i < count; i++)
		put_reasons(summaries[i], "warnings", "warning: ", i, count, width, out);
}
