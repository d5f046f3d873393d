#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "measure/transports/verbs_counters.h"
#include "measure/transports/verbs_device.h"
#include "measure/transports/verbs_hot.h"
#include "measure/transports/verbs_limits.h"
#include "measure/transports/verbs_peer.h"
#include "measure/transports/verbs_resources.h"
#include "measure/transports/verbs_settings.h"
#include "measure/transports/verbs_types.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct verbs_setup *const setups[] = {
    [VERBS_PLAIN] = &verbs_setup_plain, [VERBS_RDMACM] = &verbs_setup_cm};

/* --- open and close --- */

static struct verbs *verbs_new(const struct transport_config *config)
{
	struct verbs *t = or_abort(aligned_alloc(VERBS_LINE, sizeof(*t)));

	memset(t, 0, sizeof(*t));
	t->base.ops = &verbs_transport;
	t->config = *config;
	t->config.name = NULL; /* not needed here, and owned by the caller */
	t->watch.stop_fd = t->watch.kernel_fd = -1;
	return t;
}

/* Determine what follows from the settings alone. Endpoints have checked them; other callers may not have. */
static int interpret(struct verbs *t, struct err *e)
{
	const struct verbs_settings *s = &t->settings;
	char why[256];

	if (verbs_check(s, &t->config, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "verbs", NULL, "the settings contradict each other: %s", why);
	t->kind = &verbs_kinds[s->qp];
	t->operation = &verbs_operations[s->op];
	t->setup = verbs_has_group(s) ? &verbs_setup_group : setups[s->connect];
	t->retry = (struct verbs_retry){.timeout = (uint8_t)s->ack_timeout,
					.retry_cnt = (uint8_t)s->retry_cnt,
					.rnr_retry = (uint8_t)s->rnr_retry,
					.min_rnr_timer = (uint8_t)s->rnr_timer};
	t->recv_depth = s->recv_depth ? s->recv_depth : t->config.depth;
	t->inline_bytes = verbs_inline(s->inlined, transport_sent_bytes(&t->config));
	t->carrier = verbs_carrier_of(t->operation, &t->config);
	t->head = t->carrier == VERBS_UNNUMBERED ? 0 : t->operation->head;
	t->tail = t->carrier == VERBS_UNNUMBERED ? 0 : t->operation->tail;
	t->base.overhead = t->head + t->tail;
	return 0;
}

static int configure(struct verbs *t, struct err *e)
{
	int rc = interpret(t, e);

	if (!rc)
		rc = verbs_port_choose(&t->settings, &t->config, &t->port, e);
	if (rc)
		return rc;
	snprintf(t->object, sizeof(t->object), "%s port %u", t->port.device, t->port.number);
	rc = verbs_limits_check(t, e);
	if (rc)
		return rc;
	if (getrandom(&t->psn, sizeof(t->psn), 0) < 0 || getrandom(&t->qkey, sizeof(t->qkey), 0) < 0)
		return err_sys(e, -errno, t->object, "draw random numbers");
	t->psn &= 0xffffff;
	t->qkey &= 0x7fffffff; /* with the highest bit set, a request would use the key of its queue pair instead */
	return 0;
}

static int verbs_open(const struct transport_config *config, const void *settings, struct transport **transport,
		      json_t **address, struct err *e)
{
	struct verbs *t = verbs_new(config);
	int rc;

	t->settings = *(const struct verbs_settings *)settings;
	rc = configure(t, e);
	if (rc)
		goto free_endpoint;
	rc = verbs_resources_open(t, e);
	if (rc)
		goto free_endpoint;
	rc = verbs_publish(t, address, e);
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
	verbs_unwatch(t);
	verbs_resources_close(t);
	free(t);
}

/* --- connect --- */

static int verbs_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct verbs *t = (struct verbs *)transport;
	int rc = verbs_meet(t, peer, e);

	if (!rc)
		rc = t->setup->connect(t, peer, monotonic_ns() + VERBS_PATIENCE_NS, e);
	if (rc)
		return rc;
	verbs_list_refresh(t);
	return verbs_watch(t, e);
}

/* --- between repetitions --- */

static int fail(const struct verbs *t, struct err *e)
{
	return verbs_failure(&t->base, e);
}

/* An extended completion queue may only be polled with its own functions. */
static int take_send(struct verbs *t, uint32_t *seq)
{
	uint64_t device;

	return t->send_cq.stamped ? verbs_poll_send_stamped(t, seq, &device) : verbs_poll_send(t, seq);
}

static int take_recv(struct verbs *t, uint32_t *seq)
{
	uint64_t device;

	return t->recv_cq.stamped ? verbs_poll_recv_stamped(t, seq, &device) : verbs_poll_recv(t, seq);
}

/* A repetition that was stopped may have left incomplete sends. */
static int drain_sends(struct verbs *t, struct err *e)
{
	int64_t deadline = monotonic_ns() + VERBS_PATIENCE_NS;
	uint32_t seq;

	while (t->send_cq.polled < t->send.signalled) {
		int rc = take_send(t, &seq);

		if (rc < 0)
			return fail(t, e);
		if (rc > 0)
			continue;
		if (monotonic_ns() > deadline)
			return err_set(e, -ETIMEDOUT, STATUS_FAILED, t->object, NULL,
				       "%" PRIu64 " sends have not completed for 10 s",
				       t->send.signalled - t->send_cq.polled);
		sched_yield();
	}
	return 0;
}

/* A request in a list is posted as if its message had been received. */
static int post_one(struct verbs *t, uint32_t slot)
{
	if (!t->recv.bulk)
		return verbs_post_recv(t, slot);
	t->recv.last = slot;
	return verbs_put_back(t);
}

static int post_all(struct verbs *t, struct err *e)
{
	for (uint32_t i = 0; i < t->recv_ring.depth; i++)
		if (post_one(t, i % t->recv_ring.slots))
			return fail(t, e);
	return t->recv.released && verbs_post_released(t) ? fail(t, e) : 0;
}

/* Late messages of an earlier repetition are received and their buffers posted again. In the end
 * every buffer is posted. */
static int refill(struct verbs *t, struct err *e)
{
	uint32_t seq;
	int rc;

	if (!t->recv_ring.slots)
		return 0;
	if (t->recv.held && verbs_release(t))
		return fail(t, e);
	while ((rc = take_recv(t, &seq)) > 0)
		if (verbs_release(t))
			return fail(t, e);
	if (rc < 0 || (t->recv.released && verbs_post_released(t)))
		return fail(t, e);
	return 0;
}

static int verbs_prepare(struct transport *transport, struct err *e)
{
	struct verbs *t = (struct verbs *)transport;
	int rc = verbs_failure(transport, e); /* a queue pair does not recover from an error */

	if (!rc)
		rc = drain_sends(t, e);
	if (!rc)
		rc = t->is_filled ? refill(t, e) : post_all(t, e);
	if (!rc)
		rc = verbs_srq_arm(t, e);
	if (rc)
		return rc;
	t->is_filled = true;
	if (t->carrier == VERBS_UNNUMBERED)
		t->recv.taken = 0;
	t->recv.copies = t->recv.copy_of = 0;
	verbs_remote_prepare(t);
	verbs_cq_acknowledge(&t->send_cq);
	verbs_cq_acknowledge(&t->recv_cq);
	return 0;
}

/* --- granted resources and counters --- */

static void grant_queues(const struct verbs *t, json_t *granted)
{
	const struct verbs_ring *any = t->send_ring.slots ? &t->send_ring : &t->recv_ring;
	struct ibv_qp_cap cap = t->cap;

	if (t->srq.srq) {
		cap.max_recv_wr = t->srq.max_wr;
		cap.max_recv_sge = t->srq.max_sge;
	}

	json_object_set_new(granted, "qp_num", json_integer(t->qp->qp_num));
	json_object_set_new(granted, "peer_qp_num", json_integer(t->peer_qp_num));
	json_object_set_new(granted, "queue_pairs", json_integer(t->pair_count));
	if (verbs_has_receivers(&t->settings)) {
		json_object_set_new(granted, "receivers", json_integer(t->pair_count));
		json_object_set_new(granted, "group", json_string(t->settings.group));
	}
	json_object_set_new(granted, "depth_send", json_integer(t->send_ring.depth ? t->cap.max_send_wr : 0));
	json_object_set_new(granted, "recv_queue", json_string(t->srq.srq ? "srq" : "qp"));
	json_object_set_new(granted, "depth_recv", json_integer(t->recv_ring.depth ? cap.max_recv_wr : 0));
	json_object_set_new(granted, "recv_sge", json_integer(cap.max_recv_sge));
	json_object_set_new(granted, "regions_recv", json_integer(t->recv_ring.regions));
	json_object_set_new(granted, "buffers_send", json_integer(t->send_ring.slots));
	json_object_set_new(granted, "buffers_recv", json_integer(t->recv_ring.slots));
	json_object_set_new(granted, "inline_bytes", json_integer(t->cap.max_inline_data));
	json_object_set_new(granted, "inlined", json_boolean(t->inline_bytes > 0));
	json_object_set_new(granted, "locked", json_boolean(any->memory.locked));
	json_object_set_new(granted, "huge_pages", json_boolean(any->memory.huge));
}

/* Time until an event of a device is noticed on a busy machine. */
#define SLACK_MS 3000

/*
 * The time after which a reliable connection has given up a peer that does not answer: devices may
 * wait for up to four times the timeout (InfiniBand Architecture 1, 9.7.6.1.3). Nothing if it never
 * gives up, or if nobody would notice.
 */
static void grant_patience(const struct verbs *t, json_t *granted)
{
	double timeout_ms = 4.096e-3 * (double)(1ULL << t->retry.timeout);

	if (t->kind->is_reliable && t->send_ring.depth && t->retry.timeout)
		json_object_set_new(granted, "gives_up_ms",
				    json_integer(SLACK_MS + (json_int_t)(timeout_ms * 4 * (t->retry.retry_cnt + 1))));
}

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
	if (t->port.software)
		json_object_set_new(granted, "software", json_string(t->port.software));
	json_object_set_new(granted, "mtu_bytes", json_integer(t->mtu_bytes));
	if (t->port.link_bits_per_s)
		json_object_set_new(granted, "link_bits_per_s", json_integer(t->port.link_bits_per_s));
	json_object_set_new(granted, "hw_timestamps", json_boolean(t->hw_timestamps));
	if (t->operation->fetches)
		json_object_set_new(granted, "rd_atomic", json_integer(t->rd_atomic));
	grant_queues(t, granted);
	grant_patience(t, granted);
	return granted;
}

static json_t *verbs_device_counters(struct transport *transport)
{
	struct verbs *t = (struct verbs *)transport;
	json_t *counters = verbs_counters(t->port.device, t->port.number);

	if (t->srq.srq)
		json_object_set_new(counters, "srq_ran_empty", json_integer(verbs_watch_srq_limits(t)));
	return counters;
}

static const struct counter_check verbs_checks[] = {CHECK_PACKETS, CHECK_RNR_NAKS, CHECK_SRQ, {.counter = NULL}};

const struct transport_ops verbs_transport = {
    .name = "verbs",
    .summary = "InfiniBand verbs over InfiniBand, RoCE and iWARP: rc, uc, ud; send and write, with and without "
	       "immediate; read and atomics",
    .options = verbs_options,
    .settings_size = sizeof(struct verbs_settings),
    .has_device = true,
    .absent = verbs_missing,
    .has_wire = true,
    .posts_lists = true,
    .registers_memory = true,
    .answers_differ = true,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 300, .latency_ns = 2000, .sleeping_ns = 8000},
    .checks = verbs_checks,
    .check = verbs_check,
    .traits = verbs_traits,
    .open = verbs_open,
    .connect = verbs_connect,
    .prepare = verbs_prepare,
    .read_clock = verbs_read_clock,
    .granted = verbs_granted,
    .device_counters = verbs_device_counters,
    .check_memory = verbs_check_memory,
    .failure = verbs_failure,
    .device_failure = verbs_device_failure,
    .close = verbs_close,
};
