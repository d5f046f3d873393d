#include "common/clean_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/or_abort.h"
#include "common/text.h"

#define CHARACTER_MAX 4 /* bytes */
#define CHUNK	      4096
#define WORD_MAX      1024
#define WIDTH_LEAST   20 /* less is no terminal that people read */
#define WIDTH_USUAL   80
#define HANGING	      2

/* The line that is being printed on a terminal. */
struct printed_line {
	size_t width;	       /* of the terminal; 0: it is none, or lines stay as they are */
	size_t column, blanks; /* where it is, and the blanks that follow if a word does */
	size_t indent;	       /* of what is continued on the next line */
	bool is_begun;	       /* it has a word */
	bool is_continued;
	char word[WORD_MAX];
	size_t length;
};

/* A stream: what has been printed of a character, or of the end of a line in CSV (CR LF), whose other bytes are still to come. */
struct clean {
	int fd;
	char begun[CHARACTER_MAX];
	size_t length;
	unsigned documents; /* that are being printed: their lines stay as they are */
	struct printed_line line;
};

static struct clean streams[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

static bool put_all(int fd, const char *data, size_t size)
{
	while (size) {
		const ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

/* --- lines of a terminal ------------------------------------------------------------------------------------------ */

static size_t terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	const unsigned long wanted = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size = {.ws_col = 0};

	if (!isatty(fd))
		return 0;
	if (wanted >= WIDTH_LEAST && wanted < WORD_MAX)
		return wanted;
	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= WIDTH_LEAST ? size.ws_col : WIDTH_USUAL;
}

static bool put_blanks(int fd, size_t count)
{
	static const char blanks[] = "                                ";
	bool fine = true;

	for (size_t n; count && fine; count -= n) {
		n = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;
		fine = put_all(fd, blanks, n);
	}
	return fine;
}

/* What is continued stands below the last column that begins in the first half of the line, or a bit to the right of the
 * first word. */
static void note_indent(struct printed_line *l, size_t begins)
{
	if (l->is_continued)
		return;
	if (!l->is_begun)
		l->indent = begins + HANGING;
	else if (l->blanks > 1 && begins <= l->width / 2)
		l->indent = begins;
}

static bool put_word(struct clean *c)
{
	struct printed_line *l = &c->line;
	const size_t wide = text_columns(l->word, l->length);
	bool fine = true;

	if (!l->length)
		return true;
	if (l->is_begun && l->column + l->blanks + wide > l->width) {
		l->is_continued = true;
		l->blanks = l->indent + wide <= l->width ? l->indent : wide < l->width ? l->width - wide : 0;
		l->column = 0;
		fine = put_all(c->fd, "\n", 1);
	} else {
		note_indent(l, l->column + l->blanks);
	}
	fine = fine && put_blanks(c->fd, l->blanks) && put_all(c->fd, l->word, l->length);
	l->column += l->blanks + wide;
	l->blanks = l->length = 0;
	l->is_begun = true;
	return fine;
}

static void begin_line(struct printed_line *l)
{
	*l = (struct printed_line){.width = l->width};
}

/* A byte of text that is clean. */
static bool put_on_line(struct clean *c, char byte)
{
	struct printed_line *l = &c->line;

	if (byte != ' ' && byte != '\t' && byte != '\n') {
		l->word[l->length++] = byte;
		return l->length < WORD_MAX || put_word(c);
	}
	if (!put_word(c))
		return false;
	if (byte == '\n') {
		begin_line(l);
		return put_all(c->fd, "\n", 1);
	}
	l->blanks += byte == ' ' ? 1 : 8 - (l->column + l->blanks) % 8;
	return true;
}

/* Clean text. */
static bool put_text(struct clean *c, const char *data, size_t size)
{
	if (!c->line.width)
		return put_all(c->fd, data, size);
	for (size_t i = 0; i < size; i++)
		if (!put_on_line(c, data[i]))
			return false;
	return true;
}

/* --- clean text --------------------------------------------------------------------------------------------------- */

static bool is_plain(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

static size_t count_plain(const char *data, size_t size)
{
	size_t n = 0;

	while (n < size && is_plain((unsigned char)data[n]))
		n++;
	return n;
}

/* How many bytes a character has that begins like this; 0: none does. */
static size_t length_of(unsigned char lead)
{
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? lead < 0xf0 ? 3 : 0 : lead >= 0xc2 ? 2 : 0;
}

/* Takes a byte that is not plain, or follows the beginning of a character. Writes to `to` what is known now, at most 2 *
 * CHARACTER_MAX bytes; returns how many. */
static size_t take_byte(struct clean *c, char byte, char *to)
{
	uint32_t cp;
	size_t n = 0, whole;

	if (c->length && *c->begun == '\r' && byte == '\n')
		to[n++] = '\r';
	if (n)
		c->length = 0;
	if (c->length && ((unsigned char)byte & 0xc0) != 0x80) {
		c->length = 0;
		to[n++] = '?';
	}
	if (!c->length && is_plain((unsigned char)byte)) {
		to[n++] = byte;
		return n;
	}
	c->begun[c->length++] = byte;
	whole = *c->begun == '\r' ? 2 : length_of((unsigned char)*c->begun);
	if (c->length < whole)
		return n;
	if (whole && text_utf8(c->begun, c->length, &cp) == whole && text_is_printable(cp)) {
		memcpy(to + n, c->begun, whole);
		n += whole;
	} else {
		to[n++] = '?';
	}
	c->length = 0;
	return n;
}

/* As fopencookie() wants it: less than `size` after an error. */
static ssize_t clean_write(void *cookie, const char *data, size_t size)
{
	struct clean *c = cookie;
	char out[CHUNK];
	size_t used = 0, at = 0;

	c->line.width = c->documents ? 0 : terminal_width(c->fd);
	while (at < size) {
		const size_t plain = c->length ? 0 : count_plain(data + at, size - at);

		if (plain && !put_text(c, data + at, plain))
			return 0;
		for (at += plain; at < size && used + 2 * CHARACTER_MAX <= sizeof(out); at++) {
			if (!c->length && is_plain((unsigned char)data[at]))
				break;
			used += take_byte(c, data[at], out + used);
		}
		if (!put_text(c, out, used))
			return 0;
		used = 0;
	}
	return put_word(c) ? (ssize_t)size : 0;
}

static int clean_close(void *cookie)
{
	struct clean *c = cookie;
	const bool is_cut = c->length && !put_all(c->fd, "?", 1);

	return close(c->fd) || is_cut ? -1 : 0;
}

static FILE *plain_stdout, *plain_stderr;

void clean_streams(void)
{
	static const cookie_io_functions_t functions = {.write = clean_write, .close = clean_close};

	fflush(NULL);
	plain_stdout = stdout;
	plain_stderr = stderr;
	stdout = or_abort(fopencookie(&streams[0], "w", functions));
	stderr = or_abort(fopencookie(&streams[1], "w", functions));
	setvbuf(stdout, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	setvbuf(stderr, NULL, _IONBF, 0);
}

void clean_streams_not(void)
{
	fflush(NULL);
	stdout = plain_stdout;
	stderr = plain_stderr;
}

/* NULL: it is not one of these. */
static struct clean *stream_of(FILE *to)
{
	return plain_stdout && to == stdout ? &streams[0] : plain_stderr && to == stderr ? &streams[1] : NULL;
}

size_t clean_stream_width(FILE *to, size_t otherwise)
{
	const struct clean *c = stream_of(to);
	const size_t width = c && !c->documents ? terminal_width(c->fd) : 0;

	return width ? width : otherwise;
}

void clean_stream_document(FILE *to, bool begins)
{
	struct clean *c = stream_of(to);

	if (!c)
		return;
	fflush(to);
	c->documents += begins ? 1 : -1u;
}

/* Is nothing wrong with it but bytes that are not UTF-8? */
static bool has_no_controls(const char *path)
{
	const char *end = path + strlen(path);
	uint32_t cp;

	while (path < end) {
		const size_t n = text_utf8(path, (size_t)(end - path), &cp);

		if (n ? !text_is_printable(cp) : ((unsigned char)*path & 0xe0) == 0x80)
			return false;
		path += n ? n : 1;
	}
	return true;
}

void clean_stream_path(FILE *to, const char *path)
{
	const int fd = to == stdout ? STDOUT_FILENO : STDERR_FILENO;

	clean_stream_document(to, true);
	if (isatty(fd) || !has_no_controls(path) || !put_all(fd, path, strlen(path)))
		fprintf(to, "%s", path);
	fprintf(to, "\n");
	clean_stream_document(to, false);
}

void clean_stream_erase_line(void)
{
	begin_line(&streams[1].line);
	put_all(STDERR_FILENO, "\r\033[K", 4);
}
