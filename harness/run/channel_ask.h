/*
 * One question to an endpoint that is doing nothing else, and its answer.
 */
#ifndef KBLAT_RUN_CHANNEL_ASK_H
#define KBLAT_RUN_CHANNEL_ASK_H

#include "run/channel.h"

/* Send `order` (stolen) and wait for a message of the type `answer`, for 20 s: 0 and a new reference, or a negative errno and `e`, with the endpoint's words
 * if it has any. */
int channel_ask(struct channel *c, json_t *order, const char *answer, json_t **reply, struct err *e);

#endif
