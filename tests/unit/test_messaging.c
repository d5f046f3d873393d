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
#include "point/flow.h"
#include "tap.h"
#include "transports/nanomsg_hot.h"
#include "transports/payload.h"
#include "transports/zeromq_hot.h"

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
	struct transport *t = p->side[ROLE_SOURCE];

	return p->ops == &zeromq_transport ? zeromq_post((struct zeromq *)t, seq, true)
					   : nanomsg_post((struct nanomsg *)t, seq, true);
}

/* Poll for some milliseconds. */
static int receive(struct pair *p, uint32_t *seq, int ms)
{
	struct transport *t = p->side[ROLE_SINK];
	int rc = 0;

	for (int i = 0; i < ms && !rc; i++) {
		rc = p->ops == &zeromq_transport ? zeromq_poll_recv((struct zeromq *)t, seq)
						 : nanomsg_poll_recv((struct nanomsg *)t, seq);
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

/* ZMTP 3.0 (rfc.zeromq.org/spec/23): a greeting of 64 bytes, the command READY, the head of a long message. */
static void say_zmtp(struct bytes *b, const char *type, uint64_t size)
{
	char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL";
	const char length = (char)strlen(type);

	add(b, greeting, sizeof(greeting));
	add(b, "\4", 1);
	add(b, &(char){(char)(6 + 12 + 4 + length)}, 1);
	add(b, "\5READY\13Socket-Type\0\0\0", 6 + 12 + 3);
	add(b, &length, 1);
	add(b, type, (size_t)length);
	add(b, "\2", 1);
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

static const struct {
	const struct transport_ops *ops;
	const char *pattern;
	enum role listens;
	const char *zmtp; /* the stranger's type */
	char sp;
	uint64_t size; /* of what it announces */
} strangers[] = {
    {&zeromq_transport, "pair", ROLE_SINK, "PAIR", 0, 1 << 30},
    {&zeromq_transport, "pair", ROLE_SINK, "PAIR", 0, 1ULL << 62},
    {&zeromq_transport, "pubsub", ROLE_SOURCE, "SUB", 0, 1 << 30},
    {&nanomsg_transport, "pair", ROLE_SINK, NULL, 16, 1 << 30},
    {&nanomsg_transport, "pair", ROLE_SINK, NULL, 16, SIZE + 1},
    {&nanomsg_transport, "pubsub", ROLE_SOURCE, NULL, 33, 1},
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
	if (strangers[i].zmtp)
		say_zmtp(&b, strangers[i].zmtp, strangers[i].size);
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
	test_small(&zeromq_transport);
	test_small(&nanomsg_transport);
	return done_testing();
}
