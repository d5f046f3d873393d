/*
 * A hand-over between two threads, there and back, by the very functions that the kernel handoff is made of: each number
 * comes once and in order, with the payload that was written before it, and no wake-up is lost. Then the kernel itself,
 * its four threads in one process over shared memory, with and without acknowledgements and copies; where threads yield,
 * with each way of polling, too.
 *
 * `make memory-order` runs it under ThreadSanitizer with a million hand-overs in each mode (HANDOVERS), for which two
 * threads that nothing orders are an error on whatever machine.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "common/err.h"
#include "tap.h"

#define TRANSPORT     shmem
#define TRANSPORT_HOT "measure/transports/shmem_hot.h"
#define LOOP_ONE_INSTANCE
#include "measure/kernels/handoff_loop.c"

#ifndef HANDOVERS
#define HANDOVERS 20000
#endif

/* --- the hand-over alone --- */

struct trip {
	struct handover there, back;
	uint32_t payload[2]; /* ordinary memory: what orders it is the hand-over */
	uint32_t wrong[2];
	enum handoff_hand hand;
};

static uint32_t take(struct trip *t, struct handover *h, int side)
{
	const void *data;
	uint32_t number;

	while (!handover_take(h, &number, &data)) {
		if (t->hand == HANDOFF_EVENT)
			handover_sleep(h, 0);
		else
			handoff_relax(t->hand);
	}
	t->wrong[side] += *(const uint32_t *)data != number * 7;
	return number;
}

static void give(struct trip *t, struct handover *h, int side, uint32_t number)
{
	t->payload[side] = number * 7;
	handover_give(h, number, &t->payload[side], t->hand == HANDOFF_EVENT);
}

static void *answer_all(void *arg)
{
	struct trip *t = arg;

	for (uint32_t i = 0; i < HANDOVERS; i++) {
		t->wrong[1] += take(t, &t->there, 1) != i;
		give(t, &t->back, 1, i);
	}
	return NULL;
}

static void test_trips(const char *name, enum handoff_hand hand)
{
	static struct trip t;
	pthread_t thread;

	memset(&t, 0, sizeof(t));
	t.hand = hand;
	handover_reset(&t.there);
	handover_reset(&t.back);
	if (pthread_create(&thread, NULL, answer_all, &t))
		abort();
	for (uint32_t i = 0; i < HANDOVERS; i++) {
		give(&t, &t.there, 0, i);
		t.wrong[0] += take(&t, &t.back, 0) != i;
	}
	pthread_join(thread, NULL);
	is_int(t.wrong[0] + t.wrong[1], 0, "%d hand-overs there and back, %s: all in order, with their payloads",
	       HANDOVERS, name);
}

/* Both threads on the CPU that this one has now. Where the one that waits kept it, each hand-over would last until the
 * scheduler takes it away. */
static void test_trips_on_one_cpu(void)
{
	cpu_set_t before, one;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(before), &before) || sched_setaffinity(0, sizeof(one), &one))
		abort();
	test_trips("yielding on one CPU", HANDOFF_YIELD);
	sched_setaffinity(0, sizeof(before), &before);
}

/* --- the kernel --- */

enum { SIZE = 96, DEPTH = 8, SPIN_TICKS = 20000 };

struct side {
	struct worker worker;
	int64_t *column[3];
	int rc[2];
	pthread_t thread[2];
	size_t loop; /* of its messenger; its user's is the next */
};

static struct transport *open_transport(enum role role, json_t **address)
{
	struct transport_config config = {.role = role,
					  .size = SIZE,
					  .depth = DEPTH,
					  .duplex = true,
					  .acknowledges = true,
					  .numa_node = -1,
					  .name = "0123456789abcdef"};
	struct transport *t;
	struct err e = ERR_INIT;

	if (shmem_transport.open(&config, NULL, &t, address, &e)) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	return t;
}

/* Both sides have mapped the same memory at addresses of their own, which ThreadSanitizer takes for two: have them use one. */
static void share_map(struct transport *source, const struct transport *sink)
{
	struct shmem *a = (struct shmem *)source;
	const struct shmem *b = (const struct shmem *)sink;

	a->tx = b->rx;
	a->rx = b->tx;
}

static void open_side(struct side *s, enum role role, const struct handoff_settings *settings, enum poll_mode poll,
		      struct transport *t)
{
	struct kernel_place place = {.role = role, .numa_node = -1};
	const uint32_t messages = (uint32_t)settings->messages;

	s->worker = (struct worker){.transport = t,
				    .settings = settings,
				    .poll_recv = poll,
				    .spin_ticks = SPIN_TICKS,
				    .messages = messages,
				    .depth = DEPTH,
				    .signal_every = 1,
				    .clock = {0, 1, 0}};
	s->loop = role == ROLE_SOURCE ? HANDOFF_SOURCE_MESSENGER : HANDOFF_SINK_MESSENGER;
	for (int i = 0; i < 3 && role == ROLE_SOURCE; i++)
		s->worker.column[i] = s->column[i] = calloc(messages, sizeof(int64_t));
	if (handoff_kernel.side->open(settings, &place, &s->worker.side, NULL))
		abort();
	handoff_kernel.side->start(s->worker.side, 0, NULL);
}

static void *run_messenger(void *arg)
{
	struct side *s = arg;

	s->rc[0] = handoff_loops_shmem.loop[s->loop](&s->worker);
	return NULL;
}

static void *run_user(void *arg)
{
	struct side *s = arg;

	s->rc[1] = handoff_loops_shmem.loop[s->loop + 1](&s->worker);
	return NULL;
}

static void start(struct side *s, const struct handoff_settings *settings)
{
	if ((settings->hand != HANDOFF_DIRECT && pthread_create(&s->thread[0], NULL, run_messenger, s)) ||
	    pthread_create(&s->thread[1], NULL, run_user, s))
		abort();
}

static void join(struct side *s, const struct handoff_settings *settings)
{
	pthread_join(s->thread[1], NULL);
	if (settings->hand != HANDOFF_DIRECT)
		pthread_join(s->thread[0], NULL);
	s->worker.transport->ops->close(s->worker.transport);
	handoff_kernel.side->close(s->worker.side);
}

/* How many stamps are out of order. */
static uint32_t disorder(const struct side *source)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < source->worker.messages; i++)
		wrong += !(source->column[HANDOFF_T_SUBM][i] < source->column[HANDOFF_T_SEEN][i] &&
			   source->column[HANDOFF_T_SEEN][i] < source->column[HANDOFF_T_BACK][i]);
	return wrong;
}

static void test_kernel(const char *name, enum handoff_hand hand, enum poll_mode poll, unsigned layer, int64_t messages)
{
	const struct handoff_settings settings = {.messages = messages,
						  .size = SIZE,
						  .hand = (int)hand,
						  .ack = layer & 1,
						  .copy = layer & 2,
						  .check = true,
						  .lost_after = 1000000000};
	static struct side source, sink;
	json_t *there, *here;
	struct transport *t[2] = {open_transport(ROLE_SOURCE, &here), open_transport(ROLE_SINK, &there)};

	if (t[1]->ops->connect(t[1], here, NULL) || t[0]->ops->connect(t[0], there, NULL))
		abort();
	share_map(t[0], t[1]);
	json_decref(here);
	json_decref(there);
	open_side(&sink, ROLE_SINK, &settings, poll, t[1]);
	open_side(&source, ROLE_SOURCE, &settings, poll, t[0]);
	start(&sink, &settings);
	start(&source, &settings);
	join(&source, &settings);
	join(&sink, &settings);
	ok(source.worker.counters.received == messages && sink.worker.counters.received == messages &&
	       !source.worker.counters.bad_payloads && !sink.worker.counters.bad_payloads && !source.rc[0] &&
	       !source.rc[1] && !sink.rc[0] && !sink.rc[1] && !disorder(&source),
	   "handoff %s, ack %d, copy %d: %lld round trips, payloads whole, stamps in order", name, settings.ack,
	   settings.copy, (long long)messages);
	for (int i = 0; i < 3; i++)
		free(source.column[i]);
}

int main(void)
{
	signal(WAKER_SIGNAL, SIG_IGN);
	test_trips("spinning", HANDOFF_SPIN);
	test_trips("asleep", HANDOFF_EVENT);
	test_trips("yielding", HANDOFF_YIELD);
	test_trips_on_one_cpu();
	for (unsigned i = 0; i < 4; i++) {
		test_kernel("direct", HANDOFF_DIRECT, POLL_BUSY, i, HANDOVERS / 20);
		test_kernel("event", HANDOFF_EVENT, POLL_BUSY, i, HANDOVERS / 20);
		test_kernel("spin", HANDOFF_SPIN, POLL_BUSY, i, 10); /* four threads spin, maybe on two CPUs */
		test_kernel("yield", HANDOFF_YIELD, POLL_EVENT, i, HANDOVERS / 20);
	}
	test_kernel("yield, poll busy", HANDOFF_YIELD, POLL_BUSY, 3, HANDOVERS / 20);
	test_kernel("yield, poll adaptive", HANDOFF_YIELD, POLL_ADAPTIVE, 3, HANDOVERS / 20);
	return done_testing();
}
