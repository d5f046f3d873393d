/*
 * Measures round trips over a socket on loopback in a minimal loop: two processes, each with one thread
 * and one connected socket; a send(), then repeatedly a recv() that does not block; a stamp before and
 * one after. The transports tcp and udp are compared with it. With uring, the same by io_uring, from a ring
 * that only one thread uses; the transport uring is compared with that:
 *
 *   uring             each poll submits a request to receive what is there (MSG_DONTWAIT)
 *   uring-registered  likewise, by reading and writing buffers that are registered
 *   uring-waiting     one system call submits a message and a request that waits for the next one; the flag
 *                     that the kernel raises when there is something is polled
 *   uring-multishot   likewise, but one request receives all messages
 *   uring-event       as uring-waiting, but the thread sleeps
 *   uring-napi        likewise, and the kernel polls the device's queue meanwhile
 *   uring-sqpoll      as uring-event, but a thread of the kernel submits and completes
 *   uring-zerocopy    as uring, but messages are sent from the buffer itself
 *
 *   build/bench/bench_sockets [MODE-]tcp|udp SIZE MESSAGES [CPU CPU]
 *
 * Prints "p50 NS p99 NS mean NS" of half round trips. First, a tenth of the messages is sent without
 * being measured.
 *
 *   build/bench/bench_sockets stream-tcp SIZE MESSAGES [CPU CPU]
 *
 * One direction, without TCP_NODELAY; each message has a number, which is checked; neither side ever sleeps. Prints
 * "rate BYTES", payload a second, from the first message to the last.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/analysis/stats.h"
#include "measure/instrument/clock.h"

#define ALIGNMENT 4096
#define BUFFERS	  8
#define BUFFER	  65536

enum mode { PLAIN, TRIES, REGISTERED, WAITS, MULTISHOT, SLEEPS, NAPI, SQPOLL, ZEROCOPY, STREAM };

static const char *const mode_names[] = {[PLAIN] = "",
					 [TRIES] = "uring-",
					 [REGISTERED] = "uring-registered-",
					 [WAITS] = "uring-waiting-",
					 [MULTISHOT] = "uring-multishot-",
					 [SLEEPS] = "uring-event-",
					 [NAPI] = "uring-napi-",
					 [SQPOLL] = "uring-sqpoll-",
					 [ZEROCOPY] = "uring-zerocopy-",
					 [STREAM] = "stream-"};

/* Linux 6.9; liburing 2.3 does not have it. */
#define REGISTER_NAPI 27
#define NAPI_US	      20

struct napi_request {
	uint32_t busy_poll_us;
	uint8_t prefers, pad[3];
	uint64_t reserved;
};

struct side {
	int fd;
	char *in, *out;
	size_t size;
	long messages, warmup;
	enum mode mode;
	struct io_uring *ring; /* NULL: plain sockets */
	struct io_uring_buf_ring *provided;
	char *buffers; /* that are provided; of BUFFER bytes each */
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

static void make_pair(bool is_stream, bool at_once, int fd[2])
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
	for (int i = 0; at_once && i < 2; i++)
		send_at_once(fd[i]);
}

/* --- by io_uring --- */

enum { SENT = 1, RECEIVED };

static void provide(const struct side *s, unsigned short buffer)
{
	io_uring_buf_ring_add(s->provided, s->buffers + (size_t)buffer * BUFFER, BUFFER, buffer,
			      io_uring_buf_ring_mask(BUFFERS), 0);
	io_uring_buf_ring_advance(s->provided, 1);
}

static void provide_all(struct side *s)
{
	struct io_uring_buf_reg all = {.ring_entries = BUFFERS};

	s->provided = aligned_alloc(ALIGNMENT, ALIGNMENT);
	s->buffers = aligned_alloc(ALIGNMENT, (size_t)BUFFERS * BUFFER);
	memset(s->buffers, 1, (size_t)BUFFERS * BUFFER);
	io_uring_buf_ring_init(s->provided);
	all.ring_addr = (uintptr_t)s->provided;
	if (io_uring_register_buf_ring(s->ring, &all, 0))
		fail("io_uring_register_buf_ring");
	for (unsigned short i = 0; i < BUFFERS; i++)
		provide(s, i);
}

static bool is_sleeping(const struct side *s)
{
	return s->mode == SLEEPS || s->mode == NAPI || s->mode == SQPOLL;
}

/* Does each poll submit a request that does not wait? */
static bool is_trying(const struct side *s)
{
	return s->mode == TRIES || s->mode == REGISTERED || s->mode == ZEROCOPY;
}

static void open_ring(struct side *s, struct io_uring *ring)
{
	const unsigned own = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
	const unsigned flags = s->mode == SQPOLL ? IORING_SETUP_SQPOLL : own;
	const struct iovec both[] = {{s->in, s->size}, {s->out, s->size}};
	struct napi_request napi = {.busy_poll_us = NAPI_US, .prefers = 1};

	if (io_uring_queue_init(8, ring, flags) || io_uring_register_ring_fd(ring) != 1)
		fail("io_uring_queue_init");
	s->ring = ring;
	if (s->mode == REGISTERED && io_uring_register_buffers(ring, both, 2))
		fail("io_uring_register_buffers");
	if (s->mode == NAPI && syscall(__NR_io_uring_register, ring->ring_fd, REGISTER_NAPI, &napi, 1) < 0)
		fail("IORING_REGISTER_NAPI");
	if (s->mode == MULTISHOT)
		provide_all(s);
}

static inline void arm(const struct side *s)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(s->ring);

	if (s->mode == MULTISHOT) {
		io_uring_prep_recv_multishot(sqe, s->fd, NULL, 0, 0);
		sqe->flags |= IOSQE_BUFFER_SELECT;
	} else if (s->mode == REGISTERED) {
		io_uring_prep_read_fixed(sqe, s->fd, s->in, (unsigned)s->size, 0, 0);
		sqe->rw_flags = RWF_NOWAIT;
	} else {
		io_uring_prep_recv(sqe, s->fd, s->in, s->size, is_trying(s) ? MSG_DONTWAIT : MSG_WAITALL);
	}
	io_uring_sqe_set_data64(sqe, RECEIVED);
}

static inline void submit(const struct side *s)
{
	if (io_uring_submit(s->ring) < 1)
		fail("io_uring_submit");
}

static inline void post_by_ring(const struct side *s)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(s->ring);

	if (s->mode == REGISTERED)
		io_uring_prep_write_fixed(sqe, s->fd, s->out, (unsigned)s->size, 0, 1);
	else if (s->mode == ZEROCOPY)
		io_uring_prep_send_zc(sqe, s->fd, s->out, s->size, MSG_NOSIGNAL, 0);
	else
		io_uring_prep_send(sqe, s->fd, s->out, s->size, MSG_NOSIGNAL);
	io_uring_sqe_set_data64(sqe, SENT);
	if (!is_trying(s) && s->mode != MULTISHOT)
		arm(s);
	submit(s);
}

/* See to it that there is a completion some time. */
static inline void ask(const struct side *s)
{
	if (is_trying(s)) {
		arm(s);
		submit(s);
	} else if (is_sleeping(s) && io_uring_submit_and_wait(s->ring, 1) < 0) {
		fail("io_uring_enter");
	}
}

/* Is this completion the message? */
static inline bool is_message(const struct side *s, const struct io_uring_cqe *cqe)
{
	const bool is_received = io_uring_cqe_get_data64(cqe) == RECEIVED;

	if ((is_received && cqe->res == -EAGAIN) || cqe->flags & IORING_CQE_F_NOTIF)
		return false;
	if (cqe->res != (int)s->size || (is_received && s->mode == MULTISHOT && !(cqe->flags & IORING_CQE_F_MORE)))
		fail("a request");
	if (is_received && s->mode == MULTISHOT)
		provide(s, (unsigned short)(cqe->flags >> IORING_CQE_BUFFER_SHIFT));
	return is_received;
}

static inline void receive_by_ring(const struct side *s)
{
	struct io_uring_cqe *cqe;
	bool is_there = false;

	while (!is_there) {
		if (io_uring_peek_cqe(s->ring, &cqe)) {
			ask(s);
			continue;
		}
		is_there = is_message(s, cqe);
		io_uring_cqe_seen(s->ring, cqe);
	}
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
	if (s->ring && !is_trying(s) && s->mode != MULTISHOT) {
		arm(s);
		submit(s);
	}
	for (long i = -s->warmup; i < s->messages; i++) {
		receive(s);
		post(s);
	}
}

/* --- a stream --- */

static void stream_send(const struct side *s, uint32_t number)
{
	memcpy(s->out, &number, sizeof(number));
	for (size_t sent = 0; sent < s->size;) {
		const ssize_t n = send(s->fd, s->out + sent, s->size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			fail("send");
		if (n < 0)
			cpu_relax();
		else
			sent += (size_t)n;
	}
}

static void stream_receive(const struct side *s, uint32_t number)
{
	for (size_t got = 0; got < s->size;) {
		const ssize_t n = recv(s->fd, s->in + got, s->size - got, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			fail("recv");
		if (n > 0)
			got += (size_t)n;
	}
	if (memcmp(s->in, &number, sizeof(number)) != 0)
		fail("a message");
}

static int64_t stream(const struct side *s)
{
	int64_t start = 0;

	for (long i = -s->warmup; i < s->messages; i++) {
		if (!i)
			start = clock_ticks_begin();
		stream_send(s, (uint32_t)i);
	}
	return clock_ticks_end() - start;
}

static void drain(const struct side *s)
{
	for (long i = -s->warmup; i < s->messages; i++)
		stream_receive(s, (uint32_t)i);
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

/* "uring-event-udp": the mode, and whether it is tcp; false if it is neither. */
static bool read_mode(const char *text, enum mode *mode, bool *is_stream)
{
	const size_t length = strlen(text);

	if (length < 3)
		return false;
	*is_stream = !strcmp(text + length - 3, "tcp");
	if (!*is_stream && strcmp(text + length - 3, "udp"))
		return false;
	for (size_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++)
		if (strlen(mode_names[i]) == length - 3 && !strncmp(text, mode_names[i], length - 3)) {
			*mode = (enum mode)i;
			return true;
		}
	return false;
}

static void make_side(struct side *s, struct io_uring *ring)
{
	s->in = aligned_alloc(ALIGNMENT, (s->size / ALIGNMENT + 1) * ALIGNMENT);
	s->out = aligned_alloc(ALIGNMENT, (s->size / ALIGNMENT + 1) * ALIGNMENT);
	memset(s->in, 1, s->size);
	memset(s->out, 1, s->size);
	if (s->mode == PLAIN || s->mode == STREAM)
		return;
	open_ring(s, ring);
	if (s->mode == MULTISHOT) {
		arm(s);
		submit(s);
	}
}

/* Two processes, each with its side. The other one's ID, or 0 in that one, which ends with the first. */
static pid_t part(struct side *s, const int fd[2], char **cpus, struct io_uring *ring)
{
	const pid_t pid = fork();

	s->fd = fd[!pid];
	close(fd[!!pid]);
	if (cpus)
		pin(atoi(cpus[!pid]));
	make_side(s, ring);
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static int measure_stream(struct side *s, const int fd[2], char **cpus, double hz)
{
	const pid_t pid = part(s, fd, cpus, NULL);
	int status = 0;
	int64_t ticks;

	if (!pid) {
		drain(s);
		_exit(0);
	}
	ticks = stream(s);
	waitpid(pid, &status, 0);
	printf("rate %.0f\n", (double)s->messages * (double)s->size * hz / (double)ticks);
	return status ? 1 : 0;
}

static int measure(struct side *s, const int fd[2], char **cpus, double hz)
{
	int64_t *trip = calloc((size_t)s->messages, sizeof(*trip));
	struct io_uring ring;
	const pid_t pid = part(s, fd, cpus, &ring);
	int status = 0;

	if (!pid) {
		pong(s);
		pause(); /* the last message may not have been sent yet */
	}
	memset(trip, 0, (size_t)s->messages * sizeof(*trip));
	ping(s, trip);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		say(trip, s->messages, hz);
	free(trip);
	return WIFSIGNALED(status) ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct side s = {0};
	struct clock_report clock;
	bool is_stream = false;
	char **cpus = argc > 5 ? argv + 4 : NULL;
	int fd[2];

	if (argc > 3) {
		s.size = (size_t)atol(argv[2]);
		s.messages = atol(argv[3]);
		s.warmup = s.messages / 10;
	}
	if (argc <= 3 || !read_mode(argv[1], &s.mode, &is_stream) || (s.mode == STREAM && !is_stream) ||
	    s.size < sizeof(uint32_t) || s.size > (s.mode == STREAM ? 1 << 20 : 60000) || s.messages < 100) {
		fprintf(stderr,
			"usage: %s "
			"[stream-|uring-[registered-|waiting-|multishot-|event-|napi-|sqpoll-|zerocopy-]]tcp|udp SIZE "
			"MESSAGES [CPU CPU]\n",
			argv[0]);
		return 2;
	}
	clock_calibrate(100, &clock);
	make_pair(is_stream, s.mode != STREAM, fd);
	return s.mode == STREAM ? measure_stream(&s, fd, cpus, clock.hz) : measure(&s, fd, cpus, clock.hz);
}
