/*
 * What each side tells the other, and what follows from it.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_PEER_H
#define KBLAT_TRANSPORTS_VERBS_PEER_H

#include "transports/verbs.h"

/* The address of this endpoint, as transport_ops.open gives it. */
int verbs_publish(struct verbs *t, json_t **address, struct err *e);

/* Check the peer's, and take out of it what all set-ups need. */
int verbs_meet(struct verbs *t, const json_t *peer, struct err *e);

/* Where this side's port is, into its address; and the way to the peer's port, out of its. */
void verbs_publish_route(const struct verbs *t, json_t *address);
int verbs_read_route(const struct verbs *t, const json_t *peer, struct ibv_ah_attr *route, struct err *e);

/* A field of the peer's address, which is not trusted: an integer in [min, max], or a text. */
int verbs_peer_number(const json_t *peer, const char *key, int64_t min, int64_t max, int64_t *value, struct err *e);
const char *verbs_peer_text(const json_t *peer, const char *key, struct err *e); /* NULL if it is not */

#endif
