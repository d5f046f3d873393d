/*
 * How two ends of a transport know each other: each draws a token and tells it to the other through the coordinator, in
 * its address. Whoever says my token is my peer.
 */
#ifndef KBLAT_TRANSPORTS_TOKEN_H
#define KBLAT_TRANSPORTS_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define TOKEN_BYTES 16
#define TOKEN_TEXT  (2 * TOKEN_BYTES + 1)

/* How long one side waits for the other to come (transport_ops.connect). */
#define TOKEN_PATIENCE_MS 10000

struct token {
	unsigned char bytes[TOKEN_BYTES];
};

/* A random one. 0, or a negative errno with `e`. */
int token_draw(struct token *t, struct err *e);

/* In hexadecimal digits; returns `text`. */
char *token_text(const struct token *t, char text[TOKEN_TEXT]);

/* From what token_text() wrote; false if it is something else (or NULL). */
bool token_read(const char *text, struct token *t);

/* Are these bytes the token? Takes as long for wrong ones as for the right ones. */
bool token_is(const struct token *t, const void *bytes);

/* CLOCK_MONOTONIC. */
int64_t token_now_ms(void);

#endif
