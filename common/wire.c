#include "common/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"

void wire_init(struct wire *w, int fd)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
}

void wire_free(struct wire *w)
{
	free(w->data);
	memset(w, 0, sizeof(*w));
	w->fd = -1;
}

int wire_fill(struct wire *w)
{
	if (w->size - w->used < 65536) {
		w->size += 65536;
		w->data = or_abort(realloc(w->data, w->size));
	}
	ssize_t n = read(w->fd, w->data + w->used, w->size - w->used);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	w->eof = n == 0;
	w->used += (size_t)n;
	return 0;
}

static void drop(struct wire *w, size_t n)
{
	w->used -= n;
	memmove(w->data, w->data + n, w->used);
}

int wire_take_line(struct wire *w, char **line)
{
	char *end = w->used ? memchr(w->data, '\n', w->used) : NULL;

	if (!end)
		return w->used > WIRE_LINE_MAX ? -EMSGSIZE : 0;

	size_t length = (size_t)(end - w->data);

	*line = or_abort(strndup(w->data, length));
	drop(w, length + 1);
	return 1;
}

size_t wire_take_raw(struct wire *w, void *to, size_t size)
{
	size_t n = w->used < size ? w->used : size;

	if (!n)
		return 0; /* there may be no `data` yet */
	memcpy(to, w->data, n);
	drop(w, n);
	return n;
}

/* In place of a message with text that is not UTF-8, which whoever makes it has to write otherwise (json_outside). */
static const char unsayable[] =
    "{\"type\": \"error\", \"text\": \"a message has text that is not UTF-8\", \"status\": 1}";

char *wire_line(const json_t *message, size_t *size)
{
	char *text = json_dumps(message, JSON_COMPACT);

	if (!text)
		text = or_abort(strdup(unsayable));

	*size = strlen(text);
	text[(*size)++] = '\n'; /* replaces the terminator, so that a line takes one write */
	return text;
}

int wire_send(int fd, const json_t *message)
{
	size_t size;
	char *text = wire_line(message, &size);
	int rc = fs_write_fd(fd, text, size);

	free(text);
	return rc;
}
