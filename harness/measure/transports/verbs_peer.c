/*
 * What the two sides send each other through the coordinator: a JSON object each. The received
 * object is not trusted, and is checked completely.
 */
#include "measure/transports/verbs_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/err.h"
#include "common/text.h"
#include "measure/transports/verbs_device.h"
#include "measure/transports/verbs_limits.h"
#include "measure/transports/verbs_resources.h"
#include "measure/transports/verbs_types.h"

#define LID_UNICAST_MAX 0xbfff
#define HOP_LIMIT	64

/* --- this side's address --- */

/* The memory that the peer's operations access. */
static void publish_ring(const struct verbs *t, json_t *address)
{
	const struct verbs_ring *r = &t->recv_ring;

	if (!r->slots || !t->operation->access)
		return;
	json_object_set_new(address, "ring_address", json_integer((json_int_t)((uintptr_t)r->memory.data + r->lead)));
	json_object_set_new(address, "ring_rkey", json_integer(r->mr[0]->rkey));
	json_object_set_new(address, "ring_slots", json_integer(r->slots));
}

static void publish_pairs(const struct verbs *t, json_t *address)
{
	json_t *numbers = json_array();

	for (uint32_t i = 1; i < t->pair_count; i++)
		json_array_append_new(numbers, json_integer(t->pairs[i]->qp_num));
	if (t->pair_count > 1)
		json_object_set_new(address, "more_qp_nums", numbers);
	else
		json_decref(numbers);
}

int verbs_publish(struct verbs *t, json_t **address, struct err *e)
{
	json_t *a = json_pack("{s:s, s:s, s:s, s:I, s:i, s:i}", "qp", t->kind->name, "connect",
			      verbs_connect_names[t->settings.connect], "op", t->operation->name, "size_bytes",
			      (json_int_t)t->config.size, "mtu_bytes", t->mtu_bytes, "qp_num", (int)t->qp->qp_num);
	int rc;

	if (!a)
		return err_sys(e, -ENOMEM, t->object, "describe the endpoint");
	publish_ring(t, a);
	publish_pairs(t, a);
	if (t->operation->fetches)
		json_object_set_new(a, "rd_atomic", json_integer(t->rd_atomic));
	rc = t->setup->publish(t, a, e);
	if (rc)
		json_decref(a);
	else
		*address = a;
	return rc;
}

void verbs_publish_route(const struct verbs *t, json_t *address)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, t->port.gid.raw, gid, sizeof(gid));
	json_object_set_new(address, "lid", json_integer(t->port.lid));
	json_object_set_new(address, "gid", json_string(gid));
}

/* --- the peer's address --- */

int verbs_peer_number(const json_t *peer, const char *key, int64_t min, int64_t max, int64_t *value, struct err *e)
{
	const json_t *number = json_object_get(peer, key);
	json_int_t n = json_integer_value(number);

	if (!json_is_integer(number) || n < min || n > max)
		return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL,
			       "\"%s\" is not a number from %" PRId64 " to %" PRId64, key, min, max);
	*value = n;
	return 0;
}

int verbs_peer_qkey(const json_t *peer, int64_t *qkey, struct err *e)
{
	return verbs_peer_number(peer, "qkey", 0, 0x7fffffff, qkey, e);
}

const char *verbs_peer_text(const json_t *peer, const char *key, struct err *e)
{
	const char *text = json_string_value(json_object_get(peer, key));

	if (!text)
		err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL, "\"%s\" is not a text", key);
	return text;
}

static int peer_is(const json_t *peer, const char *key, const char *ours, struct err *e)
{
	const char *theirs = verbs_peer_text(peer, key, e);
	char quoted[TEXT_QUOTE_MAX];

	if (!theirs)
		return -EPROTO;
	if (!strcmp(theirs, ours))
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL, "\"%s\" is %s there and '%s' here", key,
		       text_quote(theirs, quoted, sizeof(quoted)), ours);
}

/* Both sides must have the same settings. */
static int compare(const struct verbs *t, const json_t *peer, struct err *e)
{
	int64_t size;
	int rc = peer_is(peer, "qp", t->kind->name, e);

	if (!rc)
		rc = peer_is(peer, "connect", verbs_connect_names[t->settings.connect], e);
	if (!rc)
		rc = peer_is(peer, "op", t->operation->name, e);
	return rc ? rc : verbs_peer_number(peer, "size_bytes", t->config.size, t->config.size, &size, e);
}

/* The memory accessed by operations. The shape of a ring follows from the settings. */
static int read_ring(struct verbs *t, const json_t *peer, struct err *e)
{
	struct verbs_ring ring = verbs_recv_ring(t);
	int64_t address = 0, rkey = 0, slots;
	int rc;

	if (!t->send_ring.slots || !t->operation->access)
		return 0;
	rc = verbs_peer_number(peer, "ring_address", 1, INT64_MAX, &address, e);
	if (!rc)
		rc = verbs_peer_number(peer, "ring_rkey", 0, UINT32_MAX, &rkey, e);
	if (!rc)
		rc = verbs_peer_number(peer, "ring_slots", ring.slots, ring.slots, &slots, e);
	if (rc)
		return rc;
	if (t->operation->is_atomic && address % (int64_t)sizeof(uint64_t))
		return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL,
			       "\"ring_address\" is not a multiple of 8, and atomics need that");
	t->send.remote_first = (uint64_t)address;
	t->send.remote_stride = ring.stride;
	t->send.remote_mask = ring.slots - 1;
	t->send.remote_shift = (unsigned)__builtin_popcount(t->send.remote_mask);
	if (!t->operation->is_atomic) {
		t->send.wr.wr.rdma.rkey = (uint32_t)rkey;
		return 0;
	}
	t->send.wr.wr.atomic.rkey = (uint32_t)rkey;
	t->send.wr.wr.atomic.compare_add = 1;
	return 0;
}

static int read_mtu(const json_t *peer, int64_t *mtu, struct err *e)
{
	int rc =
	    verbs_peer_number(peer, "mtu_bytes", verbs_mtu_bytes(IBV_MTU_256), verbs_mtu_bytes(IBV_MTU_4096), mtu, e);

	if (rc || verbs_mtu_bytes(verbs_mtu((int)*mtu)) == *mtu)
		return rc;
	return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL, "\"mtu_bytes\" is not an MTU");
}

/* If the settings do not fix the MTU, the smaller one of the two ports is used. */
static int agree_mtu(struct verbs *t, int64_t theirs, struct err *e)
{
	if (theirs < t->mtu_bytes)
		t->mtu_bytes = (int)theirs;
	if (t->kind->type == IBV_QPT_UD && t->config.size > t->mtu_bytes)
		return verbs_impossible(t, e, "with qp ud, size", t->config.size, "the peer's active MTU", theirs);
	return 0;
}

/* The sink must have room for the outstanding operations of the source. */
static int agree_outstanding(struct verbs *t, const json_t *peer, struct err *e)
{
	int64_t theirs = 0;
	int rc = t->operation->fetches ? verbs_peer_number(peer, "rd_atomic", 1, UINT8_MAX, &theirs, e) : 0;

	if (!rc && theirs && theirs < t->rd_atomic)
		t->rd_atomic = (uint8_t)theirs;
	return rc;
}

static int read_pairs(struct verbs *t, const json_t *peer, struct err *e)
{
	const json_t *numbers = json_object_get(peer, "more_qp_nums");

	if (json_array_size(numbers) != t->pair_count - 1)
		return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL,
			       "\"more_qp_nums\" has %zu numbers there, and there are %u more queue pairs here",
			       json_array_size(numbers), t->pair_count - 1);
	for (uint32_t i = 1; i < t->pair_count; i++) {
		const json_t *number = json_array_get(numbers, i - 1);

		if (!json_is_integer(number) || json_integer_value(number) < 0 || json_integer_value(number) > 0xffffff)
			return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL,
				       "\"more_qp_nums\" has something that is not the number of a queue pair");
		t->peer_pairs[i] = (uint32_t)json_integer_value(number);
	}
	return 0;
}

int verbs_meet(struct verbs *t, const json_t *peer, struct err *e)
{
	int64_t mtu = 0, qp_num = 0;
	int rc = compare(t, peer, e);

	if (!rc)
		rc = read_mtu(peer, &mtu, e);
	if (!rc)
		rc = verbs_peer_number(peer, "qp_num", 0, 0xffffff, &qp_num, e);
	if (!rc)
		rc = read_ring(t, peer, e);
	if (!rc)
		rc = agree_outstanding(t, peer, e);
	if (!rc)
		rc = read_pairs(t, peer, e);
	if (rc)
		return rc;
	t->peer_qp_num = (uint32_t)qp_num;
	return agree_mtu(t, mtu, e);
}

static int peer_read_gid(const json_t *peer, union ibv_gid *gid, struct err *e)
{
	const char *text = verbs_peer_text(peer, "gid", e);

	if (text && inet_pton(AF_INET6, text, gid->raw) == 1)
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL, "\"gid\" is not a GID");
}

int verbs_read_route(const struct verbs *t, const json_t *peer, struct ibv_ah_attr *route, struct err *e)
{
	bool use_grh = t->port.use_grh;
	union ibv_gid gid;
	int64_t lid = 0;
	/* Without a global route header, only the LID identifies the destination. */
	int rc = verbs_peer_number(peer, "lid", use_grh ? 0 : 1, use_grh ? UINT16_MAX : LID_UNICAST_MAX, &lid, e);

	if (!rc)
		rc = peer_read_gid(peer, &gid, e);
	if (rc)
		return rc;
	*route = (struct ibv_ah_attr){.dlid = (uint16_t)lid, .sl = (uint8_t)t->settings.sl, .port_num = t->port.number};
	if (use_grh) {
		route->is_global = 1;
		route->grh.dgid = gid;
		route->grh.sgid_index = (uint8_t)t->port.gid_index;
		route->grh.hop_limit = HOP_LIMIT;
	}
	return 0;
}

/* --- set-up with queue pair numbers exchanged through the coordinator --- */

/* The peer's published values, which have been checked. */
struct plain_peer {
	int64_t psn, qkey;
	struct ibv_ah_attr route;
};

static int plain_open(struct verbs *t, struct err *e)
{
	t->context = verbs_port_open(&t->port, e);
	return t->context ? 0 : -ENODEV;
}

static void plain_close(struct verbs *t)
{
	json_decref(t->gids);
	ibv_close_device(t->context);
}

static int to_init(struct verbs *t, struct err *e)
{
	struct ibv_qp_attr a = {
	    .qp_state = IBV_QPS_INIT, .port_num = t->port.number, .qkey = t->qkey, .qp_access_flags = verbs_access(t)};

	return verbs_modify_qp(t, &a, t->kind->init_mask, e);
}

/* Which entry of its table a side was told to use; -1: any. */
static int own_gid_index(const struct verbs *t, enum role role)
{
	return verbs_number(verbs_gid_index_of(&t->settings, role), 0, 255);
}

static int plain_publish(struct verbs *t, json_t *address, struct err *e)
{
	int rc = to_init(t, e);

	if (rc)
		return rc;
	json_object_set_new(address, "psn", json_integer(t->psn));
	json_object_set_new(address, "qkey", json_integer(t->qkey));
	verbs_publish_route(t, address);
	if (t->port.use_grh && t->port.transport != IBV_TRANSPORT_IWARP) {
		t->gids = verbs_gids_tell(t->context, t->port.number, own_gid_index(t, t->config.role));
		json_object_set(address, "gids", t->gids);
	}
	return 0;
}

/* Of both tables, two that go together, unless both were named. A side of an earlier version tells of none. */
static int agree_gid(struct verbs *t, const json_t *peer, union ibv_gid *theirs, struct err *e)
{
	const json_t *gids = json_object_get(peer, "gids");
	const bool is_sink = t->config.role == ROLE_SINK;
	struct verbs_gid pair[2];
	int rc;

	if (!json_is_array(gids) || !t->gids ||
	    (own_gid_index(t, ROLE_SOURCE) >= 0 && own_gid_index(t, ROLE_SINK) >= 0))
		return 0;
	rc = verbs_gids_pair(is_sink ? gids : t->gids, is_sink ? t->gids : gids, t->object, pair, e);
	if (rc)
		return rc;
	verbs_port_take_gid(&t->port, &pair[is_sink]);
	*theirs = pair[!is_sink].gid;
	return 0;
}

static int plain_read_peer(struct verbs *t, const json_t *peer, struct plain_peer *p, struct err *e)
{
	int rc = verbs_peer_number(peer, "psn", 0, 0xffffff, &p->psn, e);

	if (!rc)
		rc = verbs_peer_qkey(peer, &p->qkey, e);
	if (!rc)
		rc = verbs_read_route(t, peer, &p->route, e);
	if (!rc)
		rc = agree_gid(t, peer, &p->route.grh.dgid, e);
	if (!rc && p->route.is_global)
		p->route.grh.sgid_index = (uint8_t)t->port.gid_index;
	return rc;
}

/* One set of attributes; the type's masks select those used by each state change. */
static int bring_up(struct verbs *t, const struct plain_peer *p, struct err *e)
{
	struct ibv_qp_attr a = {
	    .qp_state = IBV_QPS_RTR,
	    .ah_attr = p->route,
	    .dest_qp_num = t->peer_qp_num,
	    .rq_psn = (uint32_t)p->psn,
	    .sq_psn = t->psn,
	    .path_mtu = verbs_mtu(t->mtu_bytes),
	    .max_dest_rd_atomic = t->rd_atomic,
	    .max_rd_atomic = t->rd_atomic,
	};
	int rc;

	verbs_fill_retry(t, &a);
	rc = verbs_modify_qp(t, &a, t->kind->rtr_mask, e);
	if (rc)
		return rc;
	a.qp_state = IBV_QPS_RTS;
	return verbs_modify_qp(t, &a, t->kind->rts_mask, e);
}

static int plain_connect(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e)
{
	struct plain_peer p;
	int rc = plain_read_peer(t, peer, &p, e);

	(void)deadline; /* nothing here waits for the other side */
	if (!rc)
		rc = bring_up(t, &p, e);
	if (!rc && t->kind->type == IBV_QPT_UD && t->send_ring.slots)
		rc = verbs_aim(t, &p.route, t->peer_qp_num, (uint32_t)p.qkey, e);
	return rc;
}

const struct verbs_setup verbs_setup_plain = {plain_open, plain_publish, plain_connect, plain_close};
