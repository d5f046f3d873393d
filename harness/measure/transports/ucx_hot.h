/*
 * UCX (libucp): active messages, tagged messages, a stream of bytes or one-sided operations between two workers. The
 * library works in the thread that calls it: every post and every look for messages makes progress. Busy: repeated
 * ucp_worker_progress(); event: the worker is armed, then poll() on its descriptor.
 *
 * A message arrives in a slot of a ring. Tagged messages and streams: each slot is posted as a receive, and
 * posted again after its message was released. Active messages: the library calls back, and the next
 * free slot takes the message: a copy of a short one; a long one stays in the library's memory, if that can be, until
 * it is released.
 *
 * Anybody who reaches a worker may send it messages. So tagged and active ones carry 8 bytes of the receiver's token: as
 * the tag, or as the user's header. A stream belongs to its endpoint, which presents the token first.
 *
 * One-sided: each side maps a window, and the other works on it by puts, gets or atomics. In round trips the owner watches
 * its window. Where nobody does, a get or an atomic is complete when its data have come, a put when a flush says that it
 * has reached the other side. UCX may need the other side to call it, so a passive side does (ucx_serve).
 */
#ifndef KBLAT_TRANSPORTS_UCX_HOT_H
#define KBLAT_TRANSPORTS_UCX_HOT_H

#include "common/opt.h"
#include "measure/transports/transport.h"

enum ucx_api { UCX_AM, UCX_TAG, UCX_STREAM, UCX_PUT, UCX_GET, UCX_FETCH_ADD, UCX_COMPARE_SWAP };

#ifndef ABSENT

#include <ucp/api/ucp.h>

#include "measure/transports/frames.h"
#include "measure/transports/loaded_library.h"
#include "measure/transports/remote_window.h"
#include "measure/transports/token.h"

#define TRANSPORT_POST_WAITS 1
#define TRANSPORT_FETCHES    1
#define TRANSPORT_SERVES     1

#define UCX_FUNCTIONS(X)                                                                                               \
	X(ucp, get_version_string)                                                                                     \
	X(ucp, config_read)                                                                                            \
	X(ucp, config_modify)                                                                                          \
	X(ucp, config_release)                                                                                         \
	X(ucp, init_version)                                                                                           \
	X(ucp, cleanup)                                                                                                \
	X(ucp, worker_create)                                                                                          \
	X(ucp, worker_destroy)                                                                                         \
	X(ucp, worker_get_address)                                                                                     \
	X(ucp, worker_release_address)                                                                                 \
	X(ucp, worker_get_efd)                                                                                         \
	X(ucp, worker_arm)                                                                                             \
	X(ucp, worker_progress)                                                                                        \
	X(ucp, worker_flush_nbx)                                                                                       \
	X(ucp, worker_set_am_recv_handler)                                                                             \
	X(ucp, am_send_nbx)                                                                                            \
	X(ucp, am_recv_data_nbx)                                                                                       \
	X(ucp, am_data_release)                                                                                        \
	X(ucp, tag_send_nbx)                                                                                           \
	X(ucp, tag_recv_nbx)                                                                                           \
	X(ucp, tag_probe_nb)                                                                                           \
	X(ucp, tag_msg_recv_nbx)                                                                                       \
	X(ucp, stream_send_nbx)                                                                                        \
	X(ucp, stream_recv_nbx)                                                                                        \
	X(ucp, mem_map)                                                                                                \
	X(ucp, mem_unmap)                                                                                              \
	X(ucp, mem_query)                                                                                              \
	X(ucp, rkey_pack)                                                                                              \
	X(ucp, rkey_buffer_release)                                                                                    \
	X(ucp, ep_rkey_unpack)                                                                                         \
	X(ucp, rkey_destroy)                                                                                           \
	X(ucp, put_nbx)                                                                                                \
	X(ucp, get_nbx)                                                                                                \
	X(ucp, atomic_op_nbx)                                                                                          \
	X(ucp, worker_fence)                                                                                           \
	X(ucp, request_check_status)                                                                                   \
	X(ucp, request_cancel)                                                                                         \
	X(ucp, request_free)                                                                                           \
	X(ucp, ep_create)                                                                                              \
	X(ucp, ep_print_info)                                                                                          \
	X(ucs, status_string)

extern struct ucx_functions {
	UCX_FUNCTIONS(LOADED_FIELD)
} ucx_library;

#define UCX_ID	 1 /* of our active messages */
#define UCX_LANE 128

struct ucx_slot {
	struct ucx *owner;
	char *data; /* begins with the number, like frames.in */
	void *held; /* a long active message that stayed where it was, or NULL */
	union {
		size_t length; /* bytes that came */
		void *request; /* until then: of a tagged message, or NULL */
	};
	bool is_full; /* a message is complete in it */
};

struct ucx {
	struct transport base;
	struct frames frames;
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	enum ucx_api api;
	uint64_t badge,
	    peer_badge;	   /* of this side's token, and of the other's: the tag, or the header, of each message */
	bool puts_at_once; /* a put that is watched: its turn need not follow by itself */
	bool is_one_place; /* one-sided operations that nobody watches work on the same bytes each time */
	bool flushes;	   /* the lane keeps what its socket did not take, so posts flush it */
	bool is_waiting;   /* post_try: `pending` is not complete */
	void *pending;	   /* a send that is not complete, or NULL */
	struct ucx_slot *slots, *taken; /* taken: the slot of the message received last */
	ucp_request_param_t receive;	/* of tagged messages, apart from the slot */
	ucp_tag_recv_info_t received;
	uint32_t mask, head, tail;	   /* of the slots: next to be taken, next to be filled (active messages) */
	struct ucx_kept *kept, *kept_last; /* active messages for which there was no slot */
	struct memory slot_memory;
	struct window window; /* of one-sided operations */
	ucp_mem_h memory;     /* in which the window lies */
	ucp_rkey_h rkey;
	void **requests;	/* of gets and atomics, in turn; NULL: complete */
	void *flush;		/* of puts, or NULL; it covers the first `flushed` ones */
	uint32_t flushed, seen; /* seen: puts that were posted when their completion was last asked for */
	struct token token, peer_token;
	struct token said;			    /* over a stream: by the other side, which presents itself by it */
	uint64_t strangers;			    /* messages of others, which were dropped */
	int fd;					    /* for waiting; -1: none */
	bool is_armed;				    /* it reports what comes from now on */
	bool is_greeted;			    /* two-sided: by the other side's first message */
	char lane[UCX_LANE], expected[OPT_STR_MAX]; /* "posix/memory"; "" if anything is expected */
	json_t *lanes, *environment;
	struct transport_config config;
};

extern const struct transport_ops ucx_transport;

/* --- the hot path (transport.h) --- */

FRAMES_CLOCK(ucx)
FRAMES_BUFFERS(ucx)

/* Cold: a send returned a request: 1 if it is complete by now, 0 if not yet, or a negative errno. */
int ucx_send_later(struct ucx *t, void *request);
int ucx_post_later(struct ucx *t);
int ucx_send_flush(struct ucx *t);

/* Cold: a message has another size than those of the point. */
int ucx_recv_other(struct ucx *t);

/* Cold: drop what others have sent, as far as the library keeps it. */
void ucx_drop_strangers(struct ucx *t);

/* Cold: slots became free. */
void ucx_take_kept(struct ucx *t);

/* Post the receive of a slot whose message was released. */
int ucx_post_slot(struct ucx *t, struct ucx_slot *slot);

int ucx_wait_recv(struct ucx *t);

/* Cold: a message is not sent yet. Spins, or sleeps until the library has something to do; -EINTR: stop. */
int ucx_wait_to_send(struct ucx *t, uint32_t *rounds);

/* One-sided operations: post one; a completed one, 1 and its number; has the completed operation fetched the right data? */
int ucx_post_remote(struct ucx *t, uint32_t seq);
int ucx_poll_remote(struct ucx *t, uint32_t *seq);
int ucx_remote_later(struct ucx *t, void *request); /* cold: what was posted returned a request */
bool ucx_fetched(const struct ucx *t, uint32_t seq);
int ucx_part(struct ucx *t);

/* Cold: what is left of a request is the library's business: a flush, or the message's answer, says when it is complete. */
int ucx_let_go(struct ucx *t, void *request, const char *operation);

static inline bool ucx_is_one_sided(const struct ucx *t)
{
	return t->api >= UCX_PUT;
}

/* The passive side: let the library carry out what the other side wants. */
static inline int ucx_serve(struct ucx *t)
{
	ucx_library.worker_progress(t->worker);
	return t->frames.fault.rc;
}

/* A message that was put: 1 and its number. */
static inline int ucx_watch(struct ucx *t, uint32_t *seq)
{
	char *message = window_take(&t->window, seq);

	if (!message)
		return ucx_serve(t);
	t->frames.in = message - FRAMES_NUMBER;
	return 1;
}

/* A flush covers many puts: it waits until there are enough of them, or nothing was posted meanwhile. */
static inline bool ucx_puts_may_grow(struct ucx *t)
{
	const struct window *w = &t->window;
	const bool may_grow = w->posted != t->seen && w->posted - w->completed < w->in_flight / 2;

	t->seen = w->posted;
	return may_grow;
}

/* A get or an atomic that was complete when it was posted left no request. */
static inline int ucx_poll_send(struct ucx *t, uint32_t *seq)
{
	struct window *w = &t->window;

	if (!frames_unlikely(t->requests != NULL))
		return frames_poll_send(&t->frames, seq);
	if (t->api == UCX_PUT) {
		if (!t->flush && ucx_puts_may_grow(t))
			return t->frames.fault.rc;
	} else if (w->completed != w->posted && !t->requests[window_flight(w, w->completed)]) {
		*seq = w->completed++;
		return 1;
	}
	return ucx_poll_remote(t, seq);
}

/* NULL: complete. */
static inline void *ucx_send(struct ucx *t)
{
	static const ucp_request_param_t plain = {.op_attr_mask = 0};
	const struct frames *f = &t->frames;

	if (frames_unlikely(t->api == UCX_STREAM))
		return ucx_library.stream_send_nbx(t->ep, f->out, f->size, &plain);
	return t->api == UCX_TAG ? ucx_library.tag_send_nbx(t->ep, f->out, f->size, t->peer_badge, &plain)
				 : ucx_library.am_send_nbx(t->ep, UCX_ID, &t->peer_badge, sizeof(t->peer_badge), f->out,
							   f->size, &plain);
}

/* A watched put at once. What is not needed to send it is done afterwards. */
static inline int ucx_put(struct ucx *t, uint32_t seq)
{
	static const ucp_request_param_t plain = {.op_attr_mask = 0};
	struct window *w = &t->window;
	char *buffer = t->frames.out + FRAMES_NUMBER;
	void *request;

	window_put_turn(w, buffer, seq);
	request = ucx_library.put_nbx(t->ep, buffer, w->target.size, w->remote + (uint64_t)(buffer - w->own), t->rkey,
				      &plain);
	w->posted++;
	frames_posted(&t->frames, seq);
	t->frames.out = window_buffer(w, w->posted) - FRAMES_NUMBER;
	if (frames_unlikely(request != NULL)) {
		const int rc = ucx_let_go(t, request, "put");

		return rc ? rc : 1;
	}
	return 1;
}

/* A put or a get, always of the same bytes. */
static inline int ucx_post_one_place(struct ucx *t)
{
	static const ucp_request_param_t plain = {.op_attr_mask = 0};
	struct window *w = &t->window;
	void *request = t->api == UCX_PUT
			    ? ucx_library.put_nbx(t->ep, w->own, w->target.size, w->remote, t->rkey, &plain)
			    : ucx_library.get_nbx(t->ep, w->own, w->target.size, w->remote, t->rkey, &plain);

	if (frames_unlikely(request != NULL))
		return ucx_remote_later(t, request);
	w->posted++;
	return 1;
}

static inline int ucx_post_try(struct ucx *t, uint32_t seq, bool signal)
{
	int rc = 1;

	(void)signal;
	if (frames_unlikely(ucx_is_one_sided(t))) {
		if (t->is_one_place)
			return ucx_post_one_place(t);
		return t->puts_at_once ? ucx_put(t, seq) : ucx_post_remote(t, seq);
	}
	if (frames_unlikely(t->is_waiting)) {
		rc = ucx_post_later(t);
	} else {
		frames_put_number(&t->frames, seq);

		void *request = ucx_send(t);

		if (frames_unlikely(request != NULL))
			rc = ucx_send_later(t, request);
		else if (t->flushes)
			rc = ucx_send_flush(t);
	}
	if (rc > 0)
		frames_posted(&t->frames, seq);
	return rc;
}

static inline int ucx_post(struct ucx *t, uint32_t seq, bool signal)
{
	uint32_t rounds = 0;
	int rc;

	while ((rc = ucx_post_try(t, seq, signal)) == 0) {
		rc = ucx_wait_to_send(t, &rounds);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

static inline void ucx_give_back(struct ucx_slot *slot)
{
	if (!slot->held)
		return;
	ucx_library.am_data_release(slot->owner->worker, slot->held);
	slot->held = NULL;
}

static inline int ucx_poll_recv(struct ucx *t, uint32_t *seq)
{
	struct ucx_slot *slot;

	if (frames_unlikely(ucx_is_one_sided(t)))
		return ucx_watch(t, seq);
	slot = &t->slots[t->head & t->mask];
	if (t->taken) {
		if (t->api == UCX_AM)
			ucx_give_back(t->taken);
		else if (frames_unlikely(ucx_post_slot(t, t->taken)))
			return t->frames.fault.rc;
		t->taken = NULL;
	}
	if (!slot->is_full) {
		if (frames_unlikely(t->kept != NULL))
			ucx_take_kept(t);
		else
			ucx_library.worker_progress(t->worker);
		if (!slot->is_full)
			return t->frames.fault.rc;
	}
	slot->is_full = false;
	t->head++;
	t->taken = slot;
	if (frames_unlikely(slot->length != t->frames.size))
		return ucx_recv_other(t);
	t->frames.in = slot->held ? slot->held : slot->data;
	return frames_take_number(&t->frames, seq);
}

#endif

#endif
