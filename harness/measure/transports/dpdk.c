#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/opt.h"
#include "common/or_abort.h"
#include "common/text.h"
#ifdef ABSENT
#define WITHOUT_DPDK
#endif
#include "measure/transports/dpdk.h"
#include "measure/transports/xdp_types.h"

#define LOST_LINK   "the port has lost its link"
#define LOOK_EVERY  (1 << 20) /* polls that are in vain, one after the other: some 20 ms */
#define BURSTS_MOST 4096      /* that are taken at once: strangers may send without end */

/* In a frame, of IPv4 and UDP. */
enum { PROTOCOL_AT = 23, ADDRESS_AT = 30, PORT_AT = 36 };

#define FIELD(f) offsetof(struct dpdk_settings, f)

static const struct opt dpdk_options[] = {
    {"source_device", OPT_STR, FIELD(source_device), DPDK_MEMIF, 0, 0, NULL,
     "the source's port: memif (a ring in memory shared with the sink), a PCI address, a driver of DPDK's with its "
     "arguments, or xdp: this side uses AF_XDP instead, on the interface that has its address"},
    {"sink_device", OPT_STR, FIELD(sink_device), DPDK_MEMIF, 0, 0, NULL, "the sink's port, likewise"},
    {"source_ip", OPT_STR, FIELD(source_ip), "198.18.0.1", 0, 0, NULL,
     "IPv4 address in the source's frames; no interface needs to have it"},
    {"sink_ip", OPT_STR, FIELD(sink_ip), "198.18.0.2", 0, 0, NULL, "the sink's, likewise"},
    {"udp_port", OPT_INT, FIELD(udp_port), "20000", 1, 65535, NULL, "UDP port of both sides, in their frames"},
    {"queue", OPT_INT, FIELD(queue), "0", 0, DPDK_QUEUE_MAX, NULL,
     "queue of both ports that carries the messages; those before it are set up, too"},
    {"rx_burst", OPT_INT, FIELD(rx_burst), "32", 1, DPDK_BURST_MAX, NULL,
     "frames that are taken from the port at a time"},
    {"descriptors", OPT_INT, FIELD(descriptors), "1024", 64, 16384, NULL,
     "of a queue, for receiving and for sending: frames that it holds"},
    {"mempool", OPT_INT, FIELD(mempool), "0", 0, 1 << 20, NULL,
     "buffers to receive into; 0: as many as descriptors, rx_burst and cache need"},
    {"cache", OPT_INT, FIELD(cache), "128", 0, 512, NULL,
     "buffers that a thread keeps for itself, so that it rarely asks the mempool; 0: none"},
    {"huge", OPT_BOOL, FIELD(huge), "no", 0, 0, NULL,
     "memory in huge pages, which must have been reserved; a card that is bound to uio needs them"},
    {.name = NULL},
};

#ifdef ABSENT

const struct transport_ops dpdk_transport = {ABSENT_TRANSPORT, .name = "dpdk", .options = dpdk_options,
					     .settings_size = sizeof(struct dpdk_settings)};

#else

/* --- settings --- */

static const char *port_of(const struct dpdk_settings *s, enum role role)
{
	return role == ROLE_SINK ? s->sink_device : s->source_device;
}

static bool is_xdp(const char *device)
{
	return !strcmp(device, DPDK_XDP);
}

/* Of a side that uses AF_XDP. */
static struct xdp_settings xdp_settings_of(const struct dpdk_settings *s)
{
	struct xdp_settings x = {.port = s->udp_port,
				 .queue = s->queue,
				 .ring = s->descriptors,
				 .budget = 64,
				 .need_wakeup = true,
				 .mode = XDP_MODE_AUTO,
				 .zerocopy = XDP_ZEROCOPY_AUTO};

	snprintf(x.source_address, sizeof(x.source_address), "%s", s->source_ip);
	snprintf(x.sink_address, sizeof(x.sink_address), "%s", s->sink_ip);
	return x;
}

static int check_ports(const struct dpdk_settings *s, char *why, size_t why_size)
{
	const bool own[] = {!strcmp(s->source_device, DPDK_MEMIF), !strcmp(s->sink_device, DPDK_MEMIF)};

	if (!*s->source_device || !*s->sink_device)
		snprintf(why, why_size,
			 "%s is empty: \"" DPDK_MEMIF "\", a PCI address, or a driver of DPDK's is needed",
			 *s->source_device ? "sink_device" : "source_device");
	else if (own[0] != own[1])
		snprintf(
		    why, why_size,
		    "source_device %s and sink_device %s: memif joins both sides, so that both must be \"" DPDK_MEMIF
		    "\"",
		    s->source_device, s->sink_device);
	else if (is_xdp(s->source_device) && is_xdp(s->sink_device))
		snprintf(why, why_size, "source_device and sink_device are both " DPDK_XDP ": that is transport xdp");
	else
		return 0;
	return -EINVAL;
}

static int check_addresses(const struct dpdk_settings *s, char *why, size_t why_size)
{
	static const char *const keys[] = {"source_ip", "sink_ip"};
	const char *const texts[] = {s->source_ip, s->sink_ip};
	struct in_addr a;

	for (size_t i = 0; i < 2; i++)
		if (inet_pton(AF_INET, texts[i], &a) != 1) {
			snprintf(why, why_size, "%s must be an IPv4 address such as 198.18.0.1", keys[i]);
			return -EINVAL;
		}
	return 0;
}

/* What the caches keep, and what is taken at a time, must not be all that there is. */
static int check_mempool(const struct dpdk_settings *s, char *why, size_t why_size)
{
	const int64_t least = s->rx_burst + 3 * s->cache;

	if (!s->mempool || s->mempool > least)
		return 0;
	snprintf(
	    why, why_size,
	    "mempool %lld, rx_burst %lld and cache %lld: more than %lld buffers are needed, a burst and three caches",
	    (long long)s->mempool, (long long)s->rx_burst, (long long)s->cache, (long long)least);
	return -EINVAL;
}

static int dpdk_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	const struct dpdk_settings *s = settings;

	if (udp_frame_check(config, why, why_size) || check_ports(s, why, why_size) ||
	    check_addresses(s, why, why_size) || check_mempool(s, why, why_size))
		return -EINVAL;
	if (is_xdp(s->source_device) || is_xdp(s->sink_device)) {
		const struct xdp_settings x = xdp_settings_of(s);

		return xdp_transport.check(&x, config, why, why_size);
	}
	if (config->size <= DPDK_SIZE_MAX)
		return 0;
	snprintf(why, why_size, "size %lld and transport dpdk: a frame holds at most %d bytes", (long long)config->size,
		 DPDK_SIZE_MAX);
	return -EINVAL;
}

static void dpdk_traits(const void *settings, struct transport_traits *out)
{
	(void)settings;
	out->is_reliable = false;
	out->overhead = UDP_FRAME_OVERHEAD;
}

/* --- open and close --- */

static void dpdk_close(struct transport *transport)
{
	struct dpdk *t = (struct dpdk *)transport;

	dpdk_port_close(t);
	free(t);
}

/* The source's side of memif is made when the sink has told it where. */
static bool is_made_later(const struct dpdk *t)
{
	return t->port.is_own_memif && t->role == ROLE_SOURCE;
}

static int choose_rendezvous(struct dpdk *t, struct err *e)
{
	char text[TOKEN_TEXT];
	struct token spot;
	const int rc = token_draw(&spot, e);

	if (!rc)
		snprintf(t->rendezvous, sizeof(t->rendezvous), "kblat-%s", token_text(&spot, text));
	return rc;
}

static int dpdk_open_parts(struct dpdk *t, const struct transport_config *config, struct err *e)
{
	const struct dpdk_settings *s = &t->settings;
	const char *port = port_of(s, t->role);
	int rc = token_draw(&t->own.token, e);

	if (!rc && !sockets_parse(t->role == ROLE_SINK ? s->sink_ip : s->source_ip, (uint16_t)s->udp_port, &t->own.at))
		rc = err_set(e, -EINVAL, STATUS_USAGE, "dpdk", NULL, "an address is invalid");
	t->badge = token_word(&t->own.token);
	if (!rc && t->role == ROLE_SINK)
		rc = choose_rendezvous(t, e);
	if (!rc)
		rc = dpdk_port_begin(t, port, config->cpu, e);
	if (!rc && !is_made_later(t))
		rc = dpdk_port_open(t, port, e);
	snprintf(t->object, sizeof(t->object), "%s", t->port.object);
	return rc;
}

static int dpdk_open_port(const struct transport_config *config, const void *settings, struct transport **out,
			  json_t **address, struct err *e)
{
	struct dpdk *t = or_abort(calloc(1, sizeof(*t)));
	int rc;

	t->base = (struct transport){.ops = &dpdk_transport, .overhead = UDP_FRAME_OVERHEAD};
	t->role = config->role;
	t->settings = *(const struct dpdk_settings *)settings;
	t->burst = (uint16_t)t->settings.rx_burst;
	frames_begin(&t->frames, config);
	t->out_length = t->in_length = (uint32_t)(UDP_FRAME_HEADERS + config->size);
	t->acknowledges = config->acknowledges;
	t->batch = config->batch;
	rc = dpdk_open_parts(t, config, e);
	if (rc) {
		dpdk_close(&t->base);
		return rc;
	}
	*address = udp_frame_describe(&t->own);
	json_object_set_new(*address, "version", json_string(dpdk_library.version()));
	json_object_set_new(*address, "rendezvous", json_string(t->rendezvous));
	*out = &t->base;
	return 0;
}

static int dpdk_open(const struct transport_config *config, const void *settings, struct transport **out,
		     json_t **address, struct err *e)
{
	const struct dpdk_settings *s = settings;
	const struct xdp_settings x = xdp_settings_of(s);

	return is_xdp(port_of(s, config->role)) ? xdp_transport.open(config, &x, out, address, e)
						: dpdk_open_port(config, s, out, address, e);
}

/* --- the hot path --- */

static char *start_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, char *);
}

static struct rte_mbuf *next_out(const struct dpdk *t)
{
	return t->out[t->head & t->mask];
}

static void put_headers(const struct dpdk *t, struct rte_mbuf *m, const unsigned char *headers, uint32_t length)
{
	memcpy(start_of(m), headers, UDP_FRAME_HEADERS);
	memcpy(start_of(m) + UDP_FRAME_HEADERS, t->peer.token.bytes, UDP_FRAME_TOKEN);
	m->data_len = (uint16_t)length;
	m->pkt_len = length;
}

static void *dpdk_send_buffer(struct transport *transport, uint32_t seq)
{
	(void)seq;
	return start_of(next_out((struct dpdk *)transport)) + UDP_FRAME_NUMBER + FRAMES_NUMBER;
}

/* Write the number into the next frame. The driver gives back its reference to a frame that has left, and frees no frame,
 * as the sender keeps one. 0 or the recorded error. */
static inline __attribute__((always_inline)) int dpdk_enter(struct dpdk *t, uint32_t seq)
{
	struct rte_mbuf *m = next_out(t);

	if (frames_unlikely(rte_mbuf_refcnt_read(m) != 1))
		return frames_note(&t->frames, -ENOBUFS, "send",
				   "the driver keeps more frames than it has descriptors");
	t->frames.out = start_of(m) + UDP_FRAME_NUMBER;
	frames_put_number(&t->frames, seq);
	rte_mbuf_refcnt_set(m, 2);
	return 0;
}

/* One frame: 1, 0 if the driver does not take it now, or the recorded error. */
static inline __attribute__((always_inline)) int dpdk_send_one(struct dpdk *t, uint32_t seq)
{
	struct rte_mbuf *m = next_out(t);
	const int rc = dpdk_enter(t, seq);

	if (frames_unlikely(rc))
		return rc;
	if (frames_unlikely(t->tx_burst(t->tx_queue, &m, 1) != 1)) {
		rte_mbuf_refcnt_set(m, 1);
		return 0;
	}
	/* A driver that copies has let go of it: the next message lies where the cache has it. */
	t->head += rte_mbuf_refcnt_read(m) != 1;
	frames_posted(&t->frames, seq);
	return 1;
}

static int dpdk_post_try(struct transport *transport, uint32_t seq, bool signal)
{
	struct dpdk *t = (struct dpdk *)transport;

	(void)signal;
	if (frames_unlikely(t->acknowledges))
		put_headers(t, next_out(t), t->headers, t->out_length);
	return dpdk_send_one(t, seq);
}

/* While nothing arrives, or leaves: a port whose link is down says nothing by itself. Of memif's sides, the coordinator sees
 * which has ended. */
static int look_at_link(struct dpdk *t, uint32_t polls)
{
	if (!frames_unlikely(!(polls % LOOK_EVERY)) || t->port.is_own_memif || dpdk_port_has_link(t))
		return 0;
	return frames_note(&t->frames, -ENETDOWN, "move messages", LOST_LINK);
}

/* Cold: the driver takes no frame now. */
static __attribute__((noinline)) int dpdk_send_patiently(struct dpdk *t, uint32_t seq)
{
	uint32_t rounds = 0;
	int rc;

	do {
		rc = frames_wait_to_send(&t->frames, -1, 0, &rounds);
		if (!rc)
			rc = look_at_link(t, rounds);
		if (rc)
			return rc;
		rc = dpdk_send_one(t, seq);
	} while (!rc);
	return rc < 0 ? rc : 0;
}

static inline int dpdk_send(struct dpdk *t, uint32_t seq)
{
	const int rc = dpdk_send_one(t, seq);

	if (frames_unlikely(rc <= 0))
		return rc ? rc : dpdk_send_patiently(t, seq);
	return 0;
}

static int dpdk_post(struct transport *transport, uint32_t seq, bool signal)
{
	struct dpdk *t = (struct dpdk *)transport;

	(void)signal;
	if (frames_unlikely(t->acknowledges))
		put_headers(t, next_out(t), t->headers, t->out_length);
	return dpdk_send(t, seq);
}

static int dpdk_post_empty(struct transport *transport, uint32_t seq, bool signal)
{
	struct dpdk *t = (struct dpdk *)transport;

	(void)signal;
	put_headers(t, next_out(t), t->empty_headers, UDP_FRAME_NUMBER + FRAMES_NUMBER);
	return dpdk_send(t, seq);
}

static int dpdk_post_more(struct transport *transport, uint32_t seq, bool signal)
{
	struct dpdk *t = (struct dpdk *)transport;
	const int rc = dpdk_enter(t, seq);

	(void)signal;
	if (rc)
		return rc;
	t->head++;
	t->listed++;
	frames_posted(&t->frames, seq);
	return 0;
}

static int dpdk_flush(struct transport *transport)
{
	struct dpdk *t = (struct dpdk *)transport;
	uint32_t rounds = 0;

	while (t->listed) {
		const uint32_t first = (t->head - t->listed) & t->mask, rest = t->mask + 1 - first;
		const uint16_t sent =
		    t->tx_burst(t->tx_queue, t->out + first, (uint16_t)(t->listed < rest ? t->listed : rest));

		t->listed -= sent;
		if (!sent && (frames_wait_to_send(&t->frames, -1, 0, &rounds) || look_at_link(t, rounds)))
			return t->frames.fault.rc ? t->frames.fault.rc : -EINTR;
	}
	return 0;
}

/* Cold: a frame without the token. Was it meant for this side? */
static void count_stranger(struct dpdk *t, const struct rte_mbuf *m)
{
	const struct sockaddr_in *own = (const struct sockaddr_in *)&t->own.at.addr;
	const char *frame = start_of(m);
	const bool is_ours = m->data_len >= UDP_FRAME_HEADERS && frame[PROTOCOL_AT] == IPPROTO_UDP &&
			     !memcmp(frame + ADDRESS_AT, &own->sin_addr, sizeof(own->sin_addr)) &&
			     !memcmp(frame + PORT_AT, &own->sin_port, sizeof(own->sin_port));

	t->strangers += is_ours;
	t->others += !is_ours;
}

/* A frame that has not the length of a message, or not the token. */
static int take_other(struct dpdk *t, const struct rte_mbuf *m, uint32_t *seq)
{
	uint32_t payload;

	if (m->data_len < UDP_FRAME_NUMBER ||
	    memcmp(start_of(m) + UDP_FRAME_HEADERS, &t->badge, UDP_FRAME_TOKEN) != 0) {
		count_stranger(t, m);
		return 0;
	}
	payload = udp_frame_payload(t->frames.in);
	if (udp_frame_is_whole(m->data_len, payload)) {
		if (payload == t->frames.size || (t->acknowledges && payload == UDP_FRAME_OVERHEAD))
			return frames_take_number(&t->frames, seq);
		if (payload == UDP_FRAME_GREETING - UDP_FRAME_HEADERS)
			return 0; /* late */
	}
	return frames_note(&t->frames, -EMSGSIZE, "receive", "received a frame that is no message of this run");
}

/* Give back the frames of the last burst, and take the next. */
static uint32_t take_burst(struct dpdk *t)
{
	if (t->taken)
		dpdk_library.pktmbuf_free_bulk(t->in, t->taken);
	t->next = 0;
	t->taken = t->rx_burst(t->rx_queue, t->in, t->burst);
	return t->taken;
}

static int dpdk_poll_recv(struct transport *transport, uint32_t *seq)
{
	struct dpdk *t = (struct dpdk *)transport;
	const struct rte_mbuf *m;
	uint64_t badge;

	if (t->next == t->taken) {
		if (!take_burst(t))
			return look_at_link(t, ++t->idle);
		t->idle = 0;
	}
	m = t->in[t->next++];
	t->frames.in = start_of(m) + UDP_FRAME_NUMBER;
	memcpy(&badge, t->frames.in - UDP_FRAME_TOKEN, sizeof(badge));
	if (frames_unlikely(m->data_len != t->in_length || badge != t->badge))
		return take_other(t, m, seq);
	return frames_take_number(&t->frames, seq);
}

/* The thread that measures gets a cache of the mempool. */
static void dpdk_enter_thread(struct transport *transport)
{
	(void)transport;
	dpdk_library.thread_register();
}

static void dpdk_leave(struct transport *transport)
{
	(void)transport;
	dpdk_library.thread_unregister();
}

/* --- connect --- */

/* "DPDK 22.11.5": what is after the month does not change what both sides do. */
static bool is_same_version(const char *a, const char *b)
{
	const char *dot = strchr(a, '.');
	const size_t length = dot ? (size_t)(dot - a) + 1 + strcspn(dot + 1, ".-") : strlen(a);

	return !strncmp(a, b, length) && !isdigit((unsigned char)b[length]);
}

static int read_peer(struct dpdk *t, const json_t *peer, struct err *e)
{
	const char *version = json_text(peer, "version"), *rendezvous = json_text(peer, "rendezvous");
	const int rc = udp_frame_read(&t->peer, peer, e);
	char theirs[48];

	if (rc)
		return rc;
	if (!is_xdp(port_of(&t->settings, t->role == ROLE_SINK ? ROLE_SOURCE : ROLE_SINK)) &&
	    !is_same_version(dpdk_library.version(), version))
		return err_set(e, -EPROTO, STATUS_IMPOSSIBLE, t->object, NULL,
			       "this side has %s, the other %s; install the same on both", dpdk_library.version(),
			       *version ? text_clean(version, strlen(version), theirs, sizeof(theirs)) : "none");
	if (!is_made_later(t))
		return 0;
	if (strlen(rendezvous) != sizeof("kblat-") - 1 + TOKEN_TEXT - 1 || strncmp(rendezvous, "kblat-", 6) != 0 ||
	    strspn(rendezvous + 6, "0123456789abcdef") != TOKEN_TEXT - 1)
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL, "names no valid meeting place");
	snprintf(t->rendezvous, sizeof(t->rendezvous), "%s", rendezvous);
	return 0;
}

static int greet(void *transport, bool has_heard)
{
	struct dpdk *t = transport;
	unsigned char headers[UDP_FRAME_HEADERS];
	struct rte_mbuf *m = next_out(t);
	int rc;

	udp_frame_headers(headers, &t->own, &t->peer, UDP_FRAME_GREETING);
	put_headers(t, m, headers, UDP_FRAME_GREETING);
	rc = dpdk_enter(t, 0);
	if (rc)
		return rc;
	/* Where a message has its number. */
	t->frames.out[0] = (char)has_heard;
	if (t->tx_burst(t->tx_queue, &m, 1) == 1)
		t->head++;
	else
		rte_mbuf_refcnt_set(m, 1); /* it is sent again */
	return 0;
}

static bool hear(void *transport, bool *is_heard)
{
	struct dpdk *t = transport;
	bool has_heard = false;

	for (int i = 0; i < BURSTS_MOST && take_burst(t); i++)
		for (; t->next < t->taken; t->next++) {
			const struct rte_mbuf *m = t->in[t->next];
			const char *number = start_of(m) + UDP_FRAME_NUMBER;

			if (m->data_len < UDP_FRAME_GREETING ||
			    memcmp(start_of(m) + UDP_FRAME_HEADERS, &t->badge, UDP_FRAME_TOKEN) != 0)
				count_stranger(t, m);
			else if (udp_frame_payload(number) == UDP_FRAME_GREETING - UDP_FRAME_HEADERS) {
				has_heard = true;
				*is_heard |= number[0] == 1;
			}
		}
	return has_heard;
}

/* Every buffer of the shared rings is used once, so that none of their pages is touched first while messages are measured,
 * also where this user may not lock memory. */
static void go_round(struct dpdk *t)
{
	bool is_heard = false;

	for (uint32_t i = 0; i <= t->port.tx_descriptors; i++) {
		if (greet(t, true))
			return; /* the first post says why */
		hear(t, &is_heard);
	}
}

static int meet(struct dpdk *t, struct err *e)
{
	const int rc = udp_frame_meet(&(struct udp_frame_meeting){.transport = t, .greet = greet, .hear = hear});
	char operation[128];

	if (rc == -ENOMSG) {
		snprintf(operation, sizeof(operation), "meet the other side at %s", t->peer.at.text);
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, t->object, operation,
			       "none of its frames has arrived at queue %u; both ports must be on one Ethernet segment",
			       t->port.queue);
	}
	if (t->port.is_own_memif)
		go_round(t);
	memory_touch_all();
	return rc ? frames_failure(&t->frames, t->object, e) : 0;
}

static int dpdk_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct dpdk *t = (struct dpdk *)transport;
	int rc = read_peer(t, peer, e);

	if (!rc && is_made_later(t))
		rc = dpdk_port_open(t, port_of(&t->settings, t->role), e);
	if (!rc)
		rc = dpdk_port_await_link(t, e);
	if (!rc)
		rc = meet(t, e);
	if (rc)
		return rc;
	snprintf(t->object, sizeof(t->object), "%s to %s", t->port.object, t->peer.at.text);
	udp_frame_headers(t->headers, &t->own, &t->peer, t->out_length);
	udp_frame_headers(t->empty_headers, &t->own, &t->peer, UDP_FRAME_NUMBER + FRAMES_NUMBER);
	for (uint32_t i = 0; i <= t->mask; i++)
		put_headers(t, t->out[i], t->headers, t->out_length);
	return 0;
}

static int dpdk_prepare(struct transport *transport, struct err *e)
{
	struct dpdk *t = (struct dpdk *)transport;

	(void)e;
	for (; t->listed; t->listed--) /* was never sent */
		rte_mbuf_refcnt_set(t->out[--t->head & t->mask], 1);
	for (int i = 0; i < BURSTS_MOST && take_burst(t); i++)
		t->frames.stragglers += t->taken;
	frames_next_repetition(&t->frames);
	return 0;
}

/* --- what was granted, and counters --- */

static json_t *dpdk_granted(const struct transport *transport)
{
	const struct dpdk *t = (const struct dpdk *)transport;
	const struct dpdk_port *p = &t->port;

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:b}", "local", t->own.at.text,
			 "peer", t->peer.at.text, "port", p->name, "driver", p->driver, "library",
			 dpdk_library.version(), "queue", p->queue, "mtu_bytes", p->mtu, "rx_burst", t->burst,
			 "receive_descriptors", p->rx_descriptors, "send_descriptors", p->tx_descriptors, "mempool",
			 (json_int_t)p->buffers, "cache", (json_int_t)t->settings.cache, "huge", t->settings.huge);
}

static json_t *dpdk_device_counters(struct transport *transport)
{
	const struct dpdk *t = (const struct dpdk *)transport;
	json_t *counters = frames_counters(&t->frames);

	json_object_set_new(counters, "stranger_messages", json_integer((json_int_t)t->strangers));
	json_object_set_new(counters, "other_frames", json_integer((json_int_t)t->others));
	dpdk_port_count(t, counters);
	return counters;
}

static int dpdk_failure(const struct transport *transport, struct err *e)
{
	const struct dpdk *t = (const struct dpdk *)transport;

	return frames_failure(&t->frames, t->object, e);
}

static int dpdk_device_failure(struct transport *transport, struct err *e)
{
	const struct dpdk *t = (const struct dpdk *)transport;

	if (dpdk_port_has_link(t))
		return 0;
	return err_set(e, -ENETDOWN, STATUS_FAILED, t->object, NULL, LOST_LINK);
}

static const struct counter_check dpdk_checks[] = {
    {.counter = "imissed",
     .text =
	 "the port dropped {n} frames, as no descriptor was free (imissed){where}; a larger `descriptors` or a faster "
	 "receiver helps"},
    {.counter = "rx_nombuf",
     .text = "{n} times the port found no buffer to receive into (rx_nombuf){where}; a larger `mempool` helps"},
    {.counter = "ierrors", .text = "the port received {n} frames with errors (ierrors){where}"},
    {.counter = "oerrors", .text = "the port failed to send {n} frames (oerrors){where}"},
    CHECK_STRANGERS,
    {.counter = NULL},
};

const struct transport_ops dpdk_transport = {
    .name = "dpdk",
    .summary = "UDP datagrams through a poll-mode driver of DPDK: a card, or memory shared by both sides; losses are "
	       "counted",
    .options = dpdk_options,
    .settings_size = sizeof(struct dpdk_settings),
    .poll_modes = 1 << POLL_BUSY,
    .is_exclusive = true,
    .has_wire = true,
    .completes_in_post = true,
    .posts_lists = true,
    .shares_files = true,
    .typical = {.post_ns = 100, .latency_ns = 1000, .sleeping_ns = 1000},
    .checks = dpdk_checks,
    .check = dpdk_check,
    .traits = dpdk_traits,
    .open = dpdk_open,
    .connect = dpdk_connect,
    .prepare = dpdk_prepare,
    .enter = dpdk_enter_thread,
    .leave = dpdk_leave,
    .granted = dpdk_granted,
    .device_counters = dpdk_device_counters,
    .failure = dpdk_failure,
    .device_failure = dpdk_device_failure,
    .close = dpdk_close,
    .send_buffer = dpdk_send_buffer,
    .post = dpdk_post,
    .post_try = dpdk_post_try,
    .post_empty = dpdk_post_empty,
    .post_more = dpdk_post_more,
    .flush = dpdk_flush,
    .poll_send = frames_poll_posted,
    .poll_recv = dpdk_poll_recv,
    .recv_buffer = frames_recv_buffer,
};

#endif
