#include <stdint.h>
#include <string.h>

#include "common/json.h"
#include "judge/analysis/validity.h"
#include "tap.h"

/* One point's facts: params, counters of three repetitions, a clock and a placement, all in order.
 * Each row below changes some of it. */
struct facts {
	json_t *params, *counters, *clock, *placement, *granted, *state;
	json_t *between;		    /* of two hosts */
	bool stays;			    /* no series needs both hosts' clocks */
	const struct layout_traits *traits; /* NULL: those of its params */
	json_int_t lost;
};

static json_t *side(json_int_t posted)
{
	json_t *j = json_object();

#define X(name, help) json_object_set_new(j, #name, json_integer(0));
#include "common/counters.def"
#undef X
	json_object_set_new(j, "posted", json_integer(posted));
	json_object_set_new(j, "locked", json_integer(1));
	return j;
}

static json_t *one_rep(void)
{
	return json_pack("{s:i, s:o, s:o, s:{s:{s:{s:i}, s:{s:i}}, s:{}}}", "schema", 1, "source", side(1000), "sink",
			 side(0), "device", "source", "before", "port_xmit_packets", 5000, "after", "port_xmit_packets",
			 6000, "sink");
}

static struct facts in_order(void)
{
	return (struct facts){
	    .params = json_pack("{s:s, s:s, s:s}", "transport", "verbs", "qp", "rc", "poll", "busy"),
	    .counters = json_pack("[o, o, o]", one_rep(), one_rep(), one_rep()),
	    .clock = json_pack("{s:s, s:b, s:b, s:f, s:s, s:b}", "source", "tsc", "invariant", 1, "good", 1,
			       "residual_ns", 12.3, "why", "", "common", 1),
	    .placement = json_pack("{s:{s:i, s:b, s:b}, s:{s:i, s:b, s:b}}", "source", "cpu", 2, "shared_smt", 0,
				   "shared_cpu", 0, "sink", "cpu", 3, "shared_smt", 0, "shared_cpu", 0),
	    .state =
		json_pack("{s:s, s:s, s:s, s:s}", "frequency.policy0.governor", "powersave", "frequency.policy0.cpus",
			  "0 1", "frequency.policy2.governor", "performance", "cpu.cpu2.siblings", "2"),
	};
}

static void facts_free(struct facts *f)
{
	json_decref(f->params);
	json_decref(f->counters);
	json_decref(f->clock);
	json_decref(f->placement);
	json_decref(f->granted);
	json_decref(f->state);
	json_decref(f->between);
}

static bool is_set_to(const json_t *params, const char *key, const char *value)
{
	return !strcmp(json_text(params, key), value);
}

/* Those that the measuring side writes for these settings. */
static struct layout_traits traits_of(const json_t *params)
{
	const json_t *limit = json_object_get(params, "missed_limit_ppm");
	const bool new_pages = is_set_to(params, "memory", "fresh") || is_set_to(params, "memory", "untouched");

	return (struct layout_traits){
	    .reliable = !is_set_to(params, "transport", "udp") && !is_set_to(params, "qp", "uc") &&
			!is_set_to(params, "qp", "ud") && !json_is_false(json_object_get(params, "reliable")),
	    .own_clock = is_set_to(params, "transport", "scripted"),
	    .device = is_set_to(params, "transport", "verbs"),
	    .rules = {.page_faults = json_is_false(json_object_get(params, "touch")) ? FAULTS_MEASURED
				     : new_pages				     ? FAULTS_EXPECTED
										     : FAULTS_WRONG,
		      .polls = is_set_to(params, "poll", "busy"),
		      .yields = is_set_to(params, "hand", "yield"),
		      .stores = is_set_to(params, "sink", "file"),
		      .restamps = json_is_true(json_object_get(params, "t_send")),
		      .missed_limit_ppm = json_is_integer(limit) ? json_integer_value(limit) : -1},
	};
}

static struct validity judge(const struct facts *f)
{
	struct validity_facts facts = {.traits = f->traits ? *f->traits : traits_of(f->params),
				       .counters = f->counters,
				       .clock = f->clock,
				       .far_clock = {NULL, json_object_get(f->between, "far")},
				       .between = f->between,
				       .crosses = !f->stays,
				       .crossing = "t_lat",
				       .crossing_p50_ns = 2000,
				       .placement = f->placement,
				       .granted = f->granted,
				       .state = {f->state, f->state},
				       .lost = f->lost};
	struct validity v;

	validity_judge(&facts, &v);
	return v;
}

static void validity_free(struct validity *v)
{
	json_decref(v->reasons);
	json_decref(v->warnings);
}

static void set_counter(struct facts *f, size_t rep, const char *which, const char *name, json_int_t value)
{
	json_object_set_new(json_object_get(json_array_get(f->counters, rep), which), name, json_integer(value));
}

static void set_device(struct facts *f, size_t rep, const char *when, json_t *counters)
{
	json_t *device = json_object_get(json_object_get(json_array_get(f->counters, rep), "device"), "source");

	json_object_set_new(device, when, counters);
}

/* Things that go wrong, one function each. */

static void nothing(struct facts *f)
{
	(void)f;
}

static void page_faults(struct facts *f)
{
	set_counter(f, 0, "source", "page_faults_minor", 4);
	set_counter(f, 2, "source", "page_faults_minor", 1);
	set_counter(f, 2, "source", "page_faults_major", 2);
}

static void one_page_fault(struct facts *f)
{
	set_counter(f, 1, "sink", "page_faults_major", 1);
}

static void page_faults_wanted(struct facts *f)
{
	one_page_fault(f);
	json_object_set_new(f->params, "touch", json_false());
}

static void page_faults_in_touched_memory(struct facts *f)
{
	one_page_fault(f);
	json_object_set_new(f->params, "touch", json_true());
}

static void overflow(struct facts *f)
{
	set_counter(f, 0, "sink", "overflows", 3);
}

static void bad_completion(struct facts *f)
{
	set_counter(f, 0, "source", "bad_completions", 1);
}

static void bad_payload(struct facts *f)
{
	set_counter(f, 0, "sink", "bad_payloads", 2);
}

static void overwritten_stamps(struct facts *f)
{
	set_counter(f, 1, "sink", "overwritten_stamps", 1);
	json_object_set_new(f->params, "t_send", json_true());
}

static void t_send_before_stamps_were_counted(struct facts *f)
{
	json_object_set_new(f->params, "t_send", json_true());
	for (size_t i = 0; i < json_array_size(f->counters); i++)
		json_object_del(json_object_get(json_array_get(f->counters, i), "sink"), "overwritten_stamps");
}

static void lost_device_clock(struct facts *f)
{
	set_counter(f, 1, "sink", "device_clock_lost", 1);
}

static void duplicate(struct facts *f)
{
	set_counter(f, 0, "sink", "duplicates", 1);
}

static void throttled(struct facts *f)
{
	set_counter(f, 0, "source", "throttled", 309);
	set_counter(f, 1, "source", "throttled", 1);
}

static void memory_limited(struct facts *f)
{
	set_counter(f, 2, "sink", "memory_limited", 1);
}

static void others(struct facts *f)
{
	for (size_t i = 0; i < 3; i++)
		set_counter(f, i, "source", "duration_ns", 1000000000);
	set_counter(f, 0, "source", "waited_ns", 600000000);
	set_counter(f, 2, "source", "waited_ns", 1000000);
}

static void others_on_both(struct facts *f)
{
	others(f);
	for (size_t i = 0; i < 3; i++) {
		set_counter(f, i, "sink", "duration_ns", 1000000000);
		set_counter(f, i, "sink", "waited_ns", 1500000000); /* of several threads */
	}
}

static void others_for_a_tick(struct facts *f)
{
	for (size_t i = 0; i < 3; i++)
		set_counter(f, i, "source", "duration_ns", 20000000);
	set_counter(f, 1, "source", "waited_ns", 10000000);
}

static void others_for_little(struct facts *f)
{
	others(f);
	for (size_t i = 0; i < 3; i++)
		set_counter(f, i, "source", "waited_ns", 9000000);
}

static void wakes(struct facts *f)
{
	others(f);
	for (size_t i = 0; i < 3; i++) {
		set_counter(f, i, "source", "waited_ns", 300000000);
		set_counter(f, i, "source", "switches_voluntary", 10000); /* 30 us each */
	}
}

static void others_of_one_that_yields(struct facts *f)
{
	others(f);
	json_object_set_new(f->params, "hand", json_string("yield"));
}

static void others_where_the_sides_share_a_cpu(struct facts *f)
{
	others(f);
	json_object_set_new(json_object_get(f->placement, "sink"), "shared_cpu", json_true());
}

static void migration(struct facts *f)
{
	set_counter(f, 0, "sink", "migrations", 2);
}

static void migration_of_a_sleeper(struct facts *f)
{
	set_counter(f, 0, "sink", "migrations", 2);
	set_counter(f, 0, "sink", "switches_involuntary", 9);
	json_object_set_new(f->params, "poll", json_string("event"));
}

static void involuntary(struct facts *f)
{
	set_counter(f, 1, "source", "switches_involuntary", 1);
}

static void involuntary_of_one_that_yields(struct facts *f)
{
	involuntary(f);
	json_object_set_new(f->params, "hand", json_string("yield"));
}

static void voluntary(struct facts *f)
{
	set_counter(f, 1, "source", "switches_voluntary", 1);
}

static void unlocked(struct facts *f)
{
	set_counter(f, 1, "source", "locked", 0);
}

static void reordered(struct facts *f)
{
	set_counter(f, 1, "sink", "reordered", 5);
}

static void loss_rc(struct facts *f)
{
	f->lost = 3;
}

static void loss_ud(struct facts *f)
{
	f->lost = 3;
	json_object_set_new(f->params, "qp", json_string("ud"));
}

static void loss_uc(struct facts *f)
{
	f->lost = 3;
	json_object_set_new(f->params, "qp", json_string("uc"));
}

static void loss_shmem(struct facts *f)
{
	f->lost = 1;
	json_object_set_new(f->params, "transport", json_string("shmem"));
	json_object_del(f->params, "qp");
}

static void loss_scripted(struct facts *f)
{
	f->lost = 1;
	json_object_set_new(f->params, "transport", json_string("scripted"));
	json_object_set_new(f->params, "reliable", json_true());
}

static void loss_scripted_unreliable(struct facts *f)
{
	loss_scripted(f);
	json_object_set_new(f->params, "reliable", json_false());
}

static void loss_unknown_transport(struct facts *f)
{
	f->lost = 1;
	json_object_set_new(f->params, "transport", json_string("pigeons"));
}

static json_t *with_naks(json_int_t naks)
{
	return json_pack("{s:i, s:I}", "port_xmit_packets", 6000 * !!naks, "rnr_naks", naks);
}

/* Of two sides of one device, which counts for both. */
static void not_ready(struct facts *f)
{
	json_t *device = json_object_get(json_array_get(f->counters, 2), "device");

	set_device(f, 2, "before", with_naks(0));
	set_device(f, 2, "after", with_naks(7));
	json_object_set(device, "sink", json_object_get(device, "source"));
}

static void always_ready(struct facts *f)
{
	set_device(f, 2, "before", with_naks(4));
	set_device(f, 2, "after", json_pack("{s:i, s:i}", "port_xmit_packets", 7000, "rnr_naks", 4));
}

static void ran_empty(struct facts *f)
{
	set_device(f, 0, "before", json_pack("{s:i, s:i}", "port_xmit_packets", 4000, "srq_ran_empty", 1));
	set_device(f, 0, "after", json_pack("{s:i, s:i}", "port_xmit_packets", 7000, "srq_ran_empty", 1));
	set_device(f, 2, "before", json_pack("{s:i, s:i}", "port_xmit_packets", 4000, "srq_ran_empty", 1));
	set_device(f, 2, "after", json_pack("{s:i, s:i}", "port_xmit_packets", 7000, "srq_ran_empty", 2));
}

static void was_visited(struct facts *f)
{
	set_device(f, 0, "before", json_pack("{s:i, s:i}", "port_xmit_packets", 4000, "ended_connections", 1));
	set_device(f, 0, "after", json_pack("{s:i, s:i}", "port_xmit_packets", 7000, "ended_connections", 3));
}

/* What resolved.json says of a transport counts, not its name. */
static void loss_where_it_is_said_to_happen(struct facts *f)
{
	static const struct layout_traits traits = {.reliable = false, .device = true};

	f->lost = 3;
	f->traits = &traits;
}

/* Of a transport that the judge does not know, which states what its counters mean. */
static void stated(struct facts *f, json_t *checks)
{
	static struct layout_traits traits;

	json_decref((json_t *)traits.checks);
	traits = (struct layout_traits){.reliable = true, .device = true, .block = 1, .checks = checks};
	f->traits = &traits;
	set_device(f, 1, "before", json_pack("{s:i}", "pigeons_lost", 2));
	set_device(f, 1, "after", json_pack("{s:i, s:i}", "pigeons_lost", 6, "rnr_naks", 9));
}

static void stated_reason(struct facts *f)
{
	stated(f, json_pack("[{s:s, s:s, s:b}]", "counter", "pigeons_lost", "text",
			    "{n} pigeons {lost} in {reps} of {all} flights{where}: 100 %s", "invalidates", 1));
}

static void stated_warning(struct facts *f)
{
	stated(f, json_pack("[{s:s, s:s}, {s:s, s:s, s:s}]", "counter", "pigeons_lost", "text", "{n} pigeons lost",
			    "counter", "doves_sent", "least", "pigeons", "text", "{n} doves of {of}"));
}

static void stated_least(struct facts *f)
{
	stated(f, json_pack("[{s:s, s:s, s:s, s:s}]", "counter", "doves", "instead", "pigeons_lost", "least", "posted",
			    "text", "only {n} of {of} flew{where}"));
}

static void stated_unknown(struct facts *f)
{
	stated(f, json_pack("[{s:s, s:s, s:s}]", "counter", "eagles", "text", "eagles", "unknown",
			    "nobody counts eagles{where}"));
}

static void stated_nothing(struct facts *f)
{
	stated(f, json_array());
}

static void another_way(struct facts *f)
{
	set_device(f, 1, "after", json_pack("{s:i}", "port_xmit_packets", 5012));
}

static void another_way_rxe(struct facts *f)
{
	for (size_t i = 0; i < 3; i++) {
		set_device(f, i, "before", json_pack("{s:i}", "sent_pkts", 0));
		set_device(f, i, "after", json_pack("{s:i}", "sent_pkts", 0));
	}
}

static void no_device_counter(struct facts *f)
{
	set_device(f, 0, "after", json_object());
}

static void stuck_device_counter(struct facts *f)
{
	for (size_t i = 0; i < 3; i++) {
		set_device(f, i, "before", json_pack("{s:I}", "port_xmit_packets", (json_int_t)UINT32_MAX));
		set_device(f, i, "after", json_pack("{s:I}", "port_xmit_packets", (json_int_t)UINT32_MAX));
	}
}

static void clock_bad(struct facts *f)
{
	json_object_set_new(f->clock, "good", json_false());
	json_object_set_new(f->clock, "why", json_string("it is 1200 ns off a straight line"));
}

static void clock_missing(struct facts *f)
{
	json_decref(f->clock);
	f->clock = NULL;
}

static void clock_not_common(struct facts *f)
{
	json_object_set_new(f->clock, "common", json_false());
}

/* A comparison with that error. */
static void compare_clocks(struct facts *f, int error_ns, bool stepped)
{
	clock_not_common(f);
	f->between = json_pack("{s:[s, s], s:s, s:i, s:b}", "hosts", "alpha", "beta", "method", "exchange", "error_ns",
			       error_ns, "stepped", stepped);
}

static void clocks_compared(struct facts *f)
{
	compare_clocks(f, 200, false);
}

static void clocks_compared_badly(struct facts *f)
{
	compare_clocks(f, 250, false);
}

static void clocks_compared_in_vain(struct facts *f)
{
	compare_clocks(f, 2001, false);
}

static void clocks_stepped(struct facts *f)
{
	compare_clocks(f, 10, true);
}

static void clocks_of_unknown_error(struct facts *f)
{
	compare_clocks(f, 10, false);
	json_object_del(f->between, "error_ns");
}

static void clocks_not_compared(struct facts *f)
{
	clock_not_common(f);
	f->between = json_pack("{s:s, s:s}", "method", "none", "why", "no message of 200 was answered");
}

static void clocks_not_needed(struct facts *f)
{
	clocks_not_compared(f);
	f->stays = true;
}

static void far_counter_bad(struct facts *f)
{
	clocks_compared(f);
	json_object_set_new(f->between, "far", json_pack("{s:b, s:s}", "good", 0, "why", "it stepped back"));
}

static void clock_not_invariant(struct facts *f)
{
	json_object_set_new(f->clock, "invariant", json_false());
}

static void clock_of_scripted(struct facts *f)
{
	clock_bad(f);
	clock_not_common(f);
	json_object_set_new(f->params, "transport", json_string("scripted"));
	json_object_set_new(f->params, "reliable", json_true());
}

static void clock_of_its_own(struct facts *f)
{
	static const struct layout_traits traits = {.reliable = true, .own_clock = true};

	clock_bad(f);
	another_way(f);
	f->traits = &traits;
}

static void counter_missing(struct facts *f)
{
	json_object_del(json_object_get(json_array_get(f->counters, 1), "sink"), "page_faults_major");
}

static void counter_negative(struct facts *f)
{
	set_counter(f, 0, "source", "duplicates", -1);
}

static void counter_text(struct facts *f)
{
	json_object_set_new(json_object_get(json_array_get(f->counters, 1), "sink"), "overflows", json_string("none"));
}

static void counter_huge(struct facts *f)
{
	for (size_t i = 0; i < 3; i++)
		set_counter(f, i, "sink", "duplicates", INT64_MAX);
}

static void counters_empty(struct facts *f)
{
	json_array_clear(f->counters);
}

static void counters_missing(struct facts *f)
{
	json_decref(f->counters);
	f->counters = NULL;
}

static void shared_cpu(struct facts *f)
{
	json_object_set_new(json_object_get(f->placement, "sink"), "shared_cpu", json_true());
}

static void shared_core(struct facts *f)
{
	json_object_set_new(json_object_get(f->placement, "sink"), "shared_smt", json_true());
}

static void other_lane(struct facts *f)
{
	f->granted = json_pack("{s:{s:s, s:s}, s:{s:s, s:s}}", "source", "lane", "rc_verbs/mlx5_0:1", "expected_lane",
			       "rc_verbs", "sink", "lane", "tcp/lo.0", "expected_lane", "rc");
}

static void same_lane(struct facts *f)
{
	f->granted = json_pack("{s:{s:s, s:s}, s:{s:s}}", "source", "lane", "rc_verbs/mlx5_0:1", "expected_lane",
			       "rc_verbs/mlx5_0:1", "sink", "lane", "tcp/lo.0");
}

static void lane_with_a_layer(struct facts *f)
{
	f->granted = json_pack("{s:{s:s, s:s}, s:{s:s, s:s}}", "source", "lane", "tcp;ofi_rxm/lo", "expected_lane",
			       "tcp", "sink", "lane", "tcp;ofi_rxm/lo", "expected_lane", "tcp;ofi_rxd");
}

static void unknown_lane(struct facts *f)
{
	f->granted = json_pack("{s:{s:s}}", "source", "expected_lane", "rc_verbs");
}

/* A lane of the source, what must count its messages, and what moved in each repetition: 1000 messages of 64 bytes were
 * sent, and as many were received. */
static void lane_with(struct facts *f, const char *lane, const char *expected, json_t *witness, json_t *moved)
{
	json_t *rep, *before, *after, *value;
	const char *key;
	size_t i;

	json_object_update_new(witness, json_pack("{s:i, s:i}", "sent_bytes", 64, "received_bytes", 64));
	f->granted =
	    json_pack("{s:{s:s, s:s*, s:o}}", "source", "lane", lane, "expected_lane", expected, "witness", witness);
	json_array_foreach (f->counters, i, rep) {
		json_t *device = json_object_get(json_object_get(rep, "device"), "source");

		json_object_set_new(json_object_get(rep, "source"), "received", json_integer(1000));
		before = json_object_get(device, "before");
		after = json_object_get(device, "after");
		json_object_foreach (moved, key, value) {
			json_object_set_new(before, key, json_integer(5));
			json_object_set_new(after, key, json_integer(5 + json_integer_value(value)));
		}
	}
	json_decref(moved);
}

static void other_version(struct facts *f)
{
	f->granted = json_pack("{s:{s:s}, s:{s:s}}", "source", "library", "1.13.1", "sink", "library", "1.17.0");
}

static void same_version(struct facts *f)
{
	f->granted = json_pack("{s:{s:s}, s:{s:s}}", "source", "library", "1.13.1", "sink", "library", "1.13.1");
}

static void memory_kept(struct facts *f)
{
	lane_with(f, "posix/memory.0", "posix", json_pack("{s:s, s:s}", "kind", "none", "name", ""),
		  json_pack("{s:i, s:i}", "socket_bytes", 12799, "lo.bytes", 4000000));
}

static void memory_left(struct facts *f)
{
	lane_with(f, "posix/memory.0", "posix", json_pack("{s:s, s:s}", "kind", "none", "name", ""),
		  json_pack("{s:i, s:i, s:i}", "socket_bytes", 12800, "lo.bytes", 40, "eth0.bytes", 50));
}

static void loopback_carried(struct facts *f)
{
	lane_with(f, "tcp/lo.0", "tcp", json_pack("{s:s, s:s, s:b}", "kind", "interface", "name", "lo", "loopback", 1),
		  json_pack("{s:i}", "lo.bytes", 256000));
}

static void loopback_idle(struct facts *f)
{
	lane_with(f, "tcp/lo.0", "tcp", json_pack("{s:s, s:s, s:b}", "kind", "interface", "name", "lo", "loopback", 1),
		  json_pack("{s:i, s:i}", "lo.bytes", 255999, "eth1.bytes", 300000));
}

static void interface_shortcut(struct facts *f)
{
	lane_with(f, "tcp/eth0.0", "tcp", json_pack("{s:s, s:s}", "kind", "interface", "name", "eth0"),
		  json_pack("{s:i, s:i}", "eth0.bytes", 0, "lo.bytes", 256000));
}

static void interface_expected(struct facts *f)
{
	lane_with(f, "tcp/eth0.0", "tcp/eth0.0", json_pack("{s:s, s:s}", "kind", "interface", "name", "eth0"),
		  json_pack("{s:i, s:i}", "eth0.bytes", 0, "lo.bytes", 256000));
}

static void port_idle(struct facts *f)
{
	lane_with(f, "rc_verbs/rxe0:1.0", "rc_verbs", json_pack("{s:s, s:s}", "kind", "port", "name", "rxe0:1"),
		  json_pack("{s:i, s:i}", "rxe0:1.packets", 999, "d0.bytes", 70000));
}

static void port_busy(struct facts *f)
{
	lane_with(f, "rc_verbs/rxe0:1.0", "rc_verbs", json_pack("{s:s, s:s}", "kind", "port", "name", "rxe0:1"),
		  json_pack("{s:i}", "rxe0:1.packets", 1000));
}

static void port_without_counters(struct facts *f)
{
	lane_with(f, "verbs/efa0", "verbs", json_pack("{s:s, s:s}", "kind", "port", "name", "efa0:1"), json_object());
}

static void lane_without_witness(struct facts *f)
{
	lane_with(f, "cxi/cxi0", "cxi", json_pack("{s:s, s:s}", "kind", "unknown", "name", ""), json_object());
}

/* The source's interface and the messages that it sent and received: 1000 of 64 bytes. */
static void bypass_with(struct facts *f, json_int_t moved, json_t *libraries)
{
	json_t *rep, *device;
	size_t i;

	f->granted = json_pack("{s:{s:{s:s, s:i, s:o}}}", "source", "bypass", "carrier", "eth0", "message_bytes", 64,
			       "libraries", libraries);
	json_array_foreach (f->counters, i, rep) {
		device = json_object_get(json_object_get(rep, "device"), "source");
		json_object_update_new(json_object_get(device, "before"),
				       json_pack("{s:i, s:i}", "kernel_tx_bytes", 70, "kernel_rx_bytes", 80));
		json_object_update_new(json_object_get(device, "after"),
				       json_pack("{s:I, s:i}", "kernel_tx_bytes", 70 + moved, "kernel_rx_bytes", 80));
	}
}

static void no_bypass(struct facts *f)
{
	bypass_with(f, 64000, json_array());
}

static void lost_bypass(struct facts *f)
{
	bypass_with(f, 6400, json_pack("[s, s]", "libvma.so", "libother.so"));
}

static void kept_bypass(struct facts *f)
{
	bypass_with(f, 6399, json_pack("[s]", "libvma.so"));
}

static void unknown_bypass(struct facts *f)
{
	f->granted = json_pack("{s:{s:{s:i}}}", "source", "bypass", "message_bytes", 64);
}

static void scaling(struct facts *f)
{
	json_object_set_new(json_object_get(f->placement, "source"), "cpu", json_integer(1));
}

static void sibling(struct facts *f)
{
	json_object_set_new(f->state, "cpu.cpu3.siblings", json_string("3,19"));
}

static void unpinned(struct facts *f)
{
	json_object_set_new(json_object_get(f->placement, "source"), "cpu", json_null());
	sibling(f);
	json_object_set_new(json_object_get(f->placement, "sink"), "cpu", json_string("all"));
}

static void slow_cpu(struct facts *f)
{
	json_object_set_new(json_object_get(f->placement, "source"), "slow_cpu", json_true());
}

static void strange_state(struct facts *f)
{
	json_object_set_new(f->state, "frequency.policy2.governor", json_integer(3));
	json_object_set_new(f->state, "frequency.policy2.cpus", json_string("!EACCES"));
	json_object_set_new(f->state, "cpu.cpu2.siblings", json_string("x\ny"));
	json_object_set_new(f->state, ".governor", json_string("powersave"));
}

static const struct row {
	const char *what;
	void (*change)(struct facts *f);
	const char *reason, *warning; /* NULL: none; else the only one */
} rows[] = {
    {"nothing is wrong", nothing, NULL, NULL},
    {"page faults", page_faults, "7 page faults inside the measured interval (source, 2 of 3 repetitions)", NULL},
    {"one page fault", one_page_fault, "1 page fault inside the measured interval (sink, 1 of 3 repetitions)", NULL},
    {"page faults that are the subject", page_faults_wanted, NULL,
     "1 page fault inside the measured interval, as intended by `touch: no` (sink, 1 of 3 repetitions)"},
    {"page faults in touched memory", page_faults_in_touched_memory,
     "1 page fault inside the measured interval (sink, 1 of 3 repetitions)", NULL},
    {"a recorder overflow", overflow,
     "3 messages whose numbers are outside the recorder's range (sink, 1 of 3 repetitions)", NULL},
    {"a bad completion", bad_completion, "1 bad completion inside the measured interval (source, 1 of 3 repetitions)",
     NULL},
    {"bad payloads", bad_payload, "2 payloads that differ from what was sent (sink, 1 of 3 repetitions)", NULL},
    {"a stamp that was overwritten", overwritten_stamps,
     "1 message whose t_send is later than its t_recv: the stamp was overwritten before it was read (sink, 1 of 3 "
     "repetitions)",
     NULL},
    {"a run of before such stamps were counted", t_send_before_stamps_were_counted, NULL, NULL},
    {"a device's clock that was lost", lost_device_clock, NULL,
     "1 repetition without the device's stamps: its clock could not be read, stood still, or may have wrapped around "
     "(sink, 1 of 3 repetitions)"},
    {"a duplicate", duplicate, "1 message received more than once (sink, 1 of 3 repetitions)", NULL},
    {"a CPU quota that was used up", throttled,
     "310 periods in which a control group of the process had used up its CPU quota (cpu.max), and stood still "
     "(source, 2 "
     "of 3 repetitions)",
     NULL},
    {"a limit of memory that was reached", memory_limited, NULL,
     "1 time that a control group of the process reached its limit of memory (memory.high, memory.max) (sink, 1 of 3 "
     "repetitions)"},
    {"others on the same CPU", others, NULL,
     "its threads could have run, and waited for a CPU that others had, for 20 % of the measured time (source, 1 of 3 "
     "repetitions)"},
    {"others on both CPUs", others_on_both, NULL,
     "its threads could have run, and waited for a CPU that others had, for 100 % of the measured time (source and "
     "sink, 3 of 3 repetitions)"},
    {"a tick's worth of others", others_for_a_tick, NULL, NULL},
    {"others for little of the time", others_for_little, NULL, NULL},
    {"a thread that sleeps, and wakes on an idle CPU", wakes, NULL, NULL},
    {"threads that give way to each other", others_of_one_that_yields, NULL, NULL},
    {"a CPU of the slower kind", slow_cpu, NULL, "CPU 2 is of a slower kind than others of its machine (source)"},
    {"the two sides on one CPU", others_where_the_sides_share_a_cpu, NULL, "source and sink share a CPU"},
    {"a migration", migration, NULL, "2 migrations of the polling thread to another CPU (sink, 1 of 3 repetitions)"},
    {"a migration in event mode", migration_of_a_sleeper, NULL, NULL},
    {"an involuntary switch", involuntary, NULL,
     "1 involuntary context switch of the polling thread (source, 1 of 3 repetitions)"},
    {"the same of who yields", involuntary_of_one_that_yields, NULL, NULL},
    {"a voluntary switch", voluntary, NULL, NULL},
    {"memory not locked", unlocked, NULL,
     "the memory is not locked; raise the limit (ulimit -l) (source, 1 of 3 repetitions)"},
    {"reordering", reordered, NULL, NULL},
    {"loss over rc", loss_rc, "3 of 3000 messages lost on a reliable transport", NULL},
    {"loss over ud", loss_ud, NULL, "3 of 3000 messages lost (0.1 %)"},
    {"loss over uc", loss_uc, NULL, "3 of 3000 messages lost (0.1 %)"},
    {"loss over shmem", loss_shmem, "1 of 3000 messages lost on a reliable transport", NULL},
    {"loss over scripted", loss_scripted, "1 of 3000 messages lost on a reliable transport", NULL},
    {"loss over unreliable scripted", loss_scripted_unreliable, NULL, "1 of 3000 messages lost (0.0333 %)"},
    {"loss over a transport not known here", loss_unknown_transport, "1 of 3000 messages lost on a reliable transport",
     NULL},
    {"loss over a transport that is said to lose", loss_where_it_is_said_to_happen, NULL,
     "3 of 3000 messages lost (0.1 %)"},
    {"a transport that is said to have its own clock and no device", clock_of_its_own, NULL, NULL},
    {"another way", another_way,
     "the messages took another path: the device sent 12 packets for 1000 messages (source, 1 of 3 repetitions)", NULL},
    {"another way than a Soft-RoCE device", another_way_rxe,
     "the messages took another path: the device sent 0 packets for 3000 messages (source, 3 of 3 repetitions)", NULL},
    {"no counter of the device", no_device_counter, NULL,
     "it was not checked whether the messages went through the device: it does not count sent packets (source, 1 of 3 "
     "repetitions)"},
    {"a counter at its end", stuck_device_counter, NULL,
     "it was not checked whether the messages went through the device: it does not count sent packets (source, 3 of 3 "
     "repetitions)"},
    {"a receiver that was not ready", not_ready, NULL,
     "the device was told 7 times that the receiver was not ready (RNR NAK), and waited before it sent again (source, "
     "1 of 3 repetitions); a larger recv_depth or a faster receiver helps"},
    {"a receiver that was not ready before", always_ready, NULL, NULL},
    {"a shared receive queue that ran empty", ran_empty, NULL,
     "a shared receive queue ran empty in 1 of 3 repetitions"},
    {"connections of other programs", was_visited, NULL,
     "2 connections ended while messages were measured, in 1 of 3 repetitions: another program was connected, or sent "
     "more bytes than a message has"},
    {"a bad clock", clock_bad, "the tick counter failed its checks: it is 1200 ns off a straight line", NULL},
    {"no clock", clock_missing, "the tick counter was not checked", NULL},
    {"two clocks", clock_not_common, "source and sink have no common clock", NULL},
    {"two clocks, compared well", clocks_compared, NULL, NULL},
    {"an error of more than a tenth of the median", clocks_compared_badly, NULL,
     "the error of the clock between alpha and beta, 0.25 us, is 12 % of the median of t_lat"},
    {"an error larger than the median", clocks_compared_in_vain,
     "the error of the clock between alpha and beta, 2 us, is larger than the median of t_lat, 2 us; round trips "
     "need no common clock",
     NULL},
    {"a clock that was set", clocks_stepped,
     "the clocks of alpha and beta moved relative to each other: one of them was set or stopped during the "
     "measurement",
     NULL},
    {"a comparison without an error", clocks_of_unknown_error,
     "the error of the clock between alpha and beta is not known", NULL},
    {"two clocks that could not be compared", clocks_not_compared,
     "source and sink have no common clock: no message of 200 was answered", NULL},
    {"two clocks, and no series that needs both", clocks_not_needed, NULL, NULL},
    {"the other host's tick counter", far_counter_bad,
     "the tick counter of the sink's host failed its checks: it stepped back", NULL},
    {"no invariant counter", clock_not_invariant, NULL,
     "the processor does not promise an invariant time-stamp counter; as measured, it deviates from a straight line by "
     "at most 12 ns"},
    {"the clock of a transport that has its own", clock_of_scripted, NULL, NULL},
    {"a counter missing", counter_missing,
     "not recorded: page faults inside the measured interval (sink, 1 of 3 repetitions)", NULL},
    {"a counter below zero", counter_negative,
     "not recorded: messages received more than once (source, 1 of 3 repetitions)", NULL},
    {"a counter that is a text", counter_text,
     "not recorded: messages whose numbers are outside the recorder's range (sink, 1 of 3 repetitions)", NULL},
    {"counters beyond 64 bits", counter_huge,
     "9223372036854775807 messages received more than once (sink, 3 of 3 repetitions)", NULL},
    {"no repetition", counters_empty, "its repetitions have no counters", NULL},
    {"no counters", counters_missing, "its repetitions have no counters", NULL},
    {"another lane", other_lane, "the messages were carried by tcp/lo.0, not by rc (sink)", NULL},
    {"the lane that was expected, and one that nobody expected", same_lane, NULL,
     "what carries the messages was left to the library: tcp/lo.0 (sink)"},
    {"a lane with another layer", lane_with_a_layer,
     "the messages were carried by tcp;ofi_rxm/lo, not by tcp;ofi_rxd (sink)", NULL},
    {"no lane is known", unknown_lane, "the messages were carried by an unknown lane, not by rc_verbs (source)", NULL},
    {"two versions of a library", other_version, NULL,
     "the two sides have different versions of the library: 1.13.1 and 1.17.0"},
    {"one version of a library", same_version, NULL, NULL},
    {"memory that carried the messages, beside a busy interface", memory_kept, NULL, NULL},
    {"sockets instead of memory", memory_left,
     "the library says that posix/memory.0 carried the messages, but the process's sockets moved 38400 bytes for 6000 "
     "of "
     "them; eth0 moved most (source, 3 of 3 repetitions)",
     NULL},
    {"loopback that carried the messages", loopback_carried, NULL, NULL},
    {"an interface that moved less than the messages have", loopback_idle,
     "the library says that tcp/lo.0 carried the messages, but it moved only 767997 bytes for 6000 of them; eth1 moved "
     "most (source, 3 of 3 repetitions)",
     NULL},
    {"loopback instead of an interface", interface_shortcut, NULL,
     "the library says that tcp/eth0.0 carried the messages, but loopback did: both sides are on one machine (source, "
     "3 "
     "of 3 repetitions)"},
    {"loopback instead of the interface that was expected", interface_expected,
     "the library says that tcp/eth0.0 carried the messages, but loopback did: both sides are on one machine (source, "
     "3 "
     "of 3 repetitions)",
     NULL},
    {"a port that sent fewer packets than messages", port_idle,
     "the library says that rc_verbs/rxe0:1.0 carried the messages, but it sent only 2997 packets for 6000 of them; d0 "
     "moved most (source, 3 of 3 repetitions)",
     NULL},
    {"a port that sent a packet for each message", port_busy, NULL, NULL},
    {"a port without counters", port_without_counters, NULL,
     "no counter tells whether verbs/efa0 carried the messages (source)"},
    {"a lane that nothing counts", lane_without_witness, NULL,
     "no counter tells whether cxi/cxi0 carried the messages (source)"},
    {"no bypass", no_bypass,
     "bypass is expected, but the kernel carried messages: eth0 moved 192000 bytes for 3000 messages; no library was "
     "preloaded (source, 3 of 3 repetitions)",
     NULL},
    {"a bypass for most messages", lost_bypass,
     "bypass is expected, but the kernel carried messages: eth0 moved 19200 bytes for 3000 messages; preloaded: "
     "libvma.so, libother.so (source, 3 of 3 repetitions)",
     NULL},
    {"a bypass beside other traffic", kept_bypass, NULL, NULL},
    {"a bypass of which nothing is known", unknown_bypass,
     "bypass is expected, but whether the kernel carried messages is not known: its interface has no counters (source, "
     "3 of 3 repetitions)",
     NULL},
    {"a check that the transport states", stated_reason,
     "4 pigeons {lost} in 1 of 3 flights (source, 1 of 3 repetitions): 100 %s", NULL},
    {"one that only warns, beside one without its counter", stated_warning, NULL, "4 pigeons lost"},
    {"a counter that must rise as far as another", stated_least, NULL,
     "only 4 of 1000 flew (source, 1 of 3 repetitions)"},
    {"a counter that is not there", stated_unknown, NULL, "nobody counts eagles (source, 3 of 3 repetitions)"},
    {"a transport that states nothing", stated_nothing, NULL, NULL},
    {"one CPU", shared_cpu, NULL, "source and sink share a CPU"},
    {"one core", shared_core, NULL, "source and sink share a core: they are SMT siblings"},
    {"frequency scaling", scaling, NULL, "the frequency of CPU 1 may change: its governor is 'powersave' (source)"},
    {"an SMT sibling", sibling, NULL, "CPU 3 shares its core with a sibling that may be busy: 3,19 (sink)"},
    {"threads that are not pinned", unpinned, NULL, NULL},
    {"a strange state", strange_state, NULL, NULL},
};

static void only(const json_t *list, const char *want, const char *what, const char *kind)
{
	if (!want) {
		is_int((long long)json_array_size(list), 0, "%s: no %s", what, kind);
		return;
	}
	is_int((long long)json_array_size(list), 1, "%s: one %s", what, kind);
	is_str(json_string_value(json_array_get(list, 0)), want, "%s: the %s", what, kind);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct facts f = in_order();
		struct validity v;

		rows[i].change(&f);
		v = judge(&f);
		only(v.reasons, rows[i].reason, rows[i].what, "reason");
		only(v.warnings, rows[i].warning, rows[i].what, "warning");
		validity_free(&v);
		facts_free(&f);
	}
	return done_testing();
}
