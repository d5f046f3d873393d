#include "report/svg_url.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

#define BLANKS	 " \n\t\r"
#define PATH	 "d='"
#define FARTHEST 1e6 /* pixels */

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

void svg_url_write(FILE *out, const char *svg, size_t size)
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
