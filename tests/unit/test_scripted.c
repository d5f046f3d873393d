/* The scripted transport's hot path against its own truth, message by message, through the kernel's loops. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/npy.h"
#include "fixture_params.h"
#include "measure/kernels/oneway.h"
#include "measure/point/flow.h"
#include "tap.h"

extern const struct transport_ops scripted_transport;

#define MESSAGES 500

extern const struct kernel_loops oneway_loops_called;

static json_t *make_params(void)
{
	json_t *params = fixture_params("oneway", &scripted_transport);

	json_object_set_new(params, "messages", json_integer(MESSAGES));
	json_object_set_new(params, "burst", json_integer(10));
	json_object_set_new(params, "pause_ns", json_integer(1000000));
	json_object_set_new(params, "jitter_ns", json_integer(50));
	json_object_set_new(params, "lose", json_string("3,100-109"));
	json_object_set_new(params, "delayed", json_string("20"));
	return params;
}

static void run_side(enum role role, json_t *params, int64_t *column[3], struct counters *counters)
{
	struct transport_config config;
	struct flow flow;
	struct transport *t;
	json_t *address;
	struct err e = ERR_INIT;
	struct worker w = {.messages = MESSAGES,
			   .depth = 64,
			   .signal_every = 1,
			   .blank = NEVER,
			   .clock = {0, 1, 0},
			   .column = {column[0], column[1], column[2]}};

	is_int(flow_load(&flow, "", params, &e), 0, "settings %s", e.text);
	config = flow.config;
	config.role = role;
	w.settings = flow.kernel_settings;
	is_int(scripted_transport.open(&config, flow.transport_settings, &t, &address, &e), 0, "open %s", e.text);
	w.transport = t;
	/* Eleven messages never come: the control thread's part is to tell the sink to stop. */
	atomic_store(&w.stop, role == ROLE_SINK);
	is_int(t->ops->prepare(t, &e), 0, "prepare");
	is_int(oneway_loops_called.loop[role == ROLE_SOURCE ? ONEWAY_SOURCE : ONEWAY_SINK](&w), 0,
	       "the loop ends well");
	*counters = w.counters;
	json_decref(address);
	t->ops->close(t);
	flow_free(&flow);
}

/* A stamp that has more than 64 bits would be one of long before. */
static void test_time(void)
{
	static const struct {
		json_int_t messages, burst, pause_ns, interval_ns;
		bool fits;
	} rows[] = {
	    {1000000000, 1, 3600000000000, 1, false},	   {1000000000, 1000000, 3600000000000, 1, true},
	    {1000000, 1, 3600000000000, 1, false},	   {1000000, 10, 3600000000000, 1, true},
	    {1000000000, 1000000000, 0, 1000000000, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *params = fixture_params("oneway", &scripted_transport);
		struct flow flow;
		char why[256] = "";

		json_object_set_new(params, "messages", json_integer(rows[i].messages));
		json_object_set_new(params, "burst", json_integer(rows[i].burst));
		json_object_set_new(params, "pause_ns", json_integer(rows[i].pause_ns));
		json_object_set_new(params, "interval_ns", json_integer(rows[i].interval_ns));
		is_int(flow_load(&flow, "", params, NULL), 0, "settings");
		is_int(scripted_transport.check(flow.transport_settings, &flow.config, why, sizeof(why)) == 0,
		       rows[i].fits, "%lld messages, %lld ns after each %lld: %s", (long long)rows[i].messages,
		       (long long)rows[i].pause_ns, (long long)rows[i].burst, why);
		flow_free(&flow);
		json_decref(params);
	}
}

int main(void)
{
	static int64_t subm[MESSAGES], comp[MESSAGES], recv[MESSAGES];
	int64_t *columns[] = {subm, comp, recv};
	json_t *params = make_params();
	struct counters source, sink;
	int wrong = 0, lost = 0;

	for (int i = 0; i < MESSAGES; i++)
		subm[i] = comp[i] = recv[i] = NEVER;
	run_side(ROLE_SOURCE, params, columns, &source);
	run_side(ROLE_SINK, params, columns, &sink);
	for (int i = 0; i < MESSAGES; i++) {
		int64_t at = i * 10000LL + i / 10 * 1000000LL;
		int64_t delay = 1000 + (i % 2 ? -50 : 50) + (i == 20 ? 25000 : 0);
		bool is_lost = i == 3 || (i >= 100 && i <= 109);

		lost += recv[i] == NEVER;
		wrong += subm[i] != at || comp[i] != at + 2000 || recv[i] != (is_lost ? NEVER : at + delay);
	}
	is_int(wrong, 0, "every stamp is the truth");
	is_int(lost, 11, "what was lost is NEVER");
	is_int(source.posted, MESSAGES, "posted");
	is_int(source.completed, MESSAGES, "completed");
	is_int(sink.received, MESSAGES - 11, "received");
	is_int(sink.duplicates, 0, "no duplicates");
	json_decref(params);
	test_time();
	return done_testing();
}
