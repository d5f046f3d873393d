/*
 * A request to an idle endpoint, and its reply.
 */
#ifndef KBLAT_RUN_CHANNEL_ASK_H
#define KBLAT_RUN_CHANNEL_ASK_H

#include "run/channel.h"

/* Send `order` (stolen) and wait up to 60 s for a message of the type `answer`: 0 and a new reference, or a negative
 * errno and `e`, with the endpoint's own error message if it sent one. */
int channel_ask(struct channel *c, json_t *order, const char *answer, json_t **reply, struct err *e);

#endif
