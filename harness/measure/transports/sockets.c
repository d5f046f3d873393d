#include "measure/transports/sockets.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "measure/transports/interface.h"

#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
#define PATIENCE_MS 10000

/* How long to wait for posted messages to be sent before counting bytes. */
#define SENT_AFTER_MS 1000

/* --- addresses --- */

static bool is_wildcard(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ((const struct sockaddr_in *)addr)->sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

bool socket_has_group(const char *group)
{
	return strcmp(group, NO_GROUP) != 0;
}

bool socket_group_is(const char *group)
{
	struct in_addr a;

	return inet_pton(AF_INET, group, &a) == 1 && IN_MULTICAST(ntohl(a.s_addr));
}

static bool is_of_link(const struct socket_address *a)
{
	return a->addr.ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)&a->addr)->sin6_addr);
}

bool sockets_lack_scope(const struct socket_address *a)
{
	return is_of_link(a) && !((const struct sockaddr_in6 *)(const void *)&a->addr)->sin6_scope_id;
}

void sockets_take_scope(struct socket_address *to, const struct socket_address *from)
{
	if (is_of_link(to) && is_of_link(from))
		((struct sockaddr_in6 *)(void *)&to->addr)->sin6_scope_id =
		    ((const struct sockaddr_in6 *)(const void *)&from->addr)->sin6_scope_id;
}

/* "fe80::1%eth0" without the scope, which may be of another host. False: it is none, or the address is not of a link. */
static bool parse_scoped(const char *text, uint16_t port, struct socket_address *a)
{
	const char *scope = strchr(text, '%') + 1;
	char address[INET6_ADDRSTRLEN];
	size_t n = (size_t)(scope - text) - 1;

	if (n >= sizeof(address) || !*scope || strlen(scope) >= IF_NAMESIZE || strpbrk(scope, "%/ \t"))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)n, text);
	if (!sockets_parse(address, port, a) || !is_of_link(a))
		return false;
	((struct sockaddr_in6 *)(void *)&a->addr)->sin6_scope_id =
	    strspn(scope, "0123456789") == strlen(scope) ? (uint32_t)strtoul(scope, NULL, 10) : if_nametoindex(scope);
	sockets_name(a);
	return true;
}

bool sockets_parse(const char *text, uint16_t port, struct socket_address *a)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	struct in_addr v4;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	/* getaddrinfo() also takes "1.2.3" for 1.2.0.3. */
	if (!strchr(text, ':') && inet_pton(AF_INET, text, &v4) != 1)
		return false;
	if (strchr(text, '%'))
		return parse_scoped(text, port, a);
	if (getaddrinfo(text, service, &hints, &found))
		return false;
	memset(a, 0, sizeof(*a));
	memcpy(&a->addr, found->ai_addr, found->ai_addrlen);
	a->size = found->ai_addrlen;
	freeaddrinfo(found);
	sockets_name(a);
	return !is_wildcard(&a->addr);
}

static uint16_t port_of(const struct socket_address *a)
{
	/* At the same offset in both families. */
	return ntohs(((const struct sockaddr_in *)&a->addr)->sin_port);
}

static void host_of(const struct socket_address *a, char *host, size_t size)
{
	if (getnameinfo((const struct sockaddr *)&a->addr, a->size, host, (socklen_t)size, NULL, 0, NI_NUMERICHOST))
		snprintf(host, size, "?");
}

void sockets_name(struct socket_address *a)
{
	char host[64];

	host_of(a, host, sizeof(host));
	snprintf(a->text, sizeof(a->text), a->addr.ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, port_of(a));
}

/* --- past the kernel --- */

/*
 * Sockets under a library that takes them past the kernel (LD_PRELOAD of VMA, XLIO, Onload, …). Such libraries fall
 * back to the kernel in silence, so with `bypass: expected` the kernel's own counters of the interface are recorded,
 * which must not move with the messages (judge/analysis/validity.c). Control path.
 */

#define LOOPBACK_INDEX 1 /* in every network namespace */

/* The interface over which the kernel would carry messages to `peer`: loopback, if that is an address of this host. */
static struct interface bypass_carrier(const struct interface *own, const struct sockaddr *peer)
{
	struct interface carrier, at_peer;

	interface_find(peer, &at_peer);
	if (!at_peer.is_loopback && !*at_peer.name)
		return *own;
	carrier.is_loopback = true;
	if (!if_indextoname(LOOPBACK_INDEX, carrier.name))
		carrier.name[0] = '\0';
	return carrier;
}

/* The dynamic loader goes on without a library that it does not find. */
static void add_if_loaded(json_t *libraries, const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	char clean[256];

	if (!handle)
		return;
	dlclose(handle);
	json_array_append_new(libraries, json_string(text_clean(name, strlen(name), clean, sizeof(clean))));
}

static json_t *preloaded(void)
{
	json_t *libraries = json_array();
	const char *value = getenv("LD_PRELOAD");
	char *names = or_abort(strdup(value ? value : "")), *rest = NULL;

	for (char *name = strtok_r(names, ": ", &rest); name; name = strtok_r(NULL, ": ", &rest))
		add_if_loaded(libraries, name);
	free(names);
	return libraries;
}

/* {"carrier": "eth0", "message_bytes": 64, "libraries": ["libvma.so"]}: the libraries that are preloaded and there. */
static json_t *bypass_describe(const struct interface *carrier, size_t message_bytes)
{
	return json_pack("{s:s*, s:I, s:o}", "carrier", *carrier->name ? carrier->name : NULL, "message_bytes",
			 (json_int_t)message_bytes, "libraries", preloaded());
}

/* --- settings --- */

const char *const socket_bypass_names[] = {[BYPASS_NO] = "no", [BYPASS_EXPECTED] = "expected", NULL};

static int check_addresses(const struct socket_settings *s, char *why, size_t why_size)
{
	static const char *const keys[] = {"source_address", "sink_address"};
	const char *const texts[] = {s->source_address, s->sink_address};
	struct socket_address a[COUNT(keys)];
	char quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < COUNT(keys); i++)
		if (!sockets_parse(texts[i], 0, &a[i])) {
			snprintf(why, why_size,
				 "%s must be one numeric address such as 127.0.0.1 or ::1, not %s; see `ip address`",
				 keys[i], text_quote(texts[i], quoted, sizeof(quoted)));
			return -EINVAL;
		} else if (sockets_lack_scope(&a[i]) && !strchr(texts[i], '%')) {
			snprintf(why, why_size, "%s is an address of a link: name its interface, as in %.45s%%eth0",
				 keys[i], texts[i]);
			return -EINVAL;
		}
	if (a[0].addr.ss_family == a[1].addr.ss_family)
		return 0;
	snprintf(why, why_size, "source_address and sink_address are of different families, IPv4 and IPv6");
	return -EINVAL;
}

/* Times that the kernel takes in whole units. */
static int check_units(const struct socket_settings *s, char *why, size_t why_size)
{
	const struct {
		const char *key;
		int64_t ns, unit_ns;
		const char *unit;
	} rows[] = {{"busy_poll", s->busy_poll, 1000, "microseconds"},
		    {"wait_limit", s->wait_limit, 1000000, "milliseconds"}};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].ns % rows[i].unit_ns) {
			snprintf(why, why_size, "%s %" PRId64 "ns is not in whole %s", rows[i].key, rows[i].ns,
				 rows[i].unit);
			return -EINVAL;
		}
	return 0;
}

int sockets_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	int rc = frames_check(config, why, why_size);

	if (!rc)
		rc = check_addresses(settings, why, why_size);
	return rc ? rc : check_units(settings, why, why_size);
}

/* --- socket options --- */

/* A request that the kernel may grant partially, or not at all. */
struct request {
	const char *setting;
	int level, name;
	int value;
	int times; /* the kernel reports this multiple of what was requested */
	const char *hint;
};

static int sockets_apply(const struct socket_end *s, int fd, const struct request *r, struct err *e)
{
	int given = 0;
	socklen_t size = sizeof(given);

	if (!r->value)
		return 0;
	if (setsockopt(fd, r->level, r->name, &r->value, sizeof(r->value)))
		return err_set(e, -errno, STATUS_IMPOSSIBLE, s->object, NULL, "%s %d is refused: %s; %s", r->setting,
			       r->value, strerror(errno), r->hint);
	getsockopt(fd, r->level, r->name, &given, &size);
	if (given / r->times >= r->value)
		return 0;
	return err_set(e, -ERANGE, STATUS_IMPOSSIBLE, s->object, NULL, "%s %d is not granted, but %d; %s", r->setting,
		       r->value, given / r->times, r->hint);
}

/* Buffers must be set before connecting, because the TCP window depends on them. */
static int apply_buffers(const struct socket_end *s, int fd, struct err *e)
{
	const struct request sndbuf = {"sndbuf",  SOL_SOCKET,
				       SO_SNDBUF, (int)s->settings.sndbuf,
				       2,	  "net.core.wmem_max is the limit; an administrator can raise it"};
	const struct request rcvbuf = {"rcvbuf",  SOL_SOCKET,
				       SO_RCVBUF, (int)s->settings.rcvbuf,
				       2,	  "net.core.rmem_max is the limit; an administrator can raise it"};
	int rc = sockets_apply(s, fd, &sndbuf, e);

	return rc ? rc : sockets_apply(s, fd, &rcvbuf, e);
}

static int apply_polling(const struct socket_end *s, int fd, struct err *e)
{
	const struct request busy_poll = {"busy_poll (us)",
					  SOL_SOCKET,
					  SO_BUSY_POLL,
					  (int)(s->settings.busy_poll / 1000),
					  1,
					  "it needs CAP_NET_ADMIN, and a kernel with CONFIG_NET_RX_BUSY_POLL"};

	return sockets_apply(s, fd, &busy_poll, e);
}

/* --- open and close --- */

static void close_files(struct socket_end *s)
{
	int *const files[] = {&s->fd, &s->listen_fd, &s->epoll_fd};

	for (size_t i = 0; i < COUNT(files); i++) {
		if (*files[i] >= 0)
			close(*files[i]);
		*files[i] = -1;
	}
}

void sockets_close(struct transport *transport)
{
	struct socket_transport *t = (struct socket_transport *)transport;

	close_files(&t->end);
	stages_close(&t->stages);
	frames_close(&t->frames);
	free(t);
}

static int complain_bind(const struct socket_end *s, int rc, struct err *e)
{
	if (rc == -EADDRINUSE)
		return err_set(e, rc, STATUS_FAILED, s->object, "use this address",
			       "another process has it; choose another `sink_port`, or 0 for any free port");
	if (rc == -EADDRNOTAVAIL)
		return err_set(e, rc, STATUS_IMPOSSIBLE, s->object, "use this address",
			       "no interface here has it; see `ip address`");
	return err_sys(e, rc, s->object, "use this address");
}

/* Bind to the port asked for, or to any. */
static int bind_socket(struct socket_end *s, int fd, int type, struct err *e)
{
	const int on = 1;
	const bool listens = type == SOCK_STREAM && s->role == ROLE_SINK;

	/* A listener may reuse the port of an earlier point's connection, but not one on which
	 * another process listens. */
	if (listens)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&s->own.addr, s->own.size) || (listens && listen(fd, SOMAXCONN)))
		return complain_bind(s, -errno, e);
	s->own.size = sizeof(s->own.addr);
	getsockname(fd, (struct sockaddr *)&s->own.addr, &s->own.size);
	sockets_name(&s->own);
	return 0;
}

static int sockets_make(struct socket_end *s, const char *transport, int type, struct err *e)
{
	const char *own = s->role == ROLE_SINK ? s->settings.sink_address : s->settings.source_address;
	int fd, rc;

	if (!sockets_parse(own, s->role == ROLE_SINK ? (uint16_t)s->settings.sink_port : 0, &s->own))
		return err_set(e, -EINVAL, STATUS_USAGE, transport, NULL, "an address is invalid");
	if (sockets_lack_scope(&s->own))
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, transport, NULL,
			       "%s: there is no interface of that name here", own);
	snprintf(s->object, sizeof(s->object), "%s %s", transport, s->own.text);
	fd = socket(s->own.addr.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, -errno, s->object, "make a socket");
	rc = apply_buffers(s, fd, e);
	if (!rc)
		rc = bind_socket(s, fd, type, e);
	if (rc) {
		close(fd);
		return rc;
	}
	snprintf(s->object, sizeof(s->object), "%s %s", transport, s->own.text);
	interface_find((const struct sockaddr *)&s->own.addr, &s->interface);
	*(type == SOCK_STREAM && s->role == ROLE_SINK ? &s->listen_fd : &s->fd) = fd;
	return 0;
}

static json_t *sockets_describe(const struct socket_end *s)
{
	char token[TOKEN_TEXT], host[64];

	host_of(&s->own, host, sizeof(host));
	return json_pack("{s:s, s:i, s:s}", "address", host, "port", port_of(&s->own), "token",
			 token_text(&s->token, token));
}

int sockets_open(const struct transport_ops *ops, int type, size_t size, const struct transport_config *config,
		 const void *settings, struct transport **out, json_t **address, struct err *e)
{
	struct socket_transport *t = or_abort(calloc(1, size));
	struct socket_end *s;
	int rc;

	s = &t->end;
	t->base.ops = ops;
	s->role = config->role;
	s->sleeps = config->poll_recv != POLL_BUSY;
	s->settings = *(const struct socket_settings *)settings;
	t->has_stages = config->device_stamps;
	t->messages = (uint64_t)config->schedule.messages;
	s->wait_ms = s->settings.wait_limit ? (int)(s->settings.wait_limit / 1000000) : -1;
	s->fd = s->listen_fd = s->epoll_fd = -1;
	rc = frames_open(&t->frames, &t->base, config, e);
	if (!rc)
		rc = token_draw(&s->token, e);
	if (!rc)
		rc = sockets_make(s, ops->name, type, e);
	if (rc) {
		sockets_close(&t->base);
		return rc;
	}
	*address = sockets_describe(s);
	*out = &t->base;
	return 0;
}

/* --- connected --- */

/* Only if the receiver sleeps, because every message to a watched socket causes a wake-up at the
 * sender's expense. */
static int watch(struct socket_end *s, struct err *e)
{
	struct epoll_event readable = {.events = EPOLLIN};

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->fd, &readable))
		return err_sys(e, -errno, s->object, "watch the socket");
	return 0;
}

int sockets_ready(struct socket_end *s, struct err *e)
{
	const int nodelay = s->settings.nodelay;
	char object[sizeof(s->object)];
	int rc = apply_polling(s, s->fd, e);

	snprintf(object, sizeof(object), "%.96s to %s", s->object, s->peer.text);
	memcpy(s->object, object, sizeof(s->object));
	if (s->settings.bypass == BYPASS_EXPECTED)
		s->carrier = bypass_carrier(&s->interface, (const struct sockaddr *)&s->peer.addr);
	if (s->settings.nodelay && setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, sizeof(nodelay)))
		return err_sys(e, -errno, s->object, "set TCP_NODELAY");
	return rc || !s->sleeps ? rc : watch(s, e);
}

int sockets_connected(struct socket_transport *t, bool is_stream, struct err *e)
{
	const int rc = sockets_ready(&t->end, e);

	if (!rc && t->has_stages && t->end.role == ROLE_SINK)
		stages_watch_socket(&t->stages, t->end.fd, is_stream, t->frames.size, t->messages);
	return rc;
}

static int64_t option_of(int fd, int name)
{
	int value = 0;
	socklen_t size = sizeof(value);

	getsockopt(fd, SOL_SOCKET, name, &value, &size);
	return value;
}

json_t *sockets_granted(const struct transport *transport)
{
	const struct socket_transport *t = (const struct socket_transport *)transport;
	const struct socket_end *s = &t->end;
	json_t *bypass = s->settings.bypass == BYPASS_EXPECTED ? bypass_describe(&s->carrier, t->frames.size) : NULL;

	json_t *granted = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s*, s:o*}", "local", s->own.text, "peer", s->peer.text,
				    "sndbuf_bytes", (json_int_t)option_of(s->fd, SO_SNDBUF), "rcvbuf_bytes",
				    (json_int_t)option_of(s->fd, SO_RCVBUF), "busy_poll_ns",
				    (json_int_t)option_of(s->fd, SO_BUSY_POLL) * 1000, "interface",
				    *s->interface.name ? s->interface.name : NULL, "bypass", bypass);

	if (t->has_stages && s->role == ROLE_SINK)
		json_object_set_new(granted, "socket_stamps",
				    json_string(t->stages.socket.rc ? strerror(-t->stages.socket.rc) : "yes"));
	return granted;
}

/* Wait until posted messages have left the kernel: acknowledged (tcp), or passed to the device (udp). */
static void await_sent(const struct socket_end *s)
{
	int left = 0;

	for (int ms = 0; ms < SENT_AFTER_MS && !ioctl(s->fd, SIOCOUTQ, &left) && left > 0; ms++)
		nanosleep(&(const struct timespec){0, 1000000}, NULL);
}

json_t *sockets_device_counters(struct transport *transport)
{
	const struct socket_transport *t = (const struct socket_transport *)transport;
	json_t *counters = frames_counters(&t->frames);

	interface_count(NET_DEV, &t->end.carrier, "kernel_tx_bytes", "kernel_rx_bytes", counters);
	if (t->end.interface.is_loopback || !*t->end.interface.name)
		return counters;
	await_sent(&t->end);
	interface_count(NET_DEV, &t->end.interface, "tx_bytes", "rx_bytes", counters);
	return counters;
}

/* The last message's stamps may come after everything else. */
int sockets_read_clock(struct transport *transport, struct device_clock_reading *now, struct device_counter *counter,
		       struct err *e)
{
	struct socket_transport *t = (struct socket_transport *)transport;

	if (t->stages.has_begun)
		stages_await(&t->stages, t->end.fd, t->frames.sent);
	return stages_read_clock(&t->stages, t->end.object, now, counter, e);
}

void sockets_set_column(struct transport *transport, const char *name, int64_t *data, uint64_t count)
{
	stages_set_column(&((struct socket_transport *)transport)->stages, name, data, count);
}

int sockets_prepare_stages(struct socket_transport *t, bool is_stream, struct err *e)
{
	int rc;

	if (!t->has_stages)
		return 0;
	if (is_stream)
		await_sent(&t->end);
	t->stages.key_bytes = is_stream ? t->frames.size : 1;
	rc = stages_prepare(&t->stages, t->end.fd, is_stream, t->frames.repetition);
	return rc ? err_set(e, rc, STATUS_IMPOSSIBLE, t->end.object, NULL, "stages: SO_TIMESTAMPING is refused: %s",
			    strerror(-rc))
		  : 0;
}

int sockets_failure(const struct transport *transport, struct err *e)
{
	const struct socket_transport *t = (const struct socket_transport *)transport;

	return frames_failure(&t->frames, t->end.object, e);
}

/* --- the hot path --- */

/* Is the socket's buffer or the device's queue temporarily full? */
static bool is_full(int error)
{
	return error == EAGAIN || error == ENOBUFS || error == EINTR;
}

static int note_send(struct frames *f)
{
	return frames_note(f, -errno, "send",
			   errno == EMSGSIZE ? "the message is longer than the path allows"
					     : "the other side has ended");
}

/* Cold: send() returned `sent`: send the rest of the message. 0, -EINTR (stop), or the recorded error. */
static int send_rest(struct socket_end *s, struct frames *f, ssize_t sent, size_t size)
{
	size_t done = sent > 0 ? (size_t)sent : 0;
	uint32_t rounds = 0;

	while (done < size) {
		if (sent < 0) {
			if (!is_full(errno))
				return note_send(f);

			int rc = frames_wait_to_send(f, s->fd, POLLOUT, &rounds);

			f->part = rc ? done : 0;
			if (rc)
				return rc;
		}
		sent = send(s->fd, f->out + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent > 0)
			done += (size_t)sent;
	}
	return 0;
}

int sockets_finish_part(struct socket_end *s, struct frames *f, struct err *e)
{
	struct pollfd writable = {.fd = s->fd, .events = POLLOUT};

	while (f->part && f->part < f->size) {
		ssize_t n = send(s->fd, f->out + f->part, f->size - f->part, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0)
			f->part += (size_t)n;
		else if (n < 0 && !is_full(errno))
			return err_sys(e, -errno, s->object, "send the rest of a message");
		else if (poll(&writable, 1, PATIENCE_MS) == 0)
			return err_set(e, -ETIMEDOUT, STATUS_FAILED, s->object, "send the rest of a message",
				       "the other side has accepted no data for 10 s");
	}
	f->part = 0;
	return 0;
}

static int post_bytes(struct socket_transport *t, uint32_t seq, size_t size)
{
	struct frames *f = &t->frames;
	ssize_t n;
	int rc;

	frames_put_number(f, seq);
	n = send(t->end.fd, f->out, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	rc = frames_unlikely(n != (ssize_t)size) ? send_rest(&t->end, f, n, size) : 0;
	if (!rc)
		frames_posted(f, seq);
	return rc;
}

int sockets_post(struct transport *transport, uint32_t seq, bool signal)
{
	struct socket_transport *t = (struct socket_transport *)transport;

	(void)signal;
	return post_bytes(t, seq, t->frames.size);
}

int sockets_post_number(struct transport *transport, uint32_t seq, bool signal)
{
	(void)signal;
	return post_bytes((struct socket_transport *)transport, seq, FRAMES_NUMBER);
}

int sockets_post_try(struct transport *transport, uint32_t seq, bool signal)
{
	struct socket_transport *t = (struct socket_transport *)transport;
	struct frames *f = &t->frames;
	const size_t left = f->size - f->part;
	ssize_t n;

	(void)signal;
	if (!f->part)
		frames_put_number(f, seq);
	n = send(t->end.fd, f->out + f->part, left, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return is_full(errno) ? 0 : note_send(f);
	f->part += (size_t)n;
	if (f->part < f->size)
		return 0;
	f->part = 0;
	frames_posted(f, seq);
	return 1;
}

void sockets_take_stages(struct transport *transport)
{
	struct socket_transport *t = (struct socket_transport *)transport;

	stages_take(&t->stages, t->end.fd);
}

int sockets_wait_recv(struct transport *transport)
{
	struct socket_transport *t = (struct socket_transport *)transport;
	struct epoll_event event;

	if (epoll_wait(t->end.epoll_fd, &event, 1, t->end.wait_ms) >= 0)
		return 0;
	return errno == EINTR ? -EINTR : frames_note(&t->frames, -errno, "wait for messages", NULL);
}
