/*
 * Sockets by io_uring. What arrives is in buffers that the kernel chose or was given (multishot, plain): over udp each
 * holds one datagram; over tcp, messages are cut out of them. A message is sent from a slot of its own, which is free
 * again when the kernel has reported it complete. The result of a message is awaited before the next one is submitted,
 * because the kernel may otherwise send what is short later than what follows it.
 *
 * A ring belongs to the thread that submits first, and is made anew for each repetition. Busy: each poll is a request
 * that only takes what is there, because a request that waits in the kernel has to be woken up, which costs more than
 * receiving; with multishot and sqpoll, a load of the completion ring, and a system call when the kernel says that it has
 * work to do. Event: io_uring_enter(2). One thread posts and polls.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/opt.h"
#include "common/or_abort.h"
#include "measure/transports/sockets.h"

/* --- settings --- */

enum uring_over { URING_UDP, URING_TCP };

struct uring_settings {
	struct socket_settings socket; /* first, for sockets_open() */
	int over;		       /* enum uring_over */
	bool multishot, sqpoll, registered, zerocopy;
	int64_t napi;
};

static const char *const uring_overs[] = {[URING_UDP] = "udp", [URING_TCP] = "tcp", NULL};

static const struct opt uring_options[] = {
    {"over", OPT_ENUM, offsetof(struct uring_settings, over), "udp", 0, 0, uring_overs,
     "UDP datagrams, or a TCP connection"},
    {"multishot", OPT_BOOL, offsetof(struct uring_settings, multishot), "no", 0, 0, NULL,
     "one request receives all messages, into buffers that the kernel chooses (IORING_RECV_MULTISHOT)"},
    {"sqpoll", OPT_BOOL, offsetof(struct uring_settings, sqpoll), "no", 0, 0, NULL,
     "a thread of the kernel submits and completes requests (IORING_SETUP_SQPOLL); it needs a CPU to itself"},
    {"registered", OPT_BOOL, offsetof(struct uring_settings, registered), "no", 0, 0, NULL,
     "send from, and unless multishot receive into, buffers that are registered with the kernel"},
    {"zerocopy", OPT_BOOL, offsetof(struct uring_settings, zerocopy), "no", 0, 0, NULL,
     "send without copying, where the device can (IORING_OP_SEND_ZC); complete means that the buffer is free again"},
    {"napi", OPT_TIME, offsetof(struct uring_settings, napi), "0ns", 0, 1000000000, NULL,
     "while it waits, the kernel polls the device's queue for so long (IORING_REGISTER_NAPI, in whole us; Linux 6.9); "
     "0: not at all"},
    SOCKET_OPTIONS,
    {"nodelay", OPT_BOOL, SOCKET_FIELD(nodelay), "yes", 0, 0, NULL,
     "over tcp, send immediately instead of waiting for more data (TCP_NODELAY)"},
    {.name = NULL},
};

#ifdef ABSENT

const struct transport_ops uring_transport = {ABSENT_TRANSPORT, .name = "uring", .options = uring_options,
					      .settings_size = sizeof(struct uring_settings)};

#else

#include <liburing.h>

#define ENTRIES	       16 /* at most one message, one request to receive and one to cancel are not yet submitted */
#define BUFFERS_LEAST  8
#define BUFFERS_MAX    32768
#define SLOTS_BYTES    (256 << 20)
#define BUFFERS_BYTES  (16 << 20) /* of all, unless fewer than the least would fit */
#define SHORTEST       64	  /* a buffer holds a greeting, too */
#define POLLER_IDLE_MS 1000
#define SENT_MS	       20    /* for what was posted to leave, before it is cancelled */
#define CANCELLED_MS   10000 /* for cancelled requests to end */

/* Beside the number of a slot, in the data of a request. */
#define RECEIVE	       (1ULL << 32)
#define CANCEL	       (1ULL << 33)

/* Linux 6.9; liburing 2.3 does not have it. */
#define REGISTER_NAPI  27

struct napi_request {
	uint32_t busy_poll_us;
	uint8_t prefers, pad[3];
	uint64_t reserved;
};

#define URING_ALIGN 64 /* payloads begin on cache lines */

/* A message that is being sent. */
struct uring_slot {
	uint32_t seq;
	uint32_t length;  /* of the message */
	uint32_t sent;	  /* bytes of it that the kernel has accepted */
	uint32_t pending; /* completions that the kernel still owes */
};

/* What has arrived and has not been looked at. */
struct uring_arrival {
	int32_t size;
	uint32_t buffer;
};

struct uring {
	SOCKET_TRANSPORT;
	struct uring_settings settings;
	struct io_uring ring;
	bool has_ring;
	bool is_unsubmitted; /* a request waits for the next system call */
	bool tries;	     /* a request to receive does not wait */
	bool sleeps;	     /* the receiver sleeps after each look */
	pid_t user;	     /* the thread that uses the ring; 0: none yet */
	struct memory memory;
	size_t stride; /* of a buffer and of a slot */

	char *slots;
	struct uring_slot *slot;
	uint32_t slot_mask;
	uint32_t head;	   /* messages posted, modulo 2^32 */
	uint32_t results;  /* of them, those that were sent */
	uint32_t complete; /* of them, those whose slots are free; poll_send has returned these */

	char *buffers;
	struct io_uring_buf_ring *provided; /* multishot */
	uint32_t buffer_count;
	struct uring_arrival *arrival;
	uint32_t arrival_mask, arrived, looked_at;
	bool is_armed; /* the kernel has a request to receive */

	bool has_chunk; /* `chunk` is the buffer that is being looked at */
	uint32_t chunk;
	char *next; /* tcp: bytes of it that are left */
	size_t left;
	char *pieces; /* tcp: a message that arrived in pieces, and its size so far */
	size_t got;
};

extern const struct transport_ops uring_transport;

static int uring_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	const struct uring_settings *s = settings;

	if (s->over == URING_UDP && config->size > UDP_SIZE_MAX)
		snprintf(why, why_size, "size %lld and transport uring over udp: a datagram holds at most %d bytes",
			 (long long)config->size, UDP_SIZE_MAX);
	else if (config->depth > BUFFERS_MAX)
		snprintf(why, why_size, "%lld messages in flight and transport uring: at most %d",
			 (long long)config->depth, BUFFERS_MAX);
	else if (s->zerocopy && config->size > SLOTS_BYTES / config->depth)
		snprintf(why, why_size, "zerocopy, size %lld and %lld messages in flight: together at most 256 MiB",
			 (long long)config->size, (long long)config->depth);
	else if (s->napi % 1000)
		snprintf(why, why_size, "napi %lldns is not in whole microseconds", (long long)s->napi);
	else
		return sockets_check(&s->socket, config, why, why_size);
	return -EINVAL;
}

static void uring_traits(const void *settings, struct transport_traits *out)
{
	const struct uring_settings *s = settings;

	out->is_reliable = s->over == URING_TCP;
	out->overhead = FRAMES_NUMBER;
}

static bool is_tcp(const struct uring *t)
{
	return t->settings.over == URING_TCP;
}

/* --- open and close --- */

static int impossible(const struct uring *t, int rc, const char *what, const char *hint, struct err *e)
{
	return err_set(e, rc, STATUS_IMPOSSIBLE, t->end.object, NULL, "io_uring: %s is refused: %s; %s", what,
		       strerror(-rc), hint);
}

/* What the kernel is too old for. */
static int too_old(const struct uring *t, int rc, const char *what, const char *linux_version, struct err *e)
{
	return err_set(e, rc, STATUS_IMPOSSIBLE, t->end.object, NULL, "%s needs Linux %s", what, linux_version);
}

/* It belongs to the thread that enables it, unless a thread of the kernel submits: then the kernel need not interrupt that
 * thread, and completes requests only when it asks. */
static int make_ring(struct uring *t, struct err *e)
{
	struct io_uring_params params = {.flags = IORING_SETUP_CQSIZE,
					 .cq_entries = 2 * t->buffer_count + 4 * (t->slot_mask + 1) + ENTRIES,
					 .sq_thread_idle = POLLER_IDLE_MS};
	int rc;

	params.flags |= t->settings.sqpoll ? IORING_SETUP_SQPOLL
					   : IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
						 IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_R_DISABLED;
	rc = io_uring_queue_init_params(ENTRIES, &t->ring, &params);
	if (rc == -EINVAL)
		return too_old(t, rc, "transport uring", "6.1", e);
	if (rc == -ENOMEM)
		return impossible(t, rc, "a ring", "see `ulimit -l`", e);
	if (rc)
		return impossible(t, rc, "a ring", "see `sysctl kernel.io_uring_disabled`, or the container's filter",
				  e);
	t->has_ring = true;
	return 0;
}

static int ask_for_napi(const struct uring *t, struct err *e)
{
	struct napi_request request = {.busy_poll_us = (uint32_t)(t->settings.napi / 1000), .prefers = 1};

	if (!request.busy_poll_us)
		return 0;
	if (syscall(__NR_io_uring_register, t->ring.ring_fd, REGISTER_NAPI, &request, 1) >= 0)
		return 0;
	if (errno == EINVAL)
		return too_old(t, -errno, "napi", "6.9, built with CONFIG_NET_RX_BUSY_POLL", e);
	return impossible(t, -errno, "napi", "see io_uring_register_napi(3)", e);
}

static void provide(struct uring *t, uint32_t buffer)
{
	io_uring_buf_ring_add(t->provided, t->buffers + buffer * t->stride + URING_ALIGN - FRAMES_NUMBER,
			      (unsigned)(t->stride - URING_ALIGN), (unsigned short)buffer,
			      io_uring_buf_ring_mask(t->buffer_count), 0);
	io_uring_buf_ring_advance(t->provided, 1);
}

static int register_buffers(struct uring *t, struct err *e)
{
	struct iovec all = {t->memory.data, t->memory.size};
	struct io_uring_buf_reg provided = {.ring_addr = (uintptr_t)t->memory.data, .ring_entries = t->buffer_count};
	int rc = t->settings.registered ? io_uring_register_buffers(&t->ring, &all, 1) : 0;

	if (rc)
		return impossible(t, rc, "registered", "see `ulimit -l`; at most 1 GiB can be registered", e);
	if (!t->settings.multishot)
		return 0;
	t->provided = t->memory.data;
	io_uring_buf_ring_init(t->provided);
	rc = io_uring_register_buf_ring(&t->ring, &provided, 0);
	if (rc)
		return impossible(t, rc, "multishot", "see io_uring_register_buf_ring(3)", e);
	for (uint32_t i = 0; i < t->buffer_count; i++)
		provide(t, i);
	return 0;
}

/* The ring of provided buffers, the slots to send from, the buffers to receive into, and one message. */
static int make_buffers(struct uring *t, int numa_node, struct err *e)
{
	const size_t rings =
	    (t->buffer_count * sizeof(struct io_uring_buf) + URING_ALIGN - 1) / URING_ALIGN * URING_ALIGN;
	const size_t slots = (t->slot_mask + 1) * t->stride, buffers = t->buffer_count * t->stride;
	int rc = memory_alloc(&t->memory, rings + slots + buffers + t->stride, numa_node, e);

	if (rc)
		return rc;
	t->slots = (char *)t->memory.data + rings;
	t->buffers = t->slots + slots;
	t->pieces = t->buffers + buffers + URING_ALIGN - FRAMES_NUMBER;
	t->slot = or_abort(calloc(t->slot_mask + 1, sizeof(*t->slot)));
	t->arrival = or_abort(calloc(t->buffer_count, sizeof(*t->arrival)));
	t->arrival_mask = t->buffer_count - 1;
	return 0;
}

static void close_ring(struct uring *t)
{
	if (t->has_ring)
		io_uring_queue_exit(&t->ring);
	t->has_ring = t->is_armed = t->is_unsubmitted = false;
	t->user = 0;
}

static int open_ring(struct uring *t, struct err *e)
{
	int rc = make_ring(t, e);

	if (!rc)
		rc = ask_for_napi(t, e);
	return rc ? rc : register_buffers(t, e);
}

static void uring_close(struct transport *transport)
{
	struct uring *t = (struct uring *)transport;

	close_ring(t);
	memory_free(&t->memory);
	free(t->slot);
	free(t->arrival);
	sockets_close(transport);
}

/* To receive into: as many as messages in flight, but not without limit. */
static uint32_t buffers_of(const struct uring *t, int64_t depth)
{
	uint32_t count = transport_ring_slots(depth);

	while (count > BUFFERS_LEAST && count * t->stride > BUFFERS_BYTES)
		count /= 2;
	return count > BUFFERS_LEAST ? count : BUFFERS_LEAST;
}

static int uring_open(const struct transport_config *config, const void *settings, struct transport **out,
		      json_t **address, struct err *e)
{
	const struct uring_settings *s = settings;
	struct socket_settings socket = s->socket;
	struct uring *t;
	int rc;

	socket.nodelay &= s->over == URING_TCP;
	rc = sockets_open(&uring_transport, s->over == URING_TCP ? SOCK_STREAM : SOCK_DGRAM, sizeof(*t), config,
			  &socket, out, address, e);
	if (rc)
		return rc;
	t = (struct uring *)*out;
	t->settings = *s;
	t->end.sleeps = false; /* in io_uring_enter(2), not in epoll_wait(2) */
	t->stride = t->frames.size < SHORTEST ? SHORTEST : t->frames.size;
	t->stride = URING_ALIGN + (t->stride / URING_ALIGN + 1) * URING_ALIGN;
	/* Without zerocopy: the message that is being sent, and the one that the caller fills meanwhile. */
	t->slot_mask = s->zerocopy ? transport_ring_slots(config->depth) * 2 - 1 : 1;
	t->buffer_count = s->multishot ? buffers_of(t, config->depth) : 1;
	t->sleeps = config->poll_recv == POLL_EVENT;
	t->tries = !t->sleeps && !s->multishot && !s->sqpoll;
	/* A write to registered buffers cannot be told not to raise it. */
	if (s->registered)
		signal(SIGPIPE, SIG_IGN);
	rc = make_buffers(t, config->numa_node, e);
	if (!rc)
		rc = open_ring(t, e);
	if (rc) {
		json_decref(*address);
		*address = NULL;
		*out = NULL;
		uring_close(&t->base);
	}
	return rc;
}

/* On a socket that does not block, a request would end at once instead of waiting. */
static int uring_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct uring *t = (struct uring *)transport;
	int rc =
	    is_tcp(t) ? sockets_meet_stream(&t->end, peer, e) : sockets_meet_datagram(&t->end, peer, t->frames.size, e);

	if (!rc)
		rc = sockets_ready(&t->end, e);
	if (!rc && fcntl(t->end.fd, F_SETFL, fcntl(t->end.fd, F_GETFL) & ~O_NONBLOCK))
		rc = err_sys(e, -errno, t->end.object, "let the socket block");
	return rc;
}

/* --- the hot path --- */

static struct io_uring_sqe *next_request(struct uring *t)
{
	t->is_unsubmitted = true;
	return or_abort(io_uring_get_sqe(&t->ring));
}

/* This thread uses the ring from now on. */
static int uring_own(struct uring *t)
{
	/* liburing 2.3 does not export its function for that. */
	if (!t->settings.sqpoll &&
	    syscall(__NR_io_uring_register, t->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0))
		return frames_note(&t->frames, -errno, "enable the ring", NULL);
	t->user = gettid();
	io_uring_register_ring_fd(&t->ring); /* saves looking it up; without it, all the same */
	return 0;
}

static int uring_submit(struct uring *t)
{
	int n = frames_unlikely(!t->user) ? uring_own(t) : 0;

	if (n < 0)
		return n;
	n = io_uring_submit(&t->ring);
	t->is_unsubmitted = n == -EINTR || n == -EAGAIN || n == -EBUSY;
	return n >= 0 || t->is_unsubmitted ? 0 : frames_note(&t->frames, n, "submit a request", NULL);
}

/* The rest of that slot. */
static int uring_send(struct uring *t, uint32_t slot)
{
	struct uring_slot *s = &t->slot[slot];
	const char *from = t->slots + slot * t->stride + URING_ALIGN - FRAMES_NUMBER + s->sent;
	const unsigned left = s->length - s->sent;
	const int flags = MSG_NOSIGNAL | (is_tcp(t) ? MSG_WAITALL : 0);
	struct io_uring_sqe *sqe = next_request(t);

	if (t->settings.zerocopy && t->settings.registered)
		io_uring_prep_send_zc_fixed(sqe, t->end.fd, from, left, flags, 0, 0);
	else if (t->settings.zerocopy)
		io_uring_prep_send_zc(sqe, t->end.fd, from, left, flags, 0);
	else if (t->settings.registered)
		io_uring_prep_write_fixed(sqe, t->end.fd, from, left, 0, 0);
	else
		io_uring_prep_send(sqe, t->end.fd, from, left, flags);
	io_uring_sqe_set_data64(sqe, slot);
	s->pending++;
	return uring_submit(t);
}

/* Ask for the next message: either for one that is there now, or for when there is one. */
static void request_message(struct uring *t, bool waits)
{
	struct io_uring_sqe *sqe = next_request(t);
	char *to = t->buffers + URING_ALIGN - FRAMES_NUMBER;
	/* Over tcp nothing of the next message, so that it begins where a message does. */
	const size_t size = is_tcp(t) ? t->frames.size - t->got : t->stride - URING_ALIGN;

	if (t->settings.multishot) {
		io_uring_prep_recv_multishot(sqe, t->end.fd, NULL, 0, 0);
		sqe->flags |= IOSQE_BUFFER_SELECT;
	} else if (t->settings.registered) {
		io_uring_prep_read_fixed(sqe, t->end.fd, to, (unsigned)size, 0, 0);
		sqe->rw_flags = waits ? 0 : RWF_NOWAIT;
	} else {
		io_uring_prep_recv(sqe, t->end.fd, to, size, waits ? 0 : MSG_DONTWAIT);
	}
	io_uring_sqe_set_data64(sqe, RECEIVE);
	t->is_armed = true;
}

static bool is_temporary(int rc)
{
	return rc == -EAGAIN || rc == -ENOBUFS || rc == -EINTR || rc == -ENOMEM;
}

static int take_received(struct uring *t, const struct io_uring_cqe *cqe)
{
	if (!(cqe->flags & IORING_CQE_F_MORE))
		t->is_armed = false;
	if (cqe->res == -ECANCELED || is_temporary(cqe->res))
		return 0;
	if (cqe->res == -EOPNOTSUPP && t->tries) {
		t->tries = false; /* sockets know RWF_NOWAIT since Linux 6.5 */
		return 0;
	}
	if (cqe->res < 0 || (!cqe->res && is_tcp(t)))
		return frames_note(&t->frames, cqe->res ? cqe->res : -ECONNRESET, "receive",
				   "the other side has ended");
	t->arrival[t->arrived++ & t->arrival_mask] = (struct uring_arrival){
	    cqe->res, cqe->flags & IORING_CQE_F_BUFFER ? cqe->flags >> IORING_CQE_BUFFER_SHIFT : 0};
	return 0;
}

static int take_sent(struct uring *t, uint32_t slot, const struct io_uring_cqe *cqe)
{
	struct uring_slot *s = &t->slot[slot];

	s->pending -= !(cqe->flags & IORING_CQE_F_MORE);
	if (cqe->flags & IORING_CQE_F_NOTIF)
		return 0;
	if (cqe->res > 0)
		s->sent += (uint32_t)cqe->res;
	if (s->sent == s->length || cqe->res == -ECANCELED) {
		t->results++;
		return 0;
	}
	if (cqe->res >= 0 || is_temporary(cqe->res))
		return uring_send(t, slot);
	return frames_note(&t->frames, cqe->res, "send",
			   cqe->res == -EMSGSIZE ? "the message is longer than the path allows"
						 : "the other side has ended");
}

static int uring_take(struct uring *t, const struct io_uring_cqe *cqe)
{
	if (cqe->user_data == CANCEL)
		return 0;
	if (cqe->user_data == RECEIVE)
		return take_received(t, cqe);
	return take_sent(t, (uint32_t)cqe->user_data, cqe);
}

static bool uring_has_arrived(const struct uring *t)
{
	return t->left || t->arrived != t->looked_at;
}

/*
 * Take what is complete; `to_message`: up to the first message, as a look at an empty ring enters the kernel if that has
 * more to say.
 */
static int uring_reap(struct uring *t, bool to_message)
{
	struct io_uring_cqe *cqe;
	int rc = 0;

	while (!rc && !(to_message && uring_has_arrived(t)) && !io_uring_peek_cqe(&t->ring, &cqe)) {
		rc = uring_take(t, cqe);
		io_uring_cqe_seen(&t->ring, cqe);
	}
	return rc;
}

/* Nothing has arrived: see to it that something can. */
static int uring_ask(struct uring *t)
{
	int rc;

	if (!t->is_armed) {
		request_message(t, !t->tries);
		if (t->sleeps) /* submitted together with the wait */
			return 0;
	}
	rc = t->is_unsubmitted ? uring_submit(t) : 0;
	return rc || !t->tries ? rc : uring_reap(t, true);
}

/* The chunk's buffer may be received into. */
static void uring_recycle(struct uring *t)
{
	t->has_chunk = false;
	if (t->provided)
		provide(t, t->chunk);
}

static int uring_release(struct transport *transport)
{
	struct uring *t = (struct uring *)transport;

	if (t->has_chunk && !t->left)
		uring_recycle(t);
	return 0;
}

/* A greeting may arrive late. */
static int take_datagram(struct uring *t, size_t size, uint32_t *seq)
{
	if (frames_unlikely(size != t->frames.size) &&
	    !sockets_is_greeting(&t->end, t->frames.in, size, t->frames.size))
		return frames_note(&t->frames, -EMSGSIZE, "receive",
				   "received a datagram that does not belong to this run");
	if (size == t->frames.size && frames_take_number(&t->frames, seq))
		return 1;
	uring_recycle(t);
	return 0;
}

/* The next message is in pieces: true if it is complete now. */
static bool cut_piece(struct uring *t)
{
	const size_t rest = t->frames.size - t->got, size = t->left < rest ? t->left : rest;

	memcpy(t->pieces + t->got, t->next, size);
	t->got += size;
	t->next += size;
	t->left -= size;
	if (t->got < t->frames.size) {
		uring_recycle(t);
		return false;
	}
	t->got = 0;
	t->frames.in = t->pieces;
	return true;
}

static int cut_message(struct uring *t, uint32_t *seq)
{
	if (!t->got && t->left >= t->frames.size) {
		t->frames.in = t->next;
		t->next += t->frames.size;
		t->left -= t->frames.size;
	} else if (!cut_piece(t)) {
		return 0;
	}
	if (frames_take_number(&t->frames, seq))
		return 1;
	uring_release(&t->base);
	return 0;
}

/* Like poll_recv, of what has arrived. */
static int uring_next(struct uring *t, uint32_t *seq)
{
	if (!t->has_chunk) {
		const struct uring_arrival *a = &t->arrival[t->looked_at++ & t->arrival_mask];

		t->has_chunk = true;
		t->chunk = a->buffer;
		t->next = t->frames.in = t->buffers + a->buffer * t->stride + URING_ALIGN - FRAMES_NUMBER;
		if (!is_tcp(t))
			return take_datagram(t, (size_t)a->size, seq);
		t->left = (size_t)a->size;
	}
	return cut_message(t, seq);
}

static int submit_and_wait(struct uring *t)
{
	struct __kernel_timespec limit = {t->end.wait_ms / 1000, t->end.wait_ms % 1000 * 1000000LL};
	struct io_uring_cqe *any;
	int n;

	if (t->end.wait_ms < 0)
		return io_uring_submit_and_wait(&t->ring, 1);
	n = io_uring_submit_and_wait_timeout(&t->ring, &any, 1, &limit, NULL);
	return n == -ETIME ? 0 : n;
}

/* Sleep until the kernel completes something, or for wait_limit. */
static int wait_for_any(struct uring *t)
{
	int n = frames_unlikely(!t->user) ? uring_own(t) : 0;

	if (n < 0)
		return n;
	n = submit_and_wait(t);
	t->is_unsubmitted = n == -EAGAIN || n == -EBUSY || (n == -EINTR && t->is_unsubmitted);
	if (n == -EINTR || (t->frames.stop && atomic_load_explicit(t->frames.stop, memory_order_relaxed)))
		return -EINTR;
	return n >= 0 || n == -EAGAIN || n == -EBUSY ? 0 : frames_note(&t->frames, n, "wait", NULL);
}

static int uring_wait_recv(struct transport *transport)
{
	struct uring *t = (struct uring *)transport;

	if (uring_has_arrived(t))
		return 0;
	if (!t->is_armed)
		request_message(t, true);
	return wait_for_any(t);
}

/* -EINTR: stop. */
static int uring_wait_to_post(struct uring *t, uint32_t *rounds)
{
	int rc;

	if (t->frames.spins)
		return frames_wait_to_send(&t->frames, -1, 0, rounds);
	t->frames.waits += !*rounds;
	++*rounds;
	rc = wait_for_any(t);
	return rc == -EINTR && !(t->frames.stop && atomic_load(t->frames.stop)) ? 0 : rc;
}

static void *uring_send_buffer(struct transport *transport, uint32_t seq)
{
	struct uring *t = (struct uring *)transport;

	(void)seq;
	return t->slots + (t->head & t->slot_mask) * t->stride + URING_ALIGN;
}

static int uring_post_try(struct transport *transport, uint32_t seq, bool signal)
{
	struct uring *t = (struct uring *)transport;
	const uint32_t at = t->head & t->slot_mask;
	int rc = t->head != t->results ? uring_reap(t, false) : 0;

	(void)signal;
	if (frames_unlikely(rc))
		return rc;
	if (frames_unlikely(t->head != t->results || t->slot[at].pending))
		return 0;
	t->frames.out = t->slots + at * t->stride + URING_ALIGN - FRAMES_NUMBER;
	frames_put_number(&t->frames, seq);
	t->slot[at] = (struct uring_slot){.seq = seq, .length = (uint32_t)t->frames.size};
	t->head++;
	rc = uring_send(t, at);
	return rc ? rc : 1;
}

static int uring_post(struct transport *transport, uint32_t seq, bool signal)
{
	struct uring *t = (struct uring *)transport;
	uint32_t rounds = 0;
	int rc;

	while (!(rc = uring_post_try(transport, seq, signal))) {
		rc = uring_wait_to_post(t, &rounds);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

static int uring_poll_send(struct transport *transport, uint32_t *seq)
{
	struct uring *t = (struct uring *)transport;
	int rc;

	if (t->complete == t->head)
		return 0;
	rc = uring_reap(t, false);
	/* Those whose slots have been used again are complete. */
	if (t->results - t->complete > t->slot_mask + 1)
		t->complete = t->results - t->slot_mask - 1;
	if (rc || t->complete == t->results || t->slot[t->complete & t->slot_mask].pending)
		return rc;
	*seq = t->slot[t->complete++ & t->slot_mask].seq;
	return 1;
}

static int uring_poll_recv(struct transport *transport, uint32_t *seq)
{
	struct uring *t = (struct uring *)transport;
	int rc = uring_reap(t, true);

	if (!rc && !uring_has_arrived(t) && (!t->is_armed || t->is_unsubmitted))
		rc = uring_ask(t);
	return rc || !uring_has_arrived(t) ? rc : uring_next(t, seq);
}

/* --- between repetitions --- */

static bool is_sending(const struct uring *t)
{
	bool sends = t->head != t->results;

	for (uint32_t i = 0; i <= t->slot_mask; i++)
		sends |= t->slot[i].pending > 0;
	return sends;
}

static int cancel_all(struct uring *t)
{
	struct io_uring_sqe *sqe = next_request(t);

	io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
	io_uring_sqe_set_data64(sqe, CANCEL);
	return uring_submit(t);
}

/* Wait until no request is left, for so long. 0, -ETIMEDOUT, or the recorded error. */
static int await_requests(struct uring *t, bool receives, int64_t ms)
{
	const int64_t deadline_ms = monotonic_ms() + ms;
	int rc = 0;

	while (!rc && (is_sending(t) || (receives && t->is_armed))) {
		const bool is_last_look = monotonic_ms() > deadline_ms;

		rc = uring_reap(t, false);
		if (!rc && is_last_look && (is_sending(t) || (receives && t->is_armed)))
			return -ETIMEDOUT;
		usleep(20);
	}
	return rc;
}

static int end_requests(struct uring *t)
{
	int rc = t->is_unsubmitted ? uring_submit(t) : 0;

	if (!rc)
		rc = await_requests(t, false, SENT_MS);
	if (rc && rc != -ETIMEDOUT)
		return rc;
	rc = cancel_all(t);
	if (!rc)
		rc = await_requests(t, true, CANCELLED_MS);
	return rc == -ETIMEDOUT ? frames_note(&t->frames, rc, "end the requests of this repetition", NULL) : rc;
}

/* What belongs to a thread is ended by that thread. */
static void uring_leave(struct transport *transport)
{
	struct uring *t = (struct uring *)transport;

	if (t->user != gettid())
		return;
	end_requests(t);
	if (t->settings.registered)
		io_uring_unregister_buffers(&t->ring);
	io_uring_unregister_ring_fd(&t->ring);
}

/* As tcp and udp do: what is left of the last repetition is recognised by its number. */
static int drop_arrived(struct uring *t)
{
	uint32_t seq;
	char byte;
	int rc = 0;

	while (!rc && uring_has_arrived(t))
		rc = uring_next(t, &seq);
	while (!is_tcp(t) && recv(t->end.fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0)
		t->frames.stragglers++;
	return rc;
}

static int uring_prepare(struct transport *transport, struct err *e)
{
	struct uring *t = (struct uring *)transport;
	const uint32_t last = (t->head - 1) & t->slot_mask;
	int rc = t->frames.fault.rc;

	frames_next_repetition(&t->frames);
	if (!rc)
		rc = drop_arrived(t);
	if (rc)
		return frames_failure(&t->frames, t->end.object, e);
	if (is_tcp(t) && t->slot[last].sent < t->slot[last].length) {
		t->frames.out = t->slots + last * t->stride + URING_ALIGN - FRAMES_NUMBER;
		t->frames.part = t->slot[last].sent;
		t->slot[last].sent = t->slot[last].length;
		rc = sockets_finish_part(&t->end, &t->frames, e);
	}
	t->complete = t->results = t->head;
	if (rc || !t->user)
		return rc;
	close_ring(t);
	return open_ring(t, e);
}

static json_t *uring_granted(const struct transport *transport)
{
	const struct uring *t = (const struct uring *)transport;
	json_t *granted = sockets_granted(transport);
	int nodelay = 0;
	socklen_t size = sizeof(nodelay);

	if (is_tcp(t) && !getsockopt(t->end.fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &size))
		json_object_set_new(granted, "nodelay", json_boolean(nodelay));
	json_object_set_new(granted, "over", json_string(uring_overs[t->settings.over]));
	return granted;
}

const struct transport_ops uring_transport = {
    .name = "uring",
    .summary = "TCP or UDP through the kernel's sockets by io_uring; losses of datagrams are counted",
    .options = uring_options,
    .settings_size = sizeof(struct uring_settings),
    .has_wire = true,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 2500, .latency_ns = 10000, .sleeping_ns = 25000},
    .completes_in_post =
	true, /* so that the thread that posts polls for it, and not another one: a ring has one user */
    .check = uring_check,
    .traits = uring_traits,
    .open = uring_open,
    .connect = uring_connect,
    .prepare = uring_prepare,
    .leave = uring_leave,
    .granted = uring_granted,
    .device_counters = sockets_device_counters,
    .failure = sockets_failure,
    .close = uring_close,
    .send_buffer = uring_send_buffer,
    .post = uring_post,
    .post_try = uring_post_try,
    .poll_send = uring_poll_send,
    .poll_recv = uring_poll_recv,
    .recv_buffer = frames_recv_buffer,
    .release = uring_release,
    .wait_recv = uring_wait_recv,
};

#endif
