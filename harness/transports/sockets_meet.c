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
#include "transports/sockets.h"

#define STRANGER_MS	 1000 /* for a connection on which nothing is received */
#define GREETING_MS	 20
#define LAST_GREETINGS	 3
#define GREETING_SIZE	 (TOKEN_BYTES + 1)
#define GREETING_MAX	 (GREETING_SIZE + 1)
#define GREETING_HEARD	 1
#define GREETING_PENDING 0

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
	return 0;
}

/* --- tcp --- */

static int say_token(int fd, const struct token *token)
{
	ssize_t n = send(fd, token->bytes, TOKEN_BYTES, MSG_NOSIGNAL);

	return n == TOKEN_BYTES ? 0 : n < 0 ? -errno : -EIO;
}

static int hear_token(int fd, const struct token *token, int64_t deadline_ms)
{
	unsigned char heard[TOKEN_BYTES];
	size_t got = 0;

	while (got < sizeof(heard)) {
		int rc = wait_until(fd, POLLIN, deadline_ms);
		ssize_t n = rc ? 0 : recv(fd, heard + got, sizeof(heard) - got, 0);

		if (rc)
			return rc;
		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	return token_is(token, heard) ? 0 : -EPERM;
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
		rc = say_token(s->fd, &s->peer_token);
	return rc ? rc : hear_token(s->fd, &s->token, deadline_ms);
}

/* Errors of accept() that stay if it is tried again; all others are those of a connection. */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static int accept_sink(struct socket_end *s, int64_t deadline_ms)
{
	for (;;) {
		int rc = wait_until(s->listen_fd, POLLIN, deadline_ms);
		int fd = rc ? -1 : accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		int64_t patience_ms = monotonic_ms() + STRANGER_MS;

		if (rc)
			return rc;
		if (fd < 0 && is_shortage(errno))
			return -errno;
		if (fd < 0) /* closed again */
			continue;
		rc = hear_token(fd, &s->token, patience_ms < deadline_ms ? patience_ms : deadline_ms);
		if (!rc)
			rc = say_token(fd, &s->peer_token);
		if (!rc) {
			s->fd = fd;
			close(s->listen_fd);
			s->listen_fd = -1;
			return 0;
		}
		close(fd);
	}
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

static void greet(const struct socket_end *s, size_t size, bool has_heard)
{
	unsigned char greeting[GREETING_MAX] = {0};

	memcpy(greeting, s->peer_token.bytes, TOKEN_BYTES);
	greeting[TOKEN_BYTES] = has_heard ? GREETING_HEARD : GREETING_PENDING;
	/* If it is lost, or refused because the other side does not exist yet, it is sent again. */
	if (send(s->fd, greeting, size, MSG_NOSIGNAL) < 0)
		return;
}

/* Process a datagram; false if it is not a greeting. */
static bool hear_greeting(const struct socket_end *s, size_t size, bool *is_heard)
{
	unsigned char greeting[GREETING_MAX + 1];
	ssize_t n = recv(s->fd, greeting, sizeof(greeting), 0);

	if (n != (ssize_t)size || !token_is(&s->token, greeting))
		return false;
	*is_heard = greeting[TOKEN_BYTES] == GREETING_HEARD;
	return true;
}

int sockets_meet_datagram(struct socket_end *s, const json_t *peer, size_t message_size, struct err *e)
{
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	const size_t size = greeting_size(message_size);
	bool has_heard = false, is_heard = false;
	int rc = read_peer(s, peer, e);

	if (!rc && connect(s->fd, (const struct sockaddr *)&s->peer.addr, s->peer.size))
		rc = complain(s, -errno, e);
	while (!rc && !(has_heard && is_heard)) {
		const int64_t next_ms = monotonic_ms() + GREETING_MS;

		if (monotonic_ms() > deadline_ms)
			return complain(s, -ETIMEDOUT, e);
		greet(s, size, has_heard);
		while (!(has_heard && is_heard) && wait_until(s->fd, POLLIN, next_ms) == 0)
			has_heard |= hear_greeting(s, size, &is_heard);
	}
	/* The other side may not know yet that it was received, and would not learn it later. */
	for (int i = 0; !rc && i < LAST_GREETINGS; i++)
		greet(s, size, true);
	return rc;
}
