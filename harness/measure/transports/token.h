/*
 * How the two ends of a transport authenticate each other: each generates a random token, and sends
 * it to the other one through the coordinator, in its address. Whoever presents the token is the
 * peer.
 */
#ifndef KBLAT_TRANSPORTS_TOKEN_H
#define KBLAT_TRANSPORTS_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define TOKEN_BYTES 16
#define TOKEN_TEXT  (2 * TOKEN_BYTES + 1)

/* How long one side waits for the other one to connect (transport_ops.connect). */
#define TOKEN_PATIENCE_MS 10000

struct token {
	unsigned char bytes[TOKEN_BYTES];
};

/* Generate a random token. 0, or a negative errno and `e`. */
int token_draw(struct token *t, struct err *e);

/* Format a token in hexadecimal digits; returns `text`. */
char *token_text(const struct token *t, char text[TOKEN_TEXT]);

/* Parse what token_text() has written; false if it is something else or NULL. */
bool token_read(const char *text, struct token *t);

/* Its first 8 bytes, for what has room for no more. */
uint64_t token_word(const struct token *t);

/* Are these bytes the token? Runs in constant time. */
bool token_is(const struct token *t, const void *bytes);

#endif
