/*
 * The hot path of verbs; transport.h describes the functions. A post is six stores and
 * ibv_post_send(); a poll asks for one completion, because each one gets a stamp of its own.
 * Differences between operations are values in the prebuilt work request, except for numbers in the
 * payload, which take a branch that always goes the same way.
 *
 * Waiting: the first call arms the completion queue and returns at once, so that the caller polls
 * once more; only the next call sleeps. A completion that arrived before arming is found by that
 * poll, and one that arrives later leaves an event in the channel. So arming happens while there is
 * nothing to do, and never between a wake-up and the message that caused it.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_HOT_H
#define KBLAT_TRANSPORTS_VERBS_HOT_H

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "measure/instrument/clock.h"
#include "measure/transports/transport.h"
#include "measure/transports/verbs_types.h"

struct err;
#define verbs_unlikely(x) __builtin_expect(!!(x), 0)

/* --- what loops rarely or never call (verbs_hot.c) --- */

/* Record the first error. verbs_note() returns a negative errno. */
int verbs_note(struct verbs_fault *f, int rc, const char *operation, uint64_t wr_id);
void verbs_note_completion(struct verbs_fault *f, int polled, const struct ibv_wc *wc);

/* See transport_ops.failure. */
int verbs_failure(const struct transport *transport, struct err *e);

/* The slot that is expected next contains the turn of another message. 0, or a negative errno. */
int verbs_other_turn(struct verbs *t, uint32_t turn);

/*
 * The memory of a passive side, which one-sided operations access: its content before a repetition,
 * and the number of places whose content is wrong afterwards (transport_ops.check_memory).
 *
 * A read fetches bytes that the sink has put there. Atomics access the words in turn, one per slot,
 * which are 0 at first. The n-th one on a word (from 0) adds 1, or replaces n by n + 1, and fetches
 * n. So at the end the words add up to the number of atomics posted.
 */
void verbs_remote_prepare(struct verbs *t);
int64_t verbs_check_memory(const struct transport *t, uint64_t posted);

/*
 * Requests that are posted together: sends in a list of the kernel's batch, with one doorbell; receive
 * requests (`return: bulk`, a shared receive queue, several memory regions) in a list that is prepared
 * here. The queue pair and the receive ring must exist. 0 or -ENOMEM.
 */
int verbs_return_open(struct verbs *t, struct err *e);
void verbs_return_close(struct verbs *t);

/* Add the buffer of the message last received to the list, and post the list when it is complete.
 * Returns the same as verbs_release(), which is the only part that is inlined into loops. */
int verbs_put_back(struct verbs *t);

/* Post the list, which must not be empty. */
int verbs_post_released(struct verbs *t);

/* Does nothing if each message is posted immediately. The send request must have been prepared. */
int verbs_list_open(struct verbs *t, struct err *e);

/* Update the list with what connecting has put into the send request: the target of a write, the
 * recipient of a datagram. */
void verbs_list_refresh(struct verbs *t);

void verbs_list_close(struct verbs *t);

/* --- the hot path --- */

static inline int64_t verbs_begin(struct verbs *t)
{
	(void)t;
	return clock_ticks_begin();
}

static inline int64_t verbs_end(struct verbs *t)
{
	(void)t;
	return clock_ticks_end();
}

static inline int64_t verbs_pause(struct verbs *t, int64_t until)
{
	(void)t;
	(void)until;
	cpu_relax();
	return clock_ticks_begin();
}

static inline void *verbs_send_buffer(struct verbs *t, uint32_t seq)
{
	return (void *)(uintptr_t)(t->send.first + (seq & t->send.mask) * t->send.stride + t->send.head);
}

/*
 * The last 8 bytes of a message that is written to memory: its number, then its turn, counted from
 * 1 since the queue pair was created. All known adapters write the bytes of a packet, and the
 * packets of a message, in ascending order (perftest relies on it, too), so a receiver that sees
 * the turn may read the rest. Soft-RoCE copies a packet with memcpy(), which may begin at its end:
 * that is why a check may find payloads of `op: write` that are not there yet.
 */
static inline uint64_t verbs_turn(uint32_t turn, uint32_t seq)
{
	return htole64((uint64_t)turn << 32 | seq);
}

/* The number of swaps of the same word before message seq. */
static inline void verbs_put_operands(struct verbs_send *s, uint32_t seq)
{
	s->wr.wr.atomic.compare_add = seq >> s->remote_shift;
	s->wr.wr.atomic.swap = s->wr.wr.atomic.compare_add + 1;
}

/* What the next message needs, so that it does not take time between a stamp and its post. */
static inline void verbs_prepare_next(struct verbs_send *s, uint32_t seq)
{
	if (s->carrier == VERBS_IN_OPERANDS)
		verbs_put_operands(s, seq);
	if (++s->pair >= s->pair_count)
		s->pair = 0;
	s->qp = s->pairs[s->pair];
}

static inline void verbs_put_number(struct verbs_send *s, uint32_t seq)
{
	char *buffer = (char *)(uintptr_t)s->sge.addr;

	if (s->carrier == VERBS_IN_PAYLOAD) {
		uint32_t number = htole32(seq);

		memcpy(buffer, &number, sizeof(number));
		return;
	}
	uint64_t turn = verbs_turn((uint32_t)s->posted + 1, seq);

	memcpy(buffer + s->sge.length - sizeof(turn), &turn, sizeof(turn));
	/* The receiver reads slots in the order of turns. */
	s->wr.wr.rdma.remote_addr = s->remote_first + ((uint32_t)s->posted & s->remote_mask) * s->remote_stride;
}

_Static_assert(offsetof(struct ibv_send_wr, wr.atomic.remote_addr) == offsetof(struct ibv_send_wr, wr.rdma.remote_addr),
	       "an atomic's target is set as a write's");
_Static_assert(sizeof(((struct ibv_send_wr *)0)->wr.ud.ah) == sizeof(uint64_t) &&
		   offsetof(struct ibv_send_wr, wr.ud.ah) == offsetof(struct ibv_send_wr, wr.rdma.remote_addr),
	       "struct verbs_send keeps an address handle where a write has its target");

static inline int verbs_post(struct verbs *t, uint32_t seq, bool signal)
{
	struct verbs_send *s = &t->send;
	struct ibv_send_wr *bad;

	s->sge.addr = s->first + (seq & s->mask) * s->stride;
	s->wr.wr_id = seq;
	s->wr.imm_data = htonl(seq);
	s->wr.send_flags = s->flags | (signal ? IBV_SEND_SIGNALED : 0);
	s->wr.wr.rdma.remote_addr = s->remote_first + (seq & s->remote_mask) * s->remote_stride;
	if (verbs_unlikely(s->carrier > VERBS_IN_IMMEDIATE))
		verbs_put_number(s, seq);
	int rc = ibv_post_send(s->qp, &s->wr, &bad);

	if (verbs_unlikely(rc))
		return verbs_note(&s->fault, rc, "post the send of message", seq);
	s->posted++;
	s->signalled += signal;
	if (verbs_unlikely(s->prepares))
		verbs_prepare_next(s, seq + 1);
	return 0;
}

#define TRANSPORT_POSTS_EMPTY 1

/* Its number is in the immediate data, as verbs_check() makes sure. */
static inline int verbs_post_empty(struct verbs *t, uint32_t seq, bool signal)
{
	struct ibv_send_wr *wr = &t->send.wr;
	const int whole = wr->num_sge;
	int rc;

	wr->num_sge = 0;
	rc = verbs_post(t, seq, signal);
	wr->num_sge = whole;
	return rc;
}

#define TRANSPORT_FETCHES 1

/* Cold: has the completed message seq fetched the expected data? True if messages do not fetch any. */
bool verbs_fetched(const struct verbs *t, uint32_t seq);

#define TRANSPORT_LISTS 1

/* Prepared like a separate message; the list does the rest. */
static inline int verbs_post_more(struct verbs *t, uint32_t seq, bool signal)
{
	struct verbs_send *s = &t->send;
	struct verbs_send_request *request = &s->list[s->listed++];

	s->sge.addr = s->first + (seq & s->mask) * s->stride;
	s->wr.wr.rdma.remote_addr = s->remote_first + (seq & s->remote_mask) * s->remote_stride;
	if (s->carrier > VERBS_IN_IMMEDIATE)
		verbs_put_number(s, seq);
	if (s->carrier == VERBS_IN_OPERANDS)
		verbs_put_operands(s, seq);
	request->sge.addr = s->sge.addr;
	request->wr.wr_id = seq;
	request->wr.imm_data = htonl(seq);
	request->wr.send_flags = s->flags | (signal ? IBV_SEND_SIGNALED : 0);
	request->wr.wr = s->wr.wr;
	s->posted++;
	s->signalled += signal;
	return 0;
}

static inline int verbs_flush(struct verbs *t)
{
	struct verbs_send *s = &t->send;
	struct verbs_send_request *last = &s->list[s->listed - 1];
	struct ibv_send_wr *bad, *next = last->wr.next;
	const uint32_t count = s->listed;

	s->listed = 0;
	last->wr.next = NULL;
	int rc = ibv_post_send(s->qp, &s->list[0].wr, &bad);

	last->wr.next = next;
	if (verbs_unlikely(rc))
		return verbs_note(&s->fault, rc, "post sends in one list, as many as", count);
	return 0;
}

/* `n` send completions were polled, at most one. */
static inline int verbs_take_send(struct verbs *t, int n, const struct ibv_wc *wc, uint32_t *seq)
{
	if (n == 0)
		return 0;
	if (verbs_unlikely(n < 0 || wc->status != IBV_WC_SUCCESS)) {
		verbs_note_completion(&t->send_cq.fault, n, wc);
		return -EIO;
	}
	t->send_cq.polled++;
	*seq = (uint32_t)wc->wr_id;
	return 1;
}

static inline int verbs_poll_send(struct verbs *t, uint32_t *seq)
{
	struct ibv_wc wc;

	return verbs_take_send(t, ibv_poll_cq(t->send_cq.cq, 1, &wc), &wc, seq);
}

#define TRANSPORT_POLLS_MANY 1
#define VERBS_POLLED_AT_ONCE 16

static inline int verbs_poll_sends(struct verbs *t, uint32_t *seq)
{
	struct ibv_wc wc[VERBS_POLLED_AT_ONCE];
	int n = ibv_poll_cq(t->send_cq.cq, VERBS_POLLED_AT_ONCE, wc);

	if (n < 0)
		return verbs_take_send(t, n, wc, seq);
	for (int i = 0; i < n; i++)
		if (verbs_unlikely(verbs_take_send(t, 1, &wc[i], seq) < 0))
			return -EIO;
	return n;
}

static inline const void *verbs_recv_buffer(struct verbs *t)
{
	const struct verbs_recv *r = &t->recv;
	uint32_t slot = (r->last & r->slot_of_last) | (r->seq & r->slot_of_seq);

	return (const void *)(uintptr_t)(r->first + slot * r->stride + r->payload);
}

static inline int verbs_poll_memory(struct verbs *t, uint32_t *seq)
{
	struct verbs_recv *r = &t->recv;
	uint32_t slot = r->taken & r->mask;
	/* Aligned, because messages end at the end of a cache line. */
	const uint64_t *at = (const uint64_t *)(uintptr_t)(r->first + slot * r->stride + r->turn);
	uint64_t is = le64toh(__atomic_load_n(at, __ATOMIC_ACQUIRE));

	if ((uint32_t)(is >> 32) != r->taken + 1)
		return verbs_other_turn(t, (uint32_t)(is >> 32)) ? -EIO : 0;
	r->last = slot;
	r->held = true;
	*seq = (uint32_t)is;
	return 1;
}

/* Cold: one of several copies of message `*seq` has arrived. Returns the same as poll_recv. */
int verbs_take_copy(struct verbs *t, uint32_t *seq);

/* For a message whose number is not in its immediate data. Returns the same as poll_recv. */
static inline int verbs_take_number(struct verbs *t, uint32_t *seq)
{
	struct verbs_recv *r = &t->recv;
	uint32_t number;

	if (r->carrier == VERBS_UNNUMBERED) {
		r->seq = *seq = r->taken++;
		return 1;
	}
	memcpy(&number, (const char *)verbs_recv_buffer(t) - sizeof(number), sizeof(number));
	*seq = le32toh(number);
	return verbs_unlikely(r->receivers > 0) ? verbs_take_copy(t, seq) : 1;
}

/* Likewise for received messages. */
static inline int verbs_take_recv(struct verbs *t, int n, const struct ibv_wc *wc, uint32_t *seq)
{
	struct verbs_recv *r = &t->recv;

	if (n == 0)
		return 0;
	if (verbs_unlikely(n < 0 || wc->status != IBV_WC_SUCCESS)) {
		verbs_note_completion(&t->recv_cq.fault, n, wc);
		return -EIO;
	}
	t->recv_cq.polled++;
	r->last = (uint32_t)wc->wr_id;
	r->held = true;
	r->seq = *seq = ntohl(wc->imm_data);
	if (verbs_unlikely(r->carrier != VERBS_IN_IMMEDIATE))
		return verbs_take_number(t, seq);
	return 1;
}

static inline int verbs_poll_recv(struct verbs *t, uint32_t *seq)
{
	struct ibv_wc wc;

	if (verbs_unlikely(t->recv.carrier == VERBS_IN_MEMORY))
		return verbs_poll_memory(t, seq);
	return verbs_take_recv(t, ibv_poll_cq(t->recv_cq.cq, 1, &wc), &wc, seq);
}

#define TRANSPORT_REGISTERS 1
#define VERBS_REGISTERED    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static inline int verbs_register_memory(struct verbs *t, void *data, size_t size, void **handle)
{
	*handle = ibv_reg_mr(t->pd, data, size, VERBS_REGISTERED);
	return *handle ? 0 : -errno;
}

static inline int verbs_deregister_memory(struct verbs *t, void *handle)
{
	(void)t;
	return -ibv_dereg_mr(handle);
}

#define TRANSPORT_CONNECTS 1

/* A reliable queue pair that is connected with itself, and everything of it undone. */
int verbs_set_up(struct verbs *t, void **handle);
int verbs_tear_down(struct verbs *t, void *handle);

#define TRANSPORT_STAMPS 1

/* Like ibv_poll_cq() for one completion, with the device's stamp. */
static inline int verbs_poll_stamped(struct verbs_cq *q, struct ibv_wc *wc, uint64_t *device)
{
	struct ibv_poll_cq_attr attr = {0};
	int rc = ibv_start_poll(q->stamped, &attr);

	if (rc)
		return rc == ENOENT ? 0 : -1;
	wc->status = q->stamped->status;
	wc->wr_id = q->stamped->wr_id;
	if (verbs_unlikely(wc->status != IBV_WC_SUCCESS)) {
		wc->vendor_err = ibv_wc_read_vendor_err(q->stamped);
	} else {
		wc->imm_data = ibv_wc_read_imm_data(q->stamped);
		*device = ibv_wc_read_completion_ts(q->stamped);
	}
	ibv_end_poll(q->stamped);
	return 1;
}

static inline int verbs_poll_send_stamped(struct verbs *t, uint32_t *seq, uint64_t *device)
{
	struct ibv_wc wc;

	return verbs_take_send(t, verbs_poll_stamped(&t->send_cq, &wc, device), &wc, seq);
}

static inline int verbs_poll_recv_stamped(struct verbs *t, uint32_t *seq, uint64_t *device)
{
	struct ibv_wc wc;

	return verbs_take_recv(t, verbs_poll_stamped(&t->recv_cq, &wc, device), &wc, seq);
}

/* Post a receive request for a buffer. */
static inline int verbs_post_recv(struct verbs *t, uint32_t buffer)
{
	struct verbs_recv *r = &t->recv;
	struct ibv_recv_wr *bad;

	r->sge.addr = r->first + buffer * r->stride;
	r->wr.wr_id = buffer;
	int rc = ibv_post_recv(r->qp, &r->wr, &bad);

	if (verbs_unlikely(rc))
		return verbs_note(&r->fault, rc, "post the receive of buffer", buffer);
	return 0;
}

static inline int verbs_release(struct verbs *t)
{
	t->recv.held = false;
	if (verbs_unlikely(t->recv.bulk != NULL))
		return verbs_put_back(t);
	if (verbs_unlikely(t->recv.carrier == VERBS_IN_MEMORY)) {
		t->recv.taken++;
		return 0;
	}
	return verbs_post_recv(t, t->recv.last);
}

static inline int verbs_wait(struct verbs_cq *q)
{
	struct ibv_cq *cq;
	void *context;
	int rc;

	if (!q->armed) {
		rc = ibv_req_notify_cq(q->cq, 0);
		if (verbs_unlikely(rc))
			return verbs_note(&q->fault, rc, "arm the completion queue after completion", q->polled);
		q->armed = true;
		return 0;
	}
	if (ibv_get_cq_event(q->channel, &cq, &context))
		return errno == EINTR ? -EINTR
				      : verbs_note(&q->fault, errno, "wait for an event after completion", q->polled);
	q->armed = false;
	q->events++;
	return 0;
}

static inline int verbs_wait_send(struct verbs *t)
{
	return verbs_wait(&t->send_cq);
}

static inline int verbs_wait_recv(struct verbs *t)
{
	return verbs_wait(&t->recv_cq);
}

#endif
