/* The kernel `rate` over the scripted transport: what becomes of each step, where the truth is known. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/npy.h"
#include "fixture_params.h"
#include "measure/kernels/rate.h"
#include "measure/point/flow.h"
#include "measure/transports/scripted_script.h"
#include "tap.h"

extern const struct transport_ops scripted_transport;

#define STEPS 1000

extern const struct kernel_loops rate_loops_called;

static int64_t due[STEPS], gen[STEPS], subm[STEPS], recv[STEPS], truth[STEPS];

static json_t *make_params(int64_t rate_hz)
{
	json_t *params = fixture_params("rate", &scripted_transport);

	json_object_set_new(params, "messages", json_integer(STEPS));
	json_object_set_new(params, "rate_hz", json_integer(rate_hz));
	json_object_set_new(params, "delay_ns", json_integer(700));
	return params;
}

static void run_side(enum role role, json_t *params, struct counters *counters)
{
	struct transport_config config;
	struct flow flow;
	struct transport *t;
	json_t *address;
	struct err e = ERR_INIT;
	struct worker w = {.messages = STEPS,
			   .depth = 64,
			   .signal_every = 1,
			   .blank = NEVER,
			   .clock = {0, 1, 0},
			   .column = {due, gen, subm, recv}};

	is_int(flow_load(&flow, "", params, &e), 0, "settings %s", e.text);
	config = flow.config;
	config.role = role;
	w.settings = flow.kernel_settings;
	is_int(scripted_transport.open(&config, flow.transport_settings, &t, &address, &e), 0, "open %s", e.text);
	w.transport = t;
	/* Steps that are missed never come: the control thread's part is to tell the sink to stop. */
	atomic_store(&w.stop, role == ROLE_SINK);
	is_int(t->ops->prepare(t, &e), 0, "prepare");
	is_int(rate_loops_called.loop[role == ROLE_SOURCE ? RATE_SOURCE : RATE_SINK](&w), 0, "the loop ends well");
	*counters = w.counters;
	json_decref(address);
	t->ops->close(t);
	flow_free(&flow);
}

/* Both sides, and what must hold whatever goes wrong with the pacer. */
static void run(json_t *params, struct counters *source)
{
	struct scripted_settings s = {.stall_by = json_integer_value(json_object_get(params, "stall_by_ns"))};
	const struct schedule schedule = {
	    .messages = STEPS,
	    .rate_hz = json_integer_value(json_object_get(params, "rate_hz")),
	    .tick_error_ppm = json_integer_value(json_object_get(params, "tick_error_ppm")),
	    .window_ns = json_integer_value(json_object_get(params, "window_ns")),
	    .keeps_first = !strcmp(json_string_value(json_object_get(params, "late")), "first"),
	};
	struct scripted_script script;
	struct counters sink;
	int wrong_due = 0, wrong_subm = 0, wrong_recv = 0;

	for (int i = 0; i < STEPS; i++)
		due[i] = gen[i] = subm[i] = recv[i] = NEVER;
	snprintf(s.stall, sizeof(s.stall), "%s", json_string_value(json_object_get(params, "stall")));
	scripted_script_read(&script, &s, &schedule);
	scripted_pace(&script, truth);
	run_side(ROLE_SOURCE, params, source);
	run_side(ROLE_SINK, params, &sink);
	for (int i = 0; i < STEPS; i++) {
		wrong_due += due[i] != scripted_due(&script, i);
		wrong_subm += subm[i] != truth[i];
		wrong_recv += recv[i] != (truth[i] == NEVER ? NEVER : truth[i] + 700);
	}
	is_int(wrong_due, 0, "every step has the time it was intended for");
	is_int(wrong_subm, 0, "every sample was submitted when it must have been, or not at all");
	is_int(wrong_recv, 0, "every sample that was submitted arrived, and no other");
	is_int(source->posted + source->missed + source->unsent, STEPS, "no step is unaccounted for");
	is_int(sink.received, source->posted, "received is posted");
	json_decref(params);
	scripted_script_free(&script);
}

/* An entry of a column. */
struct look {
	const int64_t *column;
	int step;
	int64_t value;
	const char *title;
};

static const struct {
	const char *title, *settings;
	int rate_hz, missed, unsent;
	struct look looks[8];
} cases[] = {
    {"a pacer that is in time misses nothing", "{}", 100000,
     .looks = {{due, 0, 10000, "the first step is due after one period"},
	       {subm, STEPS - 1, STEPS * 10000, "the last after all of them"}}},
    {"less than a period late is late, not missed", "{'stall': '5,10-11,500', 'stall_by_ns': 9999}", 100000,
     .looks = {{due, 5, 60000, "a late step keeps its intended time"}, {subm, 5, 69999, "how late it was is seen"}}},
    /* Step 5 is due at 60 us; the pacer comes to it at 85: 5 and 6 (70) are missed, 7 (80) is sent at once, 8 (90) in time. */
    {"what the next step overtakes is missed", "{'stall': '5,998', 'stall_by_ns': 25000}", 100000, .missed = 2 + 2,
     .looks = {{due, 5, 60000, "a missed step keeps its intended time"},
	       {subm, 5, NEVER, "a missed step is not sent"},
	       {recv, 5, NEVER, "a missed step does not arrive"},
	       {subm, 7, 85000, "the last that is due is sent at once"},
	       {subm, 8, 90000, "the next is in time"}}},
    {"a step that is reached when the next is due is missed", "{'stall': '5', 'stall_by_ns': 10000}", 100000,
     .missed = 1, .looks = {{subm, 6, 70000, "the next is in time"}}},
    /* A period that is no whole number of ticks, and a pacer that is late for a tenth of a second. */
    {"100 ms are 800 steps of 125 us", "{'stall': '100', 'stall_by_ns': 100000000}", 8000, .missed = 800},
    /* 1000 steps of 10 ms take 10 s; steps that are 8.8235 % longer, 10.88 s: those after 10.02 s are never sent. */
    {"a pacer with a wrong period misses nothing, but sends only 10.02 s / 10.88235 ms = 920 samples",
     "{'tick_error_ppm': 88235, 'window_ns': 20000000}", 100, .unsent = STEPS - 920,
     .looks = {{subm, STEPS - 1, NEVER, "the last is never sent"}}},
    /* Held up at step 899 (99 ms) until long after the window closes (101 ms). */
    {"what was due before the window closed (101 ms / 110 us = 918) is missed, what was due later is unsent",
     "{'window_ns': 1000000, 'tick_error_ppm': 100000, 'stall': '899', 'stall_by_ns': 1000000000}", 10000,
     .missed = 918 - 899, .unsent = STEPS - 918},
    /* The same stall as above, but for the one that is sent: step 5, at 85 us; 6 and 7 are missed. */
    {"late: first: what comes due meanwhile is missed, at the end, too",
     "{'late': 'first', 'stall': '5,998', 'stall_by_ns': 25000}", 100000, .missed = 2 + 1,
     .looks = {{subm, 5, 85000, "the first that is due is sent"},
	       {due, 5, 60000, "it keeps its intended time"},
	       {gen, 5, 85000, "when the pacer came to it is known"},
	       {subm, 6, NEVER, "the next is missed"},
	       {gen, 6, NEVER, "the pacer did not come to it"},
	       {due, 7, 80000, "a missed one keeps its intended time"},
	       {subm, 8, 90000, "the next after the stall is in time"},
	       {subm, 998, 10015000, "the last that is sent need not be the last step"}}},
    {"late: first: as many are missed in a long stall", "{'late': 'first', 'stall': '100', 'stall_by_ns': 100000000}",
     8000, .missed = 800,
     .looks = {{due, 100, 12625000, "the first keeps its intended time"},
	       {subm, 100, 112625000, "how late the pacer was is seen"}}},
};

/* Settings are JSON in which ' stands for ". */
static json_t *settings_of(const char *text)
{
	char json[200];

	snprintf(json, sizeof(json), "%s", text);
	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	return json_loads(json, 0, NULL);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *params = make_params(cases[i].rate_hz), *settings = settings_of(cases[i].settings);
		struct counters source;

		json_object_update(params, settings);
		json_decref(settings);
		run(params, &source);
		is_int(source.missed, cases[i].missed, "%s", cases[i].title);
		is_int(source.unsent, cases[i].unsent, "what is never due within the time");
		for (const struct look *l = cases[i].looks; l < cases[i].looks + 8 && l->column; l++)
			is_int(l->column[l->step], l->value, "%s", l->title);
	}
	return done_testing();
}
