/*
 * Measures round trips over UCX, and alternately a bare loop that does what ucx_perftest does, in the same two processes
 * and over the same endpoint: one stamp for each round trip, one buffer that is always the same, and active messages
 * that nobody reads. The bare loop can do more, step by step, which shows what each step costs. Of puts it watches the
 * last byte, or the last 8 bytes if they hold a number; nothing is copied.
 *
 *   build/bench/bench_ucx [-r ROUNDS] [-m MESSAGES] [-c CPU,CPU] [SETTING=VALUE...]
 *
 * Prints the medians of half round trips: of the bare loop; with a stamp before each message and one after it, both
 * fenced as kblat's are; if active messages are copied out of the library's memory, too; if messages have a number,
 * which is checked; and of kblat.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/instrument/clock.h"
#include "measure/kernels/pingpong.h"
#include "measure/point/flow.h"
#include "measure/point/settings.h"
#include "measure/transports/ucx_hot.h"
#include "tests/bench/bench.h"

#define MESSAGES_MOST 100000
#define ROUNDS_MOST   1000
#define BARE	      2	 /* of its active messages, and the tag */
#define BARE_PUT_MOST 64 /* bytes */

enum { STAMPS = 1, COPIES = 2, NUMBERS = 4, KBLAT = -1 };

#define VARIANTS 5
static const struct variant {
	const char *name;
	int steps;
} variants[VARIANTS] = {{"as ucx_perftest", 0},
			{"two fenced stamps", STAMPS},
			{"and a copy", STAMPS | COPIES},
			{"and numbers", STAMPS | COPIES | NUMBERS},
			{"kblat pingpong", KBLAT}};

extern const struct kernel_loops pingpong_loops_ucx;

struct shared {
	_Alignas(64) _Atomic uint32_t barrier[2];
	char address[2][8192];
	int64_t column[2][MESSAGES_MOST];
};

struct options {
	int rounds, messages, cpu[2];
	char **words; /* SETTING=VALUE */
};

/* A side of the bare loop. */
struct bare {
	struct ucx *t;
	int steps;
	int expected; /* messages that have not come */
	char *out, *in;
	uint64_t remote; /* of puts: where `in` of the other side is */
};

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_ucx: %s: %s\n", what, why);
	exit(1);
}

static void meet(struct shared *s, int side)
{
	uint32_t mine = atomic_fetch_add(&s->barrier[side], 1) + 1;

	while (atomic_load(&s->barrier[!side]) < mine)
		cpu_relax();
}

/* --- the bare loop --- */

static ucs_status_t on_bare(void *arg, const void *header, size_t header_length, void *data, size_t length,
			    const ucp_am_recv_param_t *param)
{
	struct bare *b = arg;

	(void)header, (void)header_length;
	if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
		fail("the bare loop", "its messages must be small");
	if (b->steps & COPIES)
		memcpy(b->in, data, length);
	b->expected--;
	return UCS_OK;
}

static void on_bare_tagged(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
	(void)status, (void)info;
	((struct bare *)arg)->expected--;
	ucx_library.request_free(request);
}

static void on_bare_sent(void *request, ucs_status_t status, void *arg)
{
	(void)status, (void)arg;
	ucx_library.request_free(request);
}

static inline void bare_put(struct bare *b, uint32_t seq)
{
	static const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = on_bare_sent};
	const struct ucx *t = b->t;
	const size_t size = t->window.target.size;
	const uint64_t number = seq + 1;

	if (b->steps & NUMBERS)
		memcpy(b->out + size - sizeof(number), &number, sizeof(number));
	else
		b->out[size - 1] = (char)(seq + 1);
	ucx_library.put_nbx(t->ep, b->out, size, b->remote, t->rkey, &param);
}

static inline void bare_watch(struct bare *b, uint32_t seq)
{
	const char *end = b->in + b->t->window.target.size;
	const uint64_t *number = (const uint64_t *)(const void *)end - 1;

	if (b->steps & NUMBERS)
		while (__atomic_load_n(number, __ATOMIC_ACQUIRE) != seq + 1)
			ucx_library.worker_progress(b->t->worker);
	else
		while (__atomic_load_n(end - 1, __ATOMIC_ACQUIRE) != (char)(seq + 1))
			ucx_library.worker_progress(b->t->worker);
}

static inline void bare_send(struct bare *b, uint32_t seq)
{
	static const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = on_bare_sent};
	const struct ucx *t = b->t;
	const size_t size = t->frames.size;

	if (t->api == UCX_PUT) {
		bare_put(b, seq);
		return;
	}
	if (b->steps & NUMBERS)
		memcpy(b->out, &seq, sizeof(seq));
	if (t->api == UCX_TAG)
		ucx_library.tag_send_nbx(t->ep, b->out, size, BARE, &param);
	else
		ucx_library.am_send_nbx(t->ep, BARE, NULL, 0, b->out, size, &param);
}

static inline void bare_receive(struct bare *b, uint32_t seq)
{
	const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
					   .cb.recv = on_bare_tagged,
					   .user_data = b};
	const struct ucx *t = b->t;
	void *request = b;

	if (t->api == UCX_PUT) {
		bare_watch(b, seq);
		return;
	}
	if (t->api == UCX_TAG)
		request = ucx_library.tag_recv_nbx(t->worker, b->in, t->frames.size, BARE, UINT64_MAX, &param);
	b->expected += request != NULL;
	while (b->expected > 0)
		ucx_library.worker_progress(t->worker);
	if (b->steps & NUMBERS && memcmp(b->in, &seq, sizeof(seq)) != 0)
		fail("the bare loop", "another message came");
}

static void bare_source(struct bare *b, struct shared *s, const struct options *o)
{
	int64_t before = clock_ticks_end();

	for (int i = 0; i < o->messages; i++) {
		if (b->steps & STAMPS)
			before = clock_ticks_begin();
		bare_send(b, (uint32_t)i);
		bare_receive(b, (uint32_t)i);

		const int64_t now = b->steps & STAMPS ? clock_ticks_end() : clock_ticks_now();

		s->column[0][i] = before;
		s->column[1][i] = now;
		before = now;
	}
}

static void bare_sink(struct bare *b, const struct options *o)
{
	for (int i = 0; i < o->messages; i++) {
		bare_receive(b, (uint32_t)i);
		bare_send(b, (uint32_t)i);
	}
}

/* The lines in which the sides have greeted each other, from one to the other. */
static void bare_use_window(struct bare *b)
{
	struct window *w = &b->t->window;

	if (w->target.size < sizeof(uint64_t) || w->target.size > BARE_PUT_MOST)
		fail("the bare loop", "its puts have 8 to 64 bytes");
	free(b->out);
	b->out = (char *)window_greeting(w);
	b->in = (char *)window_greeted(w);
	b->remote = window_remote_greeted(w);
}

static void bare_open(struct bare *b, struct ucx *t)
{
	const ucp_am_handler_param_t handler = {
	    .field_mask =
		UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
	    .id = BARE,
	    .cb = on_bare,
	    .arg = b,
	};

	*b = (struct bare){.t = t, .out = calloc(2, t->frames.size)};
	b->in = b->out + t->frames.size;
	if (t->api == UCX_PUT)
		bare_use_window(b);
	if (t->api == UCX_AM && ucx_library.worker_set_am_recv_handler(t->worker, &handler) != UCS_OK)
		fail("the bare loop", "no handler");
	if (t->api != UCX_AM && t->api != UCX_TAG && t->api != UCX_PUT)
		fail("the bare loop", "only api=am, api=tag and api=put");
}

/* --- kblat's --- */

static void default_of(void *params, const struct opt *row)
{
	char key[64];

	json_object_set_new(params, opt_key(row, key, sizeof(key)), opt_default(row));
}

static json_t *params_of(const struct options *o)
{
	const struct kernel_ops *kernel = kernel_find("pingpong");
	json_t *params = json_pack("{s:s, s:s}", "kernel", "pingpong", "transport", "ucx");

	setting_each(kernel, &ucx_transport, default_of, params);
	for (char **word = o->words; *word; word++) {
		char *value = strchr(*word, '='), why[256] = "there is no such setting", key[64];
		const struct opt *row;

		if (!value)
			fail(*word, "SETTING=VALUE is wanted");
		*value++ = '\0';
		row = setting_find(kernel, &ucx_transport, *word);

		json_t *parsed = row ? opt_parse(row, value, why, sizeof(why)) : NULL;

		if (!parsed)
			fail(*word, why);
		json_object_set_new(params, opt_key(row, key, sizeof(key)), parsed);
		value[-1] = '=';
	}
	return params;
}

static struct transport *open_side(struct shared *s, const struct flow *flow, enum role role)
{
	struct transport_config config = flow->config;
	struct transport *t;
	json_t *address, *peer;
	struct err e = ERR_INIT;
	char *text;

	config.role = role;
	config.name = "0123456789abcdef";
	if (ucx_transport.open(&config, flow->transport_settings, &t, &address, &e))
		fail("open", e.text);
	text = json_dumps(address, JSON_COMPACT);
	if (strlen(text) >= sizeof(s->address[role]))
		fail("open", "its address is too long");
	strcpy(s->address[role], text);
	free(text);
	json_decref(address);
	meet(s, role);
	peer = json_loads(s->address[!role], 0, NULL);
	if (ucx_transport.connect(t, peer, &e))
		fail("connect", e.text);
	json_decref(peer);
	meet(s, role);
	return t;
}

static void kernel_round(struct shared *s, const struct flow *flow, struct transport *t, enum role role, int messages)
{
	struct worker w = {.transport = t,
			   .settings = flow->kernel_settings,
			   .messages = (uint32_t)messages,
			   .depth = (uint32_t)flow->config.depth,
			   .signal_every = 1,
			   .blank = INT64_MIN,
			   .column = {s->column[0], s->column[1]},
			   .clock = {0, 1, 0}};

	t->ops->prepare(t, NULL);
	meet(s, role);
	if (pingpong_loops_ucx.loop[role == ROLE_SOURCE ? PINGPONG_SOURCE : PINGPONG_SINK](&w))
		fail("pingpong", "it ended");
	meet(s, role);
}

static void report(double times[ROUNDS_MOST][VARIANTS], int rounds)
{
	for (int v = 0; v < VARIANTS; v++) {
		double time[ROUNDS_MOST], ratio[ROUNDS_MOST];

		for (int i = 0; i < rounds; i++) {
			time[i] = times[i][v];
			ratio[i] = times[i][v] / times[i][0];
		}
		printf("%-24s %7.1f ns, %.3f of the first\n", variants[v].name, bench_median(time, (size_t)rounds),
		       bench_median(ratio, (size_t)rounds));
	}
}

static void side(struct shared *s, const struct options *o, const struct flow *flow, enum role role, double hz)
{
	static double times[ROUNDS_MOST][VARIANTS];
	struct transport *t;
	struct bare b;

	bench_pin(o->cpu[role == ROLE_SINK]);
	t = open_side(s, flow, role);
	bare_open(&b, (struct ucx *)t);
	kernel_round(s, flow, t, role, o->messages); /* warm-up */
	for (int i = 0; i < o->rounds; i++)
		for (int v = 0; v < VARIANTS; v++) {
			b.steps = variants[v].steps;
			if (b.t->api == UCX_PUT)
				memset(b.in, 0, b.t->window.target.size);
			meet(s, role);
			if (b.steps == KBLAT)
				kernel_round(s, flow, t, role, o->messages);
			else if (role == ROLE_SOURCE)
				bare_source(&b, s, o);
			else
				bare_sink(&b, o);
			if (role == ROLE_SOURCE)
				times[i][v] = bench_p50_ns(s->column[1], s->column[0], (size_t)o->messages, hz) / 2;
		}
	meet(s, role);
	if (b.t->api != UCX_PUT)
		free(b.out);
	t->ops->close(t);
	if (role == ROLE_SOURCE)
		report(times, o->rounds);
}

static struct options options_of(int argc, char **argv)
{
	struct options o = {.rounds = 100, .messages = 10000, .cpu = {0, 1}};

	for (int c; (c = getopt(argc, argv, "r:m:c:")) != -1;) {
		if (c == 'r')
			o.rounds = atoi(optarg);
		else if (c == 'm')
			o.messages = atoi(optarg);
		else if (c != 'c' || sscanf(optarg, "%d,%d", &o.cpu[0], &o.cpu[1]) != 2)
			exit(2);
	}
	o.words = argv + optind;
	if (o.rounds < 1 || o.rounds > ROUNDS_MOST || o.messages < 1000 || o.messages > MESSAGES_MOST) {
		fprintf(stderr, "bench_ucx: 1 to %d rounds of 1000 to %d messages\n", ROUNDS_MOST, MESSAGES_MOST);
		exit(2);
	}
	return o;
}

int main(int argc, char **argv)
{
	const struct options o = options_of(argc, argv);
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct clock_report clock;
	struct err e = ERR_INIT;
	struct flow flow;
	json_t *params = params_of(&o);
	int status = 0;

	if (s == MAP_FAILED)
		return 1;
	memset(s, 0, sizeof(*s));
	if (flow_load(&flow, "", params, &e))
		fail("settings", e.text);
	clock_calibrate(100, &clock);

	const pid_t pid = fork();

	side(s, &o, &flow, pid ? ROLE_SOURCE : ROLE_SINK, clock.hz);
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	flow_free(&flow);
	json_decref(params);
	return status ? 1 : 0;
}
