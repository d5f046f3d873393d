#include "report/escape.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

#define BLANKS	    " \n\t\r"
#define PATH	    "d='"
#define FARTHEST    1e6 /* pixels */
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

/* --- an SVG as a URL --- */

/* --- paths --- */

/* In tenths of a pixel. */
struct dot {
	long x, y;
};

static void put_tenths(FILE *out, long tenths)
{
	const long size = labs(tenths);

	fputs(tenths < 0 ? "-" : "", out);
	if (size >= 10 || !size)
		fprintf(out, "%ld", size / 10);
	if (size % 10)
		fprintf(out, ".%ld", size % 10);
}

static void put_step(FILE *out, char command, long x, long y)
{
	const bool level = command == 'L' && !y, upright = command == 'L' && !x && y;

	fputc(level ? 'h' : upright ? 'v' : command == 'L' ? 'l' : 'm', out);
	if (!upright)
		put_tenths(out, x);
	if (!level && !upright && y >= 0)
		fputc(',', out);
	if (!level)
		put_tenths(out, y);
}

static bool read_coordinate(const char **at, long *tenths)
{
	char *end;
	const double value = strtod(*at, &end);

	if (end == *at || !(fabs(value) < FARTHEST))
		return false;
	*tenths = lround(10 * value);
	*at = end;
	return true;
}

static bool read_dot(const char **at, struct dot *p)
{
	return read_coordinate(at, &p->x) && *(*at)++ == ',' && read_coordinate(at, &p->y);
}

/* "M59.15,300.25 L59.35,300.25 Z": false for any other commands. */
static bool shorten(FILE *out, const char *path)
{
	struct dot here = {0}, start = {0}, next;

	for (const char *at = path + strspn(path, BLANKS); *at; at += strspn(at, BLANKS)) {
		const char command = *at++;

		if (command == 'Z') {
			fputc('z', out);
			here = start;
			continue;
		}
		if ((command != 'M' && command != 'L') || !read_dot(&at, &next))
			return false;
		put_step(out, command, next.x - here.x, next.y - here.y);
		here = next;
		start = command == 'M' ? next : start;
	}
	return true;
}

/* At the beginning of a path: write it shorter, and return its length up to the closing quote. Otherwise 0. */
static size_t write_path(FILE *out, const char *svg, size_t size)
{
	const size_t head = strlen(PATH);
	const char *end = size > head && !memcmp(svg, PATH, head) ? memchr(svg + head, '\'', size - head) : NULL;
	char *path = end ? or_abort(strndup(svg + head, (size_t)(end - svg) - head)) : NULL, *text = NULL;
	size_t length;
	FILE *shorter = or_abort(open_memstream(&text, &length));
	const bool done = path && shorten(shorter, path);

	fclose(shorter);
	if (done)
		fprintf(out, PATH "%s", text);
	free(text);
	free(path);
	return done ? (size_t)(end - svg) : 0;
}

/* --- the rest --- */

/* The number of blanks at the beginning of `text`. `breaks`: there are some that a URL must not contain. */
static size_t count_blanks(const char *text, size_t size, bool *breaks)
{
	size_t n = 0;

	for (*breaks = false; n < size && text[n] && strchr(BLANKS, text[n]); n++)
		*breaks |= text[n] != ' ';
	return n;
}

static size_t write_blanks(FILE *out, const char *svg, size_t size, bool after_tag)
{
	bool breaks;
	const size_t n = count_blanks(svg, size, &breaks);

	if (!breaks)
		fwrite(svg, 1, n, out);
	else if (!after_tag || n == size || svg[n] != '<')
		fputc(' ', out);
	return n;
}

static void write_byte(FILE *out, char c)
{
	if (strchr("%#\"&:", c))
		fprintf(out, "%%%02X", (unsigned char)c);
	else
		fputc(c, out);
}

void escape_svg_url(FILE *out, const char *svg, size_t size)
{
	size_t n;

	fputs("data:image/svg+xml,", out);
	for (size_t i = 0; i < size; i += n) {
		n = i && svg[i - 1] == ' ' ? write_path(out, svg + i, size - i) : 0;
		n = n ? n : write_blanks(out, svg + i, size - i, i && svg[i - 1] == '>');
		if (n)
			continue;
		write_byte(out, svg[i]);
		n = 1;
	}
}
