#include "measure/transports/fabric_hot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "measure/transports/lane.h"
#include "measure/transports/token.h"

static const char *const fabric_apis[] = {[FABRIC_MSG] = "msg",
					  [FABRIC_TAGGED] = "tagged",
					  [FABRIC_WRITE] = "write",
					  [FABRIC_READ] = "read",
					  [FABRIC_FETCH_ADD] = "fetch_add",
					  [FABRIC_COMPARE_SWAP] = "compare_swap",
					  NULL};

enum { ENDPOINT_RDM, ENDPOINT_MSG, ENDPOINT_DGRAM };
static const char *const fabric_endpoints[] = {
    [ENDPOINT_RDM] = "rdm", [ENDPOINT_MSG] = "msg", [ENDPOINT_DGRAM] = "dgram", NULL};

struct fabric_settings {
	int api, endpoint;
	char provider[OPT_STR_MAX], domain[OPT_STR_MAX], lane[OPT_STR_MAX];
};

static const struct opt fabric_options[] = {
    {"endpoint", OPT_ENUM, offsetof(struct fabric_settings, endpoint), "rdm", 0, 0, fabric_endpoints,
     "reliable and without connections, connected, or datagrams"},
    {"api", OPT_ENUM, offsetof(struct fabric_settings, api), "msg", 0, 0, fabric_apis,
     "messages, tagged messages, or one-sided operations: write (kernels pingpong, exchange, stream), read, and "
     "fetch_add and compare_swap of 8 bytes (stream)"},
    {"provider", OPT_STR, offsetof(struct fabric_settings, provider), "any", 0, 0, NULL,
     "libfabric's provider, as in FI_PROVIDER, such as shm, tcp or \"tcp;ofi_rxm\"; the point is not valid if it is "
     "another"},
    {"domain", OPT_STR, offsetof(struct fabric_settings, domain), "any", 0, 0, NULL,
     "the provider's domain, mostly a device or interface (`fi_info`)"},
    {"lane", OPT_STR, offsetof(struct fabric_settings, lane), "any", 0, 0, NULL,
     "what must carry the messages, such as \"tcp;ofi_rxm/lo\"; otherwise the point is not valid. any: `provider`"},
    {.name = NULL},
};

#ifdef ABSENT

const struct transport_ops fabric_transport = {ABSENT_TRANSPORT, .name = "fabric", .options = fabric_options,
					       .settings_size = sizeof(struct fabric_settings)};

#else

#define ADDRESS_MOST   1024
#define OLDEST	       FI_VERSION(1, 9) /* what is used of the library was there */
#define LOOK_MS	       10
#define GREETING_MS    20
#define LAST_GREETINGS 3
#define SOCKET_HOLDS   (64 << 10)
#define BADGE_LEAST    4 /* bytes */
#define CM_DATA_MOST   256
#define COUNT(a)       (sizeof(a) / sizeof((a)[0]))

/* By enum fabric_api. Sides greet each other by a write. */
static const uint64_t capabilities[] = {[FABRIC_MSG] = FI_MSG,
					[FABRIC_TAGGED] = FI_TAGGED,
					[FABRIC_WRITE] = FI_RMA,
					[FABRIC_READ] = FI_RMA,
					[FABRIC_FETCH_ADD] = FI_RMA | FI_ATOMIC,
					[FABRIC_COMPARE_SWAP] = FI_RMA | FI_ATOMIC};
static const enum window_use window_uses[] = {[FABRIC_WRITE] = WINDOW_WRITTEN,
					      [FABRIC_READ] = WINDOW_READ,
					      [FABRIC_FETCH_ADD] = WINDOW_CHANGED,
					      [FABRIC_COMPARE_SWAP] = WINDOW_CHANGED};

static const enum fi_ep_type endpoint_types[] = {
    [ENDPOINT_RDM] = FI_EP_RDM, [ENDPOINT_MSG] = FI_EP_MSG, [ENDPOINT_DGRAM] = FI_EP_DGRAM};

struct fabric_functions fabric_library;

static const char *const function_names[] = {FABRIC_FUNCTIONS(LOADED_NAME) NULL};

static struct fabric *fabric_of(struct transport *t)
{
	return (struct fabric *)t;
}

static bool is_any(const char *setting)
{
	return !strcmp(setting, "any");
}

/* --- errors --- */

/* The library's own error numbers begin where those of the system end. */
static int fabric_errno(ssize_t rc)
{
	return rc > -FI_ERRNO_OFFSET ? (int)rc : -EIO;
}

static int fabric_complain(ssize_t rc, const char *operation, struct err *e)
{
	return err_set(e, fabric_errno(rc), STATUS_FAILED, "fabric", operation, "%s",
		       fabric_library.strerror((int)-rc));
}

int fabric_note(struct fabric *t, ssize_t rc, const char *operation)
{
	return frames_note(&t->frames, fabric_errno(rc), operation, fabric_library.strerror((int)-rc));
}

int fabric_note_completion(struct fabric *t, ssize_t rc)
{
	struct fi_cq_err_entry error = {.err = (int)-rc};
	bool sends;

	if (rc == -FI_EAVAIL)
		fi_cq_readerr(t->cq, &error, 0);
	sends = error.op_context == &t->sending;
	/* Its buffer is full of another's message, which does not fit. */
	if (error.err == FI_ETRUNC && !sends && t->badge_is >= FABRIC_BY_DATA) {
		fabric_take(t, &(struct fi_cq_data_entry){.op_context = error.op_context}, FI_ADDR_UNSPEC);
		return 0;
	}
	return fabric_note(t, -error.err, rc != -FI_EAVAIL ? "read completions" : sends ? "send" : "receive");
}

int fabric_recv_other(struct fabric *t)
{
	if (t->taken->badge != t->badge) {
		t->strangers++;
		return t->frames.fault.rc;
	}
	return frames_note(&t->frames, -EMSGSIZE, "receive", "it does not belong to this run");
}

/* 1: the descriptor reports what comes from now on; 0: look once more. */
static int may_sleep(struct fabric *t)
{
	struct fid *fids[] = {&t->cq->fid};
	const int rc = fi_trywait(t->fabric, fids, 1);

	return !rc ? 1 : rc == -FI_EAGAIN ? 0 : fabric_note(t, rc, "prepare to wait");
}

int fabric_wait_to_send(struct fabric *t, uint32_t *rounds)
{
	const int rc = t->frames.spins || t->fd < 0 ? 1 : may_sleep(t);

	return frames_sleep_to_send(&t->frames, t->fd, rc, rounds);
}

int fabric_wait_recv(struct fabric *t)
{
	return t->slots[t->head & t->mask].is_full ? 0 : frames_sleep_to_receive(&t->frames, t->fd, may_sleep(t));
}

/* --- which provider --- */

/* What is asked for, one thing after the other, so that the first that nobody has can be named. */
enum ask { ASK_PROVIDER, ASK_DOMAIN, ASK_ENDPOINT, ASK_API, ASKS };

static struct fi_info *make_hints(const struct fabric_settings *s, enum ask until, uint64_t completion)
{
	struct fi_info *hints = or_abort(fabric_library.dupinfo(NULL));

	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	if (!is_any(s->provider))
		hints->fabric_attr->prov_name = or_abort(strdup(s->provider));
	if (until >= ASK_ENDPOINT)
		hints->ep_attr->type = endpoint_types[s->endpoint];
	if (until >= ASK_API)
		hints->caps = capabilities[s->api] | (s->endpoint == ENDPOINT_DGRAM ? FI_SOURCE : 0);
	/* The end of a write is watched, so it must be written last; then the provider keeps to an order. */
	if (until >= ASK_API && s->api == FABRIC_WRITE)
		hints->tx_attr->msg_order = FI_ORDER_WAW;
	if (until >= ASK_API && s->api >= FABRIC_WRITE) {
		hints->domain_attr->mr_mode &= ~FI_MR_ENDPOINT;
		hints->tx_attr->op_flags = completion;
	}
	return hints;
}

/* An address of this kind needs a service (ibacm) that few machines have, and is listed before others. */
static bool needs_ibacm(const struct fi_info *info)
{
	return info->addr_format == FI_SOCKADDR_IB;
}

static int get_all(const struct fabric_settings *s, enum ask until, uint64_t completion, struct fi_info **all)
{
	struct fi_info *hints = make_hints(s, until, completion);
	const int rc = fabric_library.getinfo(OLDEST, NULL, NULL, 0, hints, all);

	fabric_library.freeinfo(hints);
	return rc;
}

/* Not all providers look at the name of the domain, so it is looked for here. */
static struct fi_info *find_info(const struct fabric_settings *s, enum ask until)
{
	const bool any = until < ASK_DOMAIN || is_any(s->domain);
	struct fi_info *all = NULL, *found = NULL;

	if (get_all(s, until, FI_DELIVERY_COMPLETE, &all) && get_all(s, until, 0, &all))
		return NULL;
	for (struct fi_info *info = all; info; info = info->next)
		if ((any || !strcmp(info->domain_attr->name, s->domain)) &&
		    (!found || (needs_ibacm(found) && !needs_ibacm(info))))
			found = info;
	if (found)
		found = or_abort(fabric_library.dupinfo(found));
	fabric_library.freeinfo(all);
	return found;
}

static int nobody_has(const struct fabric_settings *s, enum ask what, struct err *e)
{
	const char *set = getenv("FI_PROVIDER"), *type = fabric_endpoints[s->endpoint];
	const bool any = is_any(s->provider);
	char object[OPT_STR_MAX + 32], missing[OPT_STR_MAX + 64] = "";

	snprintf(object, sizeof(object), "libfabric's provider %s", any ? "(any)" : s->provider);
	if (what == ASK_PROVIDER)
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, object, NULL,
			       "it is not available here%s%.80s; `fi_info` lists those that are",
			       set ? ", with FI_PROVIDER=" : "", set ? set : "");
	if (what == ASK_DOMAIN)
		snprintf(missing, sizeof(missing), "domain %s", s->domain);
	else if (what == ASK_ENDPOINT)
		snprintf(missing, sizeof(missing), "endpoints of the type %s", type);
	else
		snprintf(missing, sizeof(missing), "api %s for endpoints of the type %s", fabric_apis[s->api], type);
	return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, object, NULL, "it has no %s; `fi_info%s%s` lists what there is",
		       missing, any ? "" : " -p ", any ? "" : s->provider);
}

static int choose_info(struct fabric *t, const struct fabric_settings *s, struct err *e)
{
	t->info = find_info(s, ASKS);
	for (enum ask what = ASK_PROVIDER; !t->info && what < ASKS; what++) {
		struct fi_info *found = find_info(s, what);

		if (!found)
			return nobody_has(s, what, e);
		fabric_library.freeinfo(found);
	}
	if (!t->info)
		return nobody_has(s, ASK_API, e);
	snprintf(t->lane, sizeof(t->lane), "%s/%s", t->info->fabric_attr->prov_name, t->info->domain_attr->name);
	return 0;
}

static const char *provider_text(const struct fabric *t, char *text, size_t size)
{
	snprintf(text, size, "libfabric's provider %s", t->lane);
	return text;
}

/* Not every provider has room for the whole badge. */
static uint64_t badge_of(const struct fabric *t, const struct token *token)
{
	const uint64_t word = token_word(token), all = UINT64_MAX;
	const uint64_t format = t->info->ep_attr->mem_tag_format;

	if (t->badge_is == FABRIC_BY_TAG && format)
		return word & all >> __builtin_clzll(format);
	if (t->badge_is == FABRIC_BY_DATA && t->info->domain_attr->cq_data_size < sizeof(word))
		return word & ~(all << 8 * t->info->domain_attr->cq_data_size);
	return word;
}

static int choose_badge(struct fabric *t, struct err *e)
{
	char object[FABRIC_LANE + 32];

	t->badge_is = FABRIC_CONNECTED;
	if (t->api == FABRIC_TAGGED)
		t->badge_is = FABRIC_BY_TAG;
	else if (t->api == FABRIC_MSG && !t->connects)
		t->badge_is = t->info->domain_attr->cq_data_size >= BADGE_LEAST ? FABRIC_BY_DATA : FABRIC_BY_SOURCE;
	if (t->badge_is == FABRIC_BY_SOURCE && !(t->info->caps & FI_SOURCE))
		return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, provider_text(t, object, sizeof(object)), NULL,
			       "it does not say who has sent a message, which anybody may; use api tagged");
	t->badge = badge_of(t, &t->token);
	return 0;
}

/* What the settings say and the library's environment must not contradict each other. */
static int check_environment(const struct fabric_settings *s, struct err *e)
{
	const struct lane_variable variables[] = {{"FI_PROVIDER", "provider", s->provider, "any"},
						  {"FI_TCP_IFACE", "domain", s->domain, "any"},
						  {"FI_SOCKETS_IFACE", "domain", s->domain, "any"},
						  {"FI_UDP_IFACE", "domain", s->domain, "any"}};
	int rc = 0;

	for (size_t i = 0; i < COUNT(variables) && rc >= 0; i++)
		rc = lane_setting(&variables[i], e);
	return rc < 0 ? rc : 0;
}

static void set_expected(struct fabric *t, const struct fabric_settings *s)
{
	const char *expected = is_any(s->lane) ? s->provider : s->lane;

	if (!is_any(expected))
		snprintf(t->expected, sizeof(t->expected), "%s", expected);
}

/* --- open and close --- */

static int too_large(const struct fabric *t, struct err *e)
{
	char object[FABRIC_LANE + 32];

	return err_set(e, -EMSGSIZE, STATUS_IMPOSSIBLE, provider_text(t, object, sizeof(object)), NULL,
		       "its messages have at most %zu bytes, not %zu", t->info->ep_attr->max_msg_size, t->frames.size);
}

/* What a provider keeps in /dev/shm bears the point's name. */
static void fabric_name_endpoint(struct fi_info *info, const struct transport_config *config)
{
	char name[64];

	if (info->addr_format != FI_ADDR_STR)
		return;
	snprintf(name, sizeof(name), "kblat-%u-%.16s-%d", (unsigned)getuid(), config->name, (int)getpid());
	free(info->src_addr);
	info->src_addr = or_abort(strdup(name));
	info->src_addrlen = strlen(name) + 1;
}

static int open_domain(struct fabric *t, struct err *e)
{
	int rc = fabric_library.fabric(t->info->fabric_attr, &t->fabric, NULL);

	if (rc)
		return fabric_complain(rc, "open the fabric", e);
	rc = fi_domain(t->fabric, t->info, &t->domain, NULL);
	return rc ? fabric_complain(rc, "open the domain", e) : 0;
}

static int open_queue(struct fabric *t, bool sleeps, struct err *e)
{
	struct fi_cq_attr attr = {
	    .size = 2 * (t->mask + 1),
	    .format = FI_CQ_FORMAT_DATA,
	    .wait_obj = sleeps ? FI_WAIT_FD : FI_WAIT_NONE,
	};
	int rc = fi_cq_open(t->domain, &attr, &t->cq, NULL);
	char object[FABRIC_LANE + 32];

	if (!rc && sleeps)
		rc = fi_control(&t->cq->fid, FI_GETWAIT, &t->fd);
	if (rc && sleeps)
		return err_set(e, fabric_errno(rc), STATUS_IMPOSSIBLE, provider_text(t, object, sizeof(object)), NULL,
			       "it has no descriptor to wait on (%s); use `poll: busy`", fabric_library.strerror(-rc));
	return rc ? fabric_complain(rc, "open the completion queue", e) : 0;
}

static int fabric_register(struct fabric *t, const struct memory *m, struct fid_mr **mr, void **desc, struct err *e)
{
	int rc;

	if (!(t->info->domain_attr->mr_mode & FI_MR_LOCAL) || !m->size)
		return 0;
	rc = fi_mr_reg(t->domain, m->data, m->size, FI_SEND | FI_RECV, 0, (uint64_t)(mr - &t->send_mr), 0, mr, NULL);
	if (rc)
		return fabric_complain(rc, "register memory", e);
	*desc = fi_mr_desc(*mr);
	return 0;
}

/* --- one-sided operations --- */

/* Where a provider lets us choose the key of the window, nobody can guess it. */
static uint64_t window_key(const struct fabric *t, const struct token *drawn)
{
	const size_t bytes = t->info->domain_attr->mr_key_size;
	const uint64_t word = token_word(drawn);

	return bytes < sizeof(word) ? word & ~(UINT64_MAX << 8 * bytes) : word;
}

static int fabric_make_window(struct fabric *t, const struct transport_config *config, struct err *e)
{
	const uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	struct token drawn;
	int rc = memory_alloc(&t->slot_memory, window_bytes(config, window_uses[t->api]), config->numa_node, e);

	if (!rc)
		rc = token_draw(&drawn, e);
	if (rc)
		return rc;
	rc = fi_mr_reg(t->domain, t->slot_memory.data, t->slot_memory.size, access, 0, window_key(t, &drawn), 0,
		       &t->window_mr, NULL);
	if (rc)
		return fabric_complain(rc, "register memory (see `ulimit -l`)", e);
	t->window_desc = fi_mr_desc(t->window_mr);
	window_open(&t->window, t->slot_memory.data, config, window_uses[t->api]);
	t->slots = or_abort(calloc(t->window.in_flight, sizeof(*t->slots)));
	t->mask = t->window.in_flight - 1;
	for (uint32_t i = 0; i <= t->mask; i++)
		t->slots[i].is_full = true;
	t->frames.out = window_buffer(&t->window, 0) - FRAMES_NUMBER;
	t->base.overhead = t->window.is_watched ? WINDOW_TURN : 0;
	return 0;
}

static void fabric_describe_window(const struct fabric *t, json_t *address)
{
	const bool is_virtual = t->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

	json_object_set_new(address, "window",
			    json_integer(is_virtual ? (json_int_t)(uintptr_t)t->slot_memory.data : 0));
	json_object_set_new(address, "key", json_integer((json_int_t)fi_mr_key(t->window_mr)));
}

static int fabric_reach_window(struct fabric *t, const json_t *peer, struct err *e)
{
	const json_t *base = json_object_get(peer, "window"), *key = json_object_get(peer, "key");

	if (!json_is_integer(base) || !json_is_integer(key))
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL, "has no valid window");
	window_reach(&t->window, (uint64_t)json_integer_value(base));
	t->key = (uint64_t)json_integer_value(key);
	return 0;
}

/* A compare and swap expects what the ones before it on the same word have left, and adds 1, too; its operands lie
 * before the buffer, which ends a cache line. */
static ssize_t compare_and_swap(struct fabric *t, char *buffer, uint64_t remote, uint32_t n, struct fabric_slot *slot)
{
	uint64_t *result = (uint64_t *)(void *)buffer, *compare = result - 1, *swap = result - 2;

	*compare = n / t->window.target.count;
	*swap = *compare + 1;
	return fi_compare_atomic(t->ep, swap, 1, t->window_desc, compare, t->window_desc, result, t->window_desc,
				 t->peer, remote, t->key, FI_UINT64, FI_CSWAP, &slot->context);
}

static ssize_t start_remote(struct fabric *t, char *buffer, uint64_t remote, uint32_t n, struct fabric_slot *slot)
{
	const size_t size = t->window.target.size;

	if (t->api == FABRIC_WRITE && t->window.is_watched && size <= t->inject) {
		const ssize_t rc = fi_inject_write(t->ep, buffer, size, t->peer, remote, t->key);

		slot->is_full = !rc;
		return rc;
	}
	slot->is_full = false;
	if (t->api == FABRIC_WRITE)
		return fi_write(t->ep, buffer, size, t->window_desc, t->peer, remote, t->key, &slot->context);
	if (t->api == FABRIC_READ)
		return fi_read(t->ep, buffer, size, t->window_desc, t->peer, remote, t->key, &slot->context);
	if (t->api == FABRIC_COMPARE_SWAP)
		return compare_and_swap(t, buffer, remote, n, slot);
	/* Adds the greeting, which is 1. */
	return fi_fetch_atomic(t->ep, window_greeting(&t->window), 1, t->window_desc, buffer, t->window_desc, t->peer,
			       remote, t->key, FI_UINT64, FI_SUM, &slot->context);
}

int fabric_post_remote(struct fabric *t, uint32_t seq)
{
	struct window *w = &t->window;
	const uint32_t n = window_next(w, seq);
	struct fabric_slot *slot = &t->slots[window_flight(w, n)];
	char *buffer = window_buffer(w, n);
	ssize_t rc;

	if (!slot->is_full)
		return fabric_progress(t);
	if (w->is_watched)
		window_put_turn(w, buffer, seq);
	rc = start_remote(t, buffer, window_remote(w, n), n, slot);
	if (rc == -FI_EAGAIN) {
		slot->is_full = true;
		return fabric_progress(t);
	}
	if (rc)
		return fabric_note(t, rc, fabric_apis[t->api]);
	w->posted++;
	frames_posted(&t->frames, seq);
	t->frames.out = window_buffer(w, window_next(w, seq + 1)) - FRAMES_NUMBER;
	return 1;
}

int fabric_poll_remote(struct fabric *t, uint32_t *seq)
{
	struct window *w = &t->window;
	const struct fabric_slot *slot = &t->slots[window_flight(w, w->completed)];

	if (w->is_watched)
		return frames_poll_send(&t->frames, seq);
	if (w->completed == w->posted || !slot->is_full) {
		const int rc = fabric_progress(t);

		if (rc || w->completed == w->posted || !slot->is_full)
			return rc;
	}
	*seq = w->completed++;
	return 1;
}

int fabric_watch(struct fabric *t, uint32_t *seq)
{
	char *message = window_take(&t->window, seq);

	if (!message)
		return fabric_progress(t);
	t->frames.in = message - FRAMES_NUMBER;
	return 1;
}

bool fabric_fetched(const struct fabric *t, uint32_t seq)
{
	return window_fetched(&t->window.target, window_buffer(&t->window, seq), seq);
}

/* A word that is written to the other side's window; its completion is awaited. */
static int fabric_write_word(void *transport, const uint64_t *word)
{
	struct fabric *t = transport;
	const struct window *w = &t->window;
	ssize_t rc = 0;

	if (!t->is_sending) {
		rc = fi_write(t->ep, word, WINDOW_TURN, t->window_desc, t->peer, window_remote_greeted(w), t->key,
			      &t->sending);
		t->is_sending = t->is_pending = !rc;
	}
	if (rc && rc != -FI_EAGAIN)
		return fabric_note(t, rc, "write");
	rc = fabric_progress(t);
	return rc ? (int)rc : t->is_sending && !t->is_pending;
}

/* One that is copied, and has no completion. */
static int fabric_inject_word(void *transport, const uint64_t *word)
{
	struct fabric *t = transport;
	const ssize_t rc =
	    fi_inject_write(t->ep, word, WINDOW_TURN, t->peer, window_remote_greeted(&t->window), t->key);

	if (rc && rc != -FI_EAGAIN)
		return fabric_note(t, rc, "write");
	return !rc;
}

static int fabric_serve_other(void *transport)
{
	return fabric_progress(transport);
}

int fabric_part(struct fabric *t)
{
	static const struct window_calls calls = {fabric_serve_other, fabric_write_word, fabric_inject_word};

	return window_part(&t->window, &calls, t);
}

/* --- endpoints --- */

/* One more than there are receives: the greeting. */
static int fabric_make_slots(struct fabric *t, const struct transport_config *config, struct err *e)
{
	uint32_t slots = frames_slots(config);
	int rc;

	while (slots > 1 && slots > t->info->rx_attr->size)
		slots /= 2;
	rc = frames_slot_memory(&t->frames, &t->slot_memory, slots + 1, config, e);
	if (rc)
		return rc;
	t->slots = or_abort(calloc(slots, sizeof(*t->slots)));
	t->mask = slots - 1;
	for (uint32_t i = 0; i < slots; i++)
		t->slots[i].data = frames_slot(&t->frames, &t->slot_memory, i);
	return 0;
}

static int bind_endpoint(struct fabric *t, struct err *e)
{
	int rc = fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV);

	if (!rc)
		rc = t->connects ? fi_ep_bind(t->ep, &t->eq->fid, 0) : fi_ep_bind(t->ep, &t->av->fid, 0);
	if (!rc)
		rc = fi_enable(t->ep);
	return rc ? fabric_complain(rc, "enable the endpoint", e) : 0;
}

/* The endpoint, with all receives posted. `info` also says who wants to connect. */
static int open_endpoint(struct fabric *t, struct fi_info *info, struct err *e)
{
	int rc = fi_endpoint(t->domain, info, &t->ep, NULL);

	if (rc)
		return fabric_complain(rc, "open the endpoint", e);
	rc = bind_endpoint(t, e);
	for (uint32_t i = 0; !rc && !fabric_is_one_sided(t) && i <= t->mask; i++)
		if (fabric_post_slot(t, &t->slots[i]))
			rc = frames_failure(&t->frames, "fabric", e);
	return rc;
}

static int open_listener(struct fabric *t, struct err *e)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_UNSPEC};
	int rc = fi_eq_open(t->fabric, &attr, &t->eq, NULL);

	if (!rc && t->is_sink)
		rc = fi_passive_ep(t->fabric, t->info, &t->listener, NULL);
	if (!rc && t->is_sink)
		rc = fi_pep_bind(t->listener, &t->eq->fid, 0);
	if (!rc && t->is_sink)
		rc = fi_listen(t->listener);
	return rc ? fabric_complain(rc, "listen", e) : 0;
}

static int open_av(struct fabric *t, struct err *e)
{
	struct fi_av_attr attr = {.type = FI_AV_UNSPEC, .count = 1};
	int rc = fi_av_open(t->domain, &attr, &t->av, NULL);

	return rc ? fabric_complain(rc, "open the table of addresses", e) : 0;
}

static void version_text(char text[32])
{
	const uint32_t version = fabric_library.version();

	snprintf(text, 32, "%u.%u", FI_MAJOR(version), FI_MINOR(version));
}

/* {"name": hexadecimal digits, "token", "lane": …}; a side that connects to the other has no name. */
static int fabric_describe(const struct fabric *t, json_t **address, struct err *e)
{
	unsigned char bytes[ADDRESS_MOST];
	size_t size = sizeof(bytes);
	struct fid *named = t->listener ? &t->listener->fid : t->ep ? &t->ep->fid : NULL;
	const int rc = named ? fi_getname(named, bytes, &size) : 0;
	char version[32], token[TOKEN_TEXT];

	if (rc)
		return fabric_complain(rc, "get the endpoint's name", e);
	version_text(version);
	*address = json_pack("{s:o, s:s, s:s, s:s}", "name", lane_address(bytes, named ? size : 0), "token",
			     token_text(&t->token, token), "lane", t->lane, "library", version);
	if (fabric_is_one_sided(t))
		fabric_describe_window(t, *address);
	return 0;
}

static void close_fid(struct fid *fid)
{
	if (fid)
		fi_close(fid);
}

#define CLOSE(object) close_fid((object) ? &(object)->fid : NULL)

static void fabric_close(struct transport *transport)
{
	struct fabric *t = fabric_of(transport);

	CLOSE(t->ep);
	CLOSE(t->listener);
	CLOSE(t->send_mr);
	CLOSE(t->slot_mr);
	CLOSE(t->window_mr);
	CLOSE(t->cq);
	CLOSE(t->av);
	CLOSE(t->domain);
	CLOSE(t->eq);
	CLOSE(t->fabric);
	if (t->info)
		fabric_library.freeinfo(t->info);
	free(t->slots);
	memory_free(&t->slot_memory);
	t->frames.in = NULL;
	frames_close(&t->frames);
	json_decref(t->environment);
	free(t);
}

/* May a post end when the library has copied the message? Over shared memory the other side has it then. A socket that
 * is full takes the rest when the library is called again, which who posts the last message does not do: so there must
 * be few bytes in flight. What other providers do until then is not known, so their completions are awaited. */
static bool may_inject(const struct fi_info *info, const struct transport_config *config)
{
	const char *provider = info->fabric_attr->prov_name;
	const bool is_bounded =
	    config->duplex && !config->is_stream && config->depth <= SOCKET_HOLDS / transport_largest_bytes(config);

	return !strcmp(provider, "shm") ||
	       (is_bounded && (!strcmp(provider, "tcp") || !strcmp(provider, "tcp;ofi_rxm")));
}

static int make_messages(struct fabric *t, const struct transport_config *config, struct err *e)
{
	int rc = frames_open(&t->frames, &t->base, config, e);

	if (!rc)
		rc = fabric_make_slots(t, config, e);
	if (!rc)
		rc = fabric_register(t, &t->frames.out_memory, &t->send_mr, &t->send_desc, e);
	return rc ? rc : fabric_register(t, &t->slot_memory, &t->slot_mr, &t->slot_desc, e);
}

static int open_provider(struct fabric *t, const struct transport_config *config, const struct fabric_settings *s,
			 struct err *e)
{
	const bool sleeps = config->poll_recv != POLL_BUSY;
	int rc = choose_info(t, s, e);

	if (!rc)
		rc = choose_badge(t, e);
	if (rc)
		return rc;
	if (t->frames.size > t->info->ep_attr->max_msg_size)
		return too_large(t, e);
	fabric_name_endpoint(t->info, config);
	t->inject = may_inject(t->info, config) ? t->info->tx_attr->inject_size : 0;
	rc = open_domain(t, e);
	if (!rc)
		rc = fabric_is_one_sided(t) ? fabric_make_window(t, config, e) : make_messages(t, config, e);
	if (!rc)
		rc = open_queue(t, sleeps, e);
	return rc;
}

static int fabric_open(const struct transport_config *config, const void *settings, struct transport **out,
		       json_t **address, struct err *e)
{
	const struct fabric_settings *s = settings;
	struct fabric *t = or_abort(calloc(1, sizeof(*t)));
	int rc;

	t->base.ops = &fabric_transport;
	t->config = *config;
	t->fd = -1;
	t->is_sink = config->role == ROLE_SINK;
	t->api = (enum fabric_api)s->api;
	t->connects = s->endpoint == ENDPOINT_MSG;
	t->is_datagram = s->endpoint == ENDPOINT_DGRAM;
	t->environment = lane_environment("FI_");
	set_expected(t, s);
	/* There is one peer; the default, 256, needs queues that not all devices have. */
	setenv("FI_UNIVERSE_SIZE", "2", 0);
	rc = loaded_library_open("fabric", function_names, &fabric_library, e);
	if (!rc)
		rc = check_environment(s, e);
	if (!rc)
		rc = token_draw(&t->token, e);
	frames_begin(&t->frames, config);
	if (!rc)
		rc = open_provider(t, config, s, e);
	if (!rc)
		rc = t->connects ? open_listener(t, e) : open_av(t, e);
	if (!rc && !t->connects)
		rc = open_endpoint(t, t->info, e);
	if (!rc)
		rc = fabric_describe(t, address, e);
	if (rc) {
		fabric_close(&t->base);
		return rc;
	}
	*out = &t->base;
	return 0;
}

/* --- connect --- */

/* An event, and what came with it: the other side's token, if it is the other side. */
union cm_event {
	struct fi_eq_cm_entry entry;
	unsigned char all[sizeof(struct fi_eq_cm_entry) + CM_DATA_MOST];
};

/* The next event: its kind, and how many bytes of data came with it; or a negative errno of the library. */
static ssize_t next_event(struct fabric *t, int64_t deadline_ms, uint32_t *kind, union cm_event *event)
{
	ssize_t n = -FI_EAGAIN;

	while (n == -FI_EAGAIN && monotonic_ms() <= deadline_ms)
		n = fi_eq_sread(t->eq, kind, event, sizeof(*event), LOOK_MS, 0);
	return n < 0 ? n : n - (ssize_t)sizeof(event->entry);
}

static bool presents(const struct fabric *t, const union cm_event *event, ssize_t bytes)
{
	return bytes >= TOKEN_BYTES && token_is(&t->token, event->entry.data);
}

/* An error of a stranger's connection is none of ours. 0: it was; otherwise what the library says. */
static int own_error(struct fabric *t)
{
	struct fi_eq_err_entry error = {.err = FI_EIO};

	fi_eq_readerr(t->eq, &error, 0);
	return t->ep && error.fid == &t->ep->fid ? -error.err : 0;
}

static void turn_away(struct fabric *t, struct fi_info *who)
{
	fi_reject(t->listener, who->handle, NULL, 0);
	fabric_library.freeinfo(who);
}

static int admit(struct fabric *t, struct fi_info *who)
{
	struct err e = ERR_INIT;
	int rc = open_endpoint(t, who, &e);

	fabric_library.freeinfo(who);
	return rc ? rc : fi_accept(t->ep, t->peer_token.bytes, TOKEN_BYTES);
}

/* Whoever calls and does not present the token is turned away, and does not delay the other side. */
static int accept_peer(struct fabric *t)
{
	const int64_t deadline_ms = monotonic_ms() + TOKEN_PATIENCE_MS;
	union cm_event event;
	uint32_t kind = 0;
	int rc = 0;

	while (!rc) {
		const ssize_t n = next_event(t, deadline_ms, &kind, &event);

		if (n == -FI_EAVAIL)
			rc = own_error(t);
		else if (n < 0)
			rc = n == -FI_EAGAIN ? -FI_ETIMEDOUT : (int)n;
		else if (kind == FI_CONNREQ && !t->ep && presents(t, &event, n))
			rc = admit(t, event.entry.info);
		else if (kind == FI_CONNREQ)
			turn_away(t, event.entry.info);
		else if (t->ep && event.entry.fid == &t->ep->fid)
			rc = kind == FI_CONNECTED ? 1 : -FI_ECONNREFUSED;
	}
	return rc > 0 ? 0 : rc;
}

static int await_answer(struct fabric *t)
{
	union cm_event event;
	uint32_t kind = 0;
	const ssize_t n = next_event(t, monotonic_ms() + TOKEN_PATIENCE_MS, &kind, &event);
	int rc;

	if (n == -FI_EAVAIL) {
		rc = own_error(t);
		return rc ? rc : -FI_ECONNREFUSED;
	}
	if (n < 0)
		return n == -FI_EAGAIN ? -FI_ETIMEDOUT : (int)n;
	if (kind != FI_CONNECTED)
		return -FI_ECONNREFUSED;
	return presents(t, &event, n) ? 0 : -FI_EPERM;
}

static int call_peer(struct fabric *t, const void *address, size_t size, struct err *e)
{
	int rc;

	/* The connection manager of verbs resolves the address when the endpoint is opened. */
	t->info->dest_addr = or_abort(malloc(size));
	memcpy(t->info->dest_addr, address, size);
	t->info->dest_addrlen = size;
	rc = open_endpoint(t, t->info, e);
	if (rc)
		return rc;
	rc = fi_connect(t->ep, address, t->peer_token.bytes, TOKEN_BYTES);
	if (!rc)
		rc = await_answer(t);
	return rc ? fabric_complain(rc, "connect to the other side", e) : 0;
}

static int make_connection(struct fabric *t, const void *address, size_t size, struct err *e)
{
	int rc;

	if (!t->is_sink)
		return call_peer(t, address, size, e);
	rc = accept_peer(t);
	CLOSE(t->listener);
	t->listener = NULL;
	return rc ? fabric_complain(rc, "accept the other side", e) : 0;
}

static int learn_peer(struct fabric *t, const void *address, struct err *e)
{
	const int n = fi_av_insert(t->av, address, 1, &t->peer, 0, NULL);

	if (n == 1)
		return 0;
	return fabric_complain(n < 0 ? n : -FI_EADDRNOTAVAIL, "use the other side's name", e);
}

static int fabric_greet(void *transport)
{
	struct fabric *t = transport;

	return fabric_is_one_sided(t) ? fabric_write_word(t, window_greeting(&t->window)) : fabric_post_try(t, 0, true);
}

/* Datagrams may be lost, as strangers can fill the queue. So sides greet each other again and again, and say by the number
 * whether they have been greeted: a side that hears so knows that both have. */
enum { GREETING_PENDING, GREETING_RECEIVED };

static int greet_again(struct fabric *t)
{
	const int64_t now_ms = monotonic_ms();
	const int rc = now_ms < t->next_greeting_ms ? 0 : fabric_post_try(t, t->is_greeted, true);

	if (rc > 0)
		t->next_greeting_ms = now_ms + GREETING_MS;
	return rc < 0 ? rc : 0;
}

static int take_greetings(struct fabric *t)
{
	uint64_t before;
	uint32_t seq;
	int rc;

	do {
		before = t->strangers;
		rc = fabric_poll_recv(t, &seq);
		t->is_greeted |= rc > 0;
	} while (t->strangers != before || (rc > 0 && seq == GREETING_PENDING));
	return rc ? rc : greet_again(t);
}

/* The other side may still wait for one. */
static void greet_last(struct fabric *t)
{
	for (int i = 0; i < LAST_GREETINGS; i++) {
		fabric_post(t, GREETING_RECEIVED, true);
		usleep(1000);
	}
}

static int fabric_be_greeted(void *transport)
{
	struct fabric *t = transport;
	uint32_t seq;

	if (t->is_datagram)
		return take_greetings(t);
	if (!fabric_is_one_sided(t))
		return fabric_poll_recv(t, &seq);
	return window_is_greeted(&t->window, token_word(&t->token)) ? 1 : fabric_progress(t);
}

/* The greeting's memory is registered with the slots, and its completion is awaited. */
static int fabric_meet(struct fabric *t, struct err *e)
{
	char *next = t->frames.out;
	char *greeting = fabric_is_one_sided(t) ? t->frames.out : frames_slot(&t->frames, &t->slot_memory, t->mask + 1);
	void *desc = t->send_desc;
	const size_t inject = t->inject;
	int rc;

	t->inject = 0;
	t->send_desc = t->slot_desc;
	rc = frames_meet(&t->frames, greeting, fabric_greet, fabric_be_greeted, t);
	t->frames.out = greeting;
	if (!rc && t->is_datagram)
		greet_last(t);
	t->frames.out = next;
	t->frames.is_sent = false;
	t->is_sending = false;
	t->send_desc = desc;
	t->inject = inject;
	if (rc)
		return t->frames.fault.rc ? frames_failure(&t->frames, "fabric", e)
					  : err_sys(e, rc, "fabric", "connect to the other side");
	return 0;
}

/* Both sides choose for themselves; what each of them chose must be the same provider. */
static int same_provider(const struct fabric *t, const json_t *peer, struct err *e)
{
	const char *other = json_string_value(json_object_get(peer, "lane"));
	const size_t length = strlen(t->info->fabric_attr->prov_name);

	if (other && !strncmp(other, t->lane, length + 1))
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, "fabric", "connect to the other side",
		       "this side has %s, the other one %.80s; set `provider`", t->lane, other ? other : "none");
}

static int fabric_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	struct fabric *t = fabric_of(transport);
	unsigned char address[ADDRESS_MOST] = {0};
	size_t size;
	int rc = same_provider(t, peer, e);

	if (rc)
		return rc;
	if ((lane_read_address(json_object_get(peer, "name"), address, sizeof(address)) &&
	     !(t->connects && t->is_sink)) ||
	    !token_read(json_string_value(json_object_get(peer, "token")), &t->peer_token))
		return err_set(e, -EPROTO, STATUS_FAILED, "the peer's address", NULL, "has no valid name and token");
	t->peer_badge = badge_of(t, &t->peer_token);
	if (fabric_is_one_sided(t))
		window_present(&t->window, token_word(&t->peer_token));
	rc = fabric_is_one_sided(t) ? fabric_reach_window(t, peer, e) : 0;
	if (rc)
		return rc;
	size = json_string_length(json_object_get(peer, "name")) / 2;
	rc = t->connects ? make_connection(t, address, size, e) : learn_peer(t, address, e);
	if (!rc)
		rc = fabric_meet(t, e);
	if (rc)
		return rc;
	if (fabric_is_one_sided(t))
		window_met(&t->window);
	lane_admit_no_more();
	return 0;
}

/* --- after connecting --- */

static int fabric_prepare(struct transport *transport, struct err *e)
{
	struct fabric *t = fabric_of(transport);

	(void)e;
	frames_next_repetition(&t->frames);
	if (!fabric_is_one_sided(t))
		return 0;
	t->is_sending = false;
	window_prepare(&t->window, &t->config);
	t->frames.out = window_buffer(&t->window, window_next(&t->window, 0)) - FRAMES_NUMBER;
	return 0;
}

static void fabric_idle(struct transport *transport)
{
	fabric_serve(fabric_of(transport));
}

static int64_t fabric_check_memory(const struct transport *transport, uint64_t posted)
{
	const struct fabric *t = (const struct fabric *)transport;

	return fabric_is_one_sided(t) ? window_check_memory(&t->window, &t->config, posted) : 0;
}

static json_t *fabric_granted(const struct transport *transport)
{
	const struct fabric *t = (const struct fabric *)transport;
	json_t *granted;
	char version[32];

	version_text(version);
	granted =
	    json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:b, s:O}", "library", version, "api", fabric_apis[t->api],
		      "provider", t->info->fabric_attr->prov_name, "domain", t->info->domain_attr->name, "inject_bytes",
		      (json_int_t)t->info->tx_attr->inject_size, "receives", (json_int_t)t->mask + 1, "registers",
		      t->slot_mr || t->window_mr, "environment", t->environment);
	lane_grant(granted, t->lane, t->expected, &t->config);
	return granted;
}

static json_t *fabric_counters(struct transport *transport)
{
	const struct fabric *t = (const struct fabric *)transport;
	json_t *counters = frames_counters(&t->frames);

	lane_count(counters, t->lane);
	json_object_set_new(counters, "stranger_messages", json_integer((json_int_t)t->strangers));
	return counters;
}

static int fabric_failure(const struct transport *transport, struct err *e)
{
	return frames_failure(&((const struct fabric *)transport)->frames, "fabric", e);
}

static int fabric_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	const struct fabric_settings *s = settings;

	return s->api < FABRIC_WRITE ? frames_check(config, why, why_size)
				     : window_check(fabric_apis[s->api], window_uses[s->api], config, why, why_size);
}

static void fabric_traits(const void *settings, struct transport_traits *out)
{
	const struct fabric_settings *s = settings;

	out->overhead = FRAMES_NUMBER;
	out->is_reliable = s->endpoint != ENDPOINT_DGRAM;
	if (s->api >= FABRIC_WRITE)
		window_traits(window_uses[s->api], out);
}

static const struct counter_check fabric_checks[] = {CHECK_STRANGERS, {.counter = NULL}};

const struct transport_ops fabric_transport = {
    .name = "fabric",
    .summary = "libfabric: messages or tagged messages, writes, reads and atomics over any of its providers",
    .options = fabric_options,
    .settings_size = sizeof(struct fabric_settings),
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 1000, .latency_ns = 6000, .sleeping_ns = 40000},
    .completes_in_post = true,
    .shares_files = true,
    .checks = fabric_checks,
    .check = fabric_check,
    .traits = fabric_traits,
    .open = fabric_open,
    .connect = fabric_connect,
    .prepare = fabric_prepare,
    .idle = fabric_idle,
    .check_memory = fabric_check_memory,
    .granted = fabric_granted,
    .device_counters = fabric_counters,
    .failure = fabric_failure,
    .close = fabric_close,
};

#endif
