#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/opt.h"
#include "measure/transports/loaded_library.h"
#include "measure/transports/messaging.h"

static const struct opt zeromq_options[] = {
    MESSAGING_OPTIONS,
    {"hwm", OPT_INT, MESSAGING_FIELD(hwm), "1000", 0, INT32_MAX, NULL,
     "messages that the library queues on each side (ZMQ_SNDHWM, ZMQ_RCVHWM); 0: unlimited"},
    {.name = NULL},
};

#ifdef ABSENT

const struct transport_ops zeromq_transport = {ABSENT_TRANSPORT, .name = "zeromq", .options = zeromq_options,
					       .settings_size = sizeof(struct messaging_settings)};

#else

#include <zmq.h>

#define ZMQ_FUNCTIONS(X)                                                                                               \
	X(zmq, ctx_new)                                                                                                \
	X(zmq, ctx_term)                                                                                               \
	X(zmq, socket)                                                                                                 \
	X(zmq, close)                                                                                                  \
	X(zmq, setsockopt)                                                                                             \
	X(zmq, getsockopt)                                                                                             \
	X(zmq, bind)                                                                                                   \
	X(zmq, unbind)                                                                                                 \
	X(zmq, connect)                                                                                                \
	X(zmq, send)                                                                                                   \
	X(zmq, recv)                                                                                                   \
	X(zmq, poll)                                                                                                   \
	X(zmq, socket_monitor)                                                                                         \
	X(zmq, strerror)                                                                                               \
	X(zmq, version)

static struct zmq_functions {
	ZMQ_FUNCTIONS(LOADED_FIELD)
} zmq;

struct zeromq {
	MESSAGING_TRANSPORT;
	void *context;
	void *out, *in;	  /* sockets; the same one for a pair */
	void *zap;	  /* where it asks who may connect; NULL: nowhere */
	void *monitor[2]; /* where the library reports connections that end; NULL: nowhere */
	int64_t ended;	  /* such reports so far */
};

extern const struct transport_ops zeromq_transport;

static const char *const function_names[] = {ZMQ_FUNCTIONS(LOADED_NAME) NULL};

/*
 * --- who may connect ---
 *
 * Only its peer may connect to a socket on which a side listens. libzmq asks for each connection,
 * before any message is taken from it or sent to it (PLAIN by ZAP, ZeroMQ's RFC 24 and 27). The peer
 * gives the token of the side that listens as password. Once both sides have met, nobody is admitted
 * any more.
 */

#define ENDPOINT       "inproc://zeromq.zap.01" /* where libzmq asks */
#define USER	       "kblat"
#define VERSION	       "1.0"

/* The parts of a question. */
enum {
	ZAP_VERSION,
	ZAP_REQUEST,
	ZAP_DOMAIN,
	ZAP_ADDRESS,
	ZAP_IDENTITY,
	ZAP_MECHANISM,
	ZAP_USER,
	ZAP_PASSWORD,
	ZAP_PARTS
};

struct part {
	char bytes[64];
	size_t size; /* SIZE_MAX: it is longer */
};

/* Have libzmq ask about connections to the socket `out`, which does not listen yet. 0 or a negative errno. */
static int zap_open(struct zeromq *t)
{
	const int now = 0, yes = 1;

	t->zap = zmq.socket(t->context, ZMQ_REP);
	if (!t->zap || zmq.setsockopt(t->zap, ZMQ_LINGER, &now, sizeof(now)) || zmq.bind(t->zap, ENDPOINT) ||
	    zmq.setsockopt(t->out, ZMQ_PLAIN_SERVER, &yes, sizeof(yes)))
		return -errno;
	return 0;
}

/* From now on, whoever connects is refused. Also if it is not open. */
static void zap_close(struct zeromq *t)
{
	if (!t->zap)
		return;
	zmq.unbind(t->zap, ENDPOINT); /* at once; closing takes its time */
	zmq.close(t->zap);
	t->zap = NULL;
}

/* The password with which the socket `in`, which has not dialled yet, will connect. 0 or a negative errno. */
static int zap_present(struct zeromq *t, const struct token *token)
{
	char password[TOKEN_TEXT];

	token_text(token, password);
	if (zmq.setsockopt(t->in, ZMQ_PLAIN_USERNAME, USER, strlen(USER)) ||
	    zmq.setsockopt(t->in, ZMQ_PLAIN_PASSWORD, password, strlen(password)))
		return -errno;
	return 0;
}

/* --- verdicts --- */

/* All parts of a message are there, or none. Returns their number, 0 if there is no message. */
static size_t take_question(void *socket, struct part parts[ZAP_PARTS])
{
	size_t count = 0;
	int more = 1;

	while (more) {
		struct part spare, *p = count < ZAP_PARTS ? &parts[count] : &spare;
		size_t size = sizeof(more);
		int n = zmq.recv(socket, p->bytes, sizeof(p->bytes), ZMQ_DONTWAIT);

		if (n < 0 || zmq.getsockopt(socket, ZMQ_RCVMORE, &more, &size))
			return 0;
		p->size = (size_t)n <= sizeof(p->bytes) ? (size_t)n : SIZE_MAX;
		count++;
	}
	return count;
}

static bool part_is(const struct part *p, const char *text)
{
	return p->size == strlen(text) && !memcmp(p->bytes, text, p->size);
}

static bool is_peer(const struct zeromq *t, const struct part parts[ZAP_PARTS])
{
	const struct part *password = &parts[ZAP_PASSWORD];
	char text[TOKEN_TEXT] = "";
	struct token said;

	if (!part_is(&parts[ZAP_VERSION], VERSION) || !part_is(&parts[ZAP_MECHANISM], "PLAIN") ||
	    password->size != sizeof(text) - 1)
		return false;
	memcpy(text, password->bytes, password->size);
	return token_read(text, &said) && token_is(&t->messaging.token, said.bytes);
}

static void send_verdict(void *socket, const struct part *request, bool admitted)
{
	const char *const texts[] = {admitted ? "200" : "400", admitted ? "" : "not the peer", "" /* user */};

	zmq.send(socket, VERSION, strlen(VERSION), ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq.send(socket, request->bytes, request->size, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		zmq.send(socket, texts[i], strlen(texts[i]), ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq.send(socket, "", 0, ZMQ_DONTWAIT); /* no properties of the connection */
}

/* Answer what libzmq has asked so far. */
static void zap_answer(struct zeromq *t)
{
	struct part parts[ZAP_PARTS];
	size_t count;

	while (t->zap && (count = take_question(t->zap, parts)) > 0) {
		const bool whole = count == ZAP_PARTS && parts[ZAP_REQUEST].size <= sizeof(parts[0].bytes);

		if (!whole)
			parts[ZAP_REQUEST] = (struct part){.size = 0};
		send_verdict(t->zap, &parts[ZAP_REQUEST], whole && is_peer(t, parts));
	}
}

/* --- the library --- */

static struct zeromq *zeromq_of(struct messaging_transport *t)
{
	return (struct zeromq *)t;
}

/* When two sides connect, they send messages of the protocol itself, which have less than 100 bytes. */
#define PROTOCOL_BYTES 1024

static int64_t largest(const struct zeromq *t)
{
	return t->messaging.largest > PROTOCOL_BYTES ? t->messaging.largest : PROTOCOL_BYTES;
}

static void *zeromq_make_socket(struct zeromq *t, int type)
{
	const int hwm = (int)t->messaging.settings.hwm, now = 0;
	const int64_t most = largest(t);
	void *socket = zmq.socket(t->context, type);

	if (!socket)
		return NULL;
	zmq.setsockopt(socket, ZMQ_LINGER, &now, sizeof(now));
	zmq.setsockopt(socket, ZMQ_SNDHWM, &hwm, sizeof(hwm));
	zmq.setsockopt(socket, ZMQ_RCVHWM, &hwm, sizeof(hwm));
	zmq.setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof(most));
	if (type == ZMQ_SUB)
		zmq.setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
	return socket;
}

/* --- connections that end --- */

/* A socket that receives an event for each connection that ends. Its queue is unlimited, as the
 * library's thread would wait for room in it. */
static void *open_monitor(struct zeromq *t, void *socket, const char *name)
{
	const int unlimited = 0;
	void *monitor;

	if (zmq.socket_monitor(socket, name, ZMQ_EVENT_DISCONNECTED))
		return NULL;
	monitor = zmq.socket(t->context, ZMQ_PAIR);
	if (monitor && !zmq.setsockopt(monitor, ZMQ_RCVHWM, &unlimited, sizeof(unlimited)) &&
	    !zmq.connect(monitor, name))
		return monitor;
	zmq.socket_monitor(socket, NULL, 0);
	if (monitor)
		zmq.close(monitor);
	return NULL;
}

static void close_monitor(void *socket, void *monitor)
{
	if (!monitor)
		return;
	zmq.socket_monitor(socket, NULL, 0);
	zmq.close(monitor);
}

/* An event is two messages: its number (16 bits) with a value, and the endpoint. */
static int64_t read_monitor(void *monitor)
{
	char endpoint[sizeof(((struct messaging *)NULL)->endpoint)];
	struct {
		uint16_t number, value[2];
	} event;
	int64_t ended = 0;

	while (monitor && zmq.recv(monitor, &event, sizeof(event), ZMQ_DONTWAIT) == sizeof(event) &&
	       zmq.recv(monitor, endpoint, sizeof(endpoint), 0) >= 0)
		ended += event.number == ZMQ_EVENT_DISCONNECTED;
	return ended;
}

static int64_t zeromq_count_ended(struct messaging_transport *transport)
{
	struct zeromq *t = zeromq_of(transport);

	t->ended += read_monitor(t->monitor[0]) + read_monitor(t->monitor[1]);
	return t->ended;
}

/* --- sockets --- */

/* XPUB is like PUB, but reports its subscribers. */
static int zeromq_make(struct messaging_transport *transport, struct err *e)
{
	struct zeromq *t = zeromq_of(transport);
	const struct messaging *m = &t->messaging;

	t->context = zmq.ctx_new();
	if (t->context && m->settings.pattern == MESSAGING_PAIR) {
		t->out = t->in = zeromq_make_socket(t, ZMQ_PAIR);
	} else if (t->context) {
		t->out = m->sends ? zeromq_make_socket(t, ZMQ_XPUB) : NULL;
		t->in = m->receives ? zeromq_make_socket(t, ZMQ_SUB) : NULL;
	}
	if ((m->sends && !t->out) || (m->receives && !t->in))
		return err_sys(e, -errno, "zeromq", "make a socket");
	if (t->out)
		t->monitor[0] = open_monitor(t, t->out, "inproc://out");
	if (t->in && t->in != t->out)
		t->monitor[1] = open_monitor(t, t->in, "inproc://in");
	return 0;
}

static void zeromq_unmake(struct messaging_transport *transport)
{
	struct zeromq *t = zeromq_of(transport);

	close_monitor(t->out, t->monitor[0]);
	close_monitor(t->in, t->monitor[1]);
	if (t->in && t->in != t->out)
		zmq.close(t->in);
	if (t->out)
		zmq.close(t->out);
	zap_close(t);
	if (t->context)
		zmq.ctx_term(t->context);
}

static int zeromq_listen(struct messaging_transport *transport, const char *endpoint, char *real, size_t size)
{
	struct zeromq *t = zeromq_of(transport);
	char any[160];
	size_t length = strlen(endpoint);
	int rc = zap_open(t);

	if (rc)
		return rc;
	snprintf(any, sizeof(any), "%s", endpoint);
	if (length > 2 && !strcmp(endpoint + length - 2, ":0"))
		any[length - 1] = '*';
	if (zmq.bind(t->out, any) || zmq.getsockopt(t->out, ZMQ_LAST_ENDPOINT, real, &size))
		return -errno;
	return 0;
}

static int zeromq_dial(struct messaging_transport *t, const char *endpoint)
{
	int rc = zap_present(zeromq_of(t), &t->messaging.peer_token);

	return rc ? rc : zmq.connect(zeromq_of(t)->in, endpoint) ? -errno : 0;
}

static void zeromq_admit(struct messaging_transport *t)
{
	zap_answer(zeromq_of(t));
}

static void zeromq_admit_no_more(struct messaging_transport *t)
{
	zap_close(zeromq_of(t));
}

/* The socket of a pair does not send before there is a peer; a publisher is informed of subscriptions. */
static bool zeromq_has_peer(struct messaging_transport *t)
{
	unsigned char subscription[8];

	if (t->messaging.settings.pattern == MESSAGING_PAIR)
		return true;
	return zmq.recv(zeromq_of(t)->out, subscription, sizeof(subscription), ZMQ_DONTWAIT) > 0 &&
	       subscription[0] == 1;
}

static int zeromq_send(struct messaging_transport *t, const void *data, size_t size)
{
	return zmq.send(zeromq_of(t)->out, data, size, ZMQ_DONTWAIT) < 0 ? -errno : 0;
}

static int zeromq_receive(struct messaging_transport *t, void *data, size_t size)
{
	int n = zmq.recv(zeromq_of(t)->in, data, size, ZMQ_DONTWAIT);

	return n < 0 ? -errno : n;
}

static int zeromq_wait(struct messaging_transport *t)
{
	zmq_pollitem_t item = {.socket = zeromq_of(t)->in, .events = ZMQ_POLLIN};

	return zmq.poll(&item, 1, -1) < 0 ? -errno : 0;
}

static const char *zeromq_error(int number)
{
	return zmq.strerror(number);
}

static const struct messaging_library library = {
    .make = zeromq_make,
    .unmake = zeromq_unmake,
    .listen = zeromq_listen,
    .dial = zeromq_dial,
    .admit = zeromq_admit,
    .admit_no_more = zeromq_admit_no_more,
    .has_peer = zeromq_has_peer,
    .send = zeromq_send,
    .receive = zeromq_receive,
    .wait = zeromq_wait,
    .error = zeromq_error,
    .count_ended = zeromq_count_ended,
};

static int zeromq_open(const struct transport_config *config, const void *settings, struct transport **out,
		       json_t **address, struct err *e)
{
	const int rc = loaded_library_open("zeromq", function_names, &zmq, e);

	return rc ? rc
		  : messaging_open(&zeromq_transport, &library, sizeof(struct zeromq), config, settings, out, address,
				   e);
}

static json_t *zeromq_granted(const struct transport *transport)
{
	const struct zeromq *t = (const struct zeromq *)transport;
	json_t *granted = messaging_granted(transport);
	int major, minor, patch, hwm = 0;
	size_t size = sizeof(hwm);
	char version[48];

	zmq.version(&major, &minor, &patch);
	snprintf(version, sizeof(version), "%d.%d.%d", major, minor, patch);
	zmq.getsockopt(t->out ? t->out : t->in, t->out ? ZMQ_SNDHWM : ZMQ_RCVHWM, &hwm, &size);
	json_object_set_new(granted, "library", json_string(version));
	json_object_set_new(granted, "hwm", json_integer(hwm));
	return granted;
}

const struct transport_ops zeromq_transport = {
    MESSAGING_OPS,
    .name = "zeromq",
    .summary = "ZeroMQ (libzmq): publish and subscribe, or a pair; over TCP or a Unix socket",
    .options = zeromq_options,
    .typical = {.post_ns = 1500, .latency_ns = 30000, .sleeping_ns = 60000},
    .open = zeromq_open,
    .granted = zeromq_granted,
};

#endif
