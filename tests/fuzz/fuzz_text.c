/* Text from outside on its way to a terminal, a page, a table, a shell, gnuplot; and with what tells machines apart hidden. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/text.h"
#include "files/state/mask.h"
#include "files/state/piece.h"
#include "fuzz.h"
#include "report/escape.h"

static void check_clean(const char *text, size_t size)
{
	char clean[200], quoted[TEXT_QUOTE_MAX];
	uint32_t cp;

	text_clean(text, size, clean, sizeof(clean));
	for (size_t at = 0, length; clean[at]; at += length) {
		length = text_utf8(clean + at, strlen(clean + at), &cp);
		fuzz_require(length && text_is_printable(cp));
	}
	fuzz_require(strlen(text_quote(text, quoted, sizeof(quoted))) < sizeof(quoted));
}

static void check_escapes(const char *text, size_t size)
{
	static char out[1 << 16];
	FILE *f = fmemopen(out, sizeof(out) - 1, "w");
	char *shell;
	long html;

	if (!f || size > 4096)
		abort();
	escape_html(f, text);
	html = ftell(f);
	fflush(f);
	for (long i = 0; i < html; i++)
		fuzz_require(out[i] != '<' && out[i] != '>' && out[i] != '"');
	rewind(f);
	escape_gnuplot(f, text);
	rewind(f);
	escape_tsv(f, text);
	escape_base64(f, text, size);
	fclose(f);
	shell = escape_shell(text);
	free(shell);
	shell = escape_shown(text);
	free(shell);
}

static void check_mask(char *text, size_t size)
{
	const struct mask m = {.host = "laboratory"};

	mask_text(&m, text, size);
	fuzz_require(!memmem(text, size, " laboratory ", 12));
	mask_file(&m, "/sys/class/dmi/id/product_serial", text, size);
}

static void check_pieces(const char *text, size_t size)
{
	struct piece rest = {text, size}, line, word;
	int64_t number;

	while (piece_line(&rest, &line)) {
		fuzz_require(line.p >= text && line.p + line.n <= text + size);
		while ((word = piece_word(&line)).n)
			piece_int(word, &number);
		piece_trim(line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"messages", "repetitions", "warmup", "poll", NULL};
	char *text;

	if (!size || size > 4096)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	if (*data < 64)
		check_clean(text, size - 1);
	else if (*data < 128)
		check_mask(text, size - 1);
	else if (*data < 160)
		suggest(text, names);
	else if (*data < 192)
		check_pieces(text, size - 1);
	else
		check_escapes(text, strlen(text));
	free(text);
	return 0;
}
