/*
 * Measures round trips over a message library in a minimal loop: two processes, a pair of sockets over
 * TCP on loopback, a stamp before and one after. The transports zeromq and nanomsg are compared with
 * it.
 *
 *   build/bench/bench_messaging zeromq|nanomsg busy|event SIZE MESSAGES [CPU CPU]
 *
 * Prints "p50 NS p99 NS mean NS" of half round trips. First, a tenth of the messages is sent without
 * being measured.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <nanomsg/nn.h>
#include <nanomsg/pair.h>
#include <nanomsg/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "tests/bench/bench.h"

static void *zeromq;
static int nanomsg;

static int zeromq_open(const char *endpoint, bool listens)
{
	zeromq = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
	return listens ? zmq_bind(zeromq, endpoint) : zmq_connect(zeromq, endpoint);
}

static int zeromq_send(const void *data, size_t size)
{
	return zmq_send(zeromq, data, size, 0);
}

static int zeromq_recv(void *data, size_t size, bool busy)
{
	return zmq_recv(zeromq, data, size, busy ? ZMQ_DONTWAIT : 0);
}

static int nanomsg_open(const char *endpoint, bool listens)
{
	int on = 1;

	nanomsg = nn_socket(AF_SP, NN_PAIR);
	nn_setsockopt(nanomsg, NN_TCP, NN_TCP_NODELAY, &on, sizeof(on));
	return (listens ? nn_bind(nanomsg, endpoint) : nn_connect(nanomsg, endpoint)) <
	       0; /* otherwise, the number of the endpoint */
}

static int nanomsg_send(const void *data, size_t size)
{
	return nn_send(nanomsg, data, size, 0);
}

static int nanomsg_recv(void *data, size_t size, bool busy)
{
	return nn_recv(nanomsg, data, size, busy ? NN_DONTWAIT : 0);
}

static const struct library {
	const char *name;
	int (*open)(const char *endpoint, bool listens);
	int (*send)(const void *data, size_t size);
	int (*recv)(void *data, size_t size, bool busy);
} libraries[] = {{"zeromq", zeromq_open, zeromq_send, zeromq_recv},
		 {"nanomsg", nanomsg_open, nanomsg_send, nanomsg_recv}};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void receive(const struct library *l, void *data, size_t size, bool busy)
{
	while (l->recv(data, size, busy) != (int)size)
		if (errno != EAGAIN && errno != EINTR) {
			perror("receive");
			exit(1);
		}
}

static void ping(const struct library *l, char *data, size_t size, bool busy, long messages)
{
	const long warmup = messages / 10;
	int64_t *half = malloc((size_t)messages * sizeof(*half)), sum = 0;

	memset(half, 0, (size_t)messages * sizeof(*half));
	for (long i = -warmup; i < messages; i++) {
		int64_t start = now_ns();

		l->send(data, size);
		receive(l, data, size, busy);
		if (i >= 0)
			half[i] = (now_ns() - start) / 2;
	}
	for (long i = 0; i < messages; i++)
		sum += half[i];
	qsort(half, (size_t)messages, sizeof(*half), by_value);
	printf("p50 %lld p99 %lld mean %lld\n", (long long)half[(messages + 1) / 2 - 1],
	       (long long)half[(messages * 99 + 99) / 100 - 1], (long long)(sum / messages));
	free(half);
}

static void pong(const struct library *l, char *data, size_t size, bool busy, long messages)
{
	for (long i = -(messages / 10); i < messages; i++) {
		receive(l, data, size, busy);
		l->send(data, size);
	}
	receive(l, data, size, false); /* the last answer is on its way; the other side reports its arrival */
}

/* A port that is free now. */
static int find_port(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || getsockname(fd, (struct sockaddr *)&a, &length)) {
		perror("port");
		exit(1);
	}
	close(fd);
	return ntohs(a.sin_port);
}

int main(int argc, char **argv)
{
	const struct library *l = argc > 4 && !strcmp(argv[1], "nanomsg") ? &libraries[1] : &libraries[0];
	const bool busy = argc > 4 && !strcmp(argv[2], "busy");
	const long size = argc > 4 ? atol(argv[3]) : 0, messages = argc > 4 ? atol(argv[4]) : 0;
	char endpoint[64], *data;
	int status = 0;

	if (size < 1 || messages < 100) {
		fprintf(stderr, "usage: %s zeromq|nanomsg busy|event SIZE MESSAGES [CPU CPU]\n", argv[0]);
		return 2;
	}
	data = calloc(1, (size_t)size);
	snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", find_port());

	pid_t pid = fork();

	/* The library's threads are created before this thread is pinned, so that they can run anywhere. */
	if (l->open(endpoint, !pid)) {
		perror(endpoint);
		return 1;
	}
	if (argc > 6)
		bench_pin(atoi(argv[pid ? 5 : 6]));
	if (!pid) {
		pong(l, data, (size_t)size, busy, messages);
		_exit(0);
	}
	ping(l, data, (size_t)size, busy, messages);
	l->send(data, (size_t)size);
	waitpid(pid, &status, 0);
	free(data);
	return status ? 1 : 0;
}
