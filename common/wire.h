/*
 * What coordinator and endpoint say to each other (protocol 4): JSON objects with a "type", one a
 * line, over the endpoint's standard input and output; a "done" is followed by its columns' bytes and
 * the end of a line, so that what passes on whole lines only passes them on, too.
 * docs/protocol.md lists the messages. What arrives is untrusted: lines are bounded, types checked
 * by who uses them.
 */
#ifndef KBLAT_WIRE_H
#define KBLAT_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

#define WIRE_PROTOCOL 4
#define WIRE_LINE_MAX (1024 * 1024)

/* Of raw columns: they are the machine's. */
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

/* Read once what is there (the descriptor is readable). 0 (also at end of file: w->eof), or a
 * negative errno. */
int wire_fill(struct wire *w);

/* Take one line if there is one: 1 and *line (free it), 0, or -EMSGSIZE. */
int wire_take_line(struct wire *w, char **line);

/* Take up to `size` raw bytes that are there already; how many. */
size_t wire_take_raw(struct wire *w, void *to, size_t size);

/* Write all of it. 0 or a negative errno (-EPIPE: the other side is gone). */
int wire_send(int fd, const json_t *message);

#endif
