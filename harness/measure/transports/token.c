#include "measure/transports/token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "common/err.h"

int token_draw(struct token *t, struct err *e)
{
	if (getrandom(t->bytes, sizeof(t->bytes), 0) == sizeof(t->bytes))
		return 0;
	return err_sys(e, -errno, "token", "draw random numbers");
}

char *token_text(const struct token *t, char text[TOKEN_TEXT])
{
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", t->bytes[i]);
	return text;
}

bool token_read(const char *text, struct token *t)
{
	if (!text || strlen(text) != 2 * TOKEN_BYTES || strspn(text, "0123456789abcdef") != 2 * TOKEN_BYTES)
		return false;
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		sscanf(text + 2 * i, "%2hhx", &t->bytes[i]);
	return true;
}

uint64_t token_word(const struct token *t)
{
	uint64_t word;

	memcpy(&word, t->bytes, sizeof(word));
	return word;
}

bool token_is(const struct token *t, const void *bytes)
{
	const unsigned char *said = bytes;
	unsigned difference = 0;

	for (size_t i = 0; i < TOKEN_BYTES; i++)
		difference |= said[i] ^ t->bytes[i];
	return difference == 0;
}
