#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/err.h"
#include "common/feature.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "measure/transports/xdp_types.h"

#define SENT_MS	      1000 /* how long posted messages may take to be sent */
#define LOOK_AGAIN_US 50   /* between looks for completions, of which the kernel gives no notice */
#define BUDGET_MAX    65535
#define QUEUE_MAX     4095
#define RING_MIN      64
#define RING_MAX      32768

static const char *const xdp_modes[] = {
    [XDP_MODE_AUTO] = "auto", [XDP_MODE_NATIVE] = "native", [XDP_MODE_GENERIC] = "generic", NULL};
static const char *const xdp_zerocopies[] = {
    [XDP_ZEROCOPY_AUTO] = "auto", [XDP_ZEROCOPY_YES] = "yes", [XDP_ZEROCOPY_NO] = "no", NULL};

#define FIELD(f) offsetof(struct xdp_settings, f)

static const struct opt xdp_options[] = {
    {"source_address", OPT_STR, FIELD(source_address), "", 0, 0, NULL,
     "IPv4 address of the source's interface; experiments/launch/netns sets it"},
    {"sink_address", OPT_STR, FIELD(sink_address), "", 0, 0, NULL,
     "IPv4 address of the sink's interface, on the same Ethernet segment"},
    {"port", OPT_INT, FIELD(port), "0", 0, 65535, NULL, "UDP port of both sides; 0: any free port"},
    {"queue", OPT_INT, FIELD(queue), "0", 0, QUEUE_MAX, NULL, "queue of both interfaces that carries the messages"},
    {"mode", OPT_ENUM, FIELD(mode), "auto", 0, 0, xdp_modes,
     "where frames are handed over: by the driver (native), or after it (generic); auto: native if the driver can"},
    {"zerocopy", OPT_ENUM, FIELD(zerocopy), "auto", 0, 0, xdp_zerocopies,
     "whether the card reads and writes the process's memory itself; auto: if the driver can"},
    {"need_wakeup", OPT_BOOL, FIELD(need_wakeup), "yes", 0, 0, NULL,
     "call the kernel to send only when it asks for that (XDP_USE_NEED_WAKEUP); no: after every post"},
    {"busy_poll", OPT_TIME, FIELD(busy_poll), "0ns", 0, 1000000000, NULL,
     "the receiving thread itself runs the driver's receive routine, preferred to interrupts (SO_PREFER_BUSY_POLL), "
     "for so long (in whole us); 0: not at all"},
    {"budget", OPT_INT, FIELD(budget), "64", 1, BUDGET_MAX, NULL,
     "with busy_poll: frames that the driver may receive at a time (SO_BUSY_POLL_BUDGET)"},
    {"ring", OPT_INT, FIELD(ring), "2048", RING_MIN, RING_MAX, NULL,
     "frames that can be received before the first one is taken, rounded up to a power of two"},
    {.name = NULL},
};

/* --- settings --- */

static int xdp_check_addresses(const struct xdp_settings *s, char *why, size_t why_size)
{
	static const char *const keys[] = {"source_address", "sink_address"};
	const char *const texts[] = {s->source_address, s->sink_address};
	struct in_addr a[2];

	for (size_t i = 0; i < 2; i++)
		if (inet_pton(AF_INET, texts[i], &a[i]) != 1) {
			snprintf(
			    why, why_size,
			    "%s %s: transport xdp needs the IPv4 address of a network card; experiments/launch/netns "
			    "makes two joined ones",
			    keys[i], *texts[i] ? texts[i] : "is missing");
			return -EINVAL;
		}
	if (a[0].s_addr != a[1].s_addr)
		return 0;
	snprintf(why, why_size, "source_address and sink_address are the same: transport xdp needs two interfaces");
	return -EINVAL;
}

static int xdp_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	const struct xdp_settings *s = settings;

	if (udp_frame_check(config, why, why_size))
		return -EINVAL;
	if (config->size > XDP_SIZE_MAX)
		snprintf(why, why_size, "size %lld and transport xdp: a frame holds at most %d bytes",
			 (long long)config->size, XDP_SIZE_MAX);
	else if (config->depth > RING_MAX)
		snprintf(why, why_size, "%lld messages in flight and transport xdp: at most %d",
			 (long long)config->depth, RING_MAX);
	else if (s->busy_poll % 1000)
		snprintf(why, why_size, "busy_poll %lldns is not in whole microseconds", (long long)s->busy_poll);
	else
		return xdp_check_addresses(s, why, why_size);
	return -EINVAL;
}

static void xdp_traits(const void *settings, struct transport_traits *out)
{
	(void)settings;
	out->is_reliable = false;
	out->overhead = UDP_FRAME_OVERHEAD;
}

/* --- open and close --- */

/* A socket of the kernel's keeps the port, so that nobody else gets it; with the wrong token, frames still go there. */
static int xdp_keep_port(struct xdp *t, const char *address, struct err *e)
{
	if (!sockets_parse(address, (uint16_t)t->settings.port, &t->own.at))
		return err_set(e, -EINVAL, STATUS_USAGE, "xdp", NULL, "an address is invalid");
	snprintf(t->object, sizeof(t->object), "xdp %s", t->own.at.text);
	t->port_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (t->port_fd < 0)
		return err_sys(e, -errno, t->object, "make a socket");
	if (bind(t->port_fd, (const struct sockaddr *)&t->own.at.addr, t->own.at.size)) {
		if (errno == EADDRNOTAVAIL)
			return err_set(e, -errno, STATUS_IMPOSSIBLE, t->object, "use this address",
				       "no interface here has it; see `ip address`");
		return err_sys(e, -errno, t->object, "use this address");
	}
	t->own.at.size = sizeof(t->own.at.addr);
	getsockname(t->port_fd, (struct sockaddr *)&t->own.at.addr, &t->own.at.size);
	sockets_name(&t->own.at);
	snprintf(t->object, sizeof(t->object), "xdp %s", t->own.at.text);
	return 0;
}

static void xdp_close(struct transport *transport)
{
	struct xdp *t = (struct xdp *)transport;

	xdp_program_close(&t->program);
	xdp_socket_close(t);
	if (t->port_fd >= 0)
		close(t->port_fd);
	free(t);
}

static int xdp_open_parts(struct xdp *t, const struct transport_config *config, struct err *e)
{
	int rc = feature_is_built("libbpf") ? token_draw(&t->own.token, e)
					    : feature_missing("libbpf", "the transport xdp", e);

	if (!rc)
		rc = xdp_keep_port(t, t->role == ROLE_SINK ? t->settings.sink_address : t->settings.source_address, e);
	if (!rc)
		rc = xdp_card_read(t, e);
	/* First, as attaching a program in native mode may give a card other queues. */
	if (!rc)
		rc = xdp_program_attach(t, e);
	if (!rc)
		rc = xdp_card_await_link(t, e);
	if (!rc)
		rc = xdp_socket_open(t, config, e);
	return rc ? rc : xdp_program_direct(t, e);
}

static int xdp_open(const struct transport_config *config, const void *settings, struct transport **out,
		    json_t **address, struct err *e)
{
	struct xdp *t = or_abort(calloc(1, sizeof(*t)));
	int rc;

	t->base = (struct transport){.ops = &xdp_transport, .overhead = UDP_FRAME_OVERHEAD};
	t->fd = t->port_fd = -1;
	t->role = config->role;
	t->settings = *(const struct xdp_settings *)settings;
	t->frames = (struct frames){.size = (size_t)config->size, .stop = config->stop};
	t->out_length = t->in_length = (uint32_t)(UDP_FRAME_HEADERS + config->size);
	t->acknowledges = config->acknowledges;
	xdp_program_init(&t->program);
	rc = xdp_open_parts(t, config, e);
	if (rc) {
		xdp_close(&t->base);
		return rc;
	}
	*address = udp_frame_describe(&t->own);
	*out = &t->base;
	return 0;
}

/* --- the hot path --- */

/* Tell the kernel that there are frames to send. 0 or the recorded error. */
static int kick(struct xdp *t)
{
	if (sendto(t->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0) {
		t->must_kick = false;
		return 0;
	}
	if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR)
		return frames_note(&t->frames, -errno, "send", "the interface is down, or was removed");
	t->frames.waits += !t->must_kick;
	t->must_kick = true;
	return 0;
}

/* Let the kernel look for received frames. */
static void nudge(struct xdp *t)
{
	if (t->settings.busy_poll || atomic_load_explicit(t->fill.flags, memory_order_relaxed) & XDP_RING_NEED_WAKEUP)
		recvfrom(t->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

static void put_headers(struct xdp *t, uint64_t chunk, const unsigned char *headers)
{
	char *frame = t->umem + chunk + XDP_ROOM;

	memcpy(frame, headers, UDP_FRAME_HEADERS);
	memcpy(frame + UDP_FRAME_HEADERS, t->peer.token.bytes, UDP_FRAME_TOKEN);
}

static void write_headers(struct xdp *t, uint64_t chunk, bool is_empty)
{
	put_headers(t, chunk, is_empty ? t->empty_headers : t->headers);
}

static uint64_t next_chunk(const struct xdp *t)
{
	return t->free[t->head & t->tx.mask];
}

static void *xdp_send_buffer(struct transport *transport, uint32_t seq)
{
	struct xdp *t = (struct xdp *)transport;

	(void)seq;
	return t->umem + next_chunk(t) + XDP_ROOM + UDP_FRAME_NUMBER + FRAMES_NUMBER;
}

/* Enter a message in the ring; the kernel does not see it yet. */
static void xdp_enter(struct xdp *t, uint32_t seq, uint32_t length)
{
	const uint32_t at = t->head & t->tx.mask;
	const uint64_t frame = t->free[at] + XDP_ROOM;

	t->frames.out = t->umem + frame + UDP_FRAME_NUMBER;
	frames_put_number(&t->frames, seq);
	((struct xdp_desc *)t->tx.entries)[at] = (struct xdp_desc){.addr = frame, .len = length};
	t->seqs[at] = seq;
	t->head++;
}

static int publish(struct xdp *t)
{
	atomic_store_explicit(t->tx.producer, t->head, memory_order_release);
	if (t->kicks_always || atomic_load_explicit(t->tx.flags, memory_order_relaxed) & XDP_RING_NEED_WAKEUP)
		return kick(t);
	return 0;
}

static int xdp_flush(struct transport *transport)
{
	return publish((struct xdp *)transport);
}

static int xdp_post(struct transport *transport, uint32_t seq, bool signal)
{
	struct xdp *t = (struct xdp *)transport;

	(void)signal;
	if (frames_unlikely(t->acknowledges))
		write_headers(t, next_chunk(t), false);
	xdp_enter(t, seq, t->out_length);
	return publish(t);
}

static int xdp_post_empty(struct transport *transport, uint32_t seq, bool signal)
{
	struct xdp *t = (struct xdp *)transport;

	(void)signal;
	write_headers(t, next_chunk(t), true);
	xdp_enter(t, seq, UDP_FRAME_NUMBER + FRAMES_NUMBER);
	return publish(t);
}

static int xdp_post_more(struct transport *transport, uint32_t seq, bool signal)
{
	struct xdp *t = (struct xdp *)transport;

	(void)signal;
	xdp_enter(t, seq, t->out_length);
	return 0;
}

/* Take at most `most` completions. */
static int xdp_take_sent(struct xdp *t, uint32_t most, uint32_t *seq)
{
	const uint32_t there = atomic_load_explicit(t->completion.producer, memory_order_acquire) - t->completed;
	const uint32_t count = there < most ? there : most;
	const uint64_t *chunks = t->completion.entries;

	if (!count)
		return frames_unlikely(t->must_kick) ? kick(t) : 0;
	for (uint32_t i = 0; i < count; i++, t->completed++)
		t->free[t->done++ & t->tx.mask] = chunks[t->completed & t->completion.mask] & ~(uint64_t)(t->chunk - 1);
	atomic_store_explicit(t->completion.consumer, t->completed, memory_order_release);
	*seq = t->seqs[(t->done - 1) & t->tx.mask];
	return (int)count;
}

static int xdp_poll_sends(struct transport *transport, uint32_t *seq)
{
	return xdp_take_sent((struct xdp *)transport, UINT32_MAX, seq);
}

static int xdp_poll_send(struct transport *transport, uint32_t *seq)
{
	return xdp_take_sent((struct xdp *)transport, 1, seq);
}

/* Return the frame received last to the kernel. */
static int give_back(struct xdp *t)
{
	const uint64_t frame = ((const struct xdp_desc *)t->rx.entries)[t->taken & t->rx.mask].addr;

	((uint64_t *)t->fill.entries)[t->filled & t->fill.mask] = frame & ~(uint64_t)(t->chunk - 1);
	atomic_store_explicit(t->fill.producer, ++t->filled, memory_order_release);
	atomic_store_explicit(t->rx.consumer, ++t->taken, memory_order_release);
	return 0;
}

static int xdp_release(struct transport *transport)
{
	return give_back((struct xdp *)transport);
}

/* A frame that has not the length of a message. On a wire, short frames are padded. Greetings may arrive late. */
static int take_other(struct xdp *t, uint32_t length, uint32_t *seq)
{
	const uint32_t payload = udp_frame_payload(t->frames.in);
	const bool is_whole = udp_frame_is_whole(length, payload);

	if (is_whole && (payload == t->frames.size || (t->acknowledges && payload == UDP_FRAME_OVERHEAD))) {
		if (frames_take_number(&t->frames, seq))
			return 1;
		return give_back(t);
	}
	if (is_whole && payload == UDP_FRAME_GREETING - UDP_FRAME_HEADERS)
		return give_back(t);
	return frames_note(&t->frames, -EMSGSIZE, "receive", "received a frame that is no message of this run");
}

static int xdp_poll_recv(struct transport *transport, uint32_t *seq)
{
	struct xdp *t = (struct xdp *)transport;
	const struct xdp_desc *frame = &((const struct xdp_desc *)t->rx.entries)[t->taken & t->rx.mask];

	if (atomic_load_explicit(t->rx.producer, memory_order_acquire) == t->taken) {
		if (t->nudges)
			nudge(t);
		return 0;
	}
	t->frames.in = t->umem + frame->addr + UDP_FRAME_NUMBER;
	if (frames_unlikely(frame->len != t->in_length))
		return take_other(t, frame->len, seq);
	return frames_take_number(&t->frames, seq) ? 1 : give_back(t);
}

static int xdp_wait_recv(struct transport *transport)
{
	struct xdp *t = (struct xdp *)transport;
	struct pollfd readable = {.fd = t->fd, .events = POLLIN};

	if (poll(&readable, 1, -1) >= 0)
		return readable.revents & POLLERR ? frames_note(&t->frames, -ENETDOWN, "wait for messages", NULL) : 0;
	return errno == EINTR ? -EINTR : frames_note(&t->frames, -errno, "wait for messages", NULL);
}

static int xdp_wait_send(struct transport *transport)
{
	struct timespec again = {.tv_nsec = LOOK_AGAIN_US * 1000};

	(void)transport;
	return nanosleep(&again, NULL) && errno == EINTR ? -EINTR : 0;
}

/* --- connect --- */

/* Wait until all that was posted is complete, so that all chunks are ours. */
static int xdp_await_sent(struct xdp *t)
{
	const int64_t deadline_ms = monotonic_ms() + SENT_MS;
	uint32_t seq;

	while (t->done != t->head) {
		int rc = xdp_poll_sends(&t->base, &seq);

		if (rc < 0)
			return rc;
		if (!rc && monotonic_ms() > deadline_ms)
			return -ETIMEDOUT;
		if (!rc)
			xdp_wait_send(&t->base);
	}
	return 0;
}

/* One that is lost is sent again. */
static int xdp_greet(struct xdp *t, bool has_heard)
{
	unsigned char headers[UDP_FRAME_HEADERS];

	udp_frame_headers(headers, &t->own, &t->peer, UDP_FRAME_GREETING);
	put_headers(t, next_chunk(t), headers);
	xdp_enter(t, 0, UDP_FRAME_GREETING);
	/* Where a message has its number. */
	t->frames.out[0] = (char)has_heard;

	int rc = publish(t);

	return rc ? rc : xdp_await_sent(t);
}

/* Frames with the token have come: is one a greeting? */
static bool hear_greetings(struct xdp *t, bool *is_heard)
{
	bool has_heard = false;

	while (atomic_load_explicit(t->rx.producer, memory_order_acquire) != t->taken) {
		t->frames.in =
		    t->umem + ((const struct xdp_desc *)t->rx.entries)[t->taken & t->rx.mask].addr + UDP_FRAME_NUMBER;
		if (udp_frame_payload(t->frames.in) == UDP_FRAME_GREETING - UDP_FRAME_HEADERS) {
			has_heard = true;
			*is_heard |= t->frames.in[0] == 1;
		}
		give_back(t);
	}
	return has_heard;
}

static int no_answer(const struct xdp *t, struct err *e)
{
	const struct xdp_strays strays = xdp_program_strays(&t->program);
	char operation[128];

	snprintf(operation, sizeof(operation), "meet the other side at %s", t->peer.at.text);
	if (strays.frames)
		return err_set(
		    e, -ETIMEDOUT, STATUS_FAILED, t->object, operation,
		    "its frames come to queue %llu of %s, not to %lld; `ethtool -N %s flow-type udp4 dst-port %u "
		    "action %lld` directs them there, or choose that queue",
		    (unsigned long long)strays.queue, t->card.interface.name, (long long)t->settings.queue,
		    t->card.interface.name, ntohs(((const struct sockaddr_in *)&t->own.at.addr)->sin_port),
		    (long long)t->settings.queue);
	return err_set(e, -ETIMEDOUT, STATUS_FAILED, t->object, operation,
		       "none of its frames has arrived; both interfaces must be on one Ethernet segment");
}

static int greet(void *transport, bool has_heard)
{
	return xdp_greet(transport, has_heard);
}

static bool hear(void *transport, bool *is_heard)
{
	struct xdp *t = transport;

	if (t->nudges)
		nudge(t);
	return hear_greetings(t, is_heard);
}

static bool is_misled(void *transport)
{
	const struct xdp *t = transport;

	return xdp_program_strays(&t->program).frames;
}

static int xdp_meet(struct xdp *t, struct err *e)
{
	const int rc = udp_frame_meet(
	    &(struct udp_frame_meeting){.transport = t, .greet = greet, .hear = hear, .is_misled = is_misled});

	if (rc == -ENOMSG)
		return no_answer(t, e);
	if (rc == -ETIMEDOUT)
		return err_set(e, rc, STATUS_FAILED, t->object, "send", "the interface has sent nothing for 1 s");
	return rc ? frames_failure(&t->frames, t->object, e) : 0;
}

static int xdp_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct xdp *t = (struct xdp *)transport;
	char object[sizeof(t->object)];
	int rc = udp_frame_read(&t->peer, peer, e);

	if (!rc)
		rc = xdp_meet(t, e);
	if (rc)
		return rc;
	snprintf(object, sizeof(object), "%.96s to %s", t->object, t->peer.at.text);
	memcpy(t->object, object, sizeof(t->object));
	udp_frame_headers(t->headers, &t->own, &t->peer, t->out_length);
	udp_frame_headers(t->empty_headers, &t->own, &t->peer, UDP_FRAME_NUMBER + FRAMES_NUMBER);
	for (uint32_t i = 0; i <= t->tx.mask; i++)
		write_headers(t, t->free[i], false);
	return 0;
}

static int xdp_prepare(struct transport *transport, struct err *e)
{
	struct xdp *t = (struct xdp *)transport;
	int rc = xdp_await_sent(t);

	if (rc == -ETIMEDOUT)
		return err_set(e, rc, STATUS_FAILED, t->object, "send",
			       "%u messages of the last repetition have not left within 1 s", t->head - t->done);
	if (rc)
		return frames_failure(&t->frames, t->object, e);
	for (; atomic_load_explicit(t->rx.producer, memory_order_acquire) != t->taken; give_back(t))
		t->frames.stragglers++;
	frames_next_repetition(&t->frames);
	return 0;
}

/* --- what was granted, and counters --- */

static json_t *xdp_granted(const struct transport *transport)
{
	const struct xdp *t = (const struct xdp *)transport;

	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:b, s:i, s:i, s:i, s:I}", "local", t->own.at.text, "peer",
			 t->peer.at.text, "interface", t->card.interface.name, "driver", t->card.driver, "queue",
			 (int)t->settings.queue, "mode", xdp_modes[t->program.mode], "zerocopy", t->is_zerocopy,
			 "mtu_bytes", t->card.mtu, "receive_ring", (int)t->rx.mask + 1, "chunk_bytes", (int)t->chunk,
			 "busy_poll_ns", (json_int_t)t->settings.busy_poll);
}

static json_t *xdp_device_counters(struct transport *transport)
{
	const struct xdp *t = (const struct xdp *)transport;
	json_t *counters = frames_counters(&t->frames);
	struct xdp_statistics now;

	if (!xdp_socket_statistics(t, &now)) {
		const struct {
			const char *key;
			uint64_t count;
		} rows[] = {{"rx_dropped", now.rx_dropped},
			    {"rx_ring_full", now.rx_ring_full},
			    {"rx_fill_ring_empty", now.rx_fill_ring_empty_descs},
			    {"rx_invalid_descriptors", now.rx_invalid_descs},
			    {"tx_invalid_descriptors", now.tx_invalid_descs},
			    {"other_queue_frames", xdp_program_strays(&t->program).frames}};

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			json_object_set_new(counters, rows[i].key, json_integer((json_int_t)rows[i].count));
	}
	interface_count(NET_DEV, &t->card.interface, "tx_bytes", "rx_bytes", counters);
	interface_count_drops(NET_DEV, &t->card.interface, counters);
	return counters;
}

static int xdp_failure(const struct transport *transport, struct err *e)
{
	const struct xdp *t = (const struct xdp *)transport;

	return frames_failure(&t->frames, t->object, e);
}

const struct transport_ops xdp_transport = {
    .name = "xdp",
    .summary = "UDP datagrams past the kernel's sockets, on any network card (AF_XDP); losses are counted",
    .options = xdp_options,
    .settings_size = sizeof(struct xdp_settings),
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .is_exclusive = true,
    .has_wire = true,
    .posts_lists = true,
    .typical = {.post_ns = 800, .latency_ns = 2000, .sleeping_ns = 20000},
    .check = xdp_check,
    .traits = xdp_traits,
    .open = xdp_open,
    .connect = xdp_connect,
    .prepare = xdp_prepare,
    .granted = xdp_granted,
    .device_counters = xdp_device_counters,
    .failure = xdp_failure,
    .close = xdp_close,
    .send_buffer = xdp_send_buffer,
    .post = xdp_post,
    .post_empty = xdp_post_empty,
    .post_more = xdp_post_more,
    .flush = xdp_flush,
    .poll_send = xdp_poll_send,
    .poll_sends = xdp_poll_sends,
    .poll_recv = xdp_poll_recv,
    .recv_buffer = frames_recv_buffer,
    .release = xdp_release,
    .wait_send = xdp_wait_send,
    .wait_recv = xdp_wait_recv,
};
