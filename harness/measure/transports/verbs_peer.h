/*
 * What each side sends to the other during set-up, and what follows from it.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_PEER_H
#define KBLAT_TRANSPORTS_VERBS_PEER_H

#include "measure/transports/verbs_types.h"

/* The address of this endpoint, as returned by transport_ops.open. */
int verbs_publish(struct verbs *t, json_t **address, struct err *e);

/* Check the peer's address, and extract what all ways of set-up need. */
int verbs_meet(struct verbs *t, const json_t *peer, struct err *e);

/* Add the route to this side's port to its address, and read the route to the peer's port from the
 * peer's address. */
void verbs_publish_route(const struct verbs *t, json_t *address);
int verbs_read_route(const struct verbs *t, const json_t *peer, struct ibv_ah_attr *route, struct err *e);

/* Read a field of the peer's address, which is not trusted: an integer in [min, max], or a text. */
int verbs_peer_number(const json_t *peer, const char *key, int64_t min, int64_t max, int64_t *value, struct err *e);
int verbs_peer_qkey(const json_t *peer, int64_t *qkey, struct err *e);		 /* of its datagrams' queue pair */
const char *verbs_peer_text(const json_t *peer, const char *key, struct err *e); /* NULL if it is not */

/* Set-up with queue pair numbers exchanged through the coordinator: each side publishes its queue
 * pair number, its first packet sequence number and the address of its port, and changes its queue
 * pair's states by itself. This does not use the RDMA network, so it works for all three types. */
extern const struct verbs_setup verbs_setup_plain;

/* verbs_cm.c: set-up by the RDMA connection manager. */
extern const struct verbs_setup verbs_setup_cm;

/* Process one event of the connection manager after the connection has been established. Is the
 * device being removed? */
bool verbs_cm_says_removed(struct verbs *t);

/* For a `group`: as without the connection manager, which both sides also use to join the group. */
extern const struct verbs_setup verbs_setup_group;

#endif
