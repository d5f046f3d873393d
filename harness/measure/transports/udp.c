/*
 * UDP datagrams between two connected sockets, one per message. Losses are counted: if the receive
 * buffer is too small for a burst, the rest of the burst is lost. Busy: repeated non-blocking
 * recv(2); event: epoll_wait(2), then recv(2).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/err.h"
#include "common/text.h"
#include "measure/transports/sockets.h"

#define RECEIVERS_MAX 64

/* One of several sockets of the sink that get every message. */
struct udp_receiver {
	int fd;
	uint32_t last; /* the message that it has received last */
};

struct udp {
	SOCKET_TRANSPORT;
	bool acknowledges; /* datagrams that consist of a number alone are received, too */
	uint32_t copies;   /* the source: datagrams of a message, of which each goes to its own address; 0: just one */
	uint32_t count, next; /* the sink: receivers; 0: the socket itself. The first that lacks the newest message */
	uint32_t newest;
	int64_t receivers;
	struct socket_address group; /* size 0: none */
	struct socket_address target[RECEIVERS_MAX];
	struct udp_receiver receiver[RECEIVERS_MAX];
};

extern const struct transport_ops udp_transport;

static const struct opt udp_options[] = {
    SOCKET_OPTIONS,
    SOCKET_CALL_OPTIONS,
    {"receivers", OPT_INT, SOCKET_FIELD(receivers), "1", 1, RECEIVERS_MAX, NULL,
     "sockets of the sink that each get every message, which has arrived when all of them have it (round trips)"},
    {"group", OPT_STR, SOCKET_FIELD(group), NO_GROUP, 0, 0, NULL,
     "none: a datagram to each receiver; or the IPv4 address of a multicast group that they join, which gets one"},
    {.name = NULL},
};

/* The sockets are connected, so all datagrams come from the other side. A greeting may arrive
 * twice, and late. */
static int udp_recv_other(struct udp *t, ssize_t n, uint32_t *seq)
{
	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return frames_note(&t->frames, -errno, "receive", "the other side has ended");
	if (n == FRAMES_NUMBER && t->acknowledges)
		return frames_take_number(&t->frames, seq);
	if (sockets_is_greeting(&t->end, t->frames.in, (size_t)n, t->frames.size))
		return 0;
	return frames_note(&t->frames, -EMSGSIZE, "receive", "received a datagram that does not belong to this run");
}

/* --- several receivers --- */

static bool is_several(const struct socket_settings *s)
{
	return s->receivers > 1 || socket_has_group(s->group);
}

static int check_receivers(const struct socket_settings *s, const struct transport_config *config, char *why,
			   size_t why_size)
{
	char quoted[TEXT_QUOTE_MAX];

	if (!is_several(s))
		return 0;
	if (socket_has_group(s->group) && !socket_group_is(s->group))
		snprintf(why, why_size, GROUP_REFUSED, text_quote(s->group, quoted, sizeof(quoted)));
	else if (socket_has_group(s->group) && strchr(s->source_address, ':'))
		snprintf(why, why_size, "group %s and source_address %s: the group is of IPv4", s->group,
			 s->source_address);
	else if (!config->duplex || config->is_stream || config->acknowledges)
		snprintf(why, why_size,
			 "receivers %lld, group %s: a message goes to all when the one before is answered; use kernel "
			 "pingpong",
			 (long long)s->receivers, s->group);
	else
		return 0;
	return -EINVAL;
}

/* Groups are joined and sent to over the interface that has this side's address. */
static struct ip_mreqn udp_membership(const struct udp *t)
{
	return (struct ip_mreqn){
	    .imr_multiaddr = ((const struct sockaddr_in *)&t->group.addr)->sin_addr,
	    .imr_address = ((const struct sockaddr_in *)&t->end.own.addr)->sin_addr,
	};
}

static int udp_join(const struct udp *t, int fd, struct err *e)
{
	const struct ip_mreqn m = udp_membership(t);
	const char *hint = "see `ip maddress` and `ip address`";
	char operation[128];
	int rc;

	if (!t->group.size || !setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m, sizeof(m)))
		return 0;
	rc = -errno;
	if (rc == -ENOBUFS)
		hint = "net.ipv4.igmp_max_memberships is the limit; an administrator can raise it";
	snprintf(operation, sizeof(operation), "join group %.63s", t->end.settings.group);
	return err_set(e, rc, STATUS_IMPOSSIBLE, t->end.object, operation, "%s; %s", strerror(-rc), hint);
}

/* A group's receivers share its address and port; otherwise each has a port of its own. */
static int open_receiver(struct udp *t, struct udp_receiver *r, struct socket_address *at, struct err *e)
{
	const int on = 1;
	socklen_t size = sizeof(at->addr);

	r->fd = socket(at->addr.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (r->fd < 0)
		return err_sys(e, -errno, t->end.object, "make a socket for another receiver");
	t->count++;
	if (t->group.size)
		setsockopt(r->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(r->fd, (const struct sockaddr *)&at->addr, at->size))
		return err_sys(e, -errno, t->end.object, "bind another receiver");
	getsockname(r->fd, (struct sockaddr *)&at->addr, &size);
	return udp_join(t, r->fd, e);
}

/* The source's datagrams for receivers start from the socket that the others come from, as receivers accept no others. */
static int open_receivers(struct udp *t, json_t *address, struct err *e)
{
	json_t *ports = json_array();
	struct socket_address at = t->group.size ? t->group : t->end.own;
	int rc = 0;

	for (int64_t i = 0; !rc && i < t->receivers; i++) {
		if (!t->group.size)
			((struct sockaddr_in *)&at.addr)->sin_port = 0; /* at the same offset in both families */
		rc = open_receiver(t, &t->receiver[i], &at, e);
		json_array_append_new(ports, json_integer(ntohs(((struct sockaddr_in *)&at.addr)->sin_port)));
	}
	json_object_set_new(address, "receivers", ports);
	return rc;
}

/* Receivers take datagrams of the source alone; those that sleep watch only these sockets. */
static int connect_receivers(struct udp *t, struct err *e)
{
	struct epoll_event readable = {.events = EPOLLIN};
	int rc = 0;

	if (t->count && t->end.epoll_fd >= 0)
		epoll_ctl(t->end.epoll_fd, EPOLL_CTL_DEL, t->end.fd, NULL);
	for (uint32_t i = 0; !rc && i < t->count; i++) {
		const int fd = t->receiver[i].fd;

		if (connect(fd, (const struct sockaddr *)&t->end.peer.addr, t->end.peer.size) ||
		    (t->end.epoll_fd >= 0 && epoll_ctl(t->end.epoll_fd, EPOLL_CTL_ADD, fd, &readable)))
			rc = err_sys(e, -errno, t->end.object, "connect another receiver");
	}
	return rc;
}

/* Where each datagram of a message goes. A group's do not leave the local network. */
static int udp_aim(struct udp *t, const json_t *peer, struct err *e)
{
	const json_t *ports = json_object_get(peer, "receivers");
	const struct ip_mreqn m = udp_membership(t);

	if (json_array_size(ports) != (size_t)t->receivers)
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL, "has %zu receivers, not %lld",
			       json_array_size(ports), (long long)t->receivers);
	for (size_t i = 0; i < (size_t)t->receivers; i++) {
		const json_int_t port = json_integer_value(json_array_get(ports, i));

		if (port < 1 || port > 65535)
			return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL,
				       "has a receiver without a valid port");
		t->target[i] = t->group.size ? t->group : t->end.peer;
		((struct sockaddr_in *)&t->target[i].addr)->sin_port = htons((uint16_t)port);
	}
	t->copies = t->group.size ? 1 : (uint32_t)t->receivers;
	if (t->group.size && setsockopt(t->end.fd, IPPROTO_IP, IP_MULTICAST_IF, &m, sizeof(m)))
		return err_sys(e, -errno, t->end.object, "send to a group over this interface");
	return 0;
}

static int send_copy(struct udp *t, const struct socket_address *to)
{
	uint32_t rounds = 0;

	while (sendto(t->end.fd, t->frames.out, t->frames.size, MSG_DONTWAIT | MSG_NOSIGNAL,
		      (const struct sockaddr *)&to->addr, to->size) < 0) {
		if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
			return frames_note(&t->frames, -errno, "send to a receiver", "the other side has ended");

		int rc = frames_wait_to_send(&t->frames, t->end.fd, POLLOUT, &rounds);

		if (rc)
			return rc;
	}
	return 0;
}

static int udp_post_copies(struct udp *t, uint32_t seq)
{
	frames_put_number(&t->frames, seq);
	for (uint32_t i = 0; i < t->copies; i++) {
		int rc = send_copy(t, &t->target[i]);

		if (rc)
			return rc;
	}
	frames_posted(&t->frames, seq);
	return 0;
}

/* They are looked at one after the other. A message that was lost on the way to one of them never arrives; the next one
 * begins with the first receiver again. */
static int udp_poll_receivers(struct udp *t, uint32_t *seq)
{
	struct udp_receiver *r = &t->receiver[t->next];
	ssize_t n = recv(r->fd, t->frames.in, t->frames.size, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n != (ssize_t)t->frames.size)
		return udp_recv_other(t, n, seq);
	if (!frames_take_number(&t->frames, seq) || *seq < t->newest)
		return 0;
	if (*seq > t->newest)
		t->next = 0;
	t->newest = r->last = *seq;
	while (t->next < t->count && t->receiver[t->next].last == t->newest)
		t->next++;
	if (t->next < t->count)
		return 0;
	t->next = 0;
	return 1;
}

/* --- the hot path --- */

static int udp_post(struct transport *transport, uint32_t seq, bool signal)
{
	struct udp *t = (struct udp *)transport;

	return frames_unlikely(t->copies > 0) ? udp_post_copies(t, seq) : sockets_post(transport, seq, signal);
}

/* recv() returned `n`. MSG_TRUNC: the datagram's own size, even if it is larger. */
static int udp_take(struct udp *t, ssize_t n, uint32_t *seq)
{
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (ssize_t)t->frames.size))
		return udp_recv_other(t, n, seq);
	return frames_take_number(&t->frames, seq);
}

static int udp_poll_recv(struct transport *transport, uint32_t *seq)
{
	struct udp *t = (struct udp *)transport;

	if (frames_unlikely(t->count > 0))
		return udp_poll_receivers(t, seq);
	return udp_take(t, recv(t->end.fd, t->frames.in, t->frames.size, MSG_DONTWAIT | MSG_TRUNC), seq);
}

static int udp_poll_recv_stamped(struct transport *transport, uint32_t *seq, uint64_t *stamp)
{
	struct udp *t = (struct udp *)transport;

	return udp_take(t, stages_recv(t->end.fd, t->frames.in, t->frames.size, MSG_DONTWAIT | MSG_TRUNC, stamp), seq);
}

/* --- the control path --- */

static void udp_drain(struct udp *t, int fd)
{
	char byte;

	while (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0)
		t->frames.stragglers++;
}

static int udp_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	int rc;

	if (config->size > UDP_SIZE_MAX) {
		snprintf(why, why_size, "size %lld and transport udp: a datagram holds at most %d bytes",
			 (long long)config->size, UDP_SIZE_MAX);
		return -EINVAL;
	}
	rc = sockets_check(settings, config, why, why_size);
	return rc ? rc : check_receivers(settings, config, why, why_size);
}

static void udp_traits(const void *settings, struct transport_traits *out)
{
	(void)settings;
	out->is_reliable = false;
	out->overhead = FRAMES_NUMBER;
}

static void udp_close(struct transport *transport)
{
	struct udp *t = (struct udp *)transport;

	while (t->count > 0)
		close(t->receiver[--t->count].fd);
	sockets_close(transport);
}

static int udp_open(const struct transport_config *config, const void *settings, struct transport **out,
		    json_t **address, struct err *e)
{
	if (config->size > UDP_SIZE_MAX)
		return err_set(e, -EMSGSIZE, STATUS_USAGE, "udp", NULL, "a datagram holds at most %d bytes",
			       UDP_SIZE_MAX);

	const struct socket_settings *s = settings;
	struct udp *t;
	int rc = sockets_open(&udp_transport, SOCK_DGRAM, sizeof(struct udp), config, settings, out, address, e);

	if (rc)
		return rc;
	t = (struct udp *)*out;
	t->acknowledges = config->acknowledges;
	if (!is_several(s))
		return 0;
	t->receivers = s->receivers;
	if (socket_has_group(s->group))
		sockets_parse(s->group, 0, &t->group);
	rc = config->role == ROLE_SINK ? open_receivers(t, *address, e) : 0;
	if (rc) {
		json_decref(*address);
		udp_close(*out);
	}
	return rc;
}

static int udp_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct udp *t = (struct udp *)transport;
	int rc = sockets_meet_datagram(&t->end, peer, t->frames.size, e);

	if (!rc && t->receivers && t->end.role == ROLE_SOURCE)
		rc = udp_aim(t, peer, e);
	if (!rc)
		rc = sockets_connected((struct socket_transport *)t, false, e);
	return rc ? rc : connect_receivers(t, e);
}

/* Empty the receive buffers; messages that arrive later are recognised by their numbers and ignored. */
static int udp_prepare(struct transport *transport, struct err *e)
{
	struct udp *t = (struct udp *)transport;

	udp_drain(t, t->end.fd);
	for (uint32_t i = 0; i < t->count; i++) {
		udp_drain(t, t->receiver[i].fd);
		t->receiver[i].last = UINT32_MAX;
	}
	t->newest = t->next = 0;
	frames_next_repetition(&t->frames);
	return sockets_prepare_stages((struct socket_transport *)t, false, e);
}

static json_t *udp_granted(const struct transport *transport)
{
	const struct udp *t = (const struct udp *)transport;
	json_t *granted = sockets_granted(transport);

	if (t->receivers) {
		json_object_set_new(granted, "receivers", json_integer(t->receivers));
		json_object_set_new(granted, "group", json_string(t->end.settings.group));
	}
	return granted;
}

const struct transport_ops udp_transport = {
    .name = "udp",
    .summary = "UDP datagrams through the kernel's sockets; losses are counted",
    .options = udp_options,
    .settings_size = sizeof(struct socket_settings),
    .has_wire = true,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 2500, .latency_ns = 10000, .sleeping_ns = 25000},
    .completes_in_post = true,
    .check = udp_check,
    .traits = udp_traits,
    .open = udp_open,
    .connect = udp_connect,
    .prepare = udp_prepare,
    .stamps_stages = true,
    .read_clock = sockets_read_clock,
    .set_column = sockets_set_column,
    .granted = udp_granted,
    .device_counters = sockets_device_counters,
    .failure = sockets_failure,
    .close = udp_close,
    SOCKET_HOT_OPS,
    .post = udp_post,
    .post_try = sockets_post_try,
    .post_empty = sockets_post_number,
    .poll_recv = udp_poll_recv,
    .poll_recv_stamped = udp_poll_recv_stamped,
};
