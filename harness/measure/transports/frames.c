#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "measure/transports/frames.h"
#include "measure/transports/token.h"

#define LINE	       64
#define LOOK_EVERY     256 /* rounds between checks while spinning */
#define LOOK_EVERY_MS  20  /* milliseconds between checks while sleeping */
#define PAYLOAD_OFFSET (2 * FRAMES_NUMBER)
#define HALF_A_PAGE    2048
#define SLOTS_LEAST    4
#define SLOTS_MOST     1024
#define SLOTS_BYTES    (8 << 20) /* one call of a library may deliver so many bytes of small messages */

/* The number lies right before the payload, and both in one cache line if they fit there: a library copies them by loads
 * and stores that are wider than the number, and one across two lines costs a few nanoseconds. */
static int make_buffer(struct memory *m, char **message, size_t from, const struct frames *f, int numa_node,
		       struct err *e)
{
	int rc = memory_alloc(m, from + PAYLOAD_OFFSET + f->size, numa_node, e);

	if (!rc)
		*message = (char *)m->data + from + PAYLOAD_OFFSET - FRAMES_NUMBER;
	return rc;
}

void frames_begin(struct frames *f, const struct transport_config *config)
{
	memset(f, 0, sizeof(*f));
	f->size = (size_t)config->size;
	f->spins = config->poll_send == POLL_BUSY && config->poll_recv == POLL_BUSY;
	f->stop = config->stop;
}

int frames_open(struct frames *f, struct transport *base, const struct transport_config *config, struct err *e)
{
	const bool sends = config->role == ROLE_SOURCE || config->duplex;
	const bool receives = config->role == ROLE_SINK || config->duplex;
	int rc = 0;

	frames_begin(f, config);
	base->overhead = FRAMES_NUMBER;
	if (f->size < FRAMES_NUMBER)
		return err_set(e, -EINVAL, STATUS_USAGE, base->ops->name, NULL, "a message cannot hold its number");
	if (sends)
		rc = make_buffer(&f->out_memory, &f->out, 0, f, config->numa_node, e);
	/* The kernel keeps messages from the beginning of a page. To copy them to an address that is a few bytes further
	 * within its page takes twice as long: loads wait for stores to addresses with the same last 12 bits. */
	if (!rc && receives)
		rc = make_buffer(&f->in_memory, &f->in, HALF_A_PAGE, f, config->numa_node, e);
	if (rc)
		frames_close(f);
	return rc;
}

void frames_close(struct frames *f)
{
	memory_free(&f->out_memory);
	memory_free(&f->in_memory);
}

void frames_next_repetition(struct frames *f)
{
	f->repetition += 1u << FRAMES_SEQ_BITS;
	f->is_sent = false;
}

int frames_check(const struct transport_config *config, char *why, size_t why_size)
{
	const long long size = (long long)config->size;
	const long long least = (long long)(FRAMES_NUMBER + (config->rewrites ? sizeof(int64_t) : 0));

	if (size >= least)
		return 0;
	snprintf(why, why_size, "size %lld and transport %s: %lld bytes of a message hold its number%s", size,
		 config->ops->name, least, config->rewrites ? " and the stamp of t_send" : "");
	return -EINVAL;
}

int frames_note(struct frames *f, int rc, const char *operation, const char *hint)
{
	if (!f->fault.rc) {
		f->fault.rc = rc;
		f->fault.operation = operation;
		f->fault.hint = hint;
	}
	return rc;
}

int frames_failure(const struct frames *f, const char *object, struct err *e)
{
	char cause[256];

	if (!f->fault.rc)
		return 0;
	return err_set(e, f->fault.rc, STATUS_FAILED, object, f->fault.operation, "%s%s%s",
		       err_cause(f->fault.rc, cause, sizeof(cause)), f->fault.hint ? "; " : "",
		       f->fault.hint ? f->fault.hint : "");
}

json_t *frames_counters(const struct frames *f)
{
	return json_pack("{s:I, s:I}", "late_messages", (json_int_t)f->stragglers, "full_buffers",
			 (json_int_t)f->waits);
}

int frames_wait_to_send(struct frames *f, int fd, short events, uint32_t *rounds)
{
	struct pollfd ready = {.fd = fd, .events = events};

	f->waits += !*rounds;
	++*rounds;
	if (f->spins) {
		cpu_relax();
		if (*rounds % LOOK_EVERY)
			return 0;
	} else {
		poll(&ready, fd >= 0, fd >= 0 ? LOOK_EVERY_MS : 1);
	}
	return frames_must_stop(f) ? -EINTR : 0;
}

int frames_sleep_to_send(struct frames *f, int fd, int may_sleep, uint32_t *rounds)
{
	if (may_sleep <= 0)
		return !may_sleep && frames_must_stop(f) ? -EINTR : may_sleep;
	return frames_wait_to_send(f, fd, POLLIN, rounds);
}

int frames_sleep_to_receive(struct frames *f, int fd, int may_sleep)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};

	if (may_sleep <= 0)
		return may_sleep;
	if (poll(&readable, 1, -1) >= 0)
		return 0;
	return errno == EINTR ? -EINTR : frames_note(f, -errno, "wait for messages", NULL);
}

void *frames_send_buffer(struct transport *transport, uint32_t seq)
{
	(void)seq;
	return ((struct framed *)transport)->frames.out + FRAMES_NUMBER;
}

int frames_poll_posted(struct transport *transport, uint32_t *seq)
{
	return frames_poll_send(&((struct framed *)transport)->frames, seq);
}

const void *frames_recv_buffer(struct transport *transport)
{
	return ((struct framed *)transport)->frames.in + FRAMES_NUMBER;
}

/* --- slots --- */

uint32_t frames_slots(const struct transport_config *config)
{
	int64_t wanted = SLOTS_BYTES / config->size;

	if (config->duplex && !config->is_stream) /* who waits for answers gets no more at once */
		wanted = config->depth + 1;
	wanted = wanted < SLOTS_LEAST ? SLOTS_LEAST : wanted > SLOTS_MOST ? SLOTS_MOST : wanted;
	return transport_ring_slots(wanted > config->depth ? wanted : config->depth + 1);
}

static size_t slot_stride(const struct frames *f)
{
	return (PAYLOAD_OFFSET - FRAMES_NUMBER + f->size + LINE - 1) / LINE * LINE;
}

int frames_slot_memory(const struct frames *f, struct memory *m, uint32_t slots, const struct transport_config *config,
		       struct err *e)
{
	return memory_alloc(m, slot_stride(f) * slots, config->numa_node, e);
}

char *frames_slot(const struct frames *f, const struct memory *m, uint32_t i)
{
	return (char *)m->data + i * slot_stride(f) + PAYLOAD_OFFSET - FRAMES_NUMBER;
}

/* --- meeting --- */

static int greet_each_other(int (*greet)(void *), int (*be_greeted)(void *), void *transport)
{
	const struct timespec moment = {0, 100000};
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	int sent = 0, received = 0;

	for (;;) {
		sent = sent ? sent : greet(transport);
		received = sent < 0 || received ? received : be_greeted(transport);
		if (sent < 0 || received < 0)
			return sent < 0 ? sent : received;
		if (sent && received)
			return 0;
		if (monotonic_ms() > deadline_ms)
			return -ETIMEDOUT;
		nanosleep(&moment, NULL);
	}
}

int frames_meet(struct frames *f, char *greeting, int (*greet)(void *), int (*be_greeted)(void *), void *transport)
{
	char *own = f->out, *made = greeting ? NULL : or_abort(calloc(1, f->size));
	int rc;

	f->out = greeting ? greeting : made;
	rc = greet_each_other(greet, be_greeted, transport);
	memory_touch_all();
	f->out = own;
	f->is_sent = false;
	free(made);
	return rc;
}
