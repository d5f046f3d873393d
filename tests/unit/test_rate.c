/* The kernel `rate` over the scripted transport: what becomes of each step, where the truth is known. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/npy.h"
#include "fixture_params.h"
#include "kernels/rate.h"
#include "point/flow.h"
#include "tap.h"
#include "transports/scripted.h"

#define STEPS 1000

extern const struct kernel_loops rate_loops_scripted;

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
	is_int(rate_loops_scripted.loop[role == ROLE_SOURCE ? RATE_SOURCE : RATE_SINK](&w), 0, "the loop ends well");
	*counters = w.counters;
	json_decref(address);
	t->ops->close(t);
	flow_free(&flow);
}

/* Both sides, and what must hold whatever goes wrong with the pacer. */
static void run(json_t *params, struct counters *source)
{
	struct scripted_settings s = {.schedule = {.messages = STEPS}};
	struct counters sink;
	int wrong_due = 0, wrong_subm = 0, wrong_recv = 0;

	for (int i = 0; i < STEPS; i++)
		due[i] = gen[i] = subm[i] = recv[i] = NEVER;
	s.schedule.rate_hz = json_integer_value(json_object_get(params, "rate_hz"));
	s.schedule.tick_error_ppm = json_integer_value(json_object_get(params, "tick_error_ppm"));
	s.schedule.window_ns = json_integer_value(json_object_get(params, "window_ns"));
	s.stall_by = json_integer_value(json_object_get(params, "stall_by_ns"));
	s.schedule.keeps_first = !strcmp(json_string_value(json_object_get(params, "late")), "first");
	snprintf(s.stall, sizeof(s.stall), "%s", json_string_value(json_object_get(params, "stall")));
	scripted_pace(&s, truth);
	run_side(ROLE_SOURCE, params, source);
	run_side(ROLE_SINK, params, &sink);
	for (int i = 0; i < STEPS; i++) {
		wrong_due += due[i] != scripted_due(&s, i);
		wrong_subm += subm[i] != truth[i];
		wrong_recv += recv[i] != (truth[i] == NEVER ? NEVER : truth[i] + 700);
	}
	is_int(wrong_due, 0, "every step has the time it was intended for");
	is_int(wrong_subm, 0, "every sample was submitted when it must have been, or not at all");
	is_int(wrong_recv, 0, "every sample that was submitted arrived, and no other");
	is_int(source->posted + source->missed + source->unsent, STEPS, "no step is unaccounted for");
	is_int(sink.received, source->posted, "received is posted");
	json_decref(params);
}

static void test_punctual(void)
{
	struct counters source;

	run(make_params(100000), &source);
	is_int(source.missed, 0, "a pacer that is in time misses nothing");
	is_int(due[0], 10000, "the first step is due after one period");
	is_int(subm[STEPS - 1], STEPS * 10000, "the last after all of them");
}

static void test_late(void)
{
	json_t *params = make_params(100000);
	struct counters source;

	json_object_set_new(params, "stall", json_string("5,10-11,500"));
	json_object_set_new(params, "stall_by_ns", json_integer(9999));
	run(params, &source);
	is_int(source.missed, 0, "less than a period late is late, not missed");
	is_int(subm[5] - due[5], 9999, "and how late can be seen");
	is_int(due[5], 60000, "against the time that was intended");
}

/* Step 5 is due at 60 us; the pacer comes to it at 85: 5 and 6 (70) are missed, 7 (80) is sent at once, 8 (90) in time. */
static void test_missed(void)
{
	json_t *params = make_params(100000);
	struct counters source;

	json_object_set_new(params, "stall", json_string("5,998"));
	json_object_set_new(params, "stall_by_ns", json_integer(25000));
	run(params, &source);
	is_int(source.missed, 2 + 2, "what the next step overtakes is missed");
	is_int(due[5], 60000, "a missed step keeps its intended time");
	ok(subm[5] == NEVER && recv[5] == NEVER, "and has no other");
	is_int(subm[7], 85000, "the last that is due is sent at once");
	is_int(subm[8], 90000, "and then it goes on in time");
}

static void test_exactly_a_period(void)
{
	json_t *params = make_params(100000);
	struct counters source;

	json_object_set_new(params, "stall", json_string("5"));
	json_object_set_new(params, "stall_by_ns", json_integer(10000));
	run(params, &source);
	is_int(source.missed, 1, "a step that is reached when the next is due is missed");
	is_int(subm[6], 70000, "the next is in time");
}

/* A period that is no whole number of ticks, and a pacer that is late for a tenth of a second. */
static void test_long_stall(void)
{
	json_t *params = make_params(8000);
	struct counters source;

	json_object_set_new(params, "stall", json_string("100"));
	json_object_set_new(params, "stall_by_ns", json_integer(100000000));
	run(params, &source);
	is_int(source.missed, 800, "100 ms are 800 steps of 125 us");
}

/* 1000 steps of 10 ms take 10 s; steps that are 8.8235 % longer, 10.88 s: those after 10.02 s are never sent. */
static void test_window(void)
{
	json_t *params = make_params(100);
	struct counters source;

	json_object_set_new(params, "tick_error_ppm", json_integer(88235));
	json_object_set_new(params, "window_ns", json_integer(20000000));
	run(params, &source);
	is_int(source.missed, 0, "a pacer with a wrong idea of time misses nothing by its own");
	is_int(source.unsent, STEPS - 920, "but sends only 10.02 s / 10.88235 ms = 920 samples before the time is up");
	ok(due[STEPS - 1] > 0 && subm[STEPS - 1] == NEVER, "the others keep their times");
}

/* Held up at step 899 (99 ms) until long after the window closes (101 ms). */
static void test_late_beyond_window(void)
{
	json_t *params = make_params(10000);
	struct counters source;

	json_object_set_new(params, "window_ns", json_integer(1000000));
	json_object_set_new(params, "tick_error_ppm", json_integer(100000));
	json_object_set_new(params, "stall", json_string("899"));
	json_object_set_new(params, "stall_by_ns", json_integer(1000000000));
	run(params, &source);
	is_int(source.posted, 899, "the steps before are sent");
	is_int(source.missed, 19, "what was due before the window closed (101 ms / 110 us = 918) is missed");
	is_int(source.unsent, STEPS - 918, "what was due later is unsent");
}

/* As test_missed, but for the one that is sent: step 5, at 85 us; 6 and 7 are missed. */
static void test_first(void)
{
	json_t *params = make_params(100000);
	struct counters source;

	json_object_set_new(params, "late", json_string("first"));
	json_object_set_new(params, "stall", json_string("5,998"));
	json_object_set_new(params, "stall_by_ns", json_integer(25000));
	run(params, &source);
	is_int(source.missed, 2 + 1, "late: first: what came due meanwhile is missed, at the end, too");
	is_int(subm[5], 85000, "the first that is due is sent");
	is_int(due[5], 60000, "with the time it was intended for: its lateness is more than a period");
	is_int(gen[5], 85000, "and the time at which the pacer came to it");
	ok(subm[6] == NEVER && gen[6] == NEVER && due[6] == 70000 && subm[7] == NEVER && due[7] == 80000,
	   "the others keep their intended times");
	is_int(subm[8], 90000, "and then it goes on in time");
	is_int(subm[998], 10015000, "the last that is sent need not be the last step");
}

static void test_first_after_long_stall(void)
{
	json_t *params = make_params(8000);
	struct counters source;

	json_object_set_new(params, "late", json_string("first"));
	json_object_set_new(params, "stall", json_string("100"));
	json_object_set_new(params, "stall_by_ns", json_integer(100000000));
	run(params, &source);
	is_int(source.missed, 800, "late: first: as many are missed");
	is_int(subm[100] - due[100], 100000000, "and how late the pacer was is seen");
}

int main(void)
{
	test_punctual();
	test_late();
	test_missed();
	test_exactly_a_period();
	test_long_stall();
	test_window();
	test_late_beyond_window();
	test_first();
	test_first_after_long_stall();
	return done_testing();
}
