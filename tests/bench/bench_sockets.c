/*
 * Measures round trips over a socket on loopback in a minimal loop: two processes, each with one thread
 * and one connected socket; a send(), then repeatedly a recv() that does not block; a stamp before and
 * one after. The transports tcp and udp are compared with it. With uring, the same by io_uring: one system
 * call submits a message and the request to receive the next one; the completion is polled, or waited for
 * (event). The transport uring is compared with that.
 *
 *   build/bench/bench_sockets [uring-]tcp|udp[-event] SIZE MESSAGES [CPU CPU]
 *
 * Prints "p50 NS p99 NS mean NS" of half round trips. First, a tenth of the messages is sent without
 * being measured.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/analysis/stats.h"
#include "measure/instrument/clock.h"

#define ALIGNMENT 4096

struct side {
	int fd;
	char *in, *out;
	size_t size;
	long messages, warmup;
	struct io_uring *ring; /* NULL: plain sockets */
	bool sleeps;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

/* --- a connected pair --- */

static int bound(int type, struct sockaddr_in *own)
{
	socklen_t length = sizeof(*own);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	*own = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)own, length) || getsockname(fd, (struct sockaddr *)own, &length))
		fail("socket");
	return fd;
}

static void join(int fd, const struct sockaddr_in *to)
{
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		fail("connect");
}

static void send_at_once(int fd)
{
	const int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		fail("TCP_NODELAY");
}

static void make_pair(bool is_stream, int fd[2])
{
	const int type = is_stream ? SOCK_STREAM : SOCK_DGRAM;
	struct sockaddr_in address[2];
	int listener;

	fd[0] = bound(type, &address[0]);
	fd[1] = bound(type, &address[1]);
	if (!is_stream) {
		join(fd[0], &address[1]);
		join(fd[1], &address[0]);
		return;
	}
	listener = fd[1];
	if (listen(listener, 1))
		fail("listen");
	join(fd[0], &address[1]);
	fd[1] = accept(listener, NULL, NULL);
	if (fd[1] < 0)
		fail("accept");
	close(listener);
	send_at_once(fd[0]);
	send_at_once(fd[1]);
}

/* --- by io_uring --- */

enum { SENT = 1, RECEIVED };

static void open_ring(struct side *s, struct io_uring *ring)
{
	const unsigned flags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;

	if (io_uring_queue_init(8, ring, flags))
		fail("io_uring_queue_init");
	s->ring = ring;
}

static inline void arm(const struct side *s)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(s->ring);

	io_uring_prep_recv(sqe, s->fd, s->in, s->size, MSG_WAITALL);
	io_uring_sqe_set_data64(sqe, RECEIVED);
}

static inline void post_by_ring(const struct side *s)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(s->ring);

	io_uring_prep_send(sqe, s->fd, s->out, s->size, MSG_NOSIGNAL);
	io_uring_sqe_set_data64(sqe, SENT);
	arm(s);
	if (io_uring_submit(s->ring) != 2)
		fail("io_uring_submit");
}

static inline void receive_by_ring(const struct side *s)
{
	struct io_uring_cqe *cqe;
	uint64_t what;

	do {
		while (io_uring_peek_cqe(s->ring, &cqe))
			if (s->sleeps && io_uring_submit_and_wait(s->ring, 1) < 0)
				fail("io_uring_enter");
		if (cqe->res != (int)s->size)
			fail("a request");
		what = io_uring_cqe_get_data64(cqe);
		io_uring_cqe_seen(s->ring, cqe);
	} while (what != RECEIVED);
}

/* --- the loops --- */

static inline void post(const struct side *s)
{
	if (s->ring)
		post_by_ring(s);
	else if (send(s->fd, s->out, s->size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)s->size)
		fail("send");
}

static inline void receive(const struct side *s)
{
	ssize_t n;

	if (s->ring) {
		receive_by_ring(s);
		return;
	}
	do
		n = recv(s->fd, s->in, s->size, MSG_DONTWAIT);
	while (n < 0 && errno == EAGAIN);
	if (n != (ssize_t)s->size)
		fail("receive");
}

static void ping(const struct side *s, int64_t *trip)
{
	for (long i = -s->warmup; i < s->messages; i++) {
		int64_t start = clock_ticks_begin();

		post(s);
		receive(s);
		trip[i < 0 ? 0 : i] = clock_ticks_end() - start;
	}
}

static void pong(const struct side *s)
{
	if (s->ring) {
		arm(s);
		io_uring_submit(s->ring);
	}
	for (long i = -s->warmup; i < s->messages; i++) {
		receive(s);
		post(s);
	}
}

static void say(const int64_t *trip, long messages, double hz)
{
	struct span span = {trip, NULL, (size_t)messages};
	struct stats stats;

	if (stats_compute(&span, 1, INT64_MAX, &stats, NULL))
		fail("statistics");
	printf("p50 %.1f p99 %.1f mean %.1f\n", (double)stats.quantile[Q50] * 5e8 / hz,
	       (double)stats.quantile[Q99] * 5e8 / hz, stats.mean * 5e8 / hz);
}

int main(int argc, char **argv)
{
	const bool by_ring = argc > 3 && !strncmp(argv[1], "uring-", 6);
	const char *protocol = argc > 3 ? argv[1] + (by_ring ? 6 : 0) : "";
	const bool is_stream = !strncmp(protocol, "tcp", 3),
		   sleeps = by_ring && !strcmp(protocol + 3 * !!*protocol, "-event");
	struct io_uring ring;
	struct side s = {0};
	struct clock_report clock;
	int fd[2], status = 0;

	if (argc > 3) {
		s.size = (size_t)atol(argv[2]);
		s.messages = atol(argv[3]);
		s.warmup = s.messages / 10;
	}
	if ((!is_stream && strncmp(protocol, "udp", 3)) || (protocol[3] && !sleeps) || s.size < 1 || s.size > 60000 ||
	    s.messages < 100) {
		fprintf(stderr, "usage: %s [uring-]tcp|udp[-event] SIZE MESSAGES [CPU CPU]\n", argv[0]);
		return 2;
	}
	clock_calibrate(100, &clock);
	make_pair(is_stream, fd);

	pid_t pid = fork();

	s.fd = fd[!pid];
	close(fd[!!pid]);
	s.in = aligned_alloc(ALIGNMENT, (s.size / ALIGNMENT + 1) * ALIGNMENT);
	s.out = aligned_alloc(ALIGNMENT, (s.size / ALIGNMENT + 1) * ALIGNMENT);
	memset(s.in, 1, s.size);
	memset(s.out, 1, s.size);
	if (argc > 5)
		pin(atoi(argv[pid ? 4 : 5]));
	s.sleeps = sleeps;
	if (by_ring)
		open_ring(&s, &ring);
	if (!pid) {
		pong(&s);
		_exit(0);
	}

	int64_t *trip = malloc((size_t)s.messages * sizeof(*trip));

	memset(trip, 0, (size_t)s.messages * sizeof(*trip));
	ping(&s, trip);
	waitpid(pid, &status, 0);
	if (!status)
		say(trip, s.messages, clock.hz);
	free(trip);
	free(s.in);
	free(s.out);
	return status ? 1 : 0;
}
