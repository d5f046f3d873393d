#include "common/clean_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/or_abort.h"
#include "common/text.h"

#define CHARACTER_MAX 4 /* bytes */
#define CHUNK	      4096

/* A stream: what has been printed of a character, or of the end of a line in CSV (CR LF), whose other bytes are still to come. */
struct clean {
	int fd;
	char begun[CHARACTER_MAX];
	size_t length;
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

	while (at < size) {
		const size_t plain = c->length ? 0 : count_plain(data + at, size - at);

		if (plain && !put_all(c->fd, data + at, plain))
			return 0;
		for (at += plain; at < size && used + 2 * CHARACTER_MAX <= sizeof(out); at++) {
			if (!c->length && is_plain((unsigned char)data[at]))
				break;
			used += take_byte(c, data[at], out + used);
		}
		if (!put_all(c->fd, out, used))
			return 0;
		used = 0;
	}
	return (ssize_t)size;
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

	fflush(to);
	if (isatty(fd) || !has_no_controls(path) || !put_all(fd, path, strlen(path)))
		fprintf(to, "%s", path);
	fprintf(to, "\n");
	fflush(to);
}

void clean_stream_erase_line(void)
{
	put_all(STDERR_FILENO, "\r\033[K", 4);
}
