#include "measure/transports/messaging.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/text.h"

#define TCP_SCHEME     "tcp://"
#define IPC_SCHEME     "ipc://"
#define IPC_DIR	       "/dev/shm" /* where the coordinator removes what killed endpoints have left */
#define HEAP_BASE      ((size_t)16 << 20)
#define HEAP_MOST      ((size_t)256 << 20)
#define HEAP_A_MESSAGE 256
#define COUNT(a)       (sizeof(a) / sizeof((a)[0]))

const char *const messaging_patterns[] = {[MESSAGING_PUBSUB] = "pubsub", [MESSAGING_PAIR] = "pair", NULL};
const char *const messaging_overs[] = {[MESSAGING_TCP] = "tcp", [MESSAGING_IPC] = "ipc", NULL};

const struct counter_check messaging_checks[] = {CHECK_ENDED, {.counter = NULL}};

/* --- settings --- */

static bool is_address(const char *text)
{
	struct in_addr a;

	return inet_pton(AF_INET, text, &a) == 1 && a.s_addr != htonl(INADDR_ANY);
}

int messaging_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	static const char *const keys[] = {"source_address", "sink_address"};
	const struct messaging_settings *s = settings;
	const char *const texts[] = {s->source_address, s->sink_address};
	char quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < COUNT(keys); i++) {
		if (is_address(texts[i]))
			continue;
		snprintf(why, why_size,
			 "%s must be one numeric IPv4 address such as 127.0.0.1, not %s; see `ip address`", keys[i],
			 text_quote(texts[i], quoted, sizeof(quoted)));
		return -EINVAL;
	}
	return frames_check(config, why, why_size);
}

/* A publisher drops messages that a subscriber cannot take. */
void messaging_traits(const void *settings, struct transport_traits *out)
{
	const struct messaging_settings *s = settings;

	out->is_reliable = s->pattern == MESSAGING_PAIR;
	out->overhead = FRAMES_NUMBER;
}

/* --- open and close --- */

/*
 * The libraries allocate every message on the threads that are measured. To avoid touching new
 * pages, all threads use a single heap, which does not return memory, and which gets its memory
 * before anything is measured.
 */
static int settle_heap(const struct transport_config *config, struct err *e)
{
	const size_t messages = ((size_t)config->size + HEAP_A_MESSAGE) * (size_t)config->depth;
	const size_t size = HEAP_BASE + (messages < HEAP_MOST ? messages : HEAP_MOST);
	void *heap;

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	heap = large_alloc(size, 1);
	if (!heap)
		return err_sys(e, -ENOMEM, "messages", "allocate memory for");
	memset(heap, 1, size);
	__asm__ volatile("" : : "r"(heap) : "memory"); /* keeps the compiler from removing it */
	free(heap);
	return 0;
}

static int complain_listen(const struct messaging *m, int rc, struct err *e)
{
	if (rc == -EADDRINUSE)
		return err_set(e, rc, STATUS_FAILED, m->object, "listen",
			       "another process has the port; choose another `%s_port`, or 0 for any free port",
			       m->role == ROLE_SINK ? "sink" : "source");
	if (rc == -EADDRNOTAVAIL || rc == -ENODEV)
		return err_set(e, rc, STATUS_IMPOSSIBLE, m->object, "listen",
			       "no interface here has this address; see `ip address`");
	return err_sys(e, rc, m->object, "listen");
}

static void name_endpoint(struct messaging *m, const char *name, char *wanted, size_t size)
{
	const struct messaging_settings *s = &m->settings;
	const bool sink = m->role == ROLE_SINK;

	if (s->over == MESSAGING_TCP) {
		snprintf(wanted, size, TCP_SCHEME "%.64s:%d", sink ? s->sink_address : s->source_address,
			 (int)(sink ? s->sink_port : s->source_port));
		return;
	}
	snprintf(m->path, sizeof(m->path), IPC_DIR "/kblat-%u-%.16s-%d", (unsigned)getuid(), name, (int)getpid());
	snprintf(wanted, size, IPC_SCHEME "%s", m->path);
}

static int listen_somewhere(struct messaging_transport *t, const struct transport_config *config, struct err *e)
{
	struct messaging *m = &t->messaging;
	char wanted[sizeof(m->endpoint)];
	int rc;

	if (!m->listens)
		return 0;
	name_endpoint(m, config->name, wanted, sizeof(wanted));
	snprintf(m->object, sizeof(m->object), "%s %s", t->base.ops->name, wanted);

	mode_t old = umask(077); /* a Unix socket that only this user may access */

	rc = m->library->listen(t, wanted, m->endpoint, sizeof(m->endpoint));
	umask(old);
	if (rc)
		return complain_listen(m, rc, e);
	snprintf(m->object, sizeof(m->object), "%s %s", t->base.ops->name, m->endpoint);
	return 0;
}

static json_t *messaging_describe(const struct messaging *m)
{
	char token[TOKEN_TEXT];

	return json_pack("{s:s, s:s}", "endpoint", m->endpoint, "token", token_text(&m->token, token));
}

static void set_directions(struct messaging *m, const struct transport_config *config)
{
	const bool pair = m->settings.pattern == MESSAGING_PAIR;

	m->role = config->role;
	m->largest = config->size > TOKEN_BYTES ? config->size : TOKEN_BYTES;
	m->sends = config->role == ROLE_SOURCE || config->duplex;
	m->receives = config->role == ROLE_SINK || config->duplex;
	m->listens = pair ? m->role == ROLE_SINK : m->sends;
}

int messaging_open(const struct transport_ops *ops, const struct messaging_library *library, size_t size,
		   const struct transport_config *config, const void *settings, struct transport **out,
		   json_t **address, struct err *e)
{
	struct messaging_transport *t = or_abort(calloc(1, size));
	int rc;

	t->base.ops = ops;
	t->messaging.library = library;
	t->messaging.settings = *(const struct messaging_settings *)settings;
	snprintf(t->messaging.object, sizeof(t->messaging.object), "%s", ops->name);
	rc = frames_open(&t->frames, &t->base, config, e);
	if (!rc)
		rc = settle_heap(config, e);
	if (!rc)
		rc = token_draw(&t->messaging.token, e);
	set_directions(&t->messaging, config);
	if (!rc) {
		t->messaging.is_made = true;
		rc = library->make(t, e);
	}
	if (!rc)
		rc = listen_somewhere(t, config, e);
	if (rc) {
		messaging_close(&t->base);
		return rc;
	}
	*address = messaging_describe(&t->messaging);
	*out = &t->base;
	return 0;
}

void messaging_close(struct transport *transport)
{
	struct messaging_transport *t = (struct messaging_transport *)transport;

	if (t->messaging.is_made)
		t->messaging.library->unmake(t);
	if (*t->messaging.path)
		unlink(t->messaging.path);
	frames_close(&t->frames);
	free(t);
}

/* --- connect --- */

static bool is_endpoint(const struct messaging *m, const char *text)
{
	const char *begin = m->settings.over == MESSAGING_TCP ? TCP_SCHEME : IPC_SCHEME IPC_DIR "/kblat-";

	return text && strlen(text) < sizeof(m->endpoint) && !strncmp(text, begin, strlen(begin)) &&
	       !strchr(text + strlen(begin), '/');
}

static int send_greeting(struct messaging_transport *t, bool *sent)
{
	const struct messaging_library *library = t->messaging.library;
	const struct token *token = &t->messaging.peer_token;
	int rc = library->has_peer(t) ? library->send(t, token->bytes, sizeof(token->bytes)) : -EAGAIN;

	*sent = rc == 0;
	return rc == -EAGAIN ? 0 : rc;
}

static int receive_greeting(struct messaging_transport *t, bool *received)
{
	unsigned char greeting[TOKEN_BYTES];
	int n = t->messaging.library->receive(t, greeting, sizeof(greeting));

	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0)
		return n;
	*received = n == sizeof(greeting) && token_is(&t->messaging.token, greeting);
	return *received ? 0 : -EPERM;
}

static int meet(struct messaging_transport *t)
{
	const struct messaging_library *library = t->messaging.library;
	const struct timespec moment = {0, 1000000};
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	const bool pair = t->messaging.settings.pattern == MESSAGING_PAIR;
	bool sent = !pair && !t->messaging.sends, received = !pair && !t->messaging.receives;
	int rc = 0;

	while (!sent || !received) {
		if (library->admit)
			library->admit(t);
		if (!sent)
			rc = send_greeting(t, &sent);
		if (!rc && !received)
			rc = receive_greeting(t, &received);
		if (!rc && monotonic_ms() > deadline_ms)
			rc = -ETIMEDOUT;
		if (rc)
			return rc;
		if (!sent || !received)
			nanosleep(&moment, NULL);
	}
	return 0;
}

static int complain_connect(struct messaging_transport *t, int rc, struct err *e)
{
	const int64_t ended = t->messaging.library->count_ended(t);
	char cause[128], others[160] = "";

	if (rc == -EPERM)
		snprintf(cause, sizeof(cause), "an unrelated program answers there");
	else
		err_cause(rc, cause, sizeof(cause));
	if (ended)
		snprintf(others, sizeof(others),
			 "; connections that ended meanwhile, of other programs or as they announced too large "
			 "messages: %lld",
			 (long long)ended);
	return err_set(e, rc, STATUS_FAILED, t->messaging.object, "connect to the other side", "%s%s", cause, others);
}

int messaging_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct messaging_transport *t = (struct messaging_transport *)transport;
	struct messaging *m = &t->messaging;
	const char *endpoint = json_string_value(json_object_get(peer, "endpoint"));
	const bool dials = m->settings.pattern == MESSAGING_PAIR ? !m->listens : m->receives;
	int rc = 0;

	if (!token_read(json_string_value(json_object_get(peer, "token")), &m->peer_token) ||
	    (dials && !is_endpoint(m, endpoint)))
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL,
			       "has no valid endpoint and token");
	if (dials) {
		snprintf(m->object, sizeof(m->object), "%s to %s", t->base.ops->name, endpoint);
		rc = m->library->dial(t, endpoint);
	}
	if (!rc)
		rc = meet(t);
	if (m->library->admit_no_more)
		m->library->admit_no_more(t);
	return rc ? complain_connect(t, rc, e) : 0;
}

/* --- the hot path --- */

int messaging_post_try(struct transport *transport, uint32_t seq, bool signal)
{
	struct messaging_transport *t = (struct messaging_transport *)transport;
	const struct messaging_library *library = t->messaging.library;
	struct frames *f = &t->frames;
	int rc;

	(void)signal;
	frames_put_number(f, seq);
	rc = library->send(t, f->out, f->size);
	if (rc == -EAGAIN || rc == -EINTR)
		return 0;
	if (frames_unlikely(rc))
		return frames_note(f, rc, "send", library->error(-rc));
	frames_posted(f, seq);
	return 1;
}

int messaging_post(struct transport *transport, uint32_t seq, bool signal)
{
	uint32_t rounds = 0;
	int rc;

	while ((rc = messaging_post_try(transport, seq, signal)) == 0) {
		rc = frames_wait_to_send(&((struct framed *)transport)->frames, -1, 0, &rounds);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

int messaging_poll_recv(struct transport *transport, uint32_t *seq)
{
	struct messaging_transport *t = (struct messaging_transport *)transport;
	struct frames *f = &t->frames;
	const int n = t->messaging.library->receive(t, f->in, f->size);

	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (frames_unlikely(n != (int)f->size))
		return frames_note(f, n < 0 ? n : -EMSGSIZE, "receive",
				   n < 0 ? NULL : "it does not belong to this run");
	return frames_take_number(f, seq);
}

int messaging_wait_recv(struct transport *transport)
{
	struct messaging_transport *t = (struct messaging_transport *)transport;
	const int rc = t->messaging.library->wait(t);

	return rc && rc != -EINTR ? frames_note(&t->frames, rc, "wait for messages", NULL) : rc;
}

/* --- after connecting --- */

int messaging_prepare(struct transport *transport, struct err *e)
{
	(void)e;
	frames_next_repetition(&((struct messaging_transport *)transport)->frames);
	return 0;
}

json_t *messaging_counters(struct transport *transport)
{
	struct messaging_transport *t = (struct messaging_transport *)transport;
	json_t *counters = frames_counters(&t->frames);

	json_object_set_new(counters, "ended_connections",
			    json_integer((json_int_t)t->messaging.library->count_ended(t)));
	return counters;
}

int messaging_failure(const struct transport *transport, struct err *e)
{
	const struct messaging_transport *t = (const struct messaging_transport *)transport;

	return frames_failure(&t->frames, t->messaging.object, e);
}

json_t *messaging_granted(const struct transport *transport)
{
	const struct messaging *m = &((const struct messaging_transport *)transport)->messaging;

	return json_pack("{s:s, s:s}", "pattern", messaging_patterns[m->settings.pattern], "local", m->endpoint);
}
