#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/opt.h"
#include "measure/transports/loaded_library.h"
#include "measure/transports/messaging.h"

static const struct opt nanomsg_options[] = {
    MESSAGING_OPTIONS,
    {"nodelay", OPT_BOOL, MESSAGING_FIELD(nodelay), "yes", 0, 0, NULL,
     "send immediately instead of waiting for more data (NN_TCP_NODELAY; the library's default is no)"},
    {"sndbuf", OPT_BYTES, MESSAGING_FIELD(sndbuf), "128KiB", 1, 1 << 30, NULL,
     "bytes that the library queues for sending (NN_SNDBUF)"},
    {"rcvbuf", OPT_BYTES, MESSAGING_FIELD(rcvbuf), "128KiB", 1, 1 << 30, NULL,
     "bytes that it queues for receiving (NN_RCVBUF)"},
    {.name = NULL},
};

#ifdef ABSENT

const struct transport_ops nanomsg_transport = {ABSENT_TRANSPORT, .name = "nanomsg", .options = nanomsg_options,
						.settings_size = sizeof(struct messaging_settings)};

#else

#include <nanomsg/nn.h>
#include <nanomsg/pair.h>
#include <nanomsg/pubsub.h>
#include <nanomsg/tcp.h>

#define PORT_TRIES 16

#define NN_FUNCTIONS(X)                                                                                                \
	X(nn, socket)                                                                                                  \
	X(nn, close)                                                                                                   \
	X(nn, setsockopt)                                                                                              \
	X(nn, getsockopt)                                                                                              \
	X(nn, bind)                                                                                                    \
	X(nn, connect)                                                                                                 \
	X(nn, send)                                                                                                    \
	X(nn, recv)                                                                                                    \
	X(nn, poll)                                                                                                    \
	X(nn, strerror)                                                                                                \
	X(nn, get_statistic)

static struct nn_functions {
	NN_FUNCTIONS(LOADED_FIELD)
} nn;

struct nanomsg {
	MESSAGING_TRANSPORT;
	int out, in; /* sockets, -1: none; the same one for a pair */
};

extern const struct transport_ops nanomsg_transport;

static const char *const function_names[] = {NN_FUNCTIONS(LOADED_NAME) NULL};

static struct nanomsg *nanomsg_of(struct messaging_transport *t)
{
	return (struct nanomsg *)t;
}

static int nanomsg_make_socket(struct nanomsg *t, int protocol)
{
	const struct messaging_settings *s = &t->messaging.settings;
	const int nodelay = s->nodelay, sndbuf = (int)s->sndbuf, rcvbuf = (int)s->rcvbuf;
	const int most = protocol == NN_PUB ? 0 : (int)t->messaging.largest; /* a publisher would abort */
	int socket = nn.socket(AF_SP, protocol);

	if (socket < 0)
		return -1;
	nn.setsockopt(socket, NN_TCP, NN_TCP_NODELAY, &nodelay, sizeof(nodelay));
	nn.setsockopt(socket, NN_SOL_SOCKET, NN_SNDBUF, &sndbuf, sizeof(sndbuf));
	nn.setsockopt(socket, NN_SOL_SOCKET, NN_RCVBUF, &rcvbuf, sizeof(rcvbuf));
	nn.setsockopt(socket, NN_SOL_SOCKET, NN_RCVMAXSIZE, &most, sizeof(most));
	if (protocol == NN_SUB)
		nn.setsockopt(socket, NN_SUB, NN_SUB_SUBSCRIBE, "", 0);
	return socket;
}

static int nanomsg_make(struct messaging_transport *transport, struct err *e)
{
	struct nanomsg *t = nanomsg_of(transport);
	const struct messaging *m = &t->messaging;

	t->out = t->in = -1;
	if (m->settings.pattern == MESSAGING_PAIR) {
		t->out = t->in = nanomsg_make_socket(t, NN_PAIR);
	} else {
		t->out = m->sends ? nanomsg_make_socket(t, NN_PUB) : -1;
		t->in = m->receives ? nanomsg_make_socket(t, NN_SUB) : -1;
	}
	if ((m->sends && t->out < 0) || (m->receives && t->in < 0))
		return err_sys(e, -errno, "nanomsg", "make a socket");
	return 0;
}

static void nanomsg_unmake(struct messaging_transport *transport)
{
	struct nanomsg *t = nanomsg_of(transport);

	if (t->in >= 0 && t->in != t->out)
		nn.close(t->in);
	if (t->out >= 0)
		nn.close(t->out);
}

/* The library cannot report which port it was given, so a free one is requested explicitly. */
static int find_port(const char *address)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;

	if (fd < 0)
		return -errno;
	if (inet_pton(AF_INET, address, &a.sin_addr) != 1)
		rc = -EINVAL;
	else if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || getsockname(fd, (struct sockaddr *)&a, &size))
		rc = -errno;
	close(fd);
	return rc ? rc : ntohs(a.sin_port);
}

static int listen_anywhere(struct nanomsg *t, char *real, size_t size)
{
	const struct messaging *m = &t->messaging;
	const char *address = m->role == ROLE_SINK ? m->settings.sink_address : m->settings.source_address;
	int rc = -EADDRINUSE;

	/* Another process may take it in between. */
	for (int i = 0; i < PORT_TRIES && rc == -EADDRINUSE; i++) {
		int port = find_port(address);

		if (port < 0)
			return port;
		snprintf(real, size, "tcp://%s:%d", address, port);
		rc = nn.bind(t->out, real) < 0 ? -errno : 0;
	}
	return rc;
}

static int nanomsg_listen(struct messaging_transport *transport, const char *endpoint, char *real, size_t size)
{
	struct nanomsg *t = nanomsg_of(transport);
	size_t length = strlen(endpoint);

	if (length > 2 && !strcmp(endpoint + length - 2, ":0"))
		return listen_anywhere(t, real, size);
	snprintf(real, size, "%s", endpoint);
	return nn.bind(t->out, endpoint) < 0 ? -errno : 0;
}

static int nanomsg_dial(struct messaging_transport *t, const char *endpoint)
{
	return nn.connect(nanomsg_of(t)->in, endpoint) < 0 ? -errno : 0;
}

static bool nanomsg_has_peer(struct messaging_transport *t)
{
	return nn.get_statistic(nanomsg_of(t)->out, NN_STAT_CURRENT_CONNECTIONS) > 0;
}

static int nanomsg_send(struct messaging_transport *t, const void *data, size_t size)
{
	return nn.send(nanomsg_of(t)->out, data, size, NN_DONTWAIT) < 0 ? -errno : 0;
}

static int nanomsg_receive(struct messaging_transport *t, void *data, size_t size)
{
	int n = nn.recv(nanomsg_of(t)->in, data, size, NN_DONTWAIT);

	return n < 0 ? -errno : n;
}

static int64_t broken_of(int socket)
{
	return socket < 0 ? 0 : (int64_t)nn.get_statistic(socket, NN_STAT_BROKEN_CONNECTIONS);
}

static int64_t nanomsg_count_ended(struct messaging_transport *transport)
{
	const struct nanomsg *t = nanomsg_of(transport);

	return broken_of(t->out) + (t->in == t->out ? 0 : broken_of(t->in));
}

static int nanomsg_wait(struct messaging_transport *t)
{
	struct nn_pollfd item = {.fd = nanomsg_of(t)->in, .events = NN_POLLIN};

	return nn.poll(&item, 1, -1) < 0 ? -errno : 0;
}

static const char *nanomsg_error(int number)
{
	return nn.strerror(number);
}

static const struct messaging_library library = {
    .make = nanomsg_make,
    .unmake = nanomsg_unmake,
    .listen = nanomsg_listen,
    .dial = nanomsg_dial,
    .has_peer = nanomsg_has_peer,
    .send = nanomsg_send,
    .receive = nanomsg_receive,
    .wait = nanomsg_wait,
    .error = nanomsg_error,
    .count_ended = nanomsg_count_ended,
};

static int nanomsg_open(const struct transport_config *config, const void *settings, struct transport **out,
			json_t **address, struct err *e)
{
	const int rc = loaded_library_open("nanomsg", function_names, &nn, e);

	return rc ? rc
		  : messaging_open(&nanomsg_transport, &library, sizeof(struct nanomsg), config, settings, out, address,
				   e);
}

static json_t *nanomsg_granted(const struct transport *transport)
{
	const struct nanomsg *t = (const struct nanomsg *)transport;
	const int socket = t->out >= 0 ? t->out : t->in;
	static const struct {
		const char *key;
		int level, option;
	} rows[] = {{"sndbuf_bytes", NN_SOL_SOCKET, NN_SNDBUF},
		    {"rcvbuf_bytes", NN_SOL_SOCKET, NN_RCVBUF},
		    {"nodelay", NN_TCP, NN_TCP_NODELAY}};
	json_t *granted = messaging_granted(transport);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int value = 0;
		size_t size = sizeof(value);

		nn.getsockopt(socket, rows[i].level, rows[i].option, &value, &size);
		json_object_set_new(granted, rows[i].key, json_integer(value));
	}
	return granted;
}

const struct transport_ops nanomsg_transport = {
    MESSAGING_OPS,
    .name = "nanomsg",
    .summary = "nanomsg (libnanomsg): publish and subscribe, or a pair; over TCP or a Unix socket",
    .options = nanomsg_options,
    .typical = {.post_ns = 2500, .latency_ns = 30000, .sleeping_ns = 60000},
    .open = nanomsg_open,
    .granted = nanomsg_granted,
};

#endif
