/*
 * zeromq and nanomsg: what a stranger can do who connects to the side that listens. The protocols are spoken here byte by
 * byte, because the libraries would not send what a stranger may.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "fixture_pair.h"
#include "fixture_params.h"
#include "measure/point/flow.h"
#include "measure/transports/payload.h"
#include "tap.h"

#define SIZE 64

/* --- both sides in this process --- */

static bool open_pair(struct pair *p, const struct transport_ops *ops, const char *pattern, int64_t size)
{
	json_t *params = fixture_params("oneway", ops);
	struct err why = ERR_INIT;
	struct flow flow;
	bool possible = true;

	memset(p, 0, sizeof(*p));
	p->ops = ops;
	json_object_set_new(params, "pattern", json_string(pattern));
	json_object_set_new(params, "size_bytes", json_integer(size));
	is_int(flow_load(&flow, "", params, &why), 0, "settings %s", why.text);
	for (int role = 0; role < 2; role++) {
		struct transport_config config = flow.config;

		config.role = (enum role)role;
		config.stop = &p->stop;
		config.name = "0123456789abcdef";
		possible &=
		    !ops->open(&config, flow.transport_settings, &p->side[role], &p->address[role], &p->e[role]);
	}
	flow_free(&flow);
	json_decref(params);
	return possible;
}

static int post(struct pair *p, uint32_t seq)
{
	return CALL(post, p->side[ROLE_SOURCE], seq, true);
}

/* Poll for some milliseconds. */
static int receive(struct pair *p, uint32_t *seq, int ms)
{
	int rc = 0;

	for (int i = 0; i < ms && !rc; i++) {
		rc = CALL(poll_recv, p->side[ROLE_SINK], seq);
		if (!rc)
			usleep(1000);
	}
	return rc;
}

static json_int_t ended(struct pair *p, enum role role)
{
	json_t *counters = p->ops->device_counters(p->side[role]);
	json_int_t n = json_integer_value(json_object_get(counters, "ended_connections"));

	json_decref(counters);
	return n;
}

/* --- the stranger --- */

struct bytes {
	char data[256];
	size_t size;
};

static void add(struct bytes *b, const void *data, size_t size)
{
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static void add_size(struct bytes *b, uint64_t size)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		add(b, &(char){(char)(size >> shift)}, 1);
}

/* ZMTP 3.0 (rfc.zeromq.org/spec/23): a greeting of 64 bytes with a mechanism. */
static void say_greeting(struct bytes *b, const char *mechanism)
{
	char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3";

	memcpy(greeting + 12, mechanism, strlen(mechanism));
	add(b, greeting, sizeof(greeting));
}

/* A command of less than 256 bytes. */
static void say_command(struct bytes *b, const struct bytes *command)
{
	add(b, "\4", 1);
	add(b, &(char){(char)command->size}, 1);
	add(b, command->data, command->size);
}

/* The first command of the mechanism NULL, with the type of the socket. */
static void say_ready(struct bytes *b, const char *type)
{
	const char length = (char)strlen(type);
	struct bytes c = {.size = 0};

	add(&c, "\5READY\13Socket-Type\0\0\0", 6 + 12 + 3);
	add(&c, &length, 1);
	add(&c, type, (size_t)length);
	say_command(b, &c);
}

/* The first command of PLAIN (rfc.zeromq.org/spec/24). */
static void say_hello(struct bytes *b, const char *user, const char *password)
{
	struct bytes c = {.size = 0};

	add(&c, "\5HELLO", 6);
	add(&c, &(char){(char)strlen(user)}, 1);
	add(&c, user, strlen(user));
	add(&c, &(char){(char)strlen(password)}, 1);
	add(&c, password, strlen(password));
	say_command(b, &c);
}

/* The head of a long command. */
static void say_zmtp(struct bytes *b, uint64_t size)
{
	say_greeting(b, "PLAIN");
	add(b, "\6", 1);
	add_size(b, size);
}

/* The mapping of nanomsg's protocols to TCP: a header with the socket's type, then the size of a message. */
static void say_sp(struct bytes *b, char type, uint64_t size)
{
	add(b, "\0SP\0\0", 5);
	add(b, &type, 1);
	add(b, "\0\0", 2);
	add_size(b, size);
}

static int connect_to(const struct pair *p, enum role role)
{
	const char *endpoint = json_string_value(json_object_get(p->address[role], "endpoint"));
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons((uint16_t)atoi(strrchr(endpoint, ':') + 1));
	ok(fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)), "a stranger connects to %s", endpoint);
	return fd;
}

/* Has the other side ended the connection? It gets ten seconds, of which a few milliseconds are enough. */
static bool is_ended(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char said[256];
	ssize_t n = 1;

	while (n > 0 && poll(&p, 1, 10000) > 0)
		n = recv(fd, said, sizeof(said), 0);
	return n <= 0;
}

/* The end of the command ERROR, whose name libzmq 4.3.4 misspells. */
static const char refused[] = {3, '4', '0', '0'};

/* Does the other side answer with the command ERROR, or end the connection? */
static bool is_refused(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char said[256];
	size_t size = 0;
	ssize_t n = 1;

	while (n > 0 && size < sizeof(said) && !memmem(said, size, refused, sizeof(refused)) &&
	       poll(&p, 1, 10000) > 0) {
		n = recv(fd, said + size, sizeof(said) - size, 0);
		size += n > 0 ? (size_t)n : 0;
	}
	return n <= 0 || memmem(said, size, refused, sizeof(refused));
}

static const struct {
	const struct transport_ops *ops;
	const char *pattern;
	enum role listens;
	char sp;       /* nanomsg: the type of the stranger's socket */
	uint64_t size; /* of what it announces */
} strangers[] = {
    {&zeromq_transport, "pair", ROLE_SINK, 0, 1 << 30},	    {&zeromq_transport, "pair", ROLE_SINK, 0, 1ULL << 62},
    {&zeromq_transport, "pubsub", ROLE_SOURCE, 0, 1 << 30}, {&nanomsg_transport, "pair", ROLE_SINK, 16, 1 << 30},
    {&nanomsg_transport, "pair", ROLE_SINK, 16, SIZE + 1},  {&nanomsg_transport, "pubsub", ROLE_SOURCE, 33, 1},
};

static void test_stranger(size_t i)
{
	const char *name = strangers[i].ops->name;
	struct bytes b = {.size = 0};
	struct pair p;
	uint32_t seq = 0;
	int fd;

	if (!open_pair(&p, strangers[i].ops, strangers[i].pattern, SIZE)) {
		skip("%s", p.e[0].text);
		close_pair(&p);
		return;
	}
	fd = connect_to(&p, strangers[i].listens);
	if (strangers[i].ops == &zeromq_transport)
		say_zmtp(&b, strangers[i].size);
	else
		say_sp(&b, strangers[i].sp, strangers[i].size);
	ok(send(fd, b.data, b.size, MSG_NOSIGNAL) == (ssize_t)b.size, "and announces a message of %llu bytes",
	   (unsigned long long)strangers[i].size);
	ok(is_ended(fd), "%s, %s: its connection is ended before it has sent it", name, strangers[i].pattern);
	close(fd);
	is_int(receive(&p, &seq, 100), 0, "%s: it has sent nothing", name);
	connect_pair(&p);
	is_int(post(&p, 7), 0, "%s: the source posts", name);
	is_int(receive(&p, &seq, 10000), 1, "%s: the sink receives", name);
	is_int(seq, 7, "%s: the source's message", name);
	ok(ended(&p, strangers[i].listens) > 0, "%s: the end of the stranger's connection is counted", name);
	close_pair(&p);
}

/* Whoever comes first, without the password or with another one, is refused, and does not keep the sides from meeting. */
static const struct {
	const char *pattern, *type;
	enum role listens;
	const char *user, *password; /* NULL: the stranger uses the mechanism NULL */
} first_comers[] = {
    {"pair", "PAIR", ROLE_SINK, NULL, NULL},
    {"pair", "PAIR", ROLE_SINK, "", ""},
    {"pair", "PAIR", ROLE_SINK, "kblat", "00112233445566778899aabbccddeeff"},
    {"pair", "PAIR", ROLE_SINK, "kblat",
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"},
    {"pubsub", "SUB", ROLE_SOURCE, NULL, NULL},
    {"pubsub", "SUB", ROLE_SOURCE, "kblat", "00112233445566778899aabbccddeeff"},
};

static void test_first_comer(size_t i)
{
	const char *password = first_comers[i].password;
	struct bytes b = {.size = 0};
	struct pair p;
	uint32_t seq = 0;
	int fd;

	if (!open_pair(&p, &zeromq_transport, first_comers[i].pattern, SIZE)) {
		skip("%s", p.e[0].text);
		close_pair(&p);
		return;
	}
	fd = connect_to(&p, first_comers[i].listens);
	say_greeting(&b, password ? "PLAIN" : "NULL");
	if (password)
		say_hello(&b, first_comers[i].user, password);
	else
		say_ready(&b, first_comers[i].type);
	ok(send(fd, b.data, b.size, MSG_NOSIGNAL) == (ssize_t)b.size, "%s: it comes first, with password %s",
	   first_comers[i].pattern, password ? password : "(none)");
	usleep(100000);
	connect_pair(&p);
	ok(is_refused(fd), "it is refused");
	close(fd);
	is_int(post(&p, 7), 0, "the source posts");
	is_int(receive(&p, &seq, 10000), 1, "the sink receives");
	is_int(seq, 7, "the source's message");
	close_pair(&p);
}

/* After both sides have met, not even the password helps. */
static void test_late_comer(void)
{
	struct bytes b = {.size = 0};
	struct pair p;
	int fd;

	if (!open_pair(&p, &zeromq_transport, "pubsub", SIZE)) {
		skip("%s", p.e[0].text);
		close_pair(&p);
		return;
	}
	connect_pair(&p);
	fd = connect_to(&p, ROLE_SOURCE);
	say_greeting(&b, "PLAIN");
	say_hello(&b, "kblat", json_string_value(json_object_get(p.address[ROLE_SOURCE], "token")));
	ok(send(fd, b.data, b.size, MSG_NOSIGNAL) == (ssize_t)b.size, "it has the password, but comes late");
	ok(is_ended(fd), "its connection is ended");
	close(fd);
	ok(ended(&p, ROLE_SOURCE) > 0, "and counted");
	close_pair(&p);
}

/* A token has more bytes than the smallest message. */
static void test_small(const struct transport_ops *ops)
{
	struct pair p;

	if (!open_pair(&p, ops, "pair", 8))
		skip("%s", p.e[0].text);
	else
		connect_pair(&p);
	for (enum role role = ROLE_SOURCE; role <= ROLE_SINK && p.side[role]; role++)
		is_int(ended(&p, role), 0, "%s: nobody was here, no connection has ended", ops->name);
	close_pair(&p);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		test_stranger(i);
	for (size_t i = 0; i < sizeof(first_comers) / sizeof(first_comers[0]); i++)
		test_first_comer(i);
	test_late_comer();
	test_small(&zeromq_transport);
	test_small(&nanomsg_transport);
	return done_testing();
}
