#include <arpa/inet.h>
#include <nanomsg/pair.h>
#include <nanomsg/pubsub.h>
#include <nanomsg/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/transports/nanomsg_hot.h"
#include "measure/transports/nanomsg_settings.h"

#define PORT_TRIES 16

struct nn_functions nn;

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

static const struct messaging_library library = {
    .make = nanomsg_make,
    .unmake = nanomsg_unmake,
    .listen = nanomsg_listen,
    .dial = nanomsg_dial,
    .has_peer = nanomsg_has_peer,
    .send = nanomsg_send,
    .receive = nanomsg_receive,
    .count_ended = nanomsg_count_ended,
};

int nanomsg_post_later(struct nanomsg *t)
{
	return errno == EAGAIN || errno == EINTR ? 0 : frames_note(&t->frames, -errno, "send", nn.strerror(errno));
}

int nanomsg_post_again(struct nanomsg *t)
{
	struct frames *f = &t->frames;
	uint32_t rounds = 0;

	do {
		int rc = nanomsg_post_later(t);

		if (!rc)
			rc = frames_wait_to_send(f, -1, 0, &rounds);
		if (rc)
			return rc;
	} while (nn.send(t->out, f->out, f->size, NN_DONTWAIT) < 0);
	return 0;
}

int nanomsg_recv_other(struct nanomsg *t, int n)
{
	if (n < 0 && errno == EINTR)
		return 0;
	return frames_note(&t->frames, n < 0 ? -errno : -EMSGSIZE, "receive",
			   n < 0 ? NULL : "it does not belong to this run");
}

static int nanomsg_open(const struct transport_config *config, const void *settings, struct transport **out,
			json_t **address, struct err *e)
{
	const int rc = loaded_library_open("nanomsg", function_names, &nn, e);

	return rc ? rc
		  : messaging_open(&nanomsg_transport, &library, sizeof(struct nanomsg), config, settings, out, address,
				   e);
}

static int nanomsg_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	return messaging_connect(&library, transport, peer, e);
}

static void nanomsg_close(struct transport *transport)
{
	messaging_close(&library, transport);
}

static json_t *nanomsg_counters(struct transport *transport)
{
	return messaging_counters(&library, transport);
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
    .name = "nanomsg",
    .summary = "nanomsg (libnanomsg): publish and subscribe, or a pair; over TCP or a Unix socket",
    .options = nanomsg_options,
    .settings_size = nanomsg_settings_bytes,
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 2500, .latency_ns = 30000, .sleeping_ns = 60000},
    .completes_in_post = true,
    .check = messaging_check,
    .traits = messaging_traits,
    .open = nanomsg_open,
    .connect = nanomsg_connect,
    .prepare = messaging_prepare,
    .granted = nanomsg_granted,
    .device_counters = nanomsg_counters,
    .failure = messaging_failure,
    .close = nanomsg_close,
};
