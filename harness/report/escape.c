#include "report/escape.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* XML cannot represent these, and an SVG that contains one is not drawn at all. */
static bool is_noncharacter(uint32_t cp)
{
	return (cp & 0xfffe) == 0xfffe || (cp >= 0xfdd0 && cp <= 0xfdef);
}

/*
 * Iterates over characters: `*length` bytes of `*text` at a time, NULL for one that must not be
 * shown. False at the end.
 */
struct walk {
	const char *at, *end;
};

static bool walk_next(struct walk *w, const char **text, size_t *length)
{
	uint32_t cp = 0;
	size_t n;

	if (w->at >= w->end)
		return false;
	n = text_utf8(w->at, (size_t)(w->end - w->at), &cp);
	*text = n && (text_is_printable(cp) || cp == '\n' || cp == '\t') && !is_noncharacter(cp) ? w->at : NULL;
	*length = n ? n : 1;
	w->at += *length;
	return true;
}

static const char *html_entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void escape_html_bytes(FILE *out, const char *text, size_t length)
{
	struct walk w = {text, text + length};
	const char *at, *entity;
	size_t n;

	while (walk_next(&w, &at, &n)) {
		entity = at ? html_entity(*at) : REPLACEMENT;
		if (entity)
			fputs(entity, out);
		else
			fwrite(at, 1, n, out);
	}
}

void escape_html(FILE *out, const char *text)
{
	escape_html_bytes(out, text, strlen(text));
}

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || (c && strchr(" .,:;=+-_/()<>", c));
}

void escape_gnuplot(FILE *out, const char *text)
{
	struct walk w = {text, text + strlen(text)};
	const char *at;
	size_t n;

	fputc('"', out);
	while (walk_next(&w, &at, &n)) {
		if (!at)
			fputc('?', out);
		else if (*at == '\n')
			fputs("\\n", out);
		else
			for (size_t i = 0; i < n; i++)
				fprintf(out, is_plain(at[i]) ? "%c" : "\\%03o", (unsigned char)at[i]);
	}
	fputc('"', out);
}

void escape_tsv(FILE *out, const char *text)
{
	struct walk w = {text, text + strlen(text)};
	const char *at;
	size_t n;

	while (walk_next(&w, &at, &n)) {
		if (at && *at != '\n' && *at != '\t')
			fwrite(at, 1, n, out);
		else
			fputc(at ? ' ' : '?', out);
	}
}

void escape_url(FILE *out, const char *path)
{
	for (; *path; path++)
		fprintf(out, isalnum((unsigned char)*path) || strchr("/-_.~", *path) ? "%c" : "%%%02X",
			(unsigned char)*path);
}

static bool is_shell_plain(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("@%+=:,./-_", *text))
			return false;
	return true;
}

char *escape_shown(const char *text)
{
	struct walk w = {text, text + strlen(text)};
	char *shown = NULL;
	const char *at;
	size_t n, size;
	FILE *out = or_abort(open_memstream(&shown, &size));

	while (walk_next(&w, &at, &n))
		fwrite(at ? at : REPLACEMENT, 1, at ? n : strlen(REPLACEMENT), out);
	fclose(out);
	return or_abort(shown);
}

char *escape_shell(const char *text)
{
	char *quoted = NULL;
	size_t size;
	FILE *out;

	if (is_shell_plain(text))
		return fs_path("%s", text);
	out = or_abort(open_memstream(&quoted, &size));
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
	fputc('\'', out);
	fclose(out);
	return quoted;
}

void escape_base64(FILE *out, const void *data, size_t length)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = data;

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t group = (uint32_t)in[i] << 16;
		char quad[4];

		group |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
		group |= left > 2 ? in[i + 2] : 0;
		for (int k = 0; k < 4; k++)
			quad[k] = digits[group >> (18 - 6 * k) & 63];
		if (left < 3)
			quad[3] = '=';
		if (left < 2)
			quad[2] = '=';
		fwrite(quad, 1, 4, out);
	}
}
