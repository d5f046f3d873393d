/*
 * The verbs transport over a real device, both ends in one process: messages really move and every byte of every
 * payload is checked; then what must not work, and what is said about it. Runs where there is an RDMA device, which is
 * the Soft-RoCE guest:
 *
 *     tests/vm/guest -- build/vm-verbs-test
 *
 * With the argument `without-device` it checks what is said where there is none.
 */
#include <dirent.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "measure/transports/payload.h"
#include "measure/transports/verbs_hot.h"
#include "measure/transports/verbs_resources.h"
#include "tests/unit/tap.h"

/* Of an emulated CPU's time: eight times as many as there are buffers, twice as many, and where each waits for the one before. */
#define MESSAGES    512
#define FEW	    130
#define ONE_BY_ONE  40
#define DEPTH	    64
#define STALLED_NS  30000000000LL
#define WATCH_PAUSE ((const struct timespec){0, 2000000})
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
static const struct transport_ops *const ops = &verbs_transport;

/* For all endpoints that are opened from now on: both post; nobody looks at the sink. */
static bool duplex, passive;

/* --- one end, or two --- */

struct end {
	struct transport_config config;
	struct transport *transport;
	json_t *address;
	const json_t *peer;
	struct err e;
	int rc;
	pthread_t thread;
};

/* What the two ends of a pair share while messages move. */
struct move {
	struct verbs *source, *sink;
	enum poll_mode poll;
	uint32_t messages, depth, size, signal_every;
	int64_t hold_ns; /* the sink sleeps so long before each release */
	atomic_uint completed, received, stop, running;
	unsigned duplicates, foreign, bad, disordered;
	bool seen[MESSAGES];
	int source_rc, completions_rc, sink_rc;
};

/* The settings of a point: defaults, and after `size` what is given as "key=value". */
/* The transport's settings, from words such as "qp=ud mtu=512". */
static struct verbs_settings settings_of(const char *settings)
{
	json_t *params = json_object();
	struct verbs_settings s;
	struct err e = ERR_INIT;
	char *copy = strdup(settings), *state = NULL, why[256];

	for (const struct opt *o = verbs_options; o->name; o++)
		json_object_set_new(params, o->name, opt_default(o));
	for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		json_t *parsed = opt_parse(opt_find(verbs_options, word), value, why, sizeof(why));

		if (!parsed) {
			printf("Bail out! %s=%s: %s\n", word, value, why);
			exit(1);
		}
		json_object_set_new(params, word, parsed);
	}
	free(copy);
	if (opt_load(verbs_options, params, &s, &e)) {
		printf("Bail out! %s: %s\n", settings, e.text);
		exit(1);
	}
	json_decref(params);
	return s;
}

static void end_open(struct end *x, enum role role, enum poll_mode poll, int64_t size, int64_t depth,
		     const char *settings)
{
	const struct verbs_settings s = settings_of(settings);

	memset(x, 0, sizeof(*x));
	x->config = (struct transport_config){.ops = ops,
					      .role = role,
					      .poll_send = poll,
					      .poll_recv = poll,
					      .duplex = duplex,
					      .is_passive = passive,
					      .size = size,
					      .depth = depth,
					      .numa_node = -1,
					      .name = "0123456789abcdef"};
	x->rc = ops->open(&x->config, &s, &x->transport, &x->address, &x->e);
}

static void end_close(struct end *x)
{
	if (x->transport)
		ops->close(x->transport);
	json_decref(x->address);
	memset(x, 0, sizeof(*x));
}

static void *connect_thread(void *argument)
{
	struct end *x = argument;

	x->rc = ops->connect(x->transport, x->peer, &x->e);
	return NULL;
}

static void connect_start(struct end *x, const json_t *peer)
{
	x->peer = peer;
	pthread_create(&x->thread, NULL, connect_thread, x);
}

static void connect_both(struct end *source, struct end *sink)
{
	connect_start(sink, source->address);
	connect_start(source, sink->address);
	pthread_join(source->thread, NULL);
	pthread_join(sink->thread, NULL);
}

/* Open and connect; what fails is shown. */
static bool pair_up(struct end *source, struct end *sink, enum poll_mode poll, int64_t size, int64_t depth,
		    const char *settings)
{
	end_open(sink, ROLE_SINK, poll, size, depth, settings);
	end_open(source, ROLE_SOURCE, poll, size, depth, settings);
	if (!sink->rc && !source->rc)
		connect_both(source, sink);
	if (sink->rc || source->rc)
		printf("# %s: source: %s; sink: %s\n", settings, source->e.text, sink->e.text);
	return !sink->rc && !source->rc;
}

static void pair_close(struct end *source, struct end *sink)
{
	end_close(source);
	end_close(sink);
}

/* --- moving messages --- */

static bool is_stopped(struct move *m)
{
	return atomic_load_explicit(&m->stop, memory_order_relaxed);
}

static int reap(struct move *m)
{
	uint32_t seq;
	int rc = verbs_poll_send(m->source, &seq);

	if (rc > 0)
		atomic_store(&m->completed, seq + 1);
	return rc;
}

/* At most `depth` are neither completed nor, where nothing else keeps a source from running ahead of its sink, received:
 * unreliable queue pairs drop what finds no buffer, and writes overwrite. */
static bool has_room(struct move *m, uint32_t seq)
{
	bool is_held_back = m->source->kind->is_reliable && m->source->operation->carrier != VERBS_IN_MEMORY;

	return seq - atomic_load(&m->completed) < m->depth &&
	       (is_held_back || seq - atomic_load(&m->received) < m->depth);
}

static bool wants_signal(const struct move *m, uint32_t seq)
{
	return (seq + 1) % m->signal_every == 0 || seq + 1 == m->messages;
}

static size_t payload_of(const struct verbs *t)
{
	return (size_t)t->config.size - t->base.overhead;
}

static void *source_thread(void *argument)
{
	struct move *m = argument;
	int rc = 0;

	for (uint32_t seq = 0; seq < m->messages && !rc && !is_stopped(m);) {
		if (has_room(m, seq)) {
			payload_fill(verbs_send_buffer(m->source, seq), payload_of(m->source), seq);
			rc = verbs_post(m->source, seq, wants_signal(m, seq));
			seq++;
			continue;
		}
		if (m->poll == POLL_BUSY)
			rc = reap(m) < 0 ? -EIO : 0;
		else
			sched_yield();
	}
	while (m->poll == POLL_BUSY && !rc && atomic_load(&m->completed) < m->messages && !is_stopped(m))
		rc = reap(m) < 0 ? -EIO : 0;
	m->source_rc = rc;
	atomic_fetch_sub(&m->running, 1);
	return NULL;
}

static void *completions_thread(void *argument)
{
	struct move *m = argument;
	int rc = 0;

	while (atomic_load(&m->completed) < m->messages && !is_stopped(m)) {
		rc = reap(m);
		if (rc == 0)
			rc = verbs_wait_send(m->source);
		if (rc < 0 && rc != -EINTR)
			break;
	}
	m->completions_rc = rc < 0 ? rc : 0;
	atomic_fetch_sub(&m->running, 1);
	return NULL;
}

/* Soft-RoCE copies like memcpy(), which may write the end of a message first: when its number is there, the rest may be still
 * to come, for as long as it takes to copy it, or while another thread has the CPU. */
static bool is_right_soon(const struct move *m, const void *payload, uint32_t seq)
{
	for (int tries = 0; tries < 1000; tries++) {
		if (payload_is_right(payload, payload_of(m->sink), seq))
			return true;
		usleep(10);
	}
	return false;
}

static void account(struct move *m, uint32_t seq, const void *payload)
{
	if (seq >= m->messages) {
		m->foreign++;
		return;
	}
	m->duplicates += m->seen[seq];
	m->seen[seq] = true;
	m->disordered += seq != atomic_load(&m->received);
	m->bad += !is_right_soon(m, payload, seq);
}

static void *sink_thread(void *argument)
{
	struct move *m = argument;
	struct timespec hold = {m->hold_ns / 1000000000, m->hold_ns % 1000000000};
	uint32_t seq;
	int rc = 0;

	while (atomic_load(&m->received) < m->messages && !is_stopped(m)) {
		rc = verbs_poll_recv(m->sink, &seq);
		if (rc > 0) {
			account(m, seq, verbs_recv_buffer(m->sink));
			if (m->hold_ns)
				nanosleep(&hold, NULL);
			rc = verbs_release(m->sink);
			atomic_fetch_add(&m->received, 1);
		} else if (rc == 0 && m->poll == POLL_EVENT) {
			rc = verbs_wait_recv(m->sink);
		}
		if (rc < 0 && rc != -EINTR)
			break;
	}
	m->sink_rc = rc < 0 ? rc : 0;
	atomic_fetch_sub(&m->running, 1);
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
}

/* Until all threads have ended; who stalls is stopped and woken. */
static void watch(struct move *m, const pthread_t *threads, unsigned count)
{
	int64_t since = monotonic_ns();
	unsigned last = 0;

	while (atomic_load(&m->running)) {
		unsigned now = atomic_load(&m->received) + atomic_load(&m->completed);

		nanosleep(&WATCH_PAUSE, NULL);
		if (now != last)
			since = monotonic_ns();
		last = now;
		if (monotonic_ns() - since < STALLED_NS && !m->source_rc && !m->sink_rc && !m->completions_rc)
			continue;
		atomic_store(&m->stop, 1);
		for (unsigned i = 0; i < count; i++)
			pthread_kill(threads[i], SIGUSR1);
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void move_all(struct move *m)
{
	static void *(*const starts[])(void *) = {sink_thread, source_thread, completions_thread};
	unsigned count = m->poll == POLL_EVENT ? 3 : 2;
	pthread_t threads[COUNT(starts)];

	atomic_store(&m->running, count);
	for (unsigned i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, starts[i], m);
	watch(m, threads, count);
}

/* Prepare, move, judge. */
static bool repetition(struct end *source, struct end *sink, uint32_t messages, int64_t hold_ns, struct move *m)
{
	memset(m, 0, sizeof(*m));
	*m = (struct move){.source = (struct verbs *)source->transport,
			   .sink = (struct verbs *)sink->transport,
			   .poll = source->config.poll_recv,
			   .messages = messages,
			   .depth = (uint32_t)source->config.depth,
			   .size = (uint32_t)source->config.size,
			   .signal_every = (uint32_t)((struct verbs *)source->transport)->settings.signal_every,
			   .hold_ns = hold_ns};
	if (ops->prepare(sink->transport, &sink->e) || ops->prepare(source->transport, &source->e)) {
		printf("# prepare: source: %s; sink: %s\n", source->e.text, sink->e.text);
		return false;
	}
	move_all(m);
	ops->failure(source->transport, &source->e);
	ops->failure(sink->transport, &sink->e);
	bool good = !m->source_rc && !m->sink_rc && !m->completions_rc && m->received == messages &&
		    m->completed == messages && !m->duplicates && !m->foreign && !m->bad && !m->disordered;

	if (!good)
		printf(
		    "# %u completed, %u received, %u duplicates, %u foreign, %u bad, %u disordered; source %d %d %s; "
		    "sink %d %s\n",
		    m->completed, m->received, m->duplicates, m->foreign, m->bad, m->disordered, m->source_rc,
		    m->completions_rc, source->e.text, m->sink_rc, sink->e.text);
	return good;
}

static int64_t number_in(json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static json_t *counters(const struct end *x)
{
	return ops->device_counters(x->transport);
}

/* --- what must work --- */

static void test_moves(const char *settings, enum poll_mode poll, int64_t size, int64_t depth, uint32_t messages,
		       const char *name)
{
	static struct move m;
	struct end source, sink;
	json_t *before, *after;

	if (ok(pair_up(&source, &sink, poll, size, depth, settings), "%s: connects", name)) {
		before = counters(&source);
		ok(repetition(&source, &sink, messages, 0, &m), "%s: %u messages arrive once, in order, intact", name,
		   messages);
		after = counters(&source);
		ok(number_in(after, "sent_pkts") - number_in(before, "sent_pkts") >= messages,
		   "%s: the device's counters moved", name);
		ok(repetition(&source, &sink, messages < FEW ? messages : FEW, 0, &m), "%s: and again, after prepare",
		   name);
		json_decref(before);
		json_decref(after);
	}
	pair_close(&source, &sink);
}

static void test_all_moves(void)
{
	static const char *const settings[] = {"qp=rc connect=plain", "qp=uc connect=plain", "qp=ud connect=plain",
					       "qp=rc connect=rdmacm", "qp=ud connect=rdmacm"};
	static const char *const polls[] = {[POLL_BUSY] = "busy", [POLL_EVENT] = "event"};
	static const struct {
		int64_t size, depth;
		uint32_t messages;
	} shapes[] = {{1, DEPTH, MESSAGES},
		      {32, DEPTH, MESSAGES},
		      {1024, DEPTH, MESSAGES},
		      {4096, DEPTH, FEW},
		      {32, 1, ONE_BY_ONE}};
	char name[128];

	for (size_t i = 0; i < COUNT(settings); i++)
		for (int poll = POLL_BUSY; poll <= POLL_EVENT; poll++)
			for (size_t j = 0; j < COUNT(shapes); j++) {
				snprintf(name, sizeof(name), "%s %s, %lld B, depth %lld", settings[i], polls[poll],
					 (long long)shapes[j].size, (long long)shapes[j].depth);
				test_moves(settings[i], (enum poll_mode)poll, shapes[j].size, shapes[j].depth,
					   shapes[j].messages, name);
			}
	test_moves("qp=rc connect=plain", POLL_BUSY, 65536, 16, FEW, "rc: messages of many packets, 64 KiB");
	test_moves("qp=uc connect=plain mtu=256", POLL_BUSY, 1000, 16, FEW, "uc: mtu 256");
	test_moves("qp=rc connect=rdmacm mtu=512", POLL_EVENT, 1000, 100, FEW, "rc, rdmacm: mtu 512, depth 100");
	test_moves("qp=rc device=rxe0 port=1 gid_index=1", POLL_BUSY, 32, 8, FEW,
		   "rc: device, port and gid_index given");
	test_moves("qp=ud connect=rdmacm gid_index=1", POLL_BUSY, 32, 8, FEW, "ud, rdmacm: gid_index given");
}

/* Operations, inline, completions asked for now and then, buffers shared or in huge pages. */
static void test_operations(void)
{
	static const struct {
		const char *settings;
		enum poll_mode poll;
		int64_t size, depth;
	} rows[] = {
	    {"qp=rc op=send", POLL_BUSY, 4, DEPTH},
	    {"qp=rc op=send", POLL_EVENT, 32768, 16},
	    {"qp=uc op=send", POLL_BUSY, 33, DEPTH},
	    {"qp=ud op=send", POLL_BUSY, 4096, DEPTH},
	    {"qp=ud op=send connect=rdmacm", POLL_EVENT, 5, DEPTH},
	    {"qp=rc op=write_imm", POLL_BUSY, 1, DEPTH},
	    {"qp=rc op=write_imm", POLL_EVENT, 32768, 16},
	    {"qp=rc op=write_imm connect=rdmacm", POLL_BUSY, 100, 7},
	    {"qp=uc op=write_imm", POLL_BUSY, 32, DEPTH},
	    {"qp=rc op=write", POLL_BUSY, 8, DEPTH},
	    {"qp=rc op=write", POLL_BUSY, 32, 1},
	    {"qp=rc op=write", POLL_BUSY, 32768, 16},
	    {"qp=rc op=write connect=rdmacm", POLL_BUSY, 13, 5},
	    {"qp=uc op=write", POLL_BUSY, 64, DEPTH},
	    {"qp=uc op=write", POLL_BUSY, 9999, 16},
	    {"qp=rc inline=on", POLL_BUSY, 32, DEPTH},
	    {"qp=uc inline=128B op=write_imm", POLL_BUSY, 128, DEPTH},
	    {"qp=ud inline=on op=send", POLL_EVENT, 32, DEPTH},
	    {"qp=rc inline=on op=write", POLL_BUSY, 200, DEPTH},
	    {"qp=rc signal_every=64", POLL_BUSY, 32, DEPTH},
	    {"qp=rc signal_every=3 op=write_imm", POLL_EVENT, 32, 5},
	    {"qp=uc signal_every=16 inline=on op=write", POLL_BUSY, 32, DEPTH},
	    {"qp=ud signal_every=64 op=send", POLL_BUSY, 32, DEPTH},
	    {"qp=rc buffers=1", POLL_BUSY, 32, 1},
	    {"qp=rc buffers=200 op=send", POLL_BUSY, 32, DEPTH},
	    {"qp=rc buffers=1 op=write", POLL_BUSY, 32, 1},
	    {"qp=rc sl=3", POLL_BUSY, 32, DEPTH},
	    {"qp=ud sl=3 connect=rdmacm", POLL_BUSY, 32, DEPTH},
	};
	char name[128];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(name, sizeof(name), "%s %s, %lld B, depth %lld", rows[i].settings,
			 rows[i].poll == POLL_EVENT ? "event" : "busy", (long long)rows[i].size,
			 (long long)rows[i].depth);
		test_moves(rows[i].settings, rows[i].poll, rows[i].size, rows[i].depth,
			   rows[i].depth == 1 ? ONE_BY_ONE : FEW, name);
	}
}

/* --- one side alone --- */

#define ONE_SIDED (FEW + 3)

/* Post and reap so many, as many in flight as there is room for. How many brought what they must; negative: it failed. */
static int work_alone(struct verbs *t, uint32_t messages, uint32_t depth)
{
	uint32_t done = 0, seq = 0;
	int rc = 0, right = 0;

	for (uint32_t posted = 0; done < messages && rc >= 0;) {
		if (posted < messages && posted - done < depth) {
			payload_fill(verbs_send_buffer(t, posted), (size_t)t->config.size, posted);
			rc = verbs_post(t, posted++, true);
			continue;
		}
		rc = verbs_poll_send(t, &seq);
		for (; rc > 0 && done <= seq; done++)
			right += verbs_fetched(t, done);
	}
	return rc < 0 ? rc : right;
}

/* What is left in the sink's memory is what it must be, and where one place of it is another's, that is seen. */
static void test_alone(const char *settings, int64_t size, int64_t depth)
{
	struct end source, sink;
	unsigned char *first;

	if (!ok(pair_up(&source, &sink, POLL_BUSY, size, depth, settings), "%s: connects", settings))
		return;
	first = ((struct verbs *)sink.transport)->recv_ring.memory.data;
	for (int repetition = 0; repetition < 2; repetition++) {
		ok(!ops->prepare(sink.transport, &sink.e) && !ops->prepare(source.transport, &source.e),
		   "%s: prepared %s%s", settings, sink.e.text, source.e.text);
		is_int(work_alone((struct verbs *)source.transport, ONE_SIDED, (uint32_t)depth), ONE_SIDED,
		       "%s, %lld B, depth %lld: every message brings what it must", settings, (long long)size,
		       (long long)depth);
		is_int(ops->check_memory(sink.transport, ONE_SIDED), 0, "and leaves what it must");
	}
	first[0] ^= 1;
	is_int(ops->check_memory(sink.transport, ONE_SIDED), 1, "a changed place is one");
	pair_close(&source, &sink);
}

/* What verbs_fetched() says of bytes that are not those of the message. */
static void test_fetched_wrong(const char *settings)
{
	struct end source, sink;
	struct verbs *t;

	if (!ok(pair_up(&source, &sink, POLL_BUSY, 8, 4, settings), "%s: connects", settings))
		return;
	t = (struct verbs *)source.transport;
	ok(!ops->prepare(sink.transport, &sink.e) && !ops->prepare(source.transport, &source.e) &&
	       work_alone(t, 12, 4) == 12,
	   "%s: all bring what they must", settings);
	ok(verbs_fetched(t, 11) && !verbs_fetched(t, 6) && !verbs_fetched(t, 15),
	   "%s: what one brought is not taken for another's", settings);
	payload_fill(verbs_send_buffer(t, 11), 8, 11);
	ok(!verbs_fetched(t, 11), "%s: nor what was there before", settings);
	pair_close(&source, &sink);
}

static void test_one_sided(void)
{
	passive = true;
	test_alone("op=read", 32, 8);
	test_alone("op=read recv_depth=3 signal_every=1 connect=rdmacm", 9000, 16);
	test_alone("op=read rd_atomic=1", 8, 16);
	test_alone("op=fetch_add", 8, 1);
	test_alone("op=fetch_add recv_depth=32 connect=rdmacm", 8, 8);
	test_alone("op=compare_swap", 8, 8);
	test_alone("op=compare_swap recv_depth=1", 8, 16);
	test_alone("op=write", 5000, 8);
	test_alone("op=write qp=uc inline=on", 32, 8);
	test_fetched_wrong("op=fetch_add");
	test_fetched_wrong("op=compare_swap recv_depth=1");
	passive = false;
}

/* --- both ways --- */

struct echo {
	struct verbs *t;
	uint32_t messages;
	bool begins, event;
	uint32_t right;
	int rc;
};

static int await(struct echo *x, uint32_t *seq)
{
	int64_t start = monotonic_ns();
	int rc;

	while (!(rc = verbs_poll_recv(x->t, seq)) && monotonic_ns() - start < STALLED_NS)
		if (x->event && (rc = verbs_wait_recv(x->t)))
			return rc;
	return rc > 0 ? 0 : rc ? rc : -ETIMEDOUT;
}

static int answer(struct echo *x, uint32_t seq)
{
	uint32_t done;
	int rc;

	payload_fill(verbs_send_buffer(x->t, seq), payload_of(x->t), seq);
	rc = verbs_post(x->t, seq, true);
	while (!rc && !(rc = verbs_poll_send(x->t, &done)))
		sched_yield();
	return rc < 0 ? rc : 0;
}

static void *echo_thread(void *argument)
{
	struct echo *x = argument;
	uint32_t seq = 0;

	for (uint32_t i = 0; i < x->messages && !x->rc; i++) {
		if (x->begins)
			x->rc = answer(x, i);
		if (!x->rc)
			x->rc = await(x, &seq);
		if (!x->rc)
			x->right += seq == i && payload_is_right(verbs_recv_buffer(x->t), payload_of(x->t), seq);
		if (!x->rc)
			x->rc = verbs_release(x->t);
		if (!x->rc && !x->begins)
			x->rc = answer(x, i);
	}
	return NULL;
}

static void test_round_trips(const char *settings, enum poll_mode poll, int64_t size)
{
	struct end source, sink;
	pthread_t threads[2];

	duplex = true;
	if (ok(pair_up(&source, &sink, poll, size, 8, settings), "round trips, %s: connects", settings)) {
		struct echo there = {(struct verbs *)source.transport, ONE_BY_ONE, true, poll == POLL_EVENT, 0, 0};
		struct echo back = {(struct verbs *)sink.transport, ONE_BY_ONE, false, poll == POLL_EVENT, 0, 0};

		ok(!ops->prepare(sink.transport, &sink.e) && !ops->prepare(source.transport, &source.e),
		   "round trips, %s: prepare", settings);
		pthread_create(&threads[0], NULL, echo_thread, &back);
		pthread_create(&threads[1], NULL, echo_thread, &there);
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		ok(!there.rc && !back.rc && there.right == ONE_BY_ONE && back.right == ONE_BY_ONE,
		   "round trips, %s, %s, %lld B: %u there, %u back of %d (%d, %d)", settings,
		   poll == POLL_EVENT ? "event" : "busy", (long long)size, back.right, there.right, ONE_BY_ONE,
		   there.rc, back.rc);
	}
	pair_close(&source, &sink);
	duplex = false;
}

static void test_duplex(void)
{
	static const struct {
		const char *settings;
		enum poll_mode poll;
		int64_t size;
	} rows[] = {
	    {"qp=rc", POLL_BUSY, 32},
	    {"qp=uc", POLL_EVENT, 1000},
	    {"qp=ud", POLL_BUSY, 32},
	    {"qp=rc connect=rdmacm", POLL_EVENT, 32},
	    {"qp=ud connect=rdmacm", POLL_BUSY, 4096},
	    {"qp=rc op=write", POLL_BUSY, 32},
	    {"qp=uc op=write inline=on", POLL_BUSY, 32},
	    {"qp=rc op=write connect=rdmacm", POLL_BUSY, 8192},
	    {"qp=rc op=write_imm", POLL_EVENT, 32},
	    {"qp=uc op=write_imm inline=on", POLL_BUSY, 100},
	    {"qp=ud op=send inline=on", POLL_EVENT, 100},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		test_round_trips(rows[i].settings, rows[i].poll, rows[i].size);
}

/* --- */

/* Waits for the GID of an address that was just added: the kernel enters it in its own time. */
static bool gid_2_is_there(struct err *e)
{
	static const struct verbs_settings s = {.device = "auto", .port = "auto", .gid_index = "2"};
	struct verbs_port p;

	for (int tries = 0; tries < 100; tries++) {
		err_clear(e);
		if (!verbs_port_choose(&s, &(struct transport_config){.numa_node = -1}, &p, e))
			return p.gid.raw[0] == 0x20;
		usleep(100000);
	}
	return false;
}

/* Another address of the port, by its GID. */
static void test_ipv6(void)
{
	struct err e = ERR_INIT;

	if (!ok(!system("ip -6 addr add 2001:db8::1/64 dev d0 nodad"), "the network interface gets an IPv6 address"))
		return;
	if (ok(gid_2_is_there(&e), "which is the GID of index 2 %s", e.text)) {
		test_moves("qp=rc gid_index=2", POLL_BUSY, 32, 8, FEW, "rc over IPv6");
		test_moves("qp=rc connect=rdmacm gid_index=2", POLL_EVENT, 32, 8, FEW, "rc, rdmacm over IPv6");
		test_moves("qp=ud connect=rdmacm gid_index=2", POLL_BUSY, 32, 8, FEW, "ud, rdmacm over IPv6");
	}
	ok(!system("ip -6 addr del 2001:db8::1/64 dev d0"), "and loses it");
}

static void test_granted(const char *settings, int64_t mtu)
{
	struct end source, sink;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 100, settings), "granted, %s: connects", settings)) {
		json_t *g = ops->granted(source.transport), *h = ops->granted(sink.transport);
		char *text = json_dumps(g, JSON_COMPACT);

		printf("# %s\n", text);
		free(text);
		is_int(number_in(g, "mtu_bytes"), mtu, "granted, %s: mtu_bytes", settings);
		ok(number_in(g, "depth_send") >= 100 && !number_in(g, "depth_recv"), "granted: the source's depths");
		ok(number_in(h, "depth_recv") >= 100 && !number_in(h, "depth_send"), "granted: the sink's depths");
		is_int(number_in(h, "qp_num"), number_in(g, "peer_qp_num"), "granted: the source knows the sink's qp");
		is_int(number_in(g, "qp_num"), number_in(h, "peer_qp_num"), "granted: the sink knows the source's qp");
		is_str(json_string_value(json_object_get(g, "driver")), "rdma_rxe", "granted: driver");
		is_str(json_string_value(json_object_get(g, "gid_type")), "RoCE v2", "granted: gid_type");
		json_decref(g);
		json_decref(h);
	}
	pair_close(&source, &sink);
}

/* What was asked for and what was granted. */
static void test_granted_settings(void)
{
	struct end source, sink;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 128, 100, "inline=on buffers=31 recv_depth=300 signal_every=10"),
	       "granted: inline")) {
		json_t *g = ops->granted(source.transport), *h = ops->granted(sink.transport);

		ok(number_in(g, "inline_bytes") >= 128 && json_is_true(json_object_get(g, "inlined")),
		   "granted: inline_bytes");
		is_int(number_in(g, "buffers_send"), 32, "granted: 31 send buffers are 32, a power of two");
		is_int(number_in(h, "buffers_recv"), 300, "granted: a receive buffer for each receive request");
		ok(number_in(h, "depth_recv") >= 300, "granted: 300 receive requests");
		ok(number_in(g, "depth_send") >= 110, "granted: the send queue has room for what was not asked for");
		ok(json_is_false(json_object_get(g, "hw_timestamps")), "granted: rxe has no hardware timestamps");
		json_decref(g);
		json_decref(h);
	}
	pair_close(&source, &sink);
}

static void set_huge_pages(const char *count)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "we");

	if (f) {
		fputs(count, f);
		fclose(f);
	}
}

static void expect_open_as(enum role role, const char *settings, int64_t size, int64_t depth, enum status status,
			   const char *text);

static void test_huge_pages(void)
{
	static struct move m;
	struct end source, sink;

	expect_open_as(ROLE_SINK, "huge_pages=yes", 4096, 64, STATUS_IMPOSSIBLE, "vm.nr_hugepages");
	set_huge_pages("16");
	if (ok(pair_up(&source, &sink, POLL_BUSY, 4096, 64, "huge_pages=yes"), "huge pages: connects")) {
		json_t *g = ops->granted(source.transport);

		ok(json_is_true(json_object_get(g, "huge_pages")), "huge pages: granted");
		ok(repetition(&source, &sink, FEW, 0, &m), "huge pages: messages arrive");
		json_decref(g);
	}
	pair_close(&source, &sink);
	set_huge_pages("0");
}

static void test_devices(void)
{
	json_t *list = verbs_devices();

	ok(json_array_size(list) >= 1, "there is at least one");
	json_t *first = json_array_get(list, 0);
	char *text = json_dumps(first, JSON_COMPACT);

	printf("# %s\n", text);
	free(text);
	is_str(json_string_value(json_object_get(first, "name")), "rxe0", "the first is rxe0");
	is_int(number_in(first, "active_mtu_bytes"), 4096, "its active MTU");
	is_str(json_string_value(json_object_get(first, "link_layer")), "Ethernet", "its link layer");
	is_str(json_string_value(json_object_get(first, "netdev")), "d0", "its network interface");
	like(json_string_value(json_object_get(first, "gid")), "192\\.0\\.2\\.1$", "the GID that auto takes is IPv4's");
	json_decref(list);
}

/* More messages than there are buffers, and a sink that takes its time: "receiver not ready" is waited out. */
static void test_slow_sink(void)
{
	static struct move m;
	struct end source, sink;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 2, "qp=rc"), "slow sink: connects"))
		ok(repetition(&source, &sink, 50, 20000000, &m), "slow sink: nothing fails, nothing is lost");
	pair_close(&source, &sink);
}

/* What was sent arrives, as it does before an endpoint says that a repetition has ended. Soft-RoCE delivers in a thread of the
 * kernel in Linux 6.12. */
static void let_arrive(void)
{
	nanosleep(&(const struct timespec){0, 500000000}, NULL);
}

/* A repetition that ended early leaves sends and messages behind; prepare() clears both away. */
static void test_leftovers(const char *settings)
{
	static struct move m;
	struct end source, sink;
	uint32_t seq;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 8, settings), "leftovers, %s: connects", settings)) {
		struct verbs *from = (struct verbs *)source.transport, *to = (struct verbs *)sink.transport;

		ok(!ops->prepare(sink.transport, &sink.e) && !ops->prepare(source.transport, &source.e),
		   "leftovers: prepare");
		for (uint32_t i = 0; i < 8; i++)
			verbs_post(from, i, true);
		while (verbs_poll_recv(to, &seq) == 0)
			sched_yield();
		/* One is held and not released, seven were not looked at. */
		let_arrive();
		ok(repetition(&source, &sink, FEW, 0, &m), "leftovers, %s: the next repetition is whole", settings);
	}
	pair_close(&source, &sink);
}

/* Sends whose completion nobody asked for, left in the queue by a repetition that was stopped. */
static void test_leftover_sends(void)
{
	static struct move m;
	struct end source, sink;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 8, "signal_every=8"), "leftover sends: connects")) {
		ops->prepare(sink.transport, &sink.e);
		ops->prepare(source.transport, &source.e);
		for (uint32_t i = 0; i < 7; i++)
			verbs_post((struct verbs *)source.transport, i, false);
		let_arrive();
		ok(repetition(&source, &sink, FEW, 0, &m), "leftover sends: the next repetition is whole");
		for (uint32_t i = 0; i < 7; i++)
			verbs_post((struct verbs *)source.transport, i, false);
		let_arrive();
		ok(repetition(&source, &sink, FEW, 0, &m), "leftover sends: and the next one");
	}
	pair_close(&source, &sink);
}

/* Written messages that never came, as an unreliable connection may have it: the next ones are found. */
static void test_lost_writes(void)
{
	struct end source, sink;
	uint32_t seq = 0;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 8, "qp=uc op=write"), "lost writes: connects")) {
		struct verbs *from = (struct verbs *)source.transport, *to = (struct verbs *)sink.transport;
		static const unsigned lost[] = {0, 1, 3, 7, 8, 20};

		for (uint32_t i = 0; i < COUNT(lost); i++) {
			int64_t start = monotonic_ns();
			int rc = 0;

			from->send.posted += lost[i];
			verbs_post(from, i, true);
			while (!(rc = verbs_poll_recv(to, &seq)) && monotonic_ns() - start < STALLED_NS)
				;
			ok(rc == 1 && seq == i, "lost writes: after %u of them, message %u is found", lost[i], i);
			verbs_release(to);
		}
	}
	pair_close(&source, &sink);
}

/* --- what must not work, and what is said --- */

static void test_check(void)
{
	static const struct {
		int64_t size;
		const char *settings, *why;
	} rows[] = {
	    {32, "qp=uc connect=rdmacm", "qp uc and connect rdmacm"},
	    {4097, "qp=ud", "size 4097 and qp ud"},
	    {1024, "qp=ud mtu=512", "size 1024 and mtu 512"},
	    {32, "port=0", "port must be auto or a number from 1 to 255, not '0'"},
	    {32, "port=256", "port must be"},
	    {32, "port=eth0", "port must be"},
	    {32, "gid_index=-2", "gid_index must be auto or a number from 0 to 255"},
	    {32, "qp=ud op=write", "op write and qp ud"},
	    {32, "qp=ud op=write_imm", "op write_imm and qp ud"},
	    {3, "op=send", "size 3 and op send: 4 bytes of the payload"},
	    {7, "op=write", "size 7 and op write: 8 bytes of the payload"},
	    {32, "inline=yes", "inline must be off, on, or a number of bytes such as 128B, not 'yes'"},
	    {32, "inline=-1", "inline must be"},
	    {32, "inline=", "inline must be"},
	    {32, "inline=12k", "inline must be"},
	    {32, "inline=128", NULL},
	    {4, "op=send", NULL},
	    {8, "op=write inline=1KiB", NULL},
	    {32, "qp=rc connect=rdmacm", NULL},
	    {4096, "qp=ud", NULL},
	    {1 << 20, "qp=uc mtu=256 port=255 gid_index=0", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct verbs_settings s = settings_of(rows[i].settings);
		const struct transport_config config = {.ops = ops, .size = rows[i].size, .depth = 64};
		char why[256] = "";

		is_int(ops->check(&s, &config, why, sizeof(why)), rows[i].why ? -EINVAL : 0, "check: %s, %lld B: %s",
		       rows[i].settings, (long long)rows[i].size, why);
		if (rows[i].why)
			contains(why, rows[i].why, "check: it says '%s'", rows[i].why);
	}
}

/* Contradictions with settings that every point has. */
static void test_check_common(void)
{
	static const struct {
		const char *settings;
		enum poll_mode poll;
		int depth;
		bool t_send;
		const char *why;
	} rows[] = {
	    {"signal_every=65", POLL_BUSY, 64, false, "signal_every 65 and depth 64"},
	    {"signal_every=64", POLL_BUSY, 64, false, NULL},
	    {"op=write", POLL_EVENT, 64, false, "poll event and op write"},
	    {"op=write", POLL_ADAPTIVE, 64, false, "poll adaptive and op write"},
	    {"op=write_imm", POLL_EVENT, 64, false, NULL},
	    {"op=write buffers=63", POLL_BUSY, 64, false, "buffers 63 and depth 64"},
	    {"op=write buffers=64", POLL_BUSY, 64, false, NULL},
	    {"op=send buffers=1", POLL_BUSY, 64, true, "t_send and op send"},
	    {"op=send_imm buffers=1", POLL_BUSY, 64, true, NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct verbs_settings s = settings_of(rows[i].settings);
		const struct transport_config config = {.ops = ops,
							.size = 32,
							.depth = rows[i].depth,
							.poll_recv = rows[i].poll,
							.rewrites = rows[i].t_send};
		char why[256] = "";

		is_int(ops->check(&s, &config, why, sizeof(why)), rows[i].why ? -EINVAL : 0,
		       "check: %s, %s, depth %d: %s", rows[i].settings, poll_mode_names[rows[i].poll], rows[i].depth,
		       why);
		if (rows[i].why)
			contains(why, rows[i].why, "check: it says '%s'", rows[i].why);
	}
}

static void expect_open_as(enum role role, const char *settings, int64_t size, int64_t depth, enum status status,
			   const char *text)
{
	struct end x;

	end_open(&x, role, POLL_EVENT, size, depth, settings);
	ok(x.rc < 0 && !x.transport && !x.address, "%s, %lld B, depth %lld is refused", settings, (long long)size,
	   (long long)depth);
	is_int(x.e.status, status, "with status %d", (int)status);
	contains(x.e.text, text, "and '%s'", text);
	end_close(&x);
}

static void expect_open(const char *settings, int64_t size, int64_t depth, enum status status, const char *text)
{
	expect_open_as(ROLE_SINK, settings, size, depth, status, text);
}

/* Datagrams and explicit MTUs against a port whose MTU is small. */
static void test_small_mtu(void)
{
	static struct move m;
	struct end source, sink;

	if (!ok(!system("ip link set dev d0 mtu 1500"), "the network interface's MTU becomes 1500"))
		return;
	expect_open("qp=ud", 2048, 8, STATUS_IMPOSSIBLE,
		    "size 2048 is above what the device can do: the port's active MTU is 1024");
	expect_open("qp=ud connect=rdmacm", 1025, 8, STATUS_IMPOSSIBLE, "the port's active MTU is 1024");
	expect_open("mtu=4096", 32, 8, STATUS_IMPOSSIBLE,
		    "mtu 4096 is above what the device can do: the port's active MTU is 1024");
	if (ok(pair_up(&source, &sink, POLL_BUSY, 1024, 8, "qp=ud"), "ud, 1024 B at MTU 1024: connects"))
		ok(repetition(&source, &sink, MESSAGES, 0, &m), "ud, 1024 B at MTU 1024: messages arrive");
	pair_close(&source, &sink);
	ok(!system("ip link set dev d0 mtu 4200"), "and 4200 again");
}

/* Last of all: GIDs may come back in another order. */
static void test_port_down(void)
{
	ok(!system("ip link set dev d0 down"), "the network interface goes down");
	expect_open("device=auto", 32, 8, STATUS_IMPOSSIBLE, "no active port: rxe0 port 1 is");
	expect_open("device=rxe0 connect=rdmacm port=1", 32, 8, STATUS_IMPOSSIBLE, "no active port: rxe0 port 1 is");
	ok(!system("ip link set dev d0 up"), "and up again");
}

static void test_refusals(void)
{
	expect_open("device=mlx5_7", 32, 8, STATUS_USAGE, "there is no device 'mlx5_7'; there are: rxe0");
	expect_open("port=9", 32, 8, STATUS_USAGE, "there is no port 9; rxe0 port 1 is");
	expect_open("gid_index=77", 32, 8, STATUS_USAGE, "there is no GID with gid_index 77");
	expect_open("qp=rc", 32, 10000000, STATUS_IMPOSSIBLE, "depth 10000000 is above what the device can do: max_");
	expect_open("qp=rc", 4294967296, 8, STATUS_IMPOSSIBLE, "its largest message is");
	expect_open("qp=rc", 8388608, 30000, STATUS_IMPOSSIBLE, "of memory, and this machine has");
	expect_open_as(ROLE_SOURCE, "inline=on", 4096, 8, STATUS_IMPOSSIBLE,
		       "with inline on, size 4096 is above what the device can do: max_inline_data is ");
	expect_open_as(ROLE_SOURCE, "inline=8KiB op=write_imm", 4096, 8, STATUS_IMPOSSIBLE,
		       "with inline 8KiB, size 4096");
	passive = true;
	expect_open("op=read rd_atomic=255", 32, 8, STATUS_IMPOSSIBLE,
		    "rd_atomic 255 is above what the device can do: max_qp_rd_atom is ");
	expect_open_as(ROLE_SOURCE, "op=compare_swap rd_atomic=255", 8, 8, STATUS_IMPOSSIBLE,
		       "rd_atomic 255 is above what the device can do: max_qp_init_rd_atom is ");
	expect_open("op=read", 32, 10000000, STATUS_IMPOSSIBLE, "depth 10000000 is above what the device can do: max_");
	expect_open("op=fetch_add", 16, 8, STATUS_USAGE, "contradict");
	expect_open("op=read qp=uc", 16, 8, STATUS_USAGE, "contradict");
	passive = false;
	expect_open("op=read", 32, 8, STATUS_USAGE, "contradict");
	/* What no spec gets past the checks. */
	expect_open("signal_every=9", 32, 8, STATUS_USAGE, "contradict");
	expect_open("op=write", 32, 8, STATUS_USAGE, "the receiver, which can only poll busily");
	/* rxe's first GID is link-local, which is nobody's address. */
	expect_open("qp=rc connect=rdmacm gid_index=0", 32, 8, STATUS_IMPOSSIBLE,
		    "needs an IP address of this port that is the GID");
}

/* In a process of its own: without rights, and with a limit that is too small for the buffers. */
static int memlock_child(void)
{
	const struct rlimit small = {65536, 65536};
	struct end x;

	if (setrlimit(RLIMIT_MEMLOCK, &small) || setgroups(0, NULL) || setgid(65534) || setuid(65534))
		return 2;
	end_open(&x, ROLE_SINK, POLL_BUSY, 1024, 1024, "qp=rc");
	printf("# %s\n", x.e.text);
	fflush(stdout);
	return x.e.status == STATUS_IMPOSSIBLE && strstr(x.e.text, "64KiB") && strstr(x.e.text, "ulimit -l") ? 0 : 1;
}

static void test_memlock(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(memlock_child());
	waitpid(pid, &status, 0);
	is_int(status, 0, "with 64 KiB of lockable memory it says what is needed, the limit, and ulimit -l");
}

/* The address of a real sink with one field changed; `value` is JSON, NULL takes the field away. */
static json_t *forged(const json_t *address, const char *key, const char *value)
{
	json_t *copy = json_deep_copy(address);

	if (value)
		json_object_set_new(copy, key, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(copy, key);
	return copy;
}

static void test_nonsense(const char *settings, const char *const (*rows)[2], size_t count)
{
	struct end source, sink;

	end_open(&sink, ROLE_SINK, POLL_BUSY, 8, 8, settings);
	end_open(&source, ROLE_SOURCE, POLL_BUSY, 8, 8, settings);
	if (!ok(!sink.rc && !source.rc, "%s: both open", settings))
		return;
	for (size_t i = 0; i < count; i++) {
		struct err e = ERR_INIT;
		json_t *peer = forged(sink.address, rows[i][0], rows[i][1]);
		int rc = ops->connect(source.transport, peer, &e);

		ok(rc == -EPROTO && e.status == STATUS_FAILED && strstr(e.text, rows[i][0]),
		   "%s: the peer's %s = %s is refused: %s", settings, rows[i][0], rows[i][1] ? rows[i][1] : "(none)",
		   e.text);
		json_decref(peer);
	}
	struct err e = ERR_INIT;
	json_t *array = json_array();

	is_int(ops->connect(source.transport, array, &e), -EPROTO, "%s: an array is no address: %s", settings, e.text);
	json_decref(array);
	err_clear(&e);
	is_int(ops->connect(source.transport, NULL, &e), -EPROTO, "%s: neither is nothing", settings);
	pair_close(&source, &sink);
}

static void test_all_nonsense(void)
{
	static const char *const plain[][2] = {
	    {"qp", "\"ud\""},	  {"qp", "7"},		{"connect", "\"rdmacm\""}, {"size_bytes", "33"},
	    {"size_bytes", NULL}, {"mtu_bytes", "0"},	{"mtu_bytes", "1e3"},	   {"mtu_bytes", "300"},
	    {"qp_num", "-1"},	  {"qp_num", "\"17\""}, {"qp_num", "16777216"},	   {"psn", "16777216"},
	    {"psn", NULL},	  {"qkey", "-5"},	{"lid", "65536"},	   {"gid", "\"nonsense\""},
	    {"gid", "12"},	  {"gid", NULL},	{"gid", "\"192.0.2.1\""}};
	static const char *const cm[][2] = {
	    {"ip", "\"localhost\""}, {"ip", "3"},	  {"ip", NULL},		{"ip_port", "0"},
	    {"ip_port", "65536"},    {"ip_port", "true"}, {"token", "\"abc\""}, {"token", "\"0123456789abcdeg\""},
	    {"token", NULL}};
	static const char *const datagrams[][2] = {{"qkey", "-5"}, {"qkey", "2147483648"}, {"qkey", NULL}};

	static const char *const ring[][2] = {{"op", "\"write_imm\""}, {"ring_address", "0"}, {"ring_address", NULL},
					      {"ring_rkey", "-1"},     {"ring_rkey", "1e3"},  {"ring_slots", "1"},
					      {"ring_slots", "4096"},  {"ring_slots", "null"}};

	static const char *const words[][2] = {{"ring_address", "4097"},
					       {"ring_address", "4100"},
					       {"rd_atomic", "0"},
					       {"rd_atomic", NULL},
					       {"rd_atomic", "256"}};

	test_nonsense("qp=rc op=write", ring, COUNT(ring));
	passive = true;
	test_nonsense("qp=rc op=fetch_add", words, COUNT(words));
	passive = false;
	test_nonsense("qp=rc connect=plain", plain, COUNT(plain));
	test_nonsense("qp=rc connect=rdmacm", cm, COUNT(cm));
	test_nonsense("qp=ud connect=rdmacm", cm, COUNT(cm));
	test_nonsense("qp=ud connect=rdmacm", datagrams, COUNT(datagrams));
}

/* Who does not know the token is refused, and the one who does is still let in. */
static void test_stranger(const char *settings)
{
	static struct move m;
	struct end source, sink, stranger;

	end_open(&sink, ROLE_SINK, POLL_BUSY, 32, 8, settings);
	end_open(&source, ROLE_SOURCE, POLL_BUSY, 32, 8, settings);
	end_open(&stranger, ROLE_SOURCE, POLL_BUSY, 32, 8, settings);
	if (!ok(!sink.rc && !source.rc && !stranger.rc, "stranger, %s: three open", settings))
		return;
	json_t *guess = forged(sink.address, "token", "\"0000000000000000\"");

	connect_start(&sink, source.address);
	connect_start(&stranger, guess);
	pthread_join(stranger.thread, NULL);
	ok(stranger.rc < 0 && strstr(stranger.e.text, "the other side refused it"), "stranger, %s: is refused: %s",
	   settings, stranger.e.text);
	connect_start(&source, sink.address);
	pthread_join(source.thread, NULL);
	pthread_join(sink.thread, NULL);
	if (ok(!source.rc && !sink.rc, "stranger, %s: the source is let in after it %s%s", settings, source.e.text,
	       sink.e.text))
		ok(repetition(&source, &sink, 100, 0, &m), "stranger, %s: and its messages arrive", settings);
	json_decref(guess);
	end_close(&stranger);
	pair_close(&source, &sink);
}

static uint32_t datagram_key(const struct end *x)
{
	struct ibv_qp_attr a = {0};
	struct ibv_qp_init_attr init;

	ibv_query_qp(((struct verbs *)x->transport)->qp, &a, IBV_QP_QKEY, &init);
	return a.qkey;
}

/* With the connection manager's own key, which all its queue pairs have, any host could send to these. */
static void test_datagram_keys(const char *settings)
{
	struct end source, sink;

	if (!ok(pair_up(&source, &sink, POLL_BUSY, 32, 8, settings), "keys, %s: connected", settings))
		return;
	ok(datagram_key(&source) != RDMA_UDP_QKEY && datagram_key(&sink) != RDMA_UDP_QKEY &&
	       datagram_key(&source) != datagram_key(&sink),
	   "keys, %s: each side has one of its own, which nobody knows", settings);
	pair_close(&source, &sink);
}

static void test_nobody(void)
{
	struct end source, sink;

	end_open(&sink, ROLE_SINK, POLL_BUSY, 32, 8, "connect=rdmacm");
	end_open(&source, ROLE_SOURCE, POLL_BUSY, 32, 8, "connect=rdmacm");
	if (!ok(!sink.rc && !source.rc, "nobody: both open"))
		return;
	json_t *elsewhere = forged(sink.address, "ip_port", "9");

	source.rc = ops->connect(source.transport, elsewhere, &source.e);
	contains(source.e.text, "RDMA_CM_EVENT_REJECTED (status 8): nothing listens", "nobody listens: %s",
		 source.e.text);
	json_decref(elsewhere);
	end_close(&source);

	end_open(&source, ROLE_SOURCE, POLL_BUSY, 32, 8, "connect=rdmacm");
	elsewhere = forged(sink.address, "ip", "\"198.51.100.7\"");
	int64_t start = monotonic_ns();

	connect_start(&source, elsewhere);
	connect_start(&sink, source.address);
	pthread_join(source.thread, NULL);
	ok(source.rc < 0 && monotonic_ns() - start < VERBS_PATIENCE_NS * 3 / 2, "no such host: %s", source.e.text);
	pthread_join(sink.thread, NULL);
	start = monotonic_ns() - start;
	ok(sink.rc == -ETIMEDOUT && start >= VERBS_PATIENCE_NS && start < VERBS_PATIENCE_NS * 3 / 2, "nobody comes: %s",
	   sink.e.text);
	json_decref(elsewhere);
	pair_close(&source, &sink);
}

/* Post one message and wait for its completion, which is a bad one. */
static void expect_bad(struct end *source, const char *text)
{
	struct verbs *t = (struct verbs *)source->transport;
	int64_t start = monotonic_ns();
	uint32_t seq;
	int rc = verbs_post(t, 17, true);

	while (!rc && !(rc = verbs_poll_send(t, &seq)) && monotonic_ns() - start < STALLED_NS)
		sched_yield();
	is_int(rc, -EIO, "a bad completion is -EIO");
	is_int(ops->failure(source->transport, &source->e), -EIO, "and is told: %s", source->e.text);
	contains(source->e.text, "work completion 17 (send queue of qp 0x", "it says which");
	contains(source->e.text, text, "it says why");
	err_clear(&source->e);
	ok(ops->prepare(source->transport, &source->e) < 0, "prepare does not pass over it: %s", source->e.text);
}

/* Whoever waits for an answer sees its receives flushed; what is told is why. */
static void test_unanswered(void)
{
	struct end source, sink;
	int64_t start = monotonic_ns();
	uint32_t seq;
	int rc;

	duplex = true;
	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 8, "qp=rc retry_cnt=1"), "unanswered: connects")) {
		struct verbs *t = (struct verbs *)source.transport;

		end_close(&sink);
		rc = verbs_post_recv(t, 0);
		rc = rc ? rc : verbs_post(t, 17, true);
		while (!rc && !(rc = verbs_poll_recv(t, &seq)) && monotonic_ns() - start < STALLED_NS)
			sched_yield();
		is_int(rc, -EIO, "unanswered: its receive fails");
		is_int(ops->failure(source.transport, &source.e), -EIO, "unanswered: %s", source.e.text);
		contains(source.e.text, "work completion 17 (send queue of qp 0x", "unanswered: which request");
		contains(source.e.text, "transport retry counter exceeded (12", "unanswered: why");
	}
	duplex = false;
	pair_close(&source, &sink);
}

static void test_bad_completions(void)
{
	struct end source, sink;

	/* The receive queue is empty, and the source told not to try for ever. */
	if (!ok(pair_up(&source, &sink, POLL_BUSY, 32, 8, "qp=rc rnr_retry=1"), "bad completions: connects"))
		return;
	is_int(ops->failure(source.transport, &source.e), 0, "no failure before there was one");
	expect_bad(&source, "RNR retry counter exceeded (13");
	pair_close(&source, &sink);

	/* The other side is gone. */
	pair_up(&source, &sink, POLL_BUSY, 32, 8, "qp=rc");
	end_close(&sink);
	expect_bad(&source, "transport retry counter exceeded (12");
	end_close(&source);

	/* Nothing is received, so nothing completes, and at last there is no room in the send queue. */
	pair_up(&source, &sink, POLL_BUSY, 32, 1, "qp=rc");
	int rc = 0;

	for (uint32_t i = 0; i < 4096 && !rc; i++)
		rc = verbs_post((struct verbs *)source.transport, i, true);
	ok(rc < 0 && ops->failure(source.transport, &source.e) == rc && strstr(source.e.text, "the queue is full"),
	   "a full send queue: %s", source.e.text);
	pair_close(&source, &sink);
}

static void connect_forged(struct end *source, struct end *sink, const char *settings, const char *key,
			   const char *value)
{
	end_open(sink, ROLE_SINK, POLL_BUSY, 8, 8, settings);
	end_open(source, ROLE_SOURCE, POLL_BUSY, 8, 8, settings);
	json_t *peer = forged(sink->address, key, value);

	connect_start(sink, source->address);
	connect_start(source, peer);
	pthread_join(source->thread, NULL);
	pthread_join(sink->thread, NULL);
	ok(!source->rc && !sink->rc && !ops->prepare(sink->transport, &sink->e), "with another %s: connects", key);
	json_decref(peer);
}

/* Writes to where the sink does not allow it. */
static void test_wrong_key(void)
{
	struct end source, sink;
	uint32_t seq;
	int rc;

	connect_forged(&source, &sink, "qp=rc op=write", "ring_rkey", "4660");
	expect_bad(&source, "remote access error (10");
	int64_t start = monotonic_ns();

	while (!(rc = verbs_poll_recv((struct verbs *)sink.transport, &seq)) &&
	       monotonic_ns() - start < STALLED_NS / 100)
		;
	printf("# the sink: %d %s\n", rc, ops->failure(sink.transport, &sink.e) ? sink.e.text : "saw nothing");
	pair_close(&source, &sink);

	connect_forged(&source, &sink, "qp=rc op=write_imm", "ring_address", "4096");
	expect_bad(&source, "remote access error (10");
	pair_close(&source, &sink);

	static const char *const fetching[] = {"op=read", "op=fetch_add", "op=compare_swap connect=rdmacm"};

	passive = true;
	for (size_t i = 0; i < COUNT(fetching); i++) {
		connect_forged(&source, &sink, fetching[i], "ring_rkey", "4660");
		expect_bad(&source, "remote access error (10");
		pair_close(&source, &sink);
	}
	passive = false;
}

/* A source that runs ahead of a sink that it writes to. */
static void test_overwritten(void)
{
	struct end source, sink;
	uint32_t seq;
	int rc = 0;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 4, "qp=rc op=write"), "overwritten: connects")) {
		for (uint32_t i = 0; i < 12 && !rc; i++) {
			rc = verbs_post((struct verbs *)source.transport, i, true);
			while (!rc && !(rc = verbs_poll_send((struct verbs *)source.transport, &seq)))
				;
			rc = rc < 0 ? rc : 0;
		}
		is_int(rc, 0, "overwritten: the source sees nothing of it");
		ok(verbs_poll_recv((struct verbs *)sink.transport, &seq) < 0, "overwritten: the sink does");
		ok(ops->failure(sink.transport, &sink.e) < 0 && strstr(sink.e.text, "cannot take message 0") &&
		       strstr(sink.e.text, "overwritten before it was read"),
		   "overwritten: %s", sink.e.text);
	}
	pair_close(&source, &sink);
}

/* Poll until something bad comes. */
static int poll_until_bad(struct verbs *t, bool event)
{
	int64_t start = monotonic_ns();
	uint32_t seq;
	int rc = 0;

	while (rc >= 0 && monotonic_ns() - start < STALLED_NS) {
		rc = verbs_poll_recv(t, &seq);
		if (!rc && event)
			rc = verbs_wait_recv(t);
	}
	return rc;
}

/* The port goes down while a sink waits for a message, however it does. */
static void test_port_lost(const char *settings, enum poll_mode poll)
{
	struct end source, sink;

	if (ok(pair_up(&source, &sink, poll, 32, 8, settings), "port lost, %s: connects", settings)) {
		ops->prepare(sink.transport, &sink.e);
		ops->prepare(source.transport, &source.e);
		if (poll == POLL_EVENT)
			verbs_wait_recv((struct verbs *)sink.transport); /* arms */
		ok(!system("ip link set dev d0 down"), "port lost: the network interface goes down");
		ok(poll_until_bad((struct verbs *)sink.transport, poll == POLL_EVENT) < 0,
		   "port lost, %s: the waiting sink is told", settings);
		ok(ops->failure(sink.transport, &sink.e) < 0 && strstr(sink.e.text, "the device reports: port error"),
		   "port lost, %s: %s", settings, sink.e.text);
		ok(!system("ip link set dev d0 up"), "port lost: and up again");
	}
	pair_close(&source, &sink);
}

/* A thread that sleeps on a channel comes back when it gets a signal. */
static void *sleeper(void *argument)
{
	struct verbs *t = argument;
	uint32_t seq;
	int rc = 0;

	while (!rc)
		rc = verbs_poll_recv(t, &seq) ? -EIO : verbs_wait_recv(t);
	return (void *)(intptr_t)rc;
}

/* The signal is repeated, as a control thread repeats it: one that comes before the thread sleeps ends nothing. */
static void test_signal(void)
{
	struct end source, sink;
	const struct timespec a_while = {0, 100000000};
	pthread_t thread;
	void *rc = NULL;

	if (ok(pair_up(&source, &sink, POLL_EVENT, 32, 8, "qp=rc"), "signal: connects") &&
	    ok(!ops->prepare(sink.transport, &sink.e), "signal: prepare")) {
		pthread_create(&thread, NULL, sleeper, sink.transport);
		do {
			nanosleep(&a_while, NULL);
			pthread_kill(thread, SIGUSR1);
		} while (pthread_tryjoin_np(thread, &rc));
		is_int((intptr_t)rc, -EINTR, "a signal ends a wait");
	}
	pair_close(&source, &sink);
}

/* --- a machine without a device --- */

static int test_without_device(void)
{
	json_t *list = verbs_devices();

	is_int((long long)json_array_size(list), 0, "there are no devices");
	json_decref(list);
	expect_open("qp=rc", 32, 8, STATUS_IMPOSSIBLE, "no RDMA device on this machine");
	expect_open("qp=rc connect=rdmacm device=rxe0", 32, 8, STATUS_IMPOSSIBLE, "guest");
	test_check();
	return done_testing();
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	const struct sigaction wake = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &wake, NULL);
	if (argc > 1 && !strcmp(argv[1], "without-device"))
		return test_without_device();
	test_devices();
	test_memlock();
	test_granted("qp=ud connect=rdmacm", 4096);
	int files = open_files();

	test_granted("qp=rc connect=plain", 4096);
	test_granted("qp=rc connect=rdmacm mtu=256", 256);
	test_granted_settings();
	test_check();
	test_check_common();
	test_refusals();
	test_small_mtu();
	test_all_nonsense();
	test_all_moves();
	test_operations();
	test_one_sided();
	test_duplex();
	test_huge_pages();
	test_ipv6();
	test_slow_sink();
	test_leftover_sends();
	test_lost_writes();
	test_leftovers("qp=rc");
	test_leftovers("qp=ud connect=rdmacm");
	test_stranger("qp=rc connect=rdmacm");
	test_stranger("qp=ud connect=rdmacm");
	test_datagram_keys("qp=ud connect=rdmacm");
	test_datagram_keys("qp=ud connect=plain");
	test_nobody();
	test_bad_completions();
	test_unanswered();
	test_wrong_key();
	test_overwritten();
	test_signal();
	test_port_lost("qp=rc", POLL_BUSY);
	test_port_lost("qp=uc", POLL_EVENT);
	test_port_lost("qp=rc op=write", POLL_BUSY);
	test_port_down();
	is_int(open_files(), files, "no file descriptor is left open");
	return done_testing();
}
