#include "common/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

#define SHOWN_MAX   48
#define SHOWN_TEXTS 16

static size_t utf8_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

size_t text_utf8(const char *s, size_t n, uint32_t *cp)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)s;
	size_t len = n ? utf8_length(u[0]) : 0;
	uint32_t c;

	if (!len || len > n)
		return 0;
	c = len == 1 ? u[0] : u[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < smallest[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return len;
}

bool text_is_printable(uint32_t cp)
{
	/* Bidirectional marks and line separators can make a message look like a different one. */
	static const struct {
		uint32_t first, last;
	} hidden[] = {{0x00, 0x1f},	{0x7f, 0x9f},	  {0x61c, 0x61c},   {0x200b, 0x200f},  {0x2028, 0x202e},
		      {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe007f}};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (cp >= hidden[i].first && cp <= hidden[i].last)
			return false;
	return true;
}

/* After Unicode's table of East Asian widths, by blocks. */
static size_t width_of(uint32_t cp)
{
	static const struct {
		uint32_t first, last;
		size_t width;
	} others[] = {{0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x20d0, 0x20ff, 0},  {0x2e80, 0x303e, 2},
		      {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},  {0xfe00, 0xfe0f, 0},
		      {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},  {0x1f300, 0x1f64f, 2},
		      {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1faff, 2}, {0x20000, 0x3fffd, 2}};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (cp >= others[i].first && cp <= others[i].last)
			return others[i].width;
	return 1;
}

size_t text_columns(const char *s, size_t n)
{
	size_t columns = 0;

	for (size_t at = 0, length; at < n; at += length ? length : 1) {
		uint32_t cp = 0;

		length = text_utf8(s + at, n - at, &cp);
		columns += length ? width_of(cp) : 1;
	}
	return columns;
}

char *text_clean(const char *s, size_t n, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t at = 0, step; at < n && size; at += step) {
		uint32_t cp = 0;
		size_t len = text_utf8(s + at, n - at, &cp);
		bool show = len && text_is_printable(cp);
		size_t put = show ? len : 1;

		step = len ? len : 1;
		if (used + put >= size)
			break;
		memcpy(buf + used, show ? s + at : "?", put);
		used += put;
	}
	if (size)
		buf[used] = '\0';
	return buf;
}

void text_print(const char *text, FILE *out)
{
	char clean[TEXT_PRINT_MAX + 1];

	fputs(text_clean(text, strlen(text), clean, sizeof(clean)), out);
}

/* The next of the buffers that text_shown() and text_named() fill in turn. */
static char *next_buffer(void)
{
	static _Thread_local char buffers[SHOWN_TEXTS][TEXT_PRINT_MAX + 1];
	static _Thread_local unsigned last;

	last = (last + 1) % SHOWN_TEXTS;
	return buffers[last];
}

const char *text_shown(const char *text)
{
	return text_clean(text, strlen(text), next_buffer(), TEXT_PRINT_MAX + 1);
}

const char *text_named(const char *text)
{
	const char *end = text;

	while (isalnum((unsigned char)*end) || (*end && strchr("._+-~/@=#%", *end)))
		end++;
	return *text && !*end ? text_shown(text) : text_quote(text, next_buffer(), TEXT_PRINT_MAX + 1);
}

char *text_quote(const char *text, char *buf, size_t size)
{
	char shown[SHOWN_MAX + 1];
	size_t n = strnlen(text, SHOWN_MAX + 1);

	/* Truncation may be inside a character: go back to its start. */
	if (n > SHOWN_MAX)
		for (n = SHOWN_MAX; n && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	text_clean(text, n, shown, sizeof(shown));
	/* It ends where the quotes do. */
	for (char *inner = shown; (inner = strchr(inner, '\''));)
		*inner = '"';
	snprintf(buf, size, "'%s%s'", shown, text[n] ? "..." : "");
	return buf;
}

void text_list_add(char **list, const char *separator, const char *format, ...)
{
	char *all = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&all, &size));
	va_list ap;

	if (*list)
		fprintf(out, "%s%s", *list, separator);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fclose(out);
	free(*list);
	*list = or_abort(all);
}

bool text_is_among(const char *text, const char *const *list)
{
	while (list && *list && strcmp(*list, text) != 0)
		list++;
	return list && *list;
}

bool text_ends_in(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

void complain(struct complaints *c, const char *format, ...)
{
	char raw[TEXT_PRINT_MAX + 1], text[TEXT_PRINT_MAX + 1];
	va_list ap;

	va_start(ap, format);
	vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	c->tell(c->arg, text_clean(raw, strlen(raw), text, sizeof(text)));
	c->count++;
}

bool text_has_word(const char *list, size_t length, const char *word, const char *separators)
{
	const size_t n = strlen(word);

	for (size_t at = 0, end; at < length; at = end + 1) {
		for (end = at; end < length && !strchr(separators, list[end]); end++)
			;
		if (end - at == n && !memcmp(list + at, word, n))
			return true;
	}
	return false;
}
