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
#include "kernels/payload.h"
#include "tests/unit/tap.h"
#include "transports/verbs_hot.h"

#define MESSAGES    2000
#define FEW	    200
#define DEPTH	    64
#define STALLED_NS  30000000000LL
#define WATCH_PAUSE ((const struct timespec){0, 2000000})
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
#define ops	    (&verbs_transport)

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
	uint32_t messages, depth, size;
	int64_t hold_ns; /* the sink sleeps so long before each release */
	atomic_uint completed, received, stop, running;
	unsigned duplicates, foreign, bad, disordered;
	bool seen[MESSAGES];
	int source_rc, completions_rc, sink_rc;
};

/* The settings of a point: defaults, and after `size` what is given as "key=value". */
static json_t *params_of(int64_t size, const char *settings)
{
	json_t *params = json_pack("{s:I}", "size_bytes", (json_int_t)size);
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
	return params;
}

static void end_open(struct end *x, enum role role, enum poll_mode poll, int64_t size, int64_t depth,
		     const char *settings)
{
	json_t *params = params_of(size, settings);

	memset(x, 0, sizeof(*x));
	x->config = (struct transport_config){
	    .role = role, .poll = poll, .size = size, .depth = depth, .numa_node = -1, .name = "0123456789abcdef"};
	x->rc = ops->open(&x->config, params, &x->transport, &x->address, &x->e);
	json_decref(params);
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
		atomic_fetch_add(&m->completed, 1);
	return rc;
}

/* At most `depth` are neither completed nor, since unreliable queue pairs drop what finds no buffer, received. */
static bool has_room(struct move *m, uint32_t seq)
{
	return seq - atomic_load(&m->completed) < m->depth &&
	       (m->source->kind->is_reliable || seq - atomic_load(&m->received) < m->depth);
}

static void *source_thread(void *argument)
{
	struct move *m = argument;
	int rc = 0;

	for (uint32_t seq = 0; seq < m->messages && !rc && !is_stopped(m);) {
		if (has_room(m, seq)) {
			payload_fill(verbs_send_buffer(m->source, seq), m->size, seq);
			rc = verbs_post(m->source, seq++);
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

static void account(struct move *m, uint32_t seq, const void *payload)
{
	if (seq >= m->messages) {
		m->foreign++;
		return;
	}
	m->duplicates += m->seen[seq];
	m->seen[seq] = true;
	m->disordered += seq != atomic_load(&m->received);
	m->bad += !payload_is_right(payload, m->size, seq);
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
	int64_t since = verbs_monotonic_ns();
	unsigned last = 0;

	while (atomic_load(&m->running)) {
		unsigned now = atomic_load(&m->received) + atomic_load(&m->completed);

		nanosleep(&WATCH_PAUSE, NULL);
		if (now != last)
			since = verbs_monotonic_ns();
		last = now;
		if (verbs_monotonic_ns() - since < STALLED_NS && !m->source_rc && !m->sink_rc && !m->completions_rc)
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
			   .poll = source->config.poll,
			   .messages = messages,
			   .depth = (uint32_t)source->config.depth,
			   .size = (uint32_t)source->config.size,
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
		ok(repetition(&source, &sink, FEW, 0, &m), "%s: and again, after prepare", name);
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
	} shapes[] = {
	    {1, DEPTH, MESSAGES}, {32, DEPTH, MESSAGES}, {1024, DEPTH, MESSAGES}, {4096, DEPTH, FEW}, {32, 1, FEW}};
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

/* Another address of the port, by its GID. */
static void test_ipv6(void)
{
	struct verbs_port p;
	struct verbs_settings s = {.device = "auto", .port = "auto", .gid_index = "2"};
	struct err e = ERR_INIT;

	if (!ok(!system("ip -6 addr add 2001:db8::1/64 dev d0 nodad"), "the network interface gets an IPv6 address"))
		return;
	if (ok(!verbs_port_choose(&s, -1, &p, &e) && p.gid.raw[0] == 0x20, "which is the GID of index 2 %s", e.text)) {
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

static void test_devices(void)
{
	json_t *list = NULL;
	struct err e = ERR_INIT;

	is_int(verbs_devices(&list, &e), 0, "devices are listed");
	ok(json_array_size(list) >= 1, "and there is at least one");
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

/* A repetition that ended early leaves sends and messages behind; prepare() clears both away. */
static void test_leftovers(const char *settings)
{
	static struct move m;
	struct end source, sink;
	const struct timespec a_while = {0, 200000000};
	uint32_t seq;

	if (ok(pair_up(&source, &sink, POLL_BUSY, 32, 8, settings), "leftovers, %s: connects", settings)) {
		struct verbs *from = (struct verbs *)source.transport, *to = (struct verbs *)sink.transport;

		ok(!ops->prepare(sink.transport, &sink.e) && !ops->prepare(source.transport, &source.e),
		   "leftovers: prepare");
		for (uint32_t i = 0; i < 8; i++)
			verbs_post(from, i);
		while (verbs_poll_recv(to, &seq) == 0)
			sched_yield();
		/* One is held and not released, seven were not looked at. */
		nanosleep(&a_while, NULL);
		ok(repetition(&source, &sink, FEW, 0, &m), "leftovers, %s: the next repetition is whole", settings);
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
	    {32, "qp=rc connect=rdmacm", NULL},
	    {4096, "qp=ud", NULL},
	    {1 << 20, "qp=uc mtu=256 port=255 gid_index=0", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *params = params_of(rows[i].size, rows[i].settings);
		char why[256] = "";

		is_int(ops->check(params, why, sizeof(why)), rows[i].why ? -EINVAL : 0, "check: %s, %lld B: %s",
		       rows[i].settings, (long long)rows[i].size, why);
		if (rows[i].why)
			contains(why, rows[i].why, "check: it says '%s'", rows[i].why);
		json_decref(params);
	}
}

static void expect_open(const char *settings, int64_t size, int64_t depth, enum status status, const char *text)
{
	struct end x;

	end_open(&x, ROLE_SINK, POLL_EVENT, size, depth, settings);
	ok(x.rc < 0 && !x.transport && !x.address, "%s, %lld B, depth %lld is refused", settings, (long long)size,
	   (long long)depth);
	is_int(x.e.status, status, "with status %d", (int)status);
	contains(x.e.text, text, "and '%s'", text);
	end_close(&x);
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

	end_open(&sink, ROLE_SINK, POLL_BUSY, 32, 8, settings);
	end_open(&source, ROLE_SOURCE, POLL_BUSY, 32, 8, settings);
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
	static const char *const plain[][2] = {{"qp", "\"ud\""},       {"qp", "7"},	     {"connect", "\"rdmacm\""},
					       {"size_bytes", "33"},   {"size_bytes", NULL}, {"mtu_bytes", "0"},
					       {"mtu_bytes", "1e3"},   {"qp_num", "-1"},     {"qp_num", "\"17\""},
					       {"qp_num", "16777216"}, {"psn", "16777216"},  {"psn", NULL},
					       {"qkey", "-5"},	       {"lid", "65536"},     {"gid", "\"nonsense\""},
					       {"gid", "12"},	       {"gid", NULL},	     {"gid", "\"192.0.2.1\""}};
	static const char *const cm[][2] = {
	    {"ip", "\"localhost\""}, {"ip", "3"},	  {"ip", NULL},		{"ip_port", "0"},
	    {"ip_port", "65536"},    {"ip_port", "true"}, {"token", "\"abc\""}, {"token", "\"0123456789abcdeg\""},
	    {"token", NULL}};

	test_nonsense("qp=rc connect=plain", plain, COUNT(plain));
	test_nonsense("qp=rc connect=rdmacm", cm, COUNT(cm));
	test_nonsense("qp=ud connect=rdmacm", cm, COUNT(cm));
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

static void test_nobody(void)
{
	struct end source, sink;

	end_open(&sink, ROLE_SINK, POLL_BUSY, 32, 8, "connect=rdmacm");
	end_open(&source, ROLE_SOURCE, POLL_BUSY, 32, 8, "connect=rdmacm");
	if (!ok(!sink.rc && !source.rc, "nobody: both open"))
		return;
	json_t *elsewhere = forged(sink.address, "ip_port", "9");

	source.rc = ops->connect(source.transport, elsewhere, &source.e);
	contains(source.e.text, "RDMA_CM_EVENT_REJECTED (status 8): nobody listens", "nobody listens: %s",
		 source.e.text);
	json_decref(elsewhere);
	end_close(&source);

	end_open(&source, ROLE_SOURCE, POLL_BUSY, 32, 8, "connect=rdmacm");
	elsewhere = forged(sink.address, "ip", "\"198.51.100.7\"");
	int64_t start = verbs_monotonic_ns();

	connect_start(&source, elsewhere);
	connect_start(&sink, source.address);
	pthread_join(source.thread, NULL);
	ok(source.rc < 0 && verbs_monotonic_ns() - start < VERBS_PATIENCE_NS * 3 / 2, "no such host: %s",
	   source.e.text);
	pthread_join(sink.thread, NULL);
	start = verbs_monotonic_ns() - start;
	ok(sink.rc == -ETIMEDOUT && start >= VERBS_PATIENCE_NS && start < VERBS_PATIENCE_NS * 3 / 2, "nobody comes: %s",
	   sink.e.text);
	json_decref(elsewhere);
	pair_close(&source, &sink);
}

/* Post one message and wait for its completion, which is a bad one. */
static void expect_bad(struct end *source, const char *text)
{
	struct verbs *t = (struct verbs *)source->transport;
	int64_t start = verbs_monotonic_ns();
	uint32_t seq;
	int rc = verbs_post(t, 17);

	while (!rc && !(rc = verbs_poll_send(t, &seq)) && verbs_monotonic_ns() - start < STALLED_NS)
		sched_yield();
	is_int(rc, -EIO, "a bad completion is -EIO");
	is_int(ops->failure(source->transport, &source->e), -EIO, "and is told: %s", source->e.text);
	contains(source->e.text, "work completion 17 (send queue of qp 0x", "it says which");
	contains(source->e.text, text, "it says why");
	err_clear(&source->e);
	ok(ops->prepare(source->transport, &source->e) < 0, "prepare does not pass over it: %s", source->e.text);
}

static void test_bad_completions(void)
{
	struct end source, sink;

	/* The receive queue is empty, and the source told not to try for ever. */
	end_open(&sink, ROLE_SINK, POLL_BUSY, 32, 8, "qp=rc");
	end_open(&source, ROLE_SOURCE, POLL_BUSY, 32, 8, "qp=rc");
	if (!ok(!sink.rc && !source.rc, "bad completions: both open"))
		return;
	((struct verbs *)source.transport)->retry.rnr_retry = 1;
	connect_both(&source, &sink);
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
		rc = verbs_post((struct verbs *)source.transport, i);
	ok(rc < 0 && ops->failure(source.transport, &source.e) == rc && strstr(source.e.text, "the queue is full"),
	   "a full send queue: %s", source.e.text);
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

static void test_signal(void)
{
	struct end source, sink;
	const struct timespec a_while = {0, 300000000};
	pthread_t thread;
	void *rc = NULL;

	if (ok(pair_up(&source, &sink, POLL_EVENT, 32, 8, "qp=rc"), "signal: connects") &&
	    ok(!ops->prepare(sink.transport, &sink.e), "signal: prepare")) {
		pthread_create(&thread, NULL, sleeper, sink.transport);
		nanosleep(&a_while, NULL);
		pthread_kill(thread, SIGUSR1);
		pthread_join(thread, &rc);
		is_int((intptr_t)rc, -EINTR, "a signal ends a wait");
	}
	pair_close(&source, &sink);
}

/* --- a machine without a device --- */

static int test_without_device(void)
{
	json_t *list = NULL;
	struct err e = ERR_INIT;

	is_int(verbs_devices(&list, &e), 0, "no devices are no error");
	is_int((long long)json_array_size(list), 0, "there are none");
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
	test_memlock();
	test_devices();
	test_granted("qp=ud connect=rdmacm", 4096);
	int files = open_files();

	test_granted("qp=rc connect=plain", 4096);
	test_granted("qp=rc connect=rdmacm mtu=256", 256);
	test_check();
	test_refusals();
	test_small_mtu();
	test_all_nonsense();
	test_all_moves();
	test_ipv6();
	test_slow_sink();
	test_leftovers("qp=rc");
	test_leftovers("qp=ud connect=rdmacm");
	test_stranger("qp=rc connect=rdmacm");
	test_stranger("qp=ud connect=rdmacm");
	test_nobody();
	test_bad_completions();
	test_signal();
	test_port_down();
	is_int(open_files(), files, "no file descriptor is left open");
	return done_testing();
}
