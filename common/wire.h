/*
 * The protocol between coordinator and endpoint (protocol 4): JSON objects with a "type", one per line, over the
 * endpoint's standard input and output. A "done" is followed by the bytes of its columns and a newline, so that
 * launchers that forward only complete lines forward all of it. docs/protocol.md lists the messages. Input is not
 * trusted: the length of lines is limited, and the users of a message check its types.
 */
#ifndef KBLAT_WIRE_H
#define KBLAT_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

#define WIRE_PROTOCOL 4
#define WIRE_LINE_MAX (1024 * 1024)

/* Byte order of raw columns, which is that of the machine. */
#define WIRE_BYTE_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big")

/* A byte stream being cut into lines. */
struct wire {
	int fd;
	char *data;
	size_t used, size;
	bool eof;
};

void wire_init(struct wire *w, int fd);
void wire_free(struct wire *w);

/* Read once what is available (the descriptor must be readable). 0 (also at end of file: w->eof), or a negative
 * errno. */
int wire_fill(struct wire *w);

/* Take one line if there is one: 1 and *line (free it), 0, or -EMSGSIZE. */
int wire_take_line(struct wire *w, char **line);

/* Take up to `size` raw bytes that have been read already; returns their number. */
size_t wire_take_raw(struct wire *w, void *to, size_t size);

/* A message as a line, which the caller frees: `size` bytes, without a terminator. */
char *wire_line(const json_t *message, size_t *size);

/* Write all of it. 0 or a negative errno (-EPIPE: the other side is gone). */
int wire_send(int fd, const json_t *message);

#endif
