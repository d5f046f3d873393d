/*
 * How two ends connect. Each has generated a token and sent it, with its address, to the other one
 * through the coordinator; whoever presents the token is the peer.
 *
 * TCP: the source connects and sends the sink's token; the sink answers with the source's. Other
 * connections are dropped.
 *
 * UDP: both sockets are connected to the other's address, so the kernel drops datagrams from other
 * senders. Both repeatedly send the other's token with a flag that tells whether they have received
 * one. A side that receives a greeting with the flag set knows that both sides have received one.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "measure/transports/sockets.h"

#define CALLERS		  64 /* connections that have not presented a token yet */
#define GREETING_MS	  20
#define LAST_GREETINGS	  3
#define GREETING_SIZE	  (TOKEN_BYTES + 1)
#define GREETING_MAX	  (GREETING_SIZE + 1)
#define GREETING_RECEIVED 1
#define GREETING_PENDING  0

static int wait_until(int fd, short events, int64_t deadline_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t left = deadline_ms - monotonic_ms();
	int n;

	/* Also if there is something: strangers must not be able to delay it forever. */
	if (left <= 0)
		return -ETIMEDOUT;
	n = poll(&p, 1, (int)left);

	if (n > 0 || (n < 0 && errno == EINTR))
		return 0;
	return n < 0 ? -errno : -ETIMEDOUT;
}

/* --- the other side's address --- */

static int read_peer(struct socket_end *s, const json_t *peer, struct err *e)
{
	const char *address = json_string_value(json_object_get(peer, "address"));
	const char *token = json_string_value(json_object_get(peer, "token"));
	json_int_t port = json_integer_value(json_object_get(peer, "port"));

	if (!address || port < 1 || port > 65535 || !sockets_parse(address, (uint16_t)port, &s->peer) ||
	    s->peer.addr.ss_family != s->own.addr.ss_family || !token_read(token, &s->peer_token))
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL,
			       "has no valid address, port and token");
	/* The name that its interface has there means nothing here. */
	sockets_take_scope(&s->peer, &s->own);
	return 0;
}

/* --- tcp --- */

static int send_token(int fd, const struct token *token)
{
	ssize_t n = send(fd, token->bytes, TOKEN_BYTES, MSG_NOSIGNAL);

	return n == TOKEN_BYTES ? 0 : n < 0 ? -errno : -EIO;
}

static int receive_token(int fd, const struct token *token, int64_t deadline_ms)
{
	unsigned char bytes[TOKEN_BYTES];
	size_t got = 0;

	while (got < sizeof(bytes)) {
		int rc = wait_until(fd, POLLIN, deadline_ms);
		ssize_t n = rc ? 0 : recv(fd, bytes + got, sizeof(bytes) - got, 0);

		if (rc)
			return rc;
		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	return token_is(token, bytes) ? 0 : -EPERM;
}

static int connect_source(struct socket_end *s, int64_t deadline_ms)
{
	int error = 0;
	socklen_t size = sizeof(error);
	int rc = connect(s->fd, (const struct sockaddr *)&s->peer.addr, s->peer.size) ? -errno : 0;

	if (rc == -EINPROGRESS) {
		rc = wait_until(s->fd, POLLOUT, deadline_ms);
		if (!rc)
			getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size);
		rc = rc ? rc : -error;
	}
	if (!rc)
		rc = send_token(s->fd, &s->peer_token);
	return rc ? rc : receive_token(s->fd, &s->token, deadline_ms);
}

/* Errors of accept() that stay if it is tried again; all others are those of a connection. */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* --- tcp: who calls --- */

/* Connections to the sink of which it is not known yet whose they are, the oldest first. They are
 * looked at together, as one on which nothing arrives must not delay the others. */
struct callers {
	size_t count;
	struct caller {
		int fd;
		size_t got;
		unsigned char bytes[TOKEN_BYTES];
	} caller[CALLERS];
};

static void drop_caller(struct callers *c, size_t i)
{
	close(c->caller[i].fd);
	c->count--;
	memmove(&c->caller[i], &c->caller[i + 1], (c->count - i) * sizeof(c->caller[0]));
}

/* 0: the token is complete, and the right one; -EAGAIN: it is not complete; or another negative errno. */
static int read_caller(struct caller *c, const struct token *token)
{
	ssize_t n = recv(c->fd, c->bytes + c->got, sizeof(c->bytes) - c->got, 0);

	if (n == 0)
		return -ECONNRESET;
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	c->got += (size_t)n;
	if (c->got < sizeof(c->bytes))
		return -EAGAIN;
	return token_is(token, c->bytes) ? 0 : -EPERM;
}

/* 0, or a negative errno if trying again would not help. */
static int take_call(struct callers *c, int listen_fd)
{
	int fd;

	if (c->count == CALLERS)
		drop_caller(c, 0);
	fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		c->caller[c->count++] = (struct caller){.fd = fd};
	else if (is_shortage(errno) && !c->count)
		return -errno;
	else if (is_shortage(errno))
		drop_caller(c, 0);
	return 0; /* also if it was closed again */
}

/* The descriptor of the peer's connection; -1: it has not called yet. */
static int find_peer(struct callers *c, const struct pollfd *fds, const struct socket_end *s)
{
	for (size_t i = c->count; i-- > 0;) {
		int rc = fds[i].revents ? read_caller(&c->caller[i], &s->token) : -EAGAIN;
		int fd = c->caller[i].fd;

		if (!rc && !send_token(fd, &s->peer_token)) {
			c->caller[i] = c->caller[--c->count];
			return fd;
		}
		if (rc != -EAGAIN)
			drop_caller(c, i);
	}
	return -1;
}

static int wait_for_calls(const struct callers *c, struct pollfd fds[CALLERS + 1], int listen_fd, int64_t deadline_ms)
{
	const int64_t left = deadline_ms - monotonic_ms();

	for (size_t i = 0; i < c->count; i++)
		fds[i] = (struct pollfd){.fd = c->caller[i].fd, .events = POLLIN};
	fds[c->count] = (struct pollfd){.fd = listen_fd, .events = POLLIN};
	/* Also if there is something: strangers must not be able to delay it forever. */
	if (left <= 0)
		return -ETIMEDOUT;
	return poll(fds, c->count + 1, (int)left) < 0 && errno != EINTR ? -errno : 0;
}

static int accept_sink(struct socket_end *s, int64_t deadline_ms)
{
	struct callers callers = {.count = 0};
	struct pollfd fds[CALLERS + 1];
	int rc = 0;

	while (!rc && s->fd < 0) {
		rc = wait_for_calls(&callers, fds, s->listen_fd, deadline_ms);
		if (rc)
			break;

		const bool calls = fds[callers.count].revents;

		s->fd = find_peer(&callers, fds, s);
		if (calls && s->fd < 0)
			rc = take_call(&callers, s->listen_fd);
	}
	while (callers.count)
		drop_caller(&callers, 0);
	if (!rc) {
		close(s->listen_fd);
		s->listen_fd = -1;
	}
	return rc;
}

static int complain(const struct socket_end *s, int rc, struct err *e)
{
	char operation[128];

	snprintf(operation, sizeof(operation), "connect to the other side at %s", s->peer.text);
	return rc ? err_sys(e, rc, s->object, operation) : 0;
}

int sockets_meet_stream(struct socket_end *s, const json_t *peer, struct err *e)
{
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	int rc = read_peer(s, peer, e);

	if (rc)
		return rc;
	return complain(s, s->role == ROLE_SINK ? accept_sink(s, deadline_ms) : connect_source(s, deadline_ms), e);
}

/* --- udp --- */

/* A size that no message has. */
static size_t greeting_size(size_t message_size)
{
	return message_size == GREETING_SIZE ? GREETING_MAX : GREETING_SIZE;
}

bool sockets_is_greeting(const struct socket_end *s, const void *data, size_t size, size_t message_size)
{
	/* If a greeting is larger than a message, only its beginning was received. */
	const size_t there = size < message_size ? size : message_size;

	return size == greeting_size(message_size) && (there < TOKEN_BYTES || token_is(&s->token, data));
}

static void greet(const struct socket_end *s, size_t size, bool has_received)
{
	unsigned char greeting[GREETING_MAX] = {0};

	memcpy(greeting, s->peer_token.bytes, TOKEN_BYTES);
	greeting[TOKEN_BYTES] = has_received ? GREETING_RECEIVED : GREETING_PENDING;
	/* If it is lost, or refused because the other side does not exist yet, it is sent again. */
	if (send(s->fd, greeting, size, MSG_NOSIGNAL) < 0)
		return;
}

/* Process a datagram; false if it is not a greeting. */
static bool receive_greeting(const struct socket_end *s, size_t size, bool *is_received)
{
	unsigned char greeting[GREETING_MAX + 1];
	ssize_t n = recv(s->fd, greeting, sizeof(greeting), 0);

	if (n != (ssize_t)size || !token_is(&s->token, greeting))
		return false;
	*is_received = greeting[TOKEN_BYTES] == GREETING_RECEIVED;
	return true;
}

int sockets_meet_datagram(struct socket_end *s, const json_t *peer, size_t message_size, struct err *e)
{
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	const size_t size = greeting_size(message_size);
	bool has_received = false, is_received = false;
	int rc = read_peer(s, peer, e);

	if (!rc && connect(s->fd, (const struct sockaddr *)&s->peer.addr, s->peer.size))
		rc = complain(s, -errno, e);
	while (!rc && !(has_received && is_received)) {
		const int64_t next_ms = monotonic_ms() + GREETING_MS;

		if (monotonic_ms() > deadline_ms)
			return complain(s, -ETIMEDOUT, e);
		greet(s, size, has_received);
		while (!(has_received && is_received) && wait_until(s->fd, POLLIN, next_ms) == 0)
			has_received |= receive_greeting(s, size, &is_received);
	}
	/* The other side may not know yet that it was received, and would not learn it later. */
	for (int i = 0; !rc && i < LAST_GREETINGS; i++)
		greet(s, size, true);
	return rc;
}
