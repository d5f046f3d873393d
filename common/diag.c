#include "common/diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

#define ITEMS_MAX 50
#define SHOWN_MAX 160
#define WORD_MAX  64

void diag_init(struct diag *d, const char *file)
{
	*d = (struct diag){.file = fs_path("%s", file)};
}

void diag_free(struct diag *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->items[i].text);
	free(d->items);
	free(d->file);
	*d = (struct diag){0};
}

static bool has_item(const struct diag *d, unsigned line, unsigned column, const char *text)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->items[i].line == line && d->items[i].column == column && !strcmp(d->items[i].text, text))
			return true;
	return false;
}

/* The index for a new item: after all others up to its position. */
static size_t find_slot(const struct diag *d, unsigned line, unsigned column)
{
	size_t i = d->count;

	while (i && (d->items[i - 1].line > line || (d->items[i - 1].line == line && d->items[i - 1].column > column)))
		i--;
	return i;
}

static void insert(struct diag *d, unsigned line, unsigned column, const char *text)
{
	size_t at = find_slot(d, line, column);

	d->items = or_abort(reallocarray(d->items, d->count + 1, sizeof(*d->items)));
	memmove(d->items + at + 1, d->items + at, (d->count - at) * sizeof(*d->items));
	d->items[at] = (struct diag_item){line, column, fs_path("%s", text)};
	d->count++;
}

void diag_add(struct diag *d, unsigned line, unsigned column, const char *format, ...)
{
	char raw[1024], text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	text_clean(raw, strlen(raw), text, sizeof(text));
	d->said++;
	if (has_item(d, line, column, text))
		return;
	if (d->count < ITEMS_MAX)
		insert(d, line, column, text);
	else
		d->dropped++;
}

void diag_move(struct diag *from, struct diag *to)
{
	for (size_t i = 0; i < from->count; i++)
		diag_add(to, from->items[i].line, from->items[i].column, "%s", from->items[i].text);
	to->dropped += from->dropped;
	to->said += from->said - from->count;
	for (size_t i = 0; i < from->count; i++)
		free(from->items[i].text);
	from->count = from->said = from->dropped = 0;
}

/* The length of the line break at `s`, as defined by YAML 1.1 and libyaml: LF, CR, CR LF, NEL, LS,
 * PS. 0: none. */
static size_t break_length(const char *s, size_t n)
{
	uint32_t cp;
	size_t len;

	if (n && s[0] == '\r')
		return n > 1 && s[1] == '\n' ? 2 : 1;
	if (n && s[0] == '\n')
		return 1;
	len = text_utf8(s, n, &cp);
	return len && (cp == 0x85 || cp == 0x2028 || cp == 0x2029) ? len : 0;
}

/* Find line `number`, without its line break; false if there is no such line. */
static bool find_line(const struct diag *d, unsigned number, const char **start, size_t *n)
{
	size_t at = 0, from = 0, brk;
	unsigned line = 1;

	for (; at < d->length && line <= number; at += brk ? brk : 1) {
		brk = break_length(d->text + at, d->length - at);
		if (!brk)
			continue;
		if (line++ == number)
			break;
		from = at + brk;
	}
	*start = d->text + from;
	*n = at - from;
	return line >= number;
}

/* The next character of a line as it is printed, which takes one column, and its bytes. */
static size_t next_char(const char *s, size_t n, const char **shown, size_t *shown_length)
{
	uint32_t cp;
	size_t len = text_utf8(s, n, &cp);

	*shown = !len || !text_is_printable(cp) ? "?" : s;
	*shown_length = *shown == s ? len : 1;
	if (len && cp == '\t')
		*shown = " ";
	return len ? len : 1;
}

/* Print the part of a line from character `first` on, at most SHOWN_MAX characters. */
static void print_part(const char *line, size_t n, size_t first, FILE *out)
{
	const char *shown;
	size_t at = 0, len;

	for (size_t i = 0; at < n && i < first + SHOWN_MAX; i++) {
		at += next_char(line + at, n - at, &shown, &len);
		if (i >= first)
			fwrite(shown, 1, len, out);
	}
	if (at < n)
		fputs("...", out);
	fputc('\n', out);
}

static size_t count_chars(const char *s, size_t n)
{
	const char *shown;
	size_t count = 0, len;

	for (size_t at = 0; at < n; count++)
		at += next_char(s + at, n - at, &shown, &len);
	return count;
}

static void print_quoted_line(const struct diag *d, const struct diag_item *item, FILE *out)
{
	size_t n, chars, first, column = item->column ? item->column - 1 : 0;
	const char *line;

	if (!d->text || !find_line(d, item->line, &line, &n))
		return;
	/* A byte order mark does not take a column. */
	if (line == d->text && n >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		n -= 3;
	}
	/* A position beyond the line means its end. */
	chars = count_chars(line, n);
	if (column > chars)
		column = chars;
	first = column > SHOWN_MAX * 3 / 4 ? column - SHOWN_MAX / 2 : 0;
	fputs(first ? "  ..." : "  ", out);
	print_part(line, n, first, out);
	fprintf(out, "  %*s^\n", (int)(column - first + (first ? 3 : 0)), "");
}

void diag_print(const struct diag *d, FILE *out)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct diag_item *item = &d->items[i];

		if (!item->line) {
			fprintf(out, "%s: %s\n", d->file, item->text);
			continue;
		}
		fprintf(out, "%s:%u:%u: %s\n", d->file, item->line, item->column, item->text);
		print_quoted_line(d, item, out);
	}
	if (d->dropped)
		fprintf(out, "%s: and %zu more\n", d->file, d->dropped);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The edit distance of two words of at most WORD_MAX characters: insertions, deletions,
 * substitutions, and swaps of neighbours. */
static unsigned distance(const char *a, size_t an, const char *b, size_t bn)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= bn; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= an; i++) {
		unsigned *spare = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= bn; j++) {
			row[j] = least(last[j - 1] + !same(a[i - 1], b[j - 1]), least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[bn];
}

const char *suggest(const char *word, const char *const *names)
{
	const size_t n = strlen(word);
	const char *best = NULL;
	unsigned best_distance = WORD_MAX;

	if (!n || n > WORD_MAX)
		return NULL;
	for (; *names; names++) {
		const size_t m = strlen(*names);
		unsigned d;

		if (m > WORD_MAX)
			continue;
		d = distance(word, n, *names, m);
		if (d <= (n > m ? n : m) / 3 && d < best_distance) {
			best = *names;
			best_distance = d;
		}
	}
	return best;
}

const char *suggestion(const char *nearest, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	return buf;
}
