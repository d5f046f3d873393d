/*
 * The entries of a port's table of GIDs, of which one is the address of messages. Those of two sides go together if they are
 * of one kind: version of RoCE, family of addresses, VLAN. Tables of two hosts differ, so neither side can choose alone.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_GIDS_H
#define KBLAT_TRANSPORTS_VERBS_GIDS_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct verbs_gid {
	int index; /* -1: there is none */
	union ibv_gid gid;
	uint32_t type; /* enum ibv_gid_type */
	char netdev[IF_NAMESIZE];
};

/* The best entry of a port on its own, or the one with the index `wanted` (-1: any); on InfiniBand the first one. */
void verbs_gid_choose(struct ibv_context *context, uint8_t port, bool is_ethernet, int wanted, struct verbs_gid *out);

/* The entries of a port, or the one with the index `wanted`, for the other side. New reference. */
json_t *verbs_gids_tell(struct ibv_context *context, uint8_t port, int wanted);

/*
 * Which entries both sides use, in `pair`: of one network if possible, then RoCE v2, then IPv4, and addresses of a link last,
 * as no router passes those on. The lists are those of verbs_gids_tell() of the source and of the sink, either of which may
 * be a stranger's; both sides come to the same pair. STATUS_IMPOSSIBLE if none go together, -EPROTO if a list is none.
 */
int verbs_gids_pair(const json_t *source, const json_t *sink, const char *object, struct verbs_gid pair[2],
		    struct err *e);

/* "RoCE v2"; NULL: not known. */
const char *verbs_gid_type(const struct verbs_gid *g);

#endif
