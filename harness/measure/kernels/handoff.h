/*
 * Round trips through a message layer, as a library such as MPI has one: messages may be
 * acknowledged and copied, and on each side the thread that receives need not be the one that the
 * message is for (`hand`); the latter is then notified by a shared variable on which it spins,
 * giving the CPU up between looks or not, or woken up.
 *
 *   user        has a message to send: copies it into the transport's buffer (copy), posts it, waits for the
 *               acknowledgement (ack), then for the answer; at the sink the other way round
 *   messenger   receives: acknowledges (ack), copies the payload to the user's memory (copy), hands it over
 *
 * With `hand: direct` there is no messenger, and the user's thread does that itself. Messages that
 * were not acknowledged in time are sent again if `retry` says so; the receiver acknowledges a
 * repeated one again and drops it. What is lost in spite of that is counted, as in every kernel.
 */
#ifndef KBLAT_KERNELS_HANDOFF_H
#define KBLAT_KERNELS_HANDOFF_H

#include <pthread.h>

#include "measure/instrument/memory.h"
#include "measure/kernels/handover.h"
#include "measure/kernels/kernel.h"

enum handoff_hand { HANDOFF_DIRECT, HANDOFF_SPIN, HANDOFF_EVENT, HANDOFF_YIELD };

struct handoff_settings {
	int64_t messages, size, duration, lost_after, link_rate;
	int64_t retry; /* 0: never */
	int hand;      /* enum handoff_hand */
	bool ack, copy, check, registers, unexpected;
};

/* An acknowledgement carries the number of the message that it acknowledges, with this bit set.
 * Transports support numbers of 30 bits. */
#define HANDOFF_ACK UINT32_C(0x20000000)

/* What the threads of one side share. */
struct handoff_side {
	struct handover message, ack; /* from the messenger to the user */
	/* With copy, the user's own memory, from and to which messages are copied; with register, it is registered
	 * for each message. */
	struct memory in, out;
	struct memory kept; /* of the layer, for a message that its user has not asked for yet (unexpected) */
	void *in_handle, *out_handle;
	bool registers; /* the setting */
	_Alignas(64) atomic_flag posting;
	_Alignas(64) uint32_t posted, done; /* including acknowledgements; of the posting thread */
	uint32_t until_signal;
	_Alignas(64) atomic_bool user_ended;
	atomic_bool messenger_runs;
	pthread_t messenger;
	/* direct: an acknowledgement, or a message, arrived while the other was awaited */
	bool is_acked, is_pending;
	uint32_t acked, pending;
	uint32_t next;	    /* of the receiving thread: messages with lower numbers are repeated ones */
	int64_t retries;    /* of the user's thread */
	const char *failed; /* what the user's memory could not be: "register" */
	int failure;
};

enum { HANDOFF_T_SUBM, HANDOFF_T_SEEN, HANDOFF_T_BACK };
enum { HANDOFF_SOURCE_MESSENGER, HANDOFF_SOURCE, HANDOFF_SINK_MESSENGER, HANDOFF_SINK };

extern const struct kernel_ops handoff_kernel;

#endif
