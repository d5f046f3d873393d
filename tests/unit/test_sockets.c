/*
 * tcp and udp, both ends in one process: meeting in spite of strangers, messages in pieces, what an earlier repetition left,
 * a full socket buffer, a peer that has gone, which sockets are watched, for how long at a time, and round trips where the kernel drops datagrams at random.
 */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "fixture_pair.h"
#include "fixture_params.h"
#include "measure/instrument/waker.h"
#include "measure/kernels/pingpong.h"
#include "measure/point/flow.h"
#include "measure/transports/payload.h"
#include "measure/transports/udp.c"
#include "tap.h"

#define BLANK	 INT64_MIN
#define SIZE	 100
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

extern const struct kernel_loops pingpong_loops_called;

/* `more`: further settings; taken over. */
static void open_pair_as(struct pair *p, const struct transport_ops *ops, enum poll_mode mode, json_t *more)
{
	json_t *params = fixture_params("pingpong", ops);
	struct err why = ERR_INIT;
	struct flow flow;

	memset(p, 0, sizeof(*p));
	p->ops = ops;
	json_object_update(params, more);
	json_decref(more);
	json_object_set_new(params, "size_bytes", json_integer(SIZE));
	json_object_set_new(params, "depth", json_integer(16));
	is_int(flow_load(&flow, "", params, &why), 0, "settings %s", why.text);
	for (int role = 0; role < 2; role++) {
		struct transport_config config = flow.config;

		config.role = (enum role)role;
		config.poll_send = config.poll_recv = mode;
		config.stop = &p->stop;
		config.name = "0123456789abcdef";
		is_int(ops->open(&config, flow.transport_settings, &p->side[role], &p->address[role], &p->e[role]), 0,
		       "%s opens %s", ops->name, p->e[role].text);
	}
	flow_free(&flow);
	json_decref(params);
}

static void open_pair_with(struct pair *p, const struct transport_ops *ops, enum poll_mode mode, const char *key,
			   int64_t value)
{
	open_pair_as(p, ops, mode, json_pack("{s:I}", key, (json_int_t)value));
}

static void open_pair(struct pair *p, const struct transport_ops *ops, enum poll_mode mode, int64_t sndbuf)
{
	open_pair_with(p, ops, mode, "sndbuf_bytes", sndbuf);
}

/* Somebody who speaks to the sink's port before the source does. */
static int send_strange(const struct pair *p, int type)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	to.sin_port = htons((uint16_t)json_integer_value(json_object_get(p->address[ROLE_SINK], "port")));
	ok(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0, "a stranger connects");
	ok(send(fd, "I am your source, am I not? ........", 36, 0) == 36, "and says something");
	return fd;
}

static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	poll(&p, 1, 10000);
}

static void wait_until_connected(int fd, int *connected)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	*connected += poll(&p, 1, 2000) == 1 && !(p.revents & (POLLERR | POLLHUP));
}

static struct socket_transport *tcp_of(struct pair *p, enum role role)
{
	return (struct socket_transport *)p->side[role];
}

static void test_tcp_stranger(void)
{
	struct pair p;
	uint32_t seq = 0;

	open_pair(&p, &tcp_transport, POLL_BUSY, 0);

	int fd = send_strange(&p, SOCK_STREAM);

	connect_pair(&p);
	payload_fill(CALL(send_buffer, tcp_of(&p, ROLE_SOURCE), 7), SIZE - 4, 7);
	is_int(CALL(post, tcp_of(&p, ROLE_SOURCE), 7, true), 0, "a message is posted");
	is_int(CALL(poll_send, tcp_of(&p, ROLE_SOURCE), &seq), 1, "and complete");
	is_int(seq, 7, "which one is told");
	is_int(CALL(poll_send, tcp_of(&p, ROLE_SOURCE), &seq), 0, "once");
	wait_readable(tcp_of(&p, ROLE_SINK)->end.fd);
	is_int(CALL(poll_recv, tcp_of(&p, ROLE_SINK), &seq), 1, "it is the source that is heard, not the stranger");
	is_int(seq, 7, "by its number");
	ok(payload_is_right(CALL(recv_buffer, tcp_of(&p, ROLE_SINK)), SIZE - 4, 7), "with its payload");
	close(fd);
	close_pair(&p);
}

static void test_tcp_idle_strangers(void)
{
	struct sockaddr_in to;
	socklen_t size = sizeof(to);
	int fd[100], connected = 0;
	int64_t began;
	struct pair p;

	open_pair(&p, &tcp_transport, POLL_BUSY, 0);
	getsockname(tcp_of(&p, ROLE_SINK)->end.listen_fd, (struct sockaddr *)&to, &size);
	for (size_t i = 0; i < COUNT(fd); i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd[i], (struct sockaddr *)&to, sizeof(to));
		wait_until_connected(fd[i], &connected);
	}
	is_int(connected, (int)COUNT(fd), "a hundred strangers connect, and send nothing");
	began = monotonic_ms();
	connect_pair(&p);
	ok(monotonic_ms() - began < 3000, "the peer does not wait for them");
	for (size_t i = 0; i < COUNT(fd); i++)
		close(fd[i]);
	close_pair(&p);
}

/* The descriptor of its connection is missing; poll() itself needs room for one. */
static void test_tcp_no_descriptor(void)
{
	struct rlimit limit, least;
	struct pair p;
	int fd, rc;

	open_pair(&p, &tcp_transport, POLL_BUSY, 0);
	fd = send_strange(&p, SOCK_STREAM);
	getrlimit(RLIMIT_NOFILE, &limit);
	least = limit;
	least.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &least);
	rc = p.ops->connect(p.side[ROLE_SINK], p.address[ROLE_SOURCE], &p.e[ROLE_SINK]);
	setrlimit(RLIMIT_NOFILE, &limit);
	is_int(rc, -EMFILE, "without a descriptor, the sink does not try forever: %s", p.e[ROLE_SINK].text);
	close(fd);
	close_pair(&p);
}

static void test_tcp_pieces(void)
{
	struct pair p;
	char wire[2 * SIZE] = {0};
	uint32_t seq = 0, number;
	int found = 0;

	open_pair(&p, &tcp_transport, POLL_BUSY, 0);
	connect_pair(&p);
	for (uint32_t i = 0; i < 2; i++) {
		number = htole32(i | tcp_of(&p, ROLE_SOURCE)->frames.repetition);
		memcpy(wire + i * SIZE, &number, sizeof(number));
		payload_fill(wire + i * SIZE + 4, SIZE - 4, i);
	}
	/* Byte by byte: every border between two reads is tried. */
	for (size_t i = 0; i < sizeof(wire); i++) {
		if (send(tcp_of(&p, ROLE_SOURCE)->end.fd, wire + i, 1, MSG_NOSIGNAL) != 1)
			break;
		wait_readable(tcp_of(&p, ROLE_SINK)->end.fd);
		if (CALL(poll_recv, tcp_of(&p, ROLE_SINK), &seq) == 1)
			found += seq == i / SIZE && i % SIZE == SIZE - 1 &&
				 payload_is_right(CALL(recv_buffer, tcp_of(&p, ROLE_SINK)), SIZE - 4, seq);
	}
	is_int(found, 2, "messages are put together from pieces");

	/* Left over from one repetition: passed over in the next. */
	CALL(post, tcp_of(&p, ROLE_SOURCE), 3, true);
	p.ops->prepare(p.side[ROLE_SINK], NULL);
	p.ops->prepare(p.side[ROLE_SOURCE], NULL);
	CALL(post, tcp_of(&p, ROLE_SOURCE), 0, true);
	wait_readable(tcp_of(&p, ROLE_SINK)->end.fd);
	is_int(CALL(poll_recv, tcp_of(&p, ROLE_SINK), &seq), 0,
	       "an earlier repetition's message is none of this one's");
	is_int(CALL(poll_recv, tcp_of(&p, ROLE_SINK), &seq), 1, "the next one is");
	is_int(seq, 0, "with its number");

	json_t *counters = p.ops->device_counters(p.side[ROLE_SINK]);

	is_int(json_integer_value(json_object_get(counters, "late_messages")), 1, "the late one is counted");
	json_decref(counters);
	close_pair(&p);
}

static void *stop_soon(void *arg)
{
	struct pair *p = arg;

	while (tcp_of(p, ROLE_SOURCE)->frames.waits == 0)
		usleep(1000);
	atomic_store(&p->stop, 1);
	return NULL;
}

static void test_tcp_full(enum poll_mode mode)
{
	struct pair p;
	pthread_t thread;
	int rc = 0;

	open_pair(&p, &tcp_transport, mode, 8192);
	connect_pair(&p);
	pthread_create(&thread, NULL, stop_soon, &p);
	for (uint32_t seq = 0; !rc; seq++)
		rc = CALL(post, tcp_of(&p, ROLE_SOURCE), seq, true);
	pthread_join(thread, NULL);
	is_int(rc, -EINTR, "nobody reads, the buffer is full: a post ends when it is told to");
	is_int(p.ops->failure(p.side[ROLE_SOURCE], NULL), 0, "which is no failure");
	close_pair(&p);
}

static void test_tcp_gone(void)
{
	struct pair p;
	struct err e = ERR_INIT;
	uint32_t seq;
	int rc = 0;

	open_pair(&p, &tcp_transport, POLL_EVENT, 0);
	connect_pair(&p);
	p.ops->close(p.side[ROLE_SINK]);
	p.side[ROLE_SINK] = NULL;
	is_int(CALL(wait_recv, tcp_of(&p, ROLE_SOURCE)), 0, "who sleeps wakes up when the other side has gone");
	is_int(CALL(poll_recv, tcp_of(&p, ROLE_SOURCE), &seq), -ECONNRESET, "receiving fails");
	is_int(p.ops->failure(p.side[ROLE_SOURCE], &e), -ECONNRESET, "as told afterwards");
	ok(strstr(e.text, "the other side has ended") && strstr(e.text, "tcp 127.0.0.1:"), "%s", e.text);
	for (uint32_t i = 0; i < 1000 && !rc; i++)
		rc = CALL(post, tcp_of(&p, ROLE_SOURCE), i, true);
	ok(rc == -EPIPE || rc == -ECONNRESET, "so does sending (%d), without a signal", rc);
	close_pair(&p);
}

static void test_udp_stranger(void)
{
	struct pair p;
	struct udp *source, *sink;
	uint32_t seq = 0;
	int rc = 0;

	open_pair(&p, &udp_transport, POLL_BUSY, 0);

	int fd = send_strange(&p, SOCK_DGRAM);

	connect_pair(&p);
	source = (struct udp *)p.side[ROLE_SOURCE];
	sink = (struct udp *)p.side[ROLE_SINK];
	is_int(send(fd, "and now?", 8, 0), 8, "the stranger goes on");
	CALL(post, source, 5, true);
	for (int i = 0; i < 1000 && rc == 0; i++) {
		wait_readable(sink->end.fd);
		rc = CALL(poll_recv, sink, &seq);
	}
	is_int(rc, 1, "only the source is heard");
	is_int(seq, 5, "by its number");
	is_int(send(source->end.fd, "odd", 3, 0), 3, "what is no message");
	wait_readable(sink->end.fd);
	is_int(CALL(poll_recv, sink, &seq), -EMSGSIZE, "is no message");
	p.ops->close(p.side[ROLE_SINK]);
	p.side[ROLE_SINK] = NULL;
	rc = 0;
	for (uint32_t i = 0; i < 1000 && !rc; i++)
		rc = CALL(post, source, i, true);
	is_int(rc, -ECONNREFUSED, "a peer that has gone is noticed");
	close(fd);
	close_pair(&p);
}

/* One of eight datagrams never arrives. */
static void drop_some(int fd)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM)),
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 7),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, 0),
	    BPF_STMT(BPF_RET | BPF_K, 0xffff),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	ok(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0, "a filter that drops some");
}

#define TRIPS 200

static void *run_sink(void *arg)
{
	struct worker *w = arg;

	pingpong_loops_called.loop[PINGPONG_SINK](w);
	return NULL;
}

static struct worker *make_worker(struct pair *p, enum role role, const struct pingpong_settings *s,
				  enum poll_mode mode, int64_t *column[2])
{
	struct worker *w = aligned_alloc(64, sizeof(*w));

	memset(w, 0, sizeof(*w));
	*w = (struct worker){.transport = p->side[role],
			     .settings = s,
			     .poll_send = POLL_BUSY,
			     .poll_recv = mode,
			     .messages = TRIPS,
			     .depth = 16,
			     .signal_every = 1,
			     .lossy = true,
			     .blank = BLANK,
			     .spin_ticks = 20000,
			     .column = {column[0], column[1]},
			     .clock = clock_conversion_from(0, 1e9)};
	return w;
}

static int take(struct udp *t, uint32_t *seq)
{
	int rc = 0;

	for (int i = 0; i < 100 && !rc; i++) {
		rc = CALL(poll_recv, t, seq);
		if (!rc)
			wait_readable(t->receiver[t->next].fd);
	}
	return rc;
}

/* A message counts once, when all receivers have it, also after one that one of them has lost. */
static void test_udp_receivers(enum poll_mode mode, const char *group)
{
	struct pair p;
	struct udp *source, *sink;
	struct err e = ERR_INIT;
	uint32_t seq = 99;
	char lost[SIZE];

	open_pair_as(&p, &udp_transport, mode, json_pack("{s:i, s:s}", "receivers", 3, "group", group));
	connect_pair(&p);
	source = (struct udp *)p.side[ROLE_SOURCE];
	sink = (struct udp *)p.side[ROLE_SINK];
	is_int(source->copies, strcmp(group, "none") ? 1 : 3, "group %s: datagrams of a message", group);
	is_int(CALL(poll_recv, sink, &seq), 0, "there is no message yet");
	for (uint32_t i = 0; i < 2; i++) {
		is_int(CALL(post, source, i, true), 0, "message %u goes to all", i);
		is_int(take(sink, &seq), 1, "and arrives");
		is_int(seq, i, "by its number");
		is_int(CALL(poll_recv, sink, &seq), 0, "once");
	}
	is_int(CALL(post, source, 2, true), 0, "the next one goes to all");
	wait_readable(sink->receiver[2].fd);
	is_int(recv(sink->receiver[2].fd, lost, SIZE, 0), SIZE, "the third receiver loses it");
	for (int i = 0; i < 3; i++)
		is_int(CALL(poll_recv, sink, &seq), 0, "so it does not arrive");
	is_int(CALL(post, source, 3, true), 0, "the one after it goes to all");
	is_int(take(sink, &seq), 1, "and arrives");
	is_int(seq, 3, "by its number");
	CALL(post, source, 4, true);
	is_int(p.ops->prepare(p.side[ROLE_SINK], &e), 0, "the next repetition");
	is_int(p.ops->prepare(p.side[ROLE_SOURCE], &e), 0, "begins");
	is_int(CALL(poll_recv, sink, &seq), 0, "without what was left");
	CALL(post, source, 0, true);
	is_int(take(sink, &seq), 1, "and messages arrive");
	is_int(seq, 0, "from the first on");
	CALL(post, sink, 0, true);
	for (int i = 0, rc = 0; i < 100 && !rc; i++, wait_readable(source->end.fd))
		rc = CALL(poll_recv, source, &seq);
	is_int(seq, 0, "the answer is one datagram");
	close_pair(&p);
}

static void test_udp_loss(enum poll_mode mode, const char *name)
{
	static int64_t subm[TRIPS], back[TRIPS];
	int64_t *column[] = {subm, back};
	struct pingpong_settings s = {.messages = TRIPS, .size = SIZE, .lost_after = 5000000, .check = true};
	struct worker *source, *sink;
	struct pair p;
	pthread_t thread;
	int answered = 0;

	for (int i = 0; i < TRIPS; i++)
		subm[i] = back[i] = BLANK;
	open_pair(&p, &udp_transport, mode, 0);
	connect_pair(&p);
	for (int role = 0; role < 2; role++)
		drop_some(((struct udp *)p.side[role])->end.fd);
	source = make_worker(&p, ROLE_SOURCE, &s, mode, column);
	sink = make_worker(&p, ROLE_SINK, &s, mode, column);
	pthread_create(&thread, NULL, run_sink, sink);
	is_int(pingpong_loops_called.loop[PINGPONG_SOURCE](source), 0, "%s: round trips go on after a loss", name);
	for (int i = 0; i < TRIPS; i++)
		answered += back[i] != BLANK;
	is_int(source->counters.posted, TRIPS, "%s: all were tried", name);
	is_int(source->counters.received, answered, "%s: those that came back have a stamp", name);
	ok(answered > 0 && answered < TRIPS, "%s: some are lost, some are not (%d of %d)", name, answered, TRIPS);
	is_int(source->counters.bad_payloads + sink->counters.bad_payloads, 0, "%s: nothing is mistaken", name);
	atomic_store(&sink->stop, 1);
	do
		pthread_kill(thread, WAKER_SIGNAL);
	while (usleep(1000), pthread_tryjoin_np(thread, NULL));
	free(source);
	free(sink);
	close_pair(&p);
}

/* Descriptors of this process that watch others. */
static int count_watchers(void)
{
	char path[32], target[64];
	int count = 0;

	for (int fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t size = readlink(path, target, sizeof(target) - 1);

		target[size < 0 ? 0 : size] = '\0';
		count += !strcmp(target, "anon_inode:[eventpoll]");
	}
	return count;
}

/* Who is watched pays with every message for waking the watcher. */
static void test_watched(const struct transport_ops *ops, enum poll_mode mode, int watchers)
{
	struct pair p;

	open_pair(&p, ops, mode, 0);
	connect_pair(&p);
	is_int(count_watchers(), watchers, "%s, poll %s: sockets that are watched", ops->name, poll_mode_names[mode]);
	close_pair(&p);
}

/* A sleeping receiver looks again after the limit, and at once when a message is there. The alarm ends one that never does. */
static void test_wait_limit(void)
{
	struct pair p;
	uint32_t seq = 0;
	int64_t began;

	open_pair_with(&p, &tcp_transport, POLL_EVENT, "wait_limit_ns", 20000000);
	connect_pair(&p);
	alarm(10);
	began = monotonic_ms();
	is_int(CALL(wait_recv, tcp_of(&p, ROLE_SINK)), 0, "waiting ends without a message");
	ok(monotonic_ms() - began >= 19, "but not before the limit");
	is_int(CALL(poll_recv, tcp_of(&p, ROLE_SINK), &seq), 0, "and there is none");
	payload_fill(CALL(send_buffer, tcp_of(&p, ROLE_SOURCE), 3), SIZE - 4, 3);
	is_int(CALL(post, tcp_of(&p, ROLE_SOURCE), 3, true), 0, "a message is posted");
	is_int(CALL(wait_recv, tcp_of(&p, ROLE_SINK)), 0, "waiting ends with it");
	is_int(CALL(poll_recv, tcp_of(&p, ROLE_SINK), &seq), 1, "and it is there");
	alarm(0);
	close_pair(&p);
}

static void on_wake(int signal_number)
{
	(void)signal_number;
}

int main(void)
{
	struct sigaction waker = {.sa_handler = on_wake};

	sigaction(WAKER_SIGNAL, &waker, NULL);
	test_tcp_stranger();
	test_tcp_idle_strangers();
	test_tcp_no_descriptor();
	test_tcp_pieces();
	test_tcp_full(POLL_BUSY);
	test_tcp_full(POLL_EVENT);
	test_tcp_gone();
	test_udp_stranger();
	for (int mode = POLL_BUSY; mode <= POLL_ADAPTIVE; mode++) {
		test_udp_receivers((enum poll_mode)mode, "none");
		test_udp_receivers((enum poll_mode)mode, "239.255.77.1");
	}
	test_udp_loss(POLL_BUSY, "busy");
	test_udp_loss(POLL_EVENT, "event");
	test_udp_loss(POLL_ADAPTIVE, "adaptive");
	for (int mode = POLL_BUSY; mode <= POLL_ADAPTIVE; mode++) {
		test_watched(&tcp_transport, (enum poll_mode)mode, mode == POLL_BUSY ? 0 : 2);
		test_watched(&udp_transport, (enum poll_mode)mode, mode == POLL_BUSY ? 0 : 2);
	}
	test_wait_limit();
	return done_testing();
}
