/*
 * The transport uring, both ends in one process: messages in pieces, what an earlier repetition left, a full buffer,
 * a peer that has gone, waiting with a limit, and kernels that lack what is asked for (system calls that a filter refuses).
 */
#include <errno.h>
#include <liburing.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "fixture_pair.h"
#include "fixture_params.h"
#include "measure/point/flow.h"
#include "measure/transports/payload.h"
#include "measure/transports/sockets.h"
#include "tap.h"

#define SIZE	 100
#define PATIENCE 20000 /* polls, with pauses of 100 us */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int try_open(struct pair *p, enum role role, enum poll_mode mode, const char *setting, const char *value)
{
	json_t *params = fixture_params("pingpong", &uring_transport);
	struct err why = ERR_INIT;
	struct flow flow;
	int rc;

	json_object_set_new(params, "size_bytes", json_integer(SIZE));
	json_object_set_new(params, "depth", json_integer(4));
	json_object_set_new(params, "sndbuf_bytes", json_integer(8192));
	json_object_set_new(params, "over", json_string(strstr(setting, "udp") ? "udp" : "tcp"));
	if (*value)
		json_object_set_new(params, strchr(setting, ' ') ? strchr(setting, ' ') + 1 : setting,
				    strcmp(value, "yes") ? json_integer(atoi(value)) : json_true());
	is_int(flow_load(&flow, "", params, &why), 0, "settings %s", why.text);
	struct transport_config config = flow.config;

	config.role = role;
	config.poll_send = POLL_BUSY;
	config.poll_recv = mode;
	config.stop = &p->stop;
	config.name = "0123456789abcdef";
	rc = uring_transport.open(&config, flow.transport_settings, &p->side[role], &p->address[role], &p->e[role]);
	flow_free(&flow);
	json_decref(params);
	return rc;
}

static void open_pair(struct pair *p, enum poll_mode mode, const char *setting, const char *value)
{
	memset(p, 0, sizeof(*p));
	p->ops = &uring_transport;
	for (int role = 0; role < 2; role++)
		is_int(try_open(p, (enum role)role, mode, setting, value), 0, "%s %s opens %s", setting, value,
		       p->e[role].text);
	connect_pair(p);
}

static struct socket_transport *side(const struct pair *p, enum role role)
{
	return (struct socket_transport *)p->side[role];
}

/* What poll_recv returns when it is not 0 any more. */
static int await_message(struct socket_transport *t, uint32_t *seq)
{
	int rc = 0;

	for (int i = 0; i < PATIENCE && !rc; i++) {
		rc = CALL(poll_recv, t, seq);
		if (!rc)
			usleep(100);
	}
	return rc;
}

/* Pieces of every length, so that every border between two of them is tried. */
static void test_pieces(const char *setting, const char *value)
{
	struct pair p;
	char wire[20 * SIZE];
	uint32_t seq = 0;
	int found = 0;
	size_t at = 0;

	open_pair(&p, POLL_BUSY, setting, value);
	for (uint32_t i = 0; i < COUNT(wire) / SIZE; i++) {
		const uint32_t number = htole32(i | side(&p, ROLE_SOURCE)->frames.repetition);

		memcpy(wire + i * SIZE, &number, sizeof(number));
		payload_fill(wire + i * SIZE + 4, SIZE - 4, i);
	}
	for (size_t length = 1; at < sizeof(wire); length += 7) {
		const size_t piece = length < sizeof(wire) - at ? length : sizeof(wire) - at;

		if (send(side(&p, ROLE_SOURCE)->end.fd, wire + at, piece, MSG_NOSIGNAL) != (ssize_t)piece)
			break;
		at += piece;
		while ((size_t)found < at / SIZE && await_message(side(&p, ROLE_SINK), &seq) == 1) {
			if (seq != (uint32_t)found ||
			    !payload_is_right(CALL(recv_buffer, side(&p, ROLE_SINK)), SIZE - 4, seq))
				break;
			found++;
			CALL(release, side(&p, ROLE_SINK));
		}
	}
	is_int(found, COUNT(wire) / SIZE, "%s: messages are put together from pieces", setting);
	close_pair(&p);
}

static void test_left_over(const char *setting, const char *value)
{
	struct pair p;
	uint32_t seq = 9;

	open_pair(&p, POLL_EVENT, setting, value);
	/* Late greetings. */
	const uint64_t before = side(&p, ROLE_SINK)->frames.stragglers;

	is_int(CALL(poll_recv, side(&p, ROLE_SINK), &seq), 0, "%s: a request to receive", setting);
	is_int(CALL(poll_recv, side(&p, ROLE_SINK), &seq), 0, "waits");
	is_int(CALL(post, side(&p, ROLE_SOURCE), 3, true), 0, "a message that nobody looks at");
	usleep(20000);
	p.ops->leave(p.side[ROLE_SINK]);
	p.ops->leave(p.side[ROLE_SOURCE]);
	is_int(p.ops->prepare(p.side[ROLE_SINK], &p.e[0]), 0, "the sink prepares %s", p.e[0].text);
	is_int(p.ops->prepare(p.side[ROLE_SOURCE], &p.e[1]), 0, "the source prepares %s", p.e[1].text);
	for (uint32_t i = 0; i < 6; i++) {
		CALL(post, side(&p, ROLE_SOURCE), i, true);
		is_int(await_message(side(&p, ROLE_SINK), &seq), 1, "a message of this repetition");
		is_int(seq, i, "with its number");
		CALL(release, side(&p, ROLE_SINK));
		for (int k = 0; k < PATIENCE && CALL(poll_send, side(&p, ROLE_SOURCE), &seq) == 0; k++)
			usleep(100);
		is_int(seq, i, "it is complete");
	}
	is_int((long long)(side(&p, ROLE_SINK)->frames.stragglers - before), 1, "the late one is counted");
	close_pair(&p);
}

static void *stop_soon(void *arg)
{
	struct pair *p = arg;

	while (side(p, ROLE_SOURCE)->frames.waits == 0)
		usleep(1000);
	atomic_store(&p->stop, 1);
	return NULL;
}

static void *receive_all(void *arg)
{
	struct socket_transport *t = side(arg, ROLE_SINK);
	uint32_t seq;

	while (await_message(t, &seq) == 1 && seq != 7)
		CALL(release, t);
	return (void *)(uintptr_t)seq;
}

/* The message that could not be sent as a whole is finished, so the next repetition's are whole. */
static void test_full(const char *setting, const char *value)
{
	struct pair p;
	pthread_t thread;
	void *last;
	int rc = 0;

	open_pair(&p, POLL_BUSY, setting, value);
	pthread_create(&thread, NULL, stop_soon, &p);
	for (uint32_t seq = 100; !rc; seq++)
		rc = CALL(post, side(&p, ROLE_SOURCE), seq, true);
	pthread_join(thread, NULL);
	is_int(rc, -EINTR, "%s: nobody reads, the buffer is full: a post ends when it is told to", setting);
	is_int(p.ops->failure(p.side[ROLE_SOURCE], NULL), 0, "which is no failure");
	pthread_create(&thread, NULL, receive_all, &p);
	atomic_store(&p.stop, 0);
	p.ops->leave(p.side[ROLE_SOURCE]);
	is_int(p.ops->prepare(p.side[ROLE_SOURCE], &p.e[0]), 0, "what is left is sent %s", p.e[0].text);
	side(&p, ROLE_SINK)->frames.repetition = side(&p, ROLE_SOURCE)->frames.repetition;
	is_int(CALL(post, side(&p, ROLE_SOURCE), 7, true), 0, "and a message of the next repetition");
	pthread_join(thread, &last);
	is_int((long long)(uintptr_t)last, 7, "arrives whole");
	close_pair(&p);
}

static void test_gone(const char *setting, const char *value)
{
	struct pair p;
	struct err e = ERR_INIT;
	uint32_t seq;
	int rc = 0;

	open_pair(&p, POLL_EVENT, setting, value);
	p.ops->close(p.side[ROLE_SINK]);
	p.side[ROLE_SINK] = NULL;
	is_int(CALL(wait_recv, side(&p, ROLE_SOURCE)), 0, "%s: who sleeps wakes up when the peer has gone", setting);
	is_int(await_message(side(&p, ROLE_SOURCE), &seq), -ECONNRESET, "receiving fails");
	is_int(p.ops->failure(p.side[ROLE_SOURCE], &e), -ECONNRESET, "as told afterwards");
	ok(strstr(e.text, "the other side has ended") && strstr(e.text, "uring 127.0.0.1:"), "%s", e.text);
	for (uint32_t i = 0; i < 1000 && !rc; i++)
		rc = CALL(post, side(&p, ROLE_SOURCE), i, true);
	ok(rc == -EPIPE || rc == -ECONNRESET, "so does sending (%d), without a signal", rc);
	close_pair(&p);
}

static void test_strange_datagram(void)
{
	struct pair p;
	uint32_t seq;

	open_pair(&p, POLL_BUSY, "udp", "");
	is_int(send(side(&p, ROLE_SOURCE)->end.fd, "odd", 3, 0), 3, "what is no message");
	is_int(await_message(side(&p, ROLE_SINK), &seq), -EMSGSIZE, "is no message");
	close_pair(&p);
}

/* From now on `call`, if its second argument is `code` or `code` is negative, fails with `error`. */
static void refuse(long call, int code, uint32_t error)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	    BPF_JUMP(code < 0 ? BPF_JMP | BPF_JGE | BPF_K : BPF_JMP | BPF_JEQ | BPF_K, code < 0 ? 0 : (uint32_t)code, 0,
		     1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {COUNT(filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(99);
}

static void test_refusal(long call, int code, int error, const char *setting, const char *value, const char *words)
{
	struct pair p = {.ops = &uring_transport};
	int status;
	pid_t pid = fork();

	if (!pid) {
		/* The checks of this process are not those of the test. */
		if (!freopen("/dev/null", "w", stdout))
			_exit(98);
		refuse(call, code, (uint32_t)error);
		int rc = try_open(&p, ROLE_SOURCE, POLL_BUSY, setting, value);

		_exit(rc < 0 && p.e[0].status == STATUS_IMPOSSIBLE && strstr(p.e[0].text, words) ? 0 : 1);
	}
	ok(waitpid(pid, &status, 0) == pid && status == 0, "refused: %s", words);
}

/* The alarm ends a receiver that never looks again. */
static void test_wait_limit(void)
{
	struct pair p;
	uint32_t seq = 0;
	int64_t began;

	open_pair(&p, POLL_EVENT, "wait_limit_ns", "20000000");
	is_int(CALL(poll_recv, side(&p, ROLE_SINK), &seq), 0, "nothing has arrived");
	alarm(10);
	began = monotonic_ms();
	is_int(CALL(wait_recv, side(&p, ROLE_SINK)), 0, "waiting ends without a message");
	ok(monotonic_ms() - began >= 19, "but not before the limit");
	is_int(CALL(poll_recv, side(&p, ROLE_SINK), &seq), 0, "and still nothing has");
	payload_fill(CALL(send_buffer, side(&p, ROLE_SOURCE), 3), SIZE - 4, 3);
	is_int(CALL(post, side(&p, ROLE_SOURCE), 3, true), 0, "a message is posted");
	is_int(await_message(side(&p, ROLE_SINK), &seq), 1, "the request that outlived the limit receives it");
	alarm(0);
	close_pair(&p);
}

int main(void)
{
	static const char *const modes[][2] = {
	    {"plain", ""}, {"multishot", "yes"}, {"registered", "yes"}, {"zerocopy", "yes"}, {"sqpoll", "yes"}};
	struct pair probe = {.ops = &uring_transport};

	if (try_open(&probe, ROLE_SOURCE, POLL_BUSY, "plain", "")) {
		ok(true, "# SKIP io_uring is refused here: %s", probe.e[0].text);
		return done_testing();
	}
	close_pair(&probe);
	for (size_t i = 0; i < COUNT(modes); i++) {
		test_pieces(modes[i][0], modes[i][1]);
		test_left_over(modes[i][0], modes[i][1]);
		test_full(modes[i][0], modes[i][1]);
		test_gone(modes[i][0], modes[i][1]);
	}
	test_left_over("udp", "");
	test_left_over("udp multishot", "yes");
	test_strange_datagram();
	test_wait_limit();
	test_refusal(__NR_io_uring_setup, -1, EPERM, "plain", "", "kernel.io_uring_disabled");
	test_refusal(__NR_io_uring_setup, -1, EINVAL, "plain", "", "transport uring needs Linux 6.1");
	test_refusal(__NR_io_uring_register, 27, EINVAL, "napi_ns", "20000", "napi needs Linux 6.9");
	test_refusal(__NR_io_uring_register, IORING_REGISTER_PBUF_RING, EINVAL, "multishot", "yes",
		     "multishot is refused");
	test_refusal(__NR_io_uring_register, IORING_REGISTER_BUFFERS, ENOMEM, "registered", "yes", "ulimit -l");
	return done_testing();
}
