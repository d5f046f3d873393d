/*
 * A TCP connection. The stream is divided into messages by their fixed size. Busy: repeated
 * non-blocking recv(2); event: the same, and if there is nothing, epoll_wait(2) and recv(2) again.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "common/err.h"
#include "measure/transports/sockets.h"

struct tcp {
	SOCKET_TRANSPORT;
	size_t got; /* bytes of the next message received so far */
};

extern const struct transport_ops tcp_transport;

static const struct opt tcp_options[] = {
    SOCKET_OPTIONS,
    SOCKET_CALL_OPTIONS,
    {"nodelay", OPT_BOOL, SOCKET_FIELD(nodelay), "yes", 0, 0, NULL,
     "send immediately instead of waiting for more data (TCP_NODELAY)"},
    {.name = NULL},
};

/* --- the hot path --- */

/* recv() returned `n`, which is not the size of the rest of a message. */
static int tcp_recv_part(struct tcp *t, ssize_t n)
{
	if (n > 0) {
		t->got += (size_t)n;
		return 0;
	}
	if (n < 0 && errno == EINTR)
		return 0;
	return frames_note(&t->frames, n ? -errno : -ECONNRESET, "receive", "the other side has ended");
}

/* One system call has read the rest of one message, and nothing of the next one. */
static int tcp_take(struct tcp *t, ssize_t n, size_t rest, uint32_t *seq)
{
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (ssize_t)rest))
		return tcp_recv_part(t, n);
	t->got = 0;
	return frames_take_number(&t->frames, seq);
}

static int tcp_poll_recv(struct transport *transport, uint32_t *seq)
{
	struct tcp *t = (struct tcp *)transport;
	const size_t rest = t->frames.size - t->got;

	return tcp_take(t, recv(t->end.fd, t->frames.in + t->got, rest, MSG_DONTWAIT), rest, seq);
}

static int tcp_poll_recv_stamped(struct transport *transport, uint32_t *seq, uint64_t *stamp)
{
	struct tcp *t = (struct tcp *)transport;
	const size_t rest = t->frames.size - t->got;

	return tcp_take(t, stages_recv(t->end.fd, t->frames.in + t->got, rest, MSG_DONTWAIT, stamp), rest, seq);
}

/* --- the control path --- */

static void tcp_traits(const void *settings, struct transport_traits *out)
{
	(void)settings;
	out->overhead = FRAMES_NUMBER;
}

static int tcp_open(const struct transport_config *config, const void *settings, struct transport **out,
		    json_t **address, struct err *e)
{
	return sockets_open(&tcp_transport, SOCK_STREAM, sizeof(struct tcp), config, settings, out, address, e);
}

static int tcp_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct tcp *t = (struct tcp *)transport;
	int rc = sockets_meet_stream(&t->end, peer, e);

	return rc ? rc : sockets_connected((struct socket_transport *)t, true, e);
}

/* Messages in flight at the end of the last repetition will still arrive, and are recognised by
 * their numbers and ignored. */
static int tcp_prepare(struct transport *transport, struct err *e)
{
	struct tcp *t = (struct tcp *)transport;
	int rc;

	frames_next_repetition(&t->frames);
	rc = sockets_finish_part(&t->end, &t->frames, e);
	return rc ? rc : sockets_prepare_stages((struct socket_transport *)t, true, e);
}

static json_t *tcp_granted(const struct transport *transport)
{
	const struct tcp *t = (const struct tcp *)transport;
	json_t *granted = sockets_granted(transport);
	int nodelay = 0, mss = 0;
	socklen_t size = sizeof(int);

	getsockopt(t->end.fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &size);
	getsockopt(t->end.fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &size);
	json_object_set_new(granted, "nodelay", json_boolean(nodelay));
	json_object_set_new(granted, "mss_bytes", json_integer(mss));
	return granted;
}

const struct transport_ops tcp_transport = {
    .name = "tcp",
    .summary = "a TCP connection through the kernel's sockets",
    .options = tcp_options,
    .settings_size = sizeof(struct socket_settings),
    .has_wire = true,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 2500, .latency_ns = 10000, .sleeping_ns = 25000},
    .completes_in_post = true,
    .check = sockets_check,
    .traits = tcp_traits,
    .open = tcp_open,
    .connect = tcp_connect,
    .prepare = tcp_prepare,
    .stamps_stages = true,
    .read_clock = sockets_read_clock,
    .set_column = sockets_set_column,
    .granted = tcp_granted,
    .device_counters = sockets_device_counters,
    .failure = sockets_failure,
    .close = sockets_close,
    SOCKET_HOT_OPS,
    .post = sockets_post,
    .post_try = sockets_post_try,
    .poll_recv = tcp_poll_recv,
    .poll_recv_stamped = tcp_poll_recv_stamped,
};
