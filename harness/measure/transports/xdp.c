#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
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

#define GREETING       (XDP_NUMBER + 1) /* bytes of a frame that only carries the token and a flag: no message is so short */
#define GREETING_MS    20
#define LAST_GREETINGS 3
#define SENT_MS	       1000 /* how long posted messages may take to be sent */
#define LOOK_AGAIN_US  50   /* between looks for completions, of which the kernel gives no notice */
#define BUDGET_MAX     65535
#define QUEUE_MAX      4095
#define RING_MIN       64
#define RING_MAX       32768
#define HOPS	       64
#define ETHERNET_LEAST 60 /* shorter frames are padded on a wire */

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
	const int64_t least = XDP_OVERHEAD + (config->rewrites ? (int64_t)sizeof(int64_t) : 0);

	if (config->size < least)
		snprintf(why, why_size,
			 "size %lld and transport xdp: %lld bytes of a message hold its token and number%s",
			 (long long)config->size, (long long)least, config->rewrites ? " and the stamp of t_send" : "");
	else if (config->size > XDP_SIZE_MAX)
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
	out->overhead = XDP_OVERHEAD;
}

/* --- open and close --- */

/* A socket of the kernel's keeps the port, so that nobody else gets it; with the wrong token, frames still go there. */
static int xdp_keep_port(struct xdp *t, const char *address, struct err *e)
{
	if (!sockets_parse(address, (uint16_t)t->settings.port, &t->own))
		return err_set(e, -EINVAL, STATUS_USAGE, "xdp", NULL, "an address is invalid");
	snprintf(t->object, sizeof(t->object), "xdp %s", t->own.text);
	t->port_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (t->port_fd < 0)
		return err_sys(e, -errno, t->object, "make a socket");
	if (bind(t->port_fd, (const struct sockaddr *)&t->own.addr, t->own.size)) {
		if (errno == EADDRNOTAVAIL)
			return err_set(e, -errno, STATUS_IMPOSSIBLE, t->object, "use this address",
				       "no interface here has it; see `ip address`");
		return err_sys(e, -errno, t->object, "use this address");
	}
	t->own.size = sizeof(t->own.addr);
	getsockname(t->port_fd, (struct sockaddr *)&t->own.addr, &t->own.size);
	sockets_name(&t->own);
	snprintf(t->object, sizeof(t->object), "xdp %s", t->own.text);
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

static json_t *xdp_describe(const struct xdp *t)
{
	const struct sockaddr_in *own = (const struct sockaddr_in *)&t->own.addr;
	char token[TOKEN_TEXT], address[INET_ADDRSTRLEN], mac[18];

	inet_ntop(AF_INET, &own->sin_addr, address, sizeof(address));
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", t->card.mac[0], t->card.mac[1], t->card.mac[2],
		 t->card.mac[3], t->card.mac[4], t->card.mac[5]);
	return json_pack("{s:s, s:i, s:s, s:s}", "address", address, "port", ntohs(own->sin_port), "token",
			 token_text(&t->token, token), "mac", mac);
}

static int xdp_open_parts(struct xdp *t, const struct transport_config *config, struct err *e)
{
	int rc =
	    feature_is_built("libbpf") ? token_draw(&t->token, e) : feature_missing("libbpf", "the transport xdp", e);

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

	t->base = (struct transport){.ops = &xdp_transport, .overhead = XDP_OVERHEAD};
	t->fd = t->port_fd = -1;
	t->role = config->role;
	t->settings = *(const struct xdp_settings *)settings;
	t->frames = (struct frames){.size = (size_t)config->size, .stop = config->stop};
	t->out_length = t->in_length = (uint32_t)(XDP_HEADERS + config->size);
	t->acknowledges = config->acknowledges;
	xdp_program_init(&t->program);
	rc = xdp_open_parts(t, config, e);
	if (rc) {
		xdp_close(&t->base);
		return rc;
	}
	*address = xdp_describe(t);
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

	memcpy(frame, headers, XDP_HEADERS);
	memcpy(frame + XDP_HEADERS, t->peer_token.bytes, XDP_TOKEN);
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
	return t->umem + next_chunk(t) + XDP_ROOM + XDP_NUMBER + FRAMES_NUMBER;
}

/* Enter a message in the ring; the kernel does not see it yet. */
static void xdp_enter(struct xdp *t, uint32_t seq, uint32_t length)
{
	const uint32_t at = t->head & t->tx.mask;
	const uint64_t frame = t->free[at] + XDP_ROOM;

	t->frames.out = t->umem + frame + XDP_NUMBER;
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
	xdp_enter(t, seq, XDP_NUMBER + FRAMES_NUMBER);
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

static uint16_t udp_payload(const struct xdp *t)
{
	struct udphdr udp;

	memcpy(&udp, t->frames.in - XDP_NUMBER + XDP_HEADERS - sizeof(udp), sizeof(udp));
	return (uint16_t)(ntohs(udp.len) - sizeof(udp));
}

/* A frame that has not the length of a message. On a wire, short frames are padded. Greetings may arrive late. */
static int take_other(struct xdp *t, uint32_t length, uint32_t *seq)
{
	const uint32_t payload = udp_payload(t);
	const bool is_whole =
	    length == XDP_HEADERS + payload || (length == ETHERNET_LEAST && length > XDP_HEADERS + payload);

	if (is_whole && (payload == t->frames.size || (t->acknowledges && payload == XDP_OVERHEAD))) {
		if (frames_take_number(&t->frames, seq))
			return 1;
		return give_back(t);
	}
	if (is_whole && payload == GREETING - XDP_HEADERS)
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
	t->frames.in = t->umem + frame->addr + XDP_NUMBER;
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

static int xdp_read_peer(struct xdp *t, const json_t *peer, struct err *e)
{
	const char *address = json_text(peer, "address");
	const char *mac = json_text(peer, "mac");
	const json_int_t port = json_integer_value(json_object_get(peer, "port"));
	unsigned char *m = t->peer_mac;
	int end = 0;

	if (port < 1 || port > 65535 || !sockets_parse(address, (uint16_t)port, &t->peer) ||
	    t->peer.addr.ss_family != AF_INET ||
	    !token_read(json_string_value(json_object_get(peer, "token")), &t->peer_token) ||
	    sscanf(mac, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &end) != 6 ||
	    end != 17 || mac[end])
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL,
			       "has no valid address, port, token and MAC address");
	return 0;
}

static uint16_t checksum(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* The headers of a frame of `length` bytes. Over IPv4, a UDP checksum of 0 means that there is none. */
static void make_headers(const struct xdp *t, unsigned char headers[XDP_HEADERS], uint32_t length)
{
	const struct sockaddr_in *own = (const struct sockaddr_in *)&t->own.addr;
	const struct sockaddr_in *peer = (const struct sockaddr_in *)&t->peer.addr;
	struct ethhdr ethernet = {.h_proto = htons(ETH_P_IP)};
	struct iphdr ip = {.version = 4, .ihl = 5, .ttl = HOPS, .protocol = IPPROTO_UDP};
	struct udphdr udp = {.source = own->sin_port, .dest = peer->sin_port};

	memcpy(ethernet.h_dest, t->peer_mac, sizeof(t->peer_mac));
	memcpy(ethernet.h_source, t->card.mac, sizeof(t->card.mac));
	ip.tot_len = htons((uint16_t)(length - sizeof(ethernet)));
	ip.frag_off = htons(IP_DF);
	ip.saddr = own->sin_addr.s_addr;
	ip.daddr = peer->sin_addr.s_addr;
	ip.check = checksum(&ip, sizeof(ip));
	udp.len = htons((uint16_t)(length - sizeof(ethernet) - sizeof(ip)));
	memcpy(headers, &ethernet, sizeof(ethernet));
	memcpy(headers + sizeof(ethernet), &ip, sizeof(ip));
	memcpy(headers + sizeof(ethernet) + sizeof(ip), &udp, sizeof(udp));
}

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
	unsigned char headers[XDP_HEADERS];

	make_headers(t, headers, GREETING);
	put_headers(t, next_chunk(t), headers);
	xdp_enter(t, 0, GREETING);
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
		    t->umem + ((const struct xdp_desc *)t->rx.entries)[t->taken & t->rx.mask].addr + XDP_NUMBER;
		if (udp_payload(t) == GREETING - XDP_HEADERS) {
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

	snprintf(operation, sizeof(operation), "meet the other side at %s", t->peer.text);
	if (strays.frames)
		return err_set(
		    e, -ETIMEDOUT, STATUS_FAILED, t->object, operation,
		    "its frames come to queue %llu of %s, not to %lld; `ethtool -N %s flow-type udp4 dst-port %u "
		    "action %lld` directs them there, or choose that queue",
		    (unsigned long long)strays.queue, t->card.interface.name, (long long)t->settings.queue,
		    t->card.interface.name, ntohs(((const struct sockaddr_in *)&t->own.addr)->sin_port),
		    (long long)t->settings.queue);
	return err_set(e, -ETIMEDOUT, STATUS_FAILED, t->object, operation,
		       "none of its frames has arrived; both interfaces must be on one Ethernet segment");
}

static int xdp_meet(struct xdp *t, struct err *e)
{
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	bool has_heard = false, is_heard = false;
	int rc = 0;

	while (!rc && !(has_heard && is_heard)) {
		const int64_t now_ms = monotonic_ms(), next_ms = now_ms + GREETING_MS;
		/* Sooner than the other side, who does not know why. */
		const bool is_misled = !has_heard && now_ms > deadline_ms - TOKEN_PATIENCE_MS / 2 &&
				       xdp_program_strays(&t->program).frames;

		if (is_misled || now_ms > deadline_ms)
			return no_answer(t, e);
		rc = xdp_greet(t, has_heard);
		while (!rc && !(has_heard && is_heard) && monotonic_ms() < next_ms) {
			if (t->nudges)
				nudge(t);
			has_heard |= hear_greetings(t, &is_heard);
			poll(NULL, 0, 1);
		}
	}
	/* The other side may not know yet that it was received, and would not learn it later. */
	for (int i = 0; !rc && i < LAST_GREETINGS; i++)
		rc = xdp_greet(t, true);
	if (rc == -ETIMEDOUT)
		return err_set(e, rc, STATUS_FAILED, t->object, "send", "the interface has sent nothing for 1 s");
	return rc ? frames_failure(&t->frames, t->object, e) : 0;
}

static int xdp_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct xdp *t = (struct xdp *)transport;
	char object[sizeof(t->object)];
	int rc = xdp_read_peer(t, peer, e);

	if (!rc)
		rc = xdp_meet(t, e);
	if (rc)
		return rc;
	snprintf(object, sizeof(object), "%.96s to %s", t->object, t->peer.text);
	memcpy(t->object, object, sizeof(t->object));
	make_headers(t, t->headers, t->out_length);
	make_headers(t, t->empty_headers, XDP_NUMBER + FRAMES_NUMBER);
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

	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:b, s:i, s:i, s:i, s:I}", "local", t->own.text, "peer",
			 t->peer.text, "interface", t->card.interface.name, "driver", t->card.driver, "queue",
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
