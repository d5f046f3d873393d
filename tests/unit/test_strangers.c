/*
 * UCX and libfabric: what a stranger can do who reaches a side: who connects and says nothing, who calls by the thousand, and
 * who uses the library itself, with everything that a side tells the other but its token.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "fixture_pair.h"
#include "fixture_params.h"
#include "measure/point/flow.h"
#include "measure/transports/fabric_hot.h"
#include "measure/transports/lane.h"
#include "measure/transports/token.h"
#include "measure/transports/ucx_hot.h"
#include "tap.h"

#define SIZE	64
#define MANY	600
#define CALLERS 1000

static const struct way {
	const struct transport_ops *ops;
	const char *api, *key, *lane, *endpoint; /* key: of the setting `lane` */
} ways[] = {
    {&ucx_transport, "am", "tls", "posix", NULL},
    {&ucx_transport, "am", "tls", "tcp", NULL},
    {&ucx_transport, "tag", "tls", "posix", NULL},
    {&ucx_transport, "tag", "tls", "tcp", NULL},
    {&ucx_transport, "stream", "tls", "posix", NULL},
    {&ucx_transport, "stream", "tls", "tcp", NULL},
    {&ucx_transport, "put", "tls", "posix", NULL},
    {&ucx_transport, "put", "tls", "tcp", NULL},
    {&fabric_transport, "msg", "provider", "tcp;ofi_rxm", "rdm"},
    {&fabric_transport, "tagged", "provider", "tcp;ofi_rxm", "rdm"},
    {&fabric_transport, "write", "provider", "tcp;ofi_rxm", "rdm"},
    {&fabric_transport, "msg", "provider", "tcp", "msg"},
    {&fabric_transport, "write", "provider", "tcp", "msg"},
    {&fabric_transport, "msg", "provider", "udp", "dgram"},
};

static bool is_ucx(const struct pair *p)
{
	return p->ops == &ucx_transport;
}

/* --- both sides in this process --- */

static bool open_way(struct pair *p, const struct way *w)
{
	json_t *params = fixture_params("pingpong", w->ops);
	struct err why = ERR_INIT;
	struct flow flow;
	bool possible = true;

	memset(p, 0, sizeof(*p));
	p->ops = w->ops;
	json_object_set_new(params, "api", json_string(w->api));
	json_object_set_new(params, w->key, json_string(w->lane));
	if (w->endpoint)
		json_object_set_new(params, "endpoint", json_string(w->endpoint));
	json_object_set_new(params, w->ops == &ucx_transport ? "devices" : "domain",
			    json_string(strstr(w->lane, "tcp") || strstr(w->lane, "udp") ? "lo"
					: w->ops == &ucx_transport			 ? "all"
											 : "any"));
	json_object_set_new(params, "size_bytes", json_integer(SIZE));
	is_int(flow_load(&flow, "", params, &why), 0, "settings %s", why.text);
	for (int role = 0; role < 2; role++) {
		struct transport_config config = flow.config;

		config.role = (enum role)role;
		config.stop = &p->stop;
		config.name = role ? "0123456789abcdef" : "fedcba9876543210";
		possible = possible && !w->ops->open(&config, flow.transport_settings, &p->side[role],
						     &p->address[role], &p->e[role]);
	}
	flow_free(&flow);
	json_decref(params);
	return possible;
}

/* The sink makes room meanwhile. */
static int post(struct pair *p, uint32_t seq)
{
	const int64_t until = monotonic_ms() + 10000;
	struct transport *t = p->side[ROLE_SOURCE];
	int rc = 0;

	while (!rc && monotonic_ms() < until) {
		rc = is_ucx(p) ? ucx_post_try((struct ucx *)t, seq, true)
			       : fabric_post_try((struct fabric *)t, seq, true);
		p->ops->idle(p->side[ROLE_SINK]);
	}
	return rc == 1 ? 0 : -1;
}

/* Poll for some milliseconds. */
static int receive(struct pair *p, uint32_t *seq, int ms)
{
	const int64_t until = monotonic_ms() + ms;
	struct transport *t = p->side[ROLE_SINK];
	int rc = 0;

	while (!rc && monotonic_ms() < until) {
		p->ops->idle(p->side[ROLE_SOURCE]);
		rc = is_ucx(p) ? ucx_poll_recv((struct ucx *)t, seq) : fabric_poll_recv((struct fabric *)t, seq);
	}
	return rc;
}

static json_int_t strangers_of(struct pair *p)
{
	json_t *counters;
	json_int_t n;

	p->ops->idle(p->side[ROLE_SINK]);
	counters = p->ops->device_counters(p->side[ROLE_SINK]);
	n = json_integer_value(json_object_get(counters, "stranger_messages"));
	json_decref(counters);
	return n;
}

/* --- a stranger who only calls --- */

static int own_listeners(struct sockaddr_in *at, int most)
{
	int count = 0;

	for (int fd = 0; fd < 1024 && count < most; fd++) {
		int listens = 0;
		socklen_t size = sizeof(listens), length = sizeof(at[0]);

		if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && listens &&
		    !getsockname(fd, (struct sockaddr *)&at[count], &length) && at[count].sin_family == AF_INET)
			count++;
	}
	return count;
}

struct calls {
	int fd[CALLERS];
	size_t count;
};

/* They say nothing, half a token, or a whole one that is not ours. */
static void call(struct calls *c, size_t most)
{
	static const char words[TOKEN_BYTES] = "abcdefghijklmno";
	struct sockaddr_in at[4];
	const int listeners = own_listeners(at, 4);

	c->count = 0;
	for (size_t i = 0; listeners > 0 && i < most; i++) {
		const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0)
			break;
		connect(fd, (struct sockaddr *)&at[i % (size_t)listeners], sizeof(at[0]));
		usleep(20);
		send(fd, words, i % 3 * TOKEN_BYTES / 2, MSG_NOSIGNAL);
		c->fd[c->count++] = fd;
	}
}

static void hang_up(struct calls *c)
{
	while (c->count)
		close(c->fd[--c->count]);
}

/* --- a stranger who uses the library --- */

struct intruder {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	ucp_rkey_h rkey;
	uint64_t window;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *fi_ep;
	struct fid_cq *cq;
	struct fid_eq *eq;
	struct fid_av *av;
	fi_addr_t peer;
	char message[SIZE];
	bool has_written, is_admitted;
};

static void ucx_intrude(struct intruder *x, const struct pair *p, const struct way *w)
{
	const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
				     .features =
					 UCP_FEATURE_AM | UCP_FEATURE_TAG | UCP_FEATURE_STREAM | UCP_FEATURE_RMA};
	const ucp_worker_params_t worker = {.field_mask = 0};
	const json_t *peer = p->address[ROLE_SINK];
	unsigned char address[4096], rkey[4096];
	const ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
				    .address = (const ucp_address_t *)address};
	ucp_config_t *config;

	ucx_library.config_read(NULL, NULL, &config);
	ucx_library.config_modify(config, "TLS", w->lane);
	ucx_library.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &x->context);
	ucx_library.config_release(config);
	ucx_library.worker_create(x->context, &worker, &x->worker);
	lane_read_address(json_object_get(peer, "worker"), address, sizeof(address));
	if (ucx_library.ep_create(x->worker, &ep, &x->ep) != UCS_OK)
		x->ep = NULL;
	if (x->ep && !lane_read_address(json_object_get(peer, "rkey"), rkey, sizeof(rkey)))
		ucx_library.ep_rkey_unpack(x->ep, rkey, &x->rkey);
	x->window = (uint64_t)json_integer_value(json_object_get(peer, "window"));
}

/* What was 1 for everybody, and is no part of the token. */
static void ucx_say(struct intruder *x, const struct way *w)
{
	static const ucp_request_param_t plain = {.op_attr_mask = 0};
	static const uint64_t guess = 1;
	void *request = NULL;

	if (!strcmp(w->api, "am"))
		request = ucx_library.am_send_nbx(x->ep, UCX_ID, NULL, 0, x->message, SIZE, &plain);
	else if (!strcmp(w->api, "tag"))
		request = ucx_library.tag_send_nbx(x->ep, x->message, SIZE, 1, &plain);
	else if (!strcmp(w->api, "stream"))
		request = ucx_library.stream_send_nbx(x->ep, x->message, SIZE, &plain);
	if (request && !UCS_PTR_IS_ERR(request))
		ucx_library.request_free(request);
	if (!strcmp(w->api, "am"))
		request = ucx_library.am_send_nbx(x->ep, UCX_ID, &guess, sizeof(guess), x->message, SIZE, &plain);
	if (request && !UCS_PTR_IS_ERR(request) && !strcmp(w->api, "am"))
		ucx_library.request_free(request);
	ucx_library.worker_progress(x->worker);
}

static bool fabric_intrude(struct intruder *x, const struct pair *p)
{
	const struct fabric *victim = (const struct fabric *)p->side[ROLE_SINK];
	const bool connects = victim->connects;
	struct fi_cq_attr cq = {.size = 1024, .format = FI_CQ_FORMAT_DATA};
	struct fi_av_attr av = {.type = FI_AV_UNSPEC};
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_UNSPEC};
	unsigned char address[1024];
	const json_t *name = json_object_get(p->address[ROLE_SINK], "name");

	lane_read_address(name, address, sizeof(address));
	x->info = fabric_library.dupinfo(victim->info);
	free(x->info->src_addr);
	x->info->src_addr = NULL;
	x->info->src_addrlen = 0;
	if (connects) {
		x->info->dest_addrlen = json_string_length(name) / 2;
		x->info->dest_addr = malloc(x->info->dest_addrlen);
		memcpy(x->info->dest_addr, address, x->info->dest_addrlen);
	}
	if (fabric_library.fabric(x->info->fabric_attr, &x->fabric, NULL) ||
	    fi_domain(x->fabric, x->info, &x->domain, NULL) || fi_cq_open(x->domain, &cq, &x->cq, NULL) ||
	    fi_endpoint(x->domain, x->info, &x->fi_ep, NULL) ||
	    fi_ep_bind(x->fi_ep, &x->cq->fid, FI_TRANSMIT | FI_RECV))
		return false;
	if (connects)
		return !fi_eq_open(x->fabric, &eq, &x->eq, NULL) && !fi_ep_bind(x->fi_ep, &x->eq->fid, 0) &&
		       !fi_enable(x->fi_ep) && !fi_connect(x->fi_ep, address, "no token of any kind", 16);
	return !fi_av_open(x->domain, &av, &x->av, NULL) && !fi_ep_bind(x->fi_ep, &x->av->fid, 0) &&
	       !fi_enable(x->fi_ep) && fi_av_insert(x->av, address, 1, &x->peer, 0, NULL) == 1;
}

static void fabric_say(struct intruder *x, const struct way *w)
{
	struct fi_cq_data_entry done;
	struct fi_eq_cm_entry entry;
	uint32_t event;

	if (x->eq && !x->is_admitted) {
		x->is_admitted = fi_eq_read(x->eq, &event, &entry, sizeof(entry), 0) > 0 && event == FI_CONNECTED;
		return;
	}
	if (!strcmp(w->api, "tagged"))
		fi_tinject(x->fi_ep, x->message, SIZE, x->peer, 1);
	else if (!strcmp(w->api, "msg"))
		fi_inject(x->fi_ep, x->message, SIZE, x->peer);
	else
		fi_inject_write(x->fi_ep, x->message, 8, x->peer, 0, 7);
	fi_cq_read(x->cq, &done, 1);
}

static void intrude(struct intruder *x, struct pair *p, const struct way *w)
{
	memset(x, 0, sizeof(*x));
	if (is_ucx(p))
		ucx_intrude(x, p, w);
	else if (!fabric_intrude(x, p))
		printf("# the stranger could not begin\n");
}

/* Each of its messages has the number of one that is expected. */
static void say(struct intruder *x, struct pair *p, const struct way *w, int times, uint32_t number)
{
	const uint32_t seq = htole32(number | 1u << FRAMES_SEQ_BITS);

	/* libfabric 1.17 itself fails when it goes on after a write to a key that there is not. */
	if (!strcmp(w->api, "write")) {
		times = !x->has_written;
		x->has_written = true;
	}
	memcpy(x->message, &seq, sizeof(seq));
	for (int i = 0; i < times; i++) {
		if (is_ucx(p) && x->ep)
			ucx_say(x, w);
		else if (!is_ucx(p) && x->fi_ep)
			fabric_say(x, w);
	}
}

static void leave(struct intruder *x, const struct pair *p)
{
	struct fid *all[] = {x->fi_ep ? &x->fi_ep->fid : NULL, x->cq ? &x->cq->fid : NULL,
			     x->av ? &x->av->fid : NULL,       x->domain ? &x->domain->fid : NULL,
			     x->eq ? &x->eq->fid : NULL,       x->fabric ? &x->fabric->fid : NULL};

	if (is_ucx(p)) {
		if (x->rkey)
			ucx_library.rkey_destroy(x->rkey);
		ucx_library.worker_destroy(x->worker);
		ucx_library.cleanup(x->context);
		return;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i])
			fi_close(all[i]);
	fabric_library.freeinfo(x->info);
}

/* --- the tests --- */

static void exchange(struct pair *p, struct intruder *x, const struct way *w)
{
	uint32_t seq = 0;
	bool all = true;

	for (uint32_t i = 0; i < 50; i++) {
		if (x)
			say(x, p, w, 3, i);
		all = all && !post(p, i) && receive(p, &seq, 10000) == 1 && seq == i;
	}
	ok(all, "%s, %s, %s: 50 messages of the source arrive, and nobody else's", p->ops->name, w->api, w->lane);
	is_int(receive(p, &seq, 50), 0, "and nothing follows");
}

static void test_intruder(const struct way *w)
{
	struct intruder x;
	struct calls calls = {.count = 0};
	struct pair p;
	uint32_t seq;

	if (!open_way(&p, w)) {
		skip("%s, %s: %s%s", w->api, w->lane, p.e[0].text, p.e[1].text);
		close_pair(&p);
		return;
	}
	call(&calls, 3);
	intrude(&x, &p, w);
	say(&x, &p, w, MANY, 0);
	connect_pair(&p);
	say(&x, &p, w, MANY, 0);
	is_int(receive(&p, &seq, 50), 0, "what it sends is not received");
	exchange(&p, &x, w);
	if (strcmp(w->api, "am") == 0 || strcmp(w->api, "tag") == 0 ||
	    (w->endpoint && !strcmp(w->api, "msg") && strcmp(w->endpoint, "msg") != 0))
		ok(strangers_of(&p) > 0, "the stranger's messages are counted");
	leave(&x, &p);
	hang_up(&calls);
	exchange(&p, NULL, w);
	close_pair(&p);
}

static void test_callers(const struct way *w)
{
	static struct calls calls;
	const int64_t begun = monotonic_ms();
	int64_t called;
	struct pair p;

	if (!open_way(&p, w)) {
		skip("%s, %s: %s%s", w->api, w->lane, p.e[0].text, p.e[1].text);
		close_pair(&p);
		return;
	}
	call(&calls, CALLERS);
	called = monotonic_ms();
	ok(calls.count > 0, "%s, %s: %zu call", p.ops->name, w->api, calls.count);
	connect_pair(&p);
	/* One that is silent would be waited for for 10 s; on a busy machine calling takes seconds, and answering, too. */
	ok(monotonic_ms() - called < 9000 + 5 * (called - begun), "they do not delay the other side");
	exchange(&p, NULL, w);
	hang_up(&calls);
	exchange(&p, NULL, w);
	close_pair(&p);
}

/* One thread makes, connects and closes a worker, and others use it. */
static void test_threads(void)
{
	ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE};
	ucs_status_t (*query)(ucp_worker_h, ucp_worker_attr_t *);
	void *library = dlopen("libucp.so.0", RTLD_NOW);
	struct pair p;

	if (!library || !open_way(&p, &ways[0])) {
		skip("there is no UCX");
		return;
	}
	*(void **)&query = dlsym(library, "ucp_worker_query");
	query(((struct ucx *)p.side[ROLE_SINK])->worker, &attr);
	is_int(attr.thread_mode, UCS_THREAD_MODE_SERIALIZED, "threads may use a worker one after the other");
	close_pair(&p);
}

/* libfabric's tcp provider keeps a little of each connection that was turned away. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfabric";
}

int main(void)
{
	struct rlimit files = {8192, 8192};

	setrlimit(RLIMIT_NOFILE, &files);
	test_threads();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		test_intruder(&ways[i]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].lane, "tcp") || !strcmp(ways[i].lane, "tcp;ofi_rxm"))
			test_callers(&ways[i]);
	return done_testing();
}
