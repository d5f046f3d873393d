/*
 * libfabric: messages, tagged messages or one-sided operations between two endpoints of one of its providers. It works in
 * the thread that calls it. One completion queue serves both directions. Busy: it is read repeatedly; event: poll() on
 * its descriptor, after fi_trywait().
 *
 * A message arrives in a slot of a ring, which is posted as a receive, and posted again after its message was released.
 *
 * Anybody who reaches an endpoint without connections may send it messages. So they carry a part of the receiver's token, its
 * badge: as the tag, or as the data beside a message (FI_REMOTE_CQ_DATA); where a provider has no room for that, it says who
 * has sent them (FI_SOURCE). Connected endpoints present their tokens when they connect.
 *
 * One-sided: each side registers a window, and the other works on it by writes, reads or atomics. In round trips the owner
 * watches its window. A provider may need the other side to call it, so a passive side does (fabric_serve).
 */
#ifndef KBLAT_TRANSPORTS_FABRIC_HOT_H
#define KBLAT_TRANSPORTS_FABRIC_HOT_H

#include "common/opt.h"
#include "measure/transports/transport.h"

enum fabric_api { FABRIC_MSG, FABRIC_TAGGED, FABRIC_WRITE, FABRIC_READ, FABRIC_FETCH_ADD, FABRIC_COMPARE_SWAP };

#ifndef ABSENT

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "measure/transports/frames.h"
#include "measure/transports/loaded_library.h"
#include "measure/transports/remote_window.h"
#include "measure/transports/token.h"

#define TRANSPORT_POST_IS_A_SYSCALL
#define TRANSPORT_POST_WAITS 1
#define TRANSPORT_FETCHES    1
#define TRANSPORT_SERVES     1

/* The others that its headers offer are inline, and call the provider. */
#define FABRIC_FUNCTIONS(X)                                                                                            \
	X(fi, version)                                                                                                 \
	X(fi, getinfo)                                                                                                 \
	X(fi, freeinfo)                                                                                                \
	X(fi, dupinfo)                                                                                                 \
	X(fi, fabric)                                                                                                  \
	X(fi, strerror)

extern struct fabric_functions {
	FABRIC_FUNCTIONS(LOADED_FIELD)
} fabric_library;

#define FABRIC_LANE    128
#define FABRIC_AT_ONCE 4 /* completions */

/* How the other side's messages are told from those of strangers. */
enum fabric_badge { FABRIC_CONNECTED, FABRIC_BY_TAG, FABRIC_BY_DATA, FABRIC_BY_SOURCE };

struct fabric_slot {
	struct fi_context2
	    context;   /* the library's while it is posted, if it wants that; first, as completions name it */
	char *data;    /* begins with the number, like frames.in */
	size_t length; /* bytes that came */
	uint64_t badge;
	bool is_full; /* a message is complete in it; of a one-sided operation: it is complete */
};

struct fabric {
	struct transport base;
	struct frames frames;
	struct fid_ep *ep;
	struct fid_cq *cq;
	fi_addr_t peer;
	size_t inject; /* posts of so many bytes are copied by the library, and complete when they return */
	enum fabric_api api;
	enum fabric_badge badge_is;
	uint64_t badge, peer_badge;	   /* of this side's token, and of the other's */
	bool is_sending, is_pending;	   /* post_try: a send has begun; its completion has not come */
	void *send_desc, *slot_desc;	   /* of registered memory; NULL: the provider needs none */
	struct fabric_slot *slots, *taken; /* taken: the slot of the message received last */
	uint32_t mask, head;		   /* of the slots: next to be taken */
	struct fi_context2 sending;
	struct window window; /* of one-sided operations */
	uint64_t key;	      /* of the other side's */
	struct fid_mr *window_mr;
	void *window_desc;
	struct memory slot_memory;
	struct token token, peer_token;
	uint64_t strangers; /* messages of others, which were dropped */
	int fd;		    /* for waiting; -1: none */
	bool is_sink, connects, is_datagram, is_greeted;
	int64_t next_greeting_ms; /* datagrams */
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_eq *eq; /* of endpoints that connect; with the one that listens */
	struct fid_pep *listener;
	struct fid_mr *send_mr, *slot_mr;
	char lane[FABRIC_LANE], expected[OPT_STR_MAX];
	json_t *environment;
	struct transport_config config;
};

extern const struct transport_ops fabric_transport;

/* --- the hot path (transport.h) --- */

FRAMES_CLOCK(fabric)
FRAMES_BUFFERS(fabric)

/* Cold: an operation failed; records why, and returns a negative errno. */
int fabric_note(struct fabric *t, ssize_t rc, const char *operation);
int fabric_note_completion(struct fabric *t, ssize_t rc); /* 0: of a stranger's message */

/* Cold: a message has another size than those of the point, or another sender. 0: it was dropped. */
int fabric_recv_other(struct fabric *t);

int fabric_wait_recv(struct fabric *t);

/* Cold: a message is not sent yet. Spins, or sleeps until the library has something to do; -EINTR: stop. */
int fabric_wait_to_send(struct fabric *t, uint32_t *rounds);

/* One-sided operations: post one (0: not now); a completed one, 1 and its number; a message that was written, 1 and its
 * number; has the completed operation fetched the right data? */
int fabric_post_remote(struct fabric *t, uint32_t seq);
int fabric_poll_remote(struct fabric *t, uint32_t *seq);
int fabric_watch(struct fabric *t, uint32_t *seq);
bool fabric_fetched(const struct fabric *t, uint32_t seq);
int fabric_part(struct fabric *t);

static inline bool fabric_is_one_sided(const struct fabric *t)
{
	return t->api >= FABRIC_WRITE;
}

static inline int fabric_poll_send(struct fabric *t, uint32_t *seq)
{
	return frames_unlikely(fabric_is_one_sided(t)) ? fabric_poll_remote(t, seq) : frames_poll_send(&t->frames, seq);
}

static inline void fabric_take(struct fabric *t, const struct fi_cq_data_entry *done, fi_addr_t source)
{
	struct fabric_slot *slot = done->op_context;

	if (done->op_context == &t->sending) {
		t->is_pending = false;
		return;
	}
	slot->length = done->len;
	if (t->badge_is == FABRIC_BY_DATA)
		slot->badge = done->flags & FI_REMOTE_CQ_DATA ? done->data : 0;
	else if (t->badge_is == FABRIC_BY_SOURCE)
		slot->badge = source == t->peer ? t->badge : 0;
	else
		slot->badge = t->badge;
	slot->is_full = true;
}

/* Let the library work, and take what is complete. 0, or a negative errno. */
static inline int fabric_progress(struct fabric *t)
{
	struct fi_cq_data_entry done[FABRIC_AT_ONCE];
	fi_addr_t source[FABRIC_AT_ONCE] = {0};
	const ssize_t n = frames_unlikely(t->badge_is == FABRIC_BY_SOURCE)
			      ? fi_cq_readfrom(t->cq, done, FABRIC_AT_ONCE, source)
			      : fi_cq_read(t->cq, done, FABRIC_AT_ONCE);

	if (n == -FI_EAGAIN)
		return t->frames.fault.rc;
	if (frames_unlikely(n < 0))
		return fabric_note_completion(t, n);
	for (ssize_t i = 0; i < n; i++)
		fabric_take(t, &done[i], source[i]);
	return 0;
}

/* The passive side: let the library carry out what the other side wants. */
static inline int fabric_serve(struct fabric *t)
{
	return fabric_progress(t);
}

static inline ssize_t fabric_inject(struct fabric *t)
{
	const struct frames *f = &t->frames;

	if (t->badge_is == FABRIC_BY_DATA)
		return fi_injectdata(t->ep, f->out, f->size, t->peer_badge, t->peer);
	return t->api == FABRIC_TAGGED ? fi_tinject(t->ep, f->out, f->size, t->peer, t->peer_badge)
				       : fi_inject(t->ep, f->out, f->size, t->peer);
}

static inline ssize_t fabric_send(struct fabric *t)
{
	const struct frames *f = &t->frames;

	if (t->badge_is == FABRIC_BY_DATA)
		return fi_senddata(t->ep, f->out, f->size, t->send_desc, t->peer_badge, t->peer, &t->sending);
	return t->api == FABRIC_TAGGED
		   ? fi_tsend(t->ep, f->out, f->size, t->send_desc, t->peer, t->peer_badge, &t->sending)
		   : fi_send(t->ep, f->out, f->size, t->send_desc, t->peer, &t->sending);
}

/* Post the receive of a slot whose message was released. */
static inline int fabric_post_slot(struct fabric *t, struct fabric_slot *slot)
{
	const size_t size = t->frames.size;
	const ssize_t rc =
	    t->api == FABRIC_TAGGED
		? fi_trecv(t->ep, slot->data, size, t->slot_desc, FI_ADDR_UNSPEC, t->badge, 0, &slot->context)
		: fi_recv(t->ep, slot->data, size, t->slot_desc, FI_ADDR_UNSPEC, &slot->context);

	return frames_unlikely(rc) ? fabric_note(t, rc, "post a receive") : 0;
}

/* 1: it is on its way, and complete unless is_pending; 0: not now. */
static inline int fabric_start(struct fabric *t, uint32_t seq)
{
	const bool injects = t->frames.size <= t->inject;
	ssize_t rc;

	frames_put_number(&t->frames, seq);
	rc = injects ? fabric_inject(t) : fabric_send(t);
	if (frames_unlikely(rc))
		return rc == -FI_EAGAIN ? 0 : fabric_note(t, rc, "send");
	t->is_sending = t->is_pending = !injects;
	return 1;
}

static inline int fabric_post_try(struct fabric *t, uint32_t seq, bool signal)
{
	if (frames_unlikely(fabric_is_one_sided(t)))
		return fabric_post_remote(t, seq);

	const int begun = t->is_sending ? 1 : fabric_start(t, seq);
	int rc = begun < 0 ? begun : 0;

	(void)signal;
	if (begun == 0 || t->is_pending)
		rc = fabric_progress(t);
	if (frames_unlikely(rc < 0))
		return rc;
	if (begun == 0 || t->is_pending)
		return 0;
	t->is_sending = false;
	frames_posted(&t->frames, seq);
	return 1;
}

static inline int fabric_post(struct fabric *t, uint32_t seq, bool signal)
{
	uint32_t rounds = 0;
	int rc;

	while ((rc = fabric_post_try(t, seq, signal)) == 0) {
		rc = fabric_wait_to_send(t, &rounds);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

static inline int fabric_poll_recv(struct fabric *t, uint32_t *seq)
{
	struct fabric_slot *slot = &t->slots[t->head & t->mask];

	if (frames_unlikely(fabric_is_one_sided(t)))
		return fabric_watch(t, seq);
	if (t->taken) {
		if (frames_unlikely(fabric_post_slot(t, t->taken)))
			return t->frames.fault.rc;
		t->taken = NULL;
	}
	if (!slot->is_full) {
		const int rc = fabric_progress(t);

		if (!slot->is_full)
			return rc;
	}
	slot->is_full = false;
	t->head++;
	t->taken = slot;
	if (frames_unlikely(slot->length != t->frames.size || slot->badge != t->badge))
		return fabric_recv_other(t);
	t->frames.in = slot->data;
	return frames_take_number(&t->frames, seq);
}

#endif

#endif
