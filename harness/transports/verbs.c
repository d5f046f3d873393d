#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/err.h"
#include "common/text.h"
#include "transports/verbs_hot.h"

#define UD_SIZE_MAX 4096 /* the largest path MTU there is */
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

/* --- settings --- */

static const char *const qp_names[] = {[VERBS_RC] = "rc", [VERBS_UC] = "uc", [VERBS_UD] = "ud", NULL};
static const char *const connect_names[] = {[VERBS_PLAIN] = "plain", [VERBS_RDMACM] = "rdmacm", NULL};
static const char *const mtu_names[] = {[0] = "auto",
					[IBV_MTU_256] = "256",
					[IBV_MTU_512] = "512",
					[IBV_MTU_1024] = "1024",
					[IBV_MTU_2048] = "2048",
					[IBV_MTU_4096] = "4096",
					NULL};

#define ROW(field) .name = #field, .offset = offsetof(struct verbs_settings, field)
const struct opt verbs_options[] = {
    {ROW(qp), .type = OPT_ENUM, .deflt = "rc", .choices = qp_names,
     .help = "queue pair: reliable connection, unreliable connection, unreliable datagram"},
    {ROW(connect), .type = OPT_ENUM, .deflt = "plain", .choices = connect_names,
     .help = "set-up by exchanged queue pair numbers, or by the RDMA connection manager (rc, ud)"},
    {ROW(device), .type = OPT_STR, .deflt = "auto",
     .help = "RDMA device; auto takes one with an active port, on the CPU's NUMA node if there is one"},
    {ROW(port), .type = OPT_STR, .deflt = "auto", .help = "port of the device, 1 to 255; auto takes an active one"},
    {ROW(gid_index), .type = OPT_STR, .deflt = "auto",
     .help = "entry of the port's GID table; auto prefers RoCE v2 and IPv4, and addresses by LID on InfiniBand"},
    {ROW(mtu), .type = OPT_ENUM, .deflt = "auto", .choices = mtu_names,
     .help = "path MTU in bytes; auto takes the port's"},
    {.name = NULL},
};
#undef ROW

/*
 * Reliable connections: a sink that is slow for a while must not fail, so "receiver not ready" is retried for ever (7),
 * soon (1: 10 us); a lost packet is sent again 6 times, after 4.096 us * 2^14 = 67 ms or what the device makes of it
 * (rxe_comp.c takes 7 for "for ever", against the specification).
 */
static const struct verbs_retry retry = {.timeout = 14, .retry_cnt = 6, .rnr_retry = 7, .min_rnr_timer = 1};

#define INIT_COMMON (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define RTR_COMMON  (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RTS_COMMON  (IBV_QP_STATE | IBV_QP_SQ_PSN)
#define RTS_RETRY   (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

static const struct verbs_kind kinds[] = {
    [VERBS_RC] = {"rc", IBV_QPT_RC, RDMA_PS_TCP, true, 0, INIT_COMMON | IBV_QP_ACCESS_FLAGS,
		  RTR_COMMON | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, RTS_COMMON | RTS_RETRY},
    [VERBS_UC] = {"uc", IBV_QPT_UC, 0, false, 0, INIT_COMMON | IBV_QP_ACCESS_FLAGS, RTR_COMMON, RTS_COMMON},
    [VERBS_UD] = {"ud", IBV_QPT_UD, RDMA_PS_UDP, false, sizeof(struct ibv_grh), INIT_COMMON | IBV_QP_QKEY, IBV_QP_STATE,
		  RTS_COMMON},
};

static const struct verbs_setup *const setups[] = {
    [VERBS_PLAIN] = &verbs_setup_plain, [VERBS_RDMACM] = &verbs_setup_cm};

static const char *text_of(const json_t *params, const char *key)
{
	const char *text = json_string_value(json_object_get(params, key));

	return text ? text : "";
}

static int check_numbers(const json_t *params, char *why, size_t why_size)
{
	static const struct {
		const char *key;
		int min;
	} rows[] = {{"port", 1}, {"gid_index", 0}};
	char quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *text = text_of(params, rows[i].key);

		if (verbs_number(text, rows[i].min, 255) == -EINVAL) {
			snprintf(why, why_size, "%s must be auto or a number from %d to 255, not %s", rows[i].key,
				 rows[i].min, text_quote(text, quoted, sizeof(quoted)));
			return -EINVAL;
		}
	}
	return 0;
}

static int check_ud_size(const json_t *params, char *why, size_t why_size)
{
	json_int_t size = json_integer_value(json_object_get(params, "size_bytes"));
	const char *mtu = text_of(params, "mtu");
	int limit = verbs_number(mtu, 256, UD_SIZE_MAX);

	if (size > UD_SIZE_MAX) {
		snprintf(why, why_size,
			 "size %" JSON_INTEGER_FORMAT " and qp ud: a datagram holds one packet, at most %d bytes", size,
			 UD_SIZE_MAX);
		return -EINVAL;
	}
	if (limit > 0 && size > limit) {
		snprintf(why, why_size, "size %" JSON_INTEGER_FORMAT " and mtu %d: with qp ud a message is one packet",
			 size, limit);
		return -EINVAL;
	}
	return 0;
}

static int verbs_check(const json_t *params, char *why, size_t why_size)
{
	const char *qp = text_of(params, "qp");

	if (!strcmp(qp, "uc") && !strcmp(text_of(params, "connect"), "rdmacm")) {
		snprintf(why, why_size,
			 "qp uc and connect rdmacm: the connection manager sets up rc and ud only; use connect plain");
		return -EINVAL;
	}
	if (!strcmp(qp, "ud") && check_ud_size(params, why, why_size))
		return -EINVAL;
	return check_numbers(params, why, why_size);
}

static bool verbs_is_reliable(const json_t *params)
{
	return !strcmp(text_of(params, "qp"), kinds[VERBS_RC].name);
}

/* --- small helpers --- */

int64_t verbs_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* --- limits --- */

static int impossible(const struct verbs *t, struct err *e, const char *setting, int64_t value, const char *limit,
		      int64_t most)
{
	return err_set(e, -ERANGE, STATUS_IMPOSSIBLE, t->object, NULL,
		       "%s %" PRId64 " is above what the device can do: %s is %" PRId64, setting, value, limit, most);
}

static int check_limits(struct verbs *t, struct err *e)
{
	const struct verbs_port *p = &t->port;
	int64_t mtu = t->settings.mtu ? verbs_mtu_bytes((enum ibv_mtu)t->settings.mtu) : 0;
	int64_t active = verbs_mtu_bytes(p->active_mtu);

	if (t->config.depth > p->max_qp_wr)
		return impossible(t, e, "depth", t->config.depth, "max_qp_wr", p->max_qp_wr);
	if (t->config.depth > p->max_cqe)
		return impossible(t, e, "depth", t->config.depth, "max_cqe", p->max_cqe);
	if (mtu > active)
		return impossible(t, e, "mtu", mtu, "the port's active MTU", active);
	t->mtu_bytes = (int)(mtu ? mtu : active);
	if (t->kind->type == IBV_QPT_UD && t->config.size > t->mtu_bytes)
		return impossible(t, e, "with qp ud, size", t->config.size, "the port's active MTU", t->mtu_bytes);
	if (t->config.size > p->max_message_bytes)
		return impossible(t, e, "size", t->config.size, "its largest message", p->max_message_bytes);
	return 0;
}

/* --- open and close --- */

static struct verbs *verbs_new(const struct transport_config *config)
{
	struct verbs *t = aligned_alloc(VERBS_LINE, sizeof(*t));

	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->base.ops = &verbs_transport;
	t->config = *config;
	t->config.name = NULL; /* nothing here needs a name, and the text is the caller's */
	t->retry = retry;
	return t;
}

static int configure(struct verbs *t, const json_t *params, struct err *e)
{
	int rc = opt_load(verbs_options, params, &t->settings, e);

	if (rc)
		return rc;
	t->kind = &kinds[t->settings.qp];
	t->setup = setups[t->settings.connect];
	rc = verbs_port_choose(&t->settings, t->config.numa_node, &t->port, e);
	if (rc)
		return rc;
	snprintf(t->object, sizeof(t->object), "%s port %u", t->port.device, t->port.number);
	rc = check_limits(t, e);
	if (rc)
		return rc;
	if (getrandom(&t->psn, sizeof(t->psn), 0) < 0 || getrandom(&t->qkey, sizeof(t->qkey), 0) < 0)
		return err_sys(e, -errno, t->object, "draw random numbers");
	t->psn &= 0xffffff;
	t->qkey &= 0x7fffffff; /* with the highest bit set a request would stand for its queue pair's own key */
	return 0;
}

static int make_address(struct verbs *t, json_t **address, struct err *e)
{
	json_t *a = json_pack("{s:s, s:s, s:I, s:i, s:i}", "qp", t->kind->name, "connect",
			      connect_names[t->settings.connect], "size_bytes", (json_int_t)t->config.size, "mtu_bytes",
			      t->mtu_bytes, "qp_num", (int)t->qp->qp_num);
	int rc;

	if (!a)
		return err_sys(e, -ENOMEM, t->object, "describe the endpoint");
	rc = t->setup->publish(t, a, e);
	if (rc)
		json_decref(a);
	else
		*address = a;
	return rc;
}

static int verbs_open(const struct transport_config *config, const json_t *params, struct transport **transport,
		      json_t **address, struct err *e)
{
	struct verbs *t = verbs_new(config);
	int rc;

	if (!t)
		return err_sys(e, -ENOMEM, "verbs", "allocate the endpoint");
	rc = configure(t, params, e);
	if (rc)
		goto free_endpoint;
	rc = verbs_resources_open(t, e);
	if (rc)
		goto free_endpoint;
	rc = make_address(t, address, e);
	if (rc)
		goto close_resources;
	*transport = &t->base;
	return 0;
close_resources:
	verbs_resources_close(t);
free_endpoint:
	free(t);
	return rc;
}

static void verbs_close(struct transport *transport)
{
	struct verbs *t = (struct verbs *)transport;

	if (!t)
		return;
	verbs_resources_close(t);
	free(t);
}

/* --- connect --- */

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

/* Both sides must mean the same point. Where the MTU is left to the ports, the smaller one holds. */
static int check_peer(struct verbs *t, const json_t *peer, struct err *e)
{
	int64_t size, mtu, qp_num;
	int rc = peer_is(peer, "qp", t->kind->name, e);

	if (!rc)
		rc = peer_is(peer, "connect", connect_names[t->settings.connect], e);
	if (!rc)
		rc = verbs_peer_number(peer, "size_bytes", t->config.size, t->config.size, &size, e);
	if (!rc)
		rc = verbs_peer_number(peer, "mtu_bytes", verbs_mtu_bytes(IBV_MTU_256), verbs_mtu_bytes(IBV_MTU_4096),
				       &mtu, e);
	if (!rc)
		rc = verbs_peer_number(peer, "qp_num", 0, 0xffffff, &qp_num, e);
	if (rc)
		return rc;
	t->peer_qp_num = (uint32_t)qp_num;
	if (mtu < t->mtu_bytes)
		t->mtu_bytes = (int)mtu;
	if (t->kind->type == IBV_QPT_UD && size > t->mtu_bytes)
		return impossible(t, e, "with qp ud, size", size, "the peer's active MTU", mtu);
	return 0;
}

static int verbs_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct verbs *t = (struct verbs *)transport;
	int rc = check_peer(t, peer, e);

	return rc ? rc : t->setup->connect(t, peer, verbs_monotonic_ns() + VERBS_PATIENCE_NS, e);
}

static const char *state_name(enum ibv_qp_state state)
{
	static const char *const names[] = {
	    [IBV_QPS_INIT] = "bring the queue pair to INIT",
	    [IBV_QPS_RTR] = "bring the queue pair to RTR (ready to receive)",
	    [IBV_QPS_RTS] = "bring the queue pair to RTS (ready to send)",
	};

	return state < COUNT(names) && names[state] ? names[state] : "change the queue pair's state";
}

int verbs_modify_qp(struct verbs *t, struct ibv_qp_attr *a, int mask, struct err *e)
{
	int rc = ibv_modify_qp(t->qp, a, mask);

	return rc ? err_sys(e, -abs(rc), t->object, state_name(a->qp_state)) : 0;
}

void verbs_fill_retry(const struct verbs *t, struct ibv_qp_attr *a)
{
	a->timeout = t->retry.timeout;
	a->retry_cnt = t->retry.retry_cnt;
	a->rnr_retry = t->retry.rnr_retry;
	a->min_rnr_timer = t->retry.min_rnr_timer;
}

int verbs_aim(struct verbs *t, struct ibv_ah_attr *attr, uint32_t qp_num, uint32_t qkey, struct err *e)
{
	t->ah = ibv_create_ah(t->pd, attr);
	if (!t->ah)
		return err_sys(e, -errno, t->object, "create an address handle for the peer");
	t->send.wr.wr.ud.ah = t->ah;
	t->send.wr.wr.ud.remote_qpn = qp_num;
	t->send.wr.wr.ud.remote_qkey = qkey;
	return 0;
}

/* --- between repetitions --- */

static int fail(const struct verbs *t, struct err *e)
{
	return verbs_failure(&t->base, e);
}

/* A repetition that was stopped may have left sends that are not completed. */
static int drain_sends(struct verbs *t, struct err *e)
{
	int64_t deadline = verbs_monotonic_ns() + VERBS_PATIENCE_NS;
	uint32_t seq;

	while (t->send_cq.polled < t->send.posted) {
		int rc = verbs_poll_send(t, &seq);

		if (rc < 0)
			return fail(t, e);
		if (rc > 0)
			continue;
		if (verbs_monotonic_ns() > deadline)
			return err_set(e, -ETIMEDOUT, STATUS_FAILED, t->object, NULL,
				       "%" PRIu64 " sends have not completed for 10 s",
				       t->send.posted - t->send_cq.polled);
		sched_yield();
	}
	return 0;
}

static int post_all(struct verbs *t, struct err *e)
{
	for (uint32_t i = 0; i < t->recv_ring.depth; i++)
		if (verbs_post_recv(t, i))
			return fail(t, e);
	return 0;
}

/* Late messages of an earlier repetition are taken out, their buffers posted again; then every buffer is posted. */
static int refill(struct verbs *t, struct err *e)
{
	uint32_t seq;
	int rc;

	if (t->recv.held && verbs_release(t))
		return fail(t, e);
	while ((rc = verbs_poll_recv(t, &seq)) > 0)
		if (verbs_release(t))
			return fail(t, e);
	return rc < 0 ? fail(t, e) : 0;
}

static int verbs_prepare(struct transport *transport, struct err *e)
{
	struct verbs *t = (struct verbs *)transport;
	int rc = verbs_failure(transport, e); /* a queue pair does not recover from one */

	if (!rc)
		rc = drain_sends(t, e);
	if (!rc)
		rc = t->is_filled ? refill(t, e) : post_all(t, e);
	if (rc)
		return rc;
	t->is_filled = true;
	verbs_cq_acknowledge(&t->send_cq);
	verbs_cq_acknowledge(&t->recv_cq);
	return 0;
}

/* --- what was granted, what was counted --- */

static json_t *verbs_granted(const struct transport *transport)
{
	const struct verbs *t = (const struct verbs *)transport;
	json_t *all = verbs_port_json(&t->port), *granted = json_object();
	static const char *const shown[] = {"port", "link_layer", "gid_index", "gid",	   "gid_type",
					    "lid",  "netdev",	  "numa_node", "firmware", "driver"};

	json_object_set_new(granted, "device", json_string(t->port.device));
	for (size_t i = 0; i < COUNT(shown); i++)
		json_object_set(granted, shown[i], json_object_get(all, shown[i]));
	json_decref(all);
	json_object_set_new(granted, "mtu_bytes", json_integer(t->mtu_bytes));
	json_object_set_new(granted, "qp_num", json_integer(t->qp->qp_num));
	json_object_set_new(granted, "peer_qp_num", json_integer(t->peer_qp_num));
	json_object_set_new(granted, "depth_send", json_integer(t->send_ring.depth ? t->cap.max_send_wr : 0));
	json_object_set_new(granted, "depth_recv", json_integer(t->recv_ring.depth ? t->cap.max_recv_wr : 0));
	json_object_set_new(granted, "inline_bytes", json_integer(0));
	json_object_set_new(granted, "locked",
			    json_boolean((t->send_ring.mr ? &t->send_ring : &t->recv_ring)->memory.locked));
	return granted;
}

static json_t *verbs_device_counters(const struct transport *transport)
{
	return verbs_port_counters(&((const struct verbs *)transport)->port);
}

const struct transport_ops verbs_transport = {
    .name = "verbs",
    .summary = "InfiniBand verbs over InfiniBand, RoCE and Soft-RoCE: rc, uc, ud; send with immediate",
    .options = verbs_options,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT,
    .check = verbs_check,
    .is_reliable = verbs_is_reliable,
    .open = verbs_open,
    .connect = verbs_connect,
    .prepare = verbs_prepare,
    .granted = verbs_granted,
    .device_counters = verbs_device_counters,
    .failure = verbs_failure,
    .close = verbs_close,
};
