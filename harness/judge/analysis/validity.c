#include "judge/analysis/validity.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/json.h"
#include "common/text.h"
#include "files/rundir/checks.h"
#include "files/rundir/reader.h"

#define TEXT_MAX 400
#define AT_MAX	 96
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum side { SOURCE, SINK, SIDES };
static const char *const side_names[SIDES] = {"source", "sink"};

__attribute__((format(printf, 2, 3))) static void validity_say(json_t *list, const char *format, ...)
{
	char raw[TEXT_MAX], text[TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	/* Parts may come from files, so the text is cleaned: it must be printable and valid in JSON. */
	json_array_append_new(list, json_string(text_clean(raw, strlen(raw), text, sizeof(text))));
}

/* --- what rules apply to --- */

/* Of another program's requests: what happens to its threads is what is measured. */
static bool is_traced(const struct layout_rules *r)
{
	return r->traced;
}

static bool is_stored(const struct layout_rules *r)
{
	return r->stores;
}

static bool is_restamped(const struct layout_rules *r)
{
	return r->restamps;
}

static bool is_polling(const struct layout_rules *r)
{
	return r->polls;
}

static bool keeps_its_cpu(const struct layout_rules *r)
{
	return r->polls && !r->yields;
}

/* With untouched memory for stamps (`touch: no`), page faults are what is measured. */
static bool is_untouched(const struct layout_rules *r)
{
	return r->page_faults == FAULTS_MEASURED;
}

static bool is_touched(const struct layout_rules *r)
{
	return r->page_faults == FAULTS_WRONG && !r->traced;
}

/* --- counters --- */

struct rule {
	const char *counters[2];		       /* added up */
	bool invalidates;			       /* otherwise it warns */
	bool is_flag;				       /* the rule applies if it is 0 */
	bool (*applies)(const struct layout_rules *r); /* NULL: to all points but those of another program's requests */
	const char *one, *many;			       /* text after the number; for a flag: the whole text */
	bool is_newer; /* earlier versions did not count it, so the rule ignores their runs */
};

static const struct rule rules[] = {
    {.counters = {"page_faults_minor", "page_faults_major"},
     .invalidates = true,
     .applies = is_touched,
     .one = "page fault inside the measured interval",
     .many = "page faults inside the measured interval"},
    {.counters = {"page_faults_minor", "page_faults_major"},
     .applies = is_untouched,
     .one = "page fault inside the measured interval, as intended by `touch: no`",
     .many = "page faults inside the measured interval, as intended by `touch: no`"},
    {.counters = {"overflows"},
     .invalidates = true,
     .one = "message whose number is outside the recorder's range",
     .many = "messages whose numbers are outside the recorder's range"},
    {.counters = {"bad_completions"},
     .invalidates = true,
     .one = "bad completion inside the measured interval",
     .many = "bad completions inside the measured interval"},
    {.counters = {"bad_payloads"},
     .invalidates = true,
     .one = "payload that differs from what was sent",
     .many = "payloads that differ from what was sent"},
    {.counters = {"bad_memory"},
     .invalidates = true,
     .is_newer = true,
     .one = "memory location with wrong contents after the operations",
     .many = "memory locations with wrong contents after the operations"},
    {.counters = {"overwritten_stamps"},
     .invalidates = true,
     .is_newer = true,
     .applies = is_restamped,
     .one = "message whose t_send is later than its t_recv: the stamp was overwritten before it was read",
     .many = "messages whose t_send is later than their t_recv: the stamps were overwritten before they were read"},
    {.counters = {"duplicates"},
     .invalidates = true,
     .one = "message received more than once",
     .many = "messages received more than once"},
    {.counters = {"cpu_lost"},
     .invalidates = true,
     .is_newer = true,
     .one = "measuring thread lost its CPU: that went offline, or another program moved the thread",
     .many = "measuring threads lost their CPU: that went offline, or another program moved them"},
    {.counters = {"throttled"},
     .invalidates = true,
     .is_newer = true,
     .one = "period in which a control group of the process had used up its CPU quota (cpu.max), and stood still",
     .many = "periods in which a control group of the process had used up its CPU quota (cpu.max), and stood still"},
    {.counters = {"memory_limited"},
     .is_newer = true,
     .one = "time that a control group of the process reached its limit of memory (memory.high, memory.max)",
     .many = "times that a control group of the process reached its limit of memory (memory.high, memory.max)"},
    {.counters = {"migrations"},
     .applies = is_polling,
     .one = "migration of the polling thread to another CPU",
     .many = "migrations of the polling thread to another CPU"},
    {.counters = {"switches_involuntary"},
     .applies = keeps_its_cpu,
     .one = "involuntary context switch of the polling thread",
     .many = "involuntary context switches of the polling thread"},
    {.counters = {"device_clock_lost"},
     .is_newer = true,
     .one =
	 "repetition without the device's stamps: its clock could not be read, stood still, or may have wrapped around",
     .many = "repetitions without the device's stamps: its clock could not be read, stood still, or may have wrapped "
	     "around"},
    {.counters = {"store_waits"},
     .applies = is_stored,
     .one = "sample had to wait for the file",
     .many = "samples had to wait for the file"},
    {.counters = {"stamps_lost"},
     .invalidates = true,
     .is_newer = true,
     .applies = is_traced,
     .one = "stamp for which there was no room: the program writes them faster than they are read",
     .many = "stamps for which there was no room: the program writes them faster than they are read"},
    {.counters = {"threads_lost"},
     .invalidates = true,
     .is_newer = true,
     .applies = is_traced,
     .one = "thread too many: its stamps are missing",
     .many = "threads too many: their stamps are missing"},
    {.counters = {"places_missing"},
     .invalidates = true,
     .is_newer = true,
     .applies = is_traced,
     .one = "place of the function without a probe: requests are missing",
     .many = "places of the function without a probe: requests are missing"},
    {.counters = {"requests_open"},
     .is_newer = true,
     .applies = is_traced,
     .one = "request began and did not end",
     .many = "requests began and did not end"},
    {.counters = {"requests_strange"},
     .is_newer = true,
     .applies = is_traced,
     .one = "request ended that had not begun",
     .many = "requests ended that had not begun"},
    {.counters = {"program_failures"},
     .is_newer = true,
     .applies = is_traced,
     .one = "program ended with an error",
     .many = "programs ended with an error"},
    {.counters = {"locked"}, .is_flag = true, .many = "the memory is not locked; raise the limit (ulimit -l)"},
};

/* A side's counter over all repetitions. */
struct tally {
	json_int_t sum;
	size_t reps;	/* repetitions where it is not 0; for a flag: where it is 0 */
	size_t missing; /* repetitions where it is missing or not a count */
};

/* A count, or -1. */
static json_int_t get_count(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static json_int_t add_saturating(json_int_t a, json_int_t b)
{
	json_int_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void tally_add(struct tally *t, const struct rule *r, const json_t *side)
{
	json_int_t sum = 0;

	for (size_t i = 0; i < sizeof(r->counters) / sizeof(r->counters[0]) && r->counters[i]; i++) {
		json_int_t count = get_count(side, r->counters[i]);

		if (count < 0) {
			t->missing++;
			return;
		}
		sum = add_saturating(sum, count);
	}
	t->sum = add_saturating(t->sum, sum);
	t->reps += r->is_flag ? !sum : !!sum;
}

/* " (source)", " (source, 2 of 5 repetitions)". */
static const char *where(char *buf, size_t size, enum side side, size_t reps, size_t all)
{
	if (all > 1)
		snprintf(buf, size, " (%s, %zu of %zu repetitions)", side_names[side], reps, all);
	else
		snprintf(buf, size, " (%s)", side_names[side]);
	return buf;
}

static void judge_counter(const struct validity_facts *f, const struct rule *r, enum side side, struct validity *out)
{
	json_t *list = r->invalidates ? out->reasons : out->warnings;
	size_t all = json_array_size(f->counters);
	struct tally t = {0};
	char at[AT_MAX];

	for (size_t i = 0; i < all; i++)
		tally_add(&t, r, json_object_get(json_array_get(f->counters, i), side_names[side]));
	/* If something was not counted, the result cannot be called valid. */
	if (t.missing && !r->is_newer)
		validity_say(list, "not recorded: %s%s", r->is_flag ? r->counters[0] : r->many,
			     where(at, sizeof(at), side, t.missing, all));
	if (!t.reps)
		return;
	where(at, sizeof(at), side, t.reps, all);
	if (r->is_flag)
		validity_say(list, "%s%s", r->many, at);
	else
		validity_say(list, "%" JSON_INTEGER_FORMAT " %s%s", t.sum, t.sum == 1 ? r->one : r->many, at);
}

static void judge_counters(const struct validity_facts *f, struct validity *out)
{
	if (f->traits.rules.foreign) {
		validity_say(out->warnings, "measured by another program: whether page faults, migrations or lost CPUs "
					    "disturbed it was not recorded");
		if (f->traits.rules.resolution_ns > 1)
			validity_say(out->warnings,
				     "the samples are known in steps of %" JSON_INTEGER_FORMAT
				     " ns: a quantile may be off by that much",
				     f->traits.rules.resolution_ns);
		if (f->traits.rules.resolution_ppm)
			validity_say(
			    out->warnings,
			    "the samples are known by the bins of a histogram: a quantile may be off by %.3g %%",
			    (double)f->traits.rules.resolution_ppm / 1e4);
		return;
	}
	if (!json_array_size(f->counters))
		validity_say(out->reasons, "its repetitions have no counters");
	for (size_t i = 0; i < COUNT(rules); i++)
		for (enum side side = SOURCE; side < SIDES; side++)
			if (json_array_size(f->counters) &&
			    (rules[i].applies ? rules[i].applies(&f->traits.rules) : !f->traits.rules.traced))
				judge_counter(f, &rules[i], side, out);
}

static json_int_t posted(const json_t *counters)
{
	return get_count(json_object_get(counters, "source"), "posted");
}

/* --- loss --- */

/* Messages that could get lost: the source's, and if loss comes from counters, also the sink's. */
static json_int_t sent_by(const struct validity_facts *f, const json_t *counters)
{
	const json_int_t back = get_count(json_object_get(counters, "sink"), "posted");

	return f->counts_loss && back > 0 ? add_saturating(posted(counters), back) : posted(counters);
}

static void judge_loss(const struct validity_facts *f, struct validity *out)
{
	json_int_t sent = 0;

	if (f->lost <= 0)
		return;
	for (size_t i = 0; i < json_array_size(f->counters); i++)
		sent = add_saturating(sent, sent_by(f, json_array_get(f->counters, i)));
	if (f->traits.reliable)
		validity_say(out->reasons,
			     "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
			     " messages lost on a reliable transport",
			     f->lost, sent);
	else
		validity_say(out->warnings,
			     "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " messages lost (%.3g %%)", f->lost,
			     sent, sent > 0 ? 100.0 * (double)f->lost / (double)sent : 100.0);
}

/* --- others on the same CPUs --- */

/* Less of the time is a timer or a thread of the kernel, and less altogether may be a single tick (100 Hz). */
#define OTHERS_SHARE 0.01
#define OTHERS_LEAST 10e6
#define WAKE_NS	     100e3 /* until an idle CPU runs what wakes up, which is nobody else's time */

/* Of a side, in ns: how long its threads waited for a CPU while they could have run. */
struct waiting {
	double waited, all;
	size_t reps; /* in which it was much */
};

static struct waiting waiting_of(const struct validity_facts *f, enum side side)
{
	struct waiting w = {0};

	for (size_t i = 0; i < json_array_size(f->counters); i++) {
		const json_t *counters = json_object_get(json_array_get(f->counters, i), side_names[side]);
		const double of = (double)get_count(counters, "duration_ns"),
			     wakes = (double)get_count(counters, "switches_voluntary"),
			     one = (double)get_count(counters, "waited_ns") - fmax(0, wakes) * WAKE_NS;

		if (of <= 0)
			continue;
		w.waited += fmax(0, one);
		w.all += of;
		w.reps += one > OTHERS_SHARE * of;
	}
	return w;
}

static double waiting_share(const struct waiting *w)
{
	return w->waited > OTHERS_LEAST && w->waited > OTHERS_SHARE * w->all ? fmin(1, w->waited / w->all) : 0;
}

/* A thread that is ready to run and does not run is late by as much, and its messages are. */
static void judge_others(const struct validity_facts *f, struct validity *out)
{
	const struct waiting w[SIDES] = {waiting_of(f, SOURCE), waiting_of(f, SINK)};
	const double share[SIDES] = {waiting_share(&w[SOURCE]), waiting_share(&w[SINK])};
	const enum side worse = share[SINK] > share[SOURCE] ? SINK : SOURCE;
	const size_t all = json_array_size(f->counters);
	char reps[AT_MAX] = "";

	/* Its sides, or threads of one, take turns then, which is a warning of its own. */
	if (json_is_true(json_object_get(json_object_get(f->placement, side_names[SINK]), "shared_cpu")) ||
	    f->traits.rules.traced || f->traits.rules.yields || !share[worse])
		return;
	if (all > 1)
		snprintf(reps, sizeof(reps), ", %zu of %zu repetitions", w[worse].reps, all);
	/* In whole percent, so that points differ in numbers only, and are told together. */
	validity_say(out->warnings, VALIDITY_OTHERS "for %.0f %% of the measured time (%s%s)", 100 * share[worse],
		     share[SOURCE] && share[SINK] ? "source and sink" : side_names[worse], reps);
}

bool validity_is_of_others(const char *warning)
{
	return strstr(warning, VALIDITY_OTHERS) != NULL;
}

/* --- the pacer --- */

static void judge_pacing(const struct validity_facts *f, struct validity *out)
{
	const json_int_t limit = f->traits.rules.missed_limit_ppm;
	json_int_t missed = 0, unsent = 0, steps = 0;

	if (limit < 0)
		return;
	for (size_t i = 0; i < json_array_size(f->counters); i++) {
		const json_t *source = json_object_get(json_array_get(f->counters, i), "source");

		missed = add_saturating(missed, get_count(source, "missed"));
		unsent = add_saturating(unsent, get_count(source, "unsent"));
		steps = add_saturating(steps, get_count(source, "posted"));
	}
	steps = add_saturating(steps, add_saturating(missed, unsent));
	if (missed > 0 && (double)missed * 1e6 > (double)limit * (double)steps)
		validity_say(out->reasons,
			     "the pacer missed %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
			     " steps (%.3g %%); missed_limit is %.3g %%",
			     missed, steps, 100.0 * (double)missed / (double)steps, (double)limit / 1e4);
	if (unsent > 0)
		validity_say(out->warnings,
			     "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " steps were not sent (%.3g %%)",
			     unsent, steps, 100.0 * (double)unsent / (double)steps);
}

/* --- what carried the messages --- */

/* A lane is "TRANSPORT/DEVICE", or "PROVIDER;LAYER/DEVICE". Either that or its beginning may be expected
 * (strchr() also finds the end). */
static bool lane_is(const char *lane, const char *expected)
{
	const size_t length = strlen(expected);

	return !strncmp(lane, expected, length) && strchr("/;", lane[length]);
}

static void judge_versions(const struct validity_facts *f, struct validity *out)
{
	const char *source = json_text(json_object_get(f->granted, side_names[SOURCE]), "library");
	const char *sink = json_text(json_object_get(f->granted, side_names[SINK]), "library");

	if (*source && *sink && strcmp(source, sink) != 0)
		validity_say(out->warnings, "the two sides have different versions of the library: %.40s and %.40s",
			     source, sink);
}

/* What carried the messages, according to the library that chose it. */
static void judge_lane(const struct validity_facts *f, struct validity *out)
{
	for (enum side side = SOURCE; side < SIDES; side++) {
		const json_t *granted = json_object_get(f->granted, side_names[side]);
		const char *expected = json_string_value(json_object_get(granted, "expected_lane"));
		const char *lane = json_string_value(json_object_get(granted, "lane"));

		if (expected && (!lane || !lane_is(lane, expected)))
			validity_say(out->reasons, "the messages were carried by %.80s, not by %.80s (%s)",
				     lane && *lane ? lane : "an unknown lane", expected, side_names[side]);
		if (!expected && lane && *lane)
			validity_say(out->warnings, "what carries the messages was left to the library: %.80s (%s)",
				     lane, side_names[side]);
	}
}

/* --- do the counters agree with the lane that the library names? --- */

/* The increase of a counter of this name; or, if that is NULL, of the "….bytes" that increased most. `key` (may be NULL): its
 * name. -1: there is none. */
static json_int_t counter_rise(const json_t *counters, enum side side, const char *name, const char **key)
{
	const json_t *device = json_object_get(json_object_get(counters, "device"), side_names[side]);
	const json_t *before = json_object_get(device, "before");
	json_t *after = json_object_get(device, "after"), *value;
	json_int_t most = -1;
	const char *at;

	json_object_foreach (after, at, value) {
		const json_int_t from = get_count(before, at), to = get_count(after, at);
		const char *ending = strrchr(at, '.');

		if (from < 0 || to < from || to - from <= most ||
		    (name ? strcmp(at, name) != 0 : !ending || strcmp(ending, ".bytes") != 0))
			continue;
		most = to - from;
		if (key)
			*key = at;
	}
	return most;
}

/* Of a side: what its messages must have moved, and what did move. */
struct lane_account {
	json_int_t moved, messages;
	size_t bad, looped, unknown;
	const char *busiest; /* the interface that moved most meanwhile: "eth0.bytes" */
};

#define SOCKETS_SHARE 0.1 /* of the messages' bytes: the sockets of this process carried them, and not memory */

/* One row for each kind of evidence of a lane (measure/transports/lane.c). */
static const struct lane_rule {
	const char *kind, *ending; /* of the name of its counter, after that of the interface or port */
	bool is_none;		   /* the counter must not move */
	const char *text;
} lane_rules[] = {
    {"none", "socket_bytes", .is_none = true, .text = "the process's sockets moved %" JSON_INTEGER_FORMAT " bytes"},
    {"interface", ".bytes", .text = "it moved only %" JSON_INTEGER_FORMAT " bytes"},
    {"port", ".packets", .text = "it sent only %" JSON_INTEGER_FORMAT " packets"},
};

static const struct lane_rule *lane_rule_of(const json_t *witness)
{
	for (size_t i = 0; i < COUNT(lane_rules); i++)
		if (!strcmp(json_text(witness, "kind"), lane_rules[i].kind))
			return &lane_rules[i];
	return NULL;
}

/* What the messages of a side must have moved at least: packets of a port, or bytes; loopback sends and receives each. */
static double lane_load(const struct lane_rule *rule, const json_t *witness, json_int_t sent, json_int_t received)
{
	const double bytes = (double)sent * (double)get_count(witness, "sent_bytes") +
			     (double)received * (double)get_count(witness, "received_bytes");

	if (!strcmp(rule->ending, ".packets"))
		return (double)sent;
	return json_is_true(json_object_get(witness, "loopback")) ? 2 * bytes : bytes;
}

/* Between two addresses of one machine Linux takes a shortcut over loopback, which sends and receives each byte. */
static bool is_shortcut(const struct lane_rule *rule, const json_t *counters, enum side side, double load)
{
	return !strcmp(rule->ending, ".bytes") && (double)counter_rise(counters, side, "lo.bytes", NULL) >= 2 * load;
}

static void lane_account(struct lane_account *a, const struct lane_rule *rule, const json_t *witness,
			 const json_t *counters, enum side side)
{
	const json_t *own = json_object_get(counters, side_names[side]);
	const json_int_t sent = get_count(own, "posted"), received = get_count(own, "received");
	const double load = lane_load(rule, witness, sent, received);
	char name[64];
	json_int_t moved;

	snprintf(name, sizeof(name), "%.40s%s", rule->is_none ? "" : json_text(witness, "name"), rule->ending);
	moved = counter_rise(counters, side, name, NULL);
	if (load <= 0 || sent < 0 || received < 0)
		return;
	a->unknown += moved < 0;
	if (moved < 0 || (rule->is_none ? (double)moved < SOCKETS_SHARE * load : (double)moved >= load))
		return;
	counter_rise(counters, side, NULL, &a->busiest);
	if (is_shortcut(rule, counters, side, load)) {
		a->looped++;
		return;
	}
	a->bad++;
	a->moved = add_saturating(a->moved, moved);
	a->messages = add_saturating(a->messages, add_saturating(sent, received));
}

static bool expects_device(const json_t *granted)
{
	return strchr(json_text(granted, "expected_lane"), '/');
}

static void judge_evidence_of(const struct validity_facts *f, const json_t *granted, enum side side,
			      struct validity *out)
{
	const json_t *witness = json_object_get(granted, "witness"), *counters;
	const struct lane_rule *rule = lane_rule_of(witness);
	const size_t all = json_array_size(f->counters);
	struct lane_account a = {.busiest = "no interface.bytes"};
	char at[AT_MAX], moved[80];
	size_t i;

	if (rule)
		json_array_foreach (f->counters, i, counters)
			lane_account(&a, rule, witness, counters, side);
	if (a.bad) {
		snprintf(moved, sizeof(moved), rule->text, a.moved);
		validity_say(out->reasons,
			     "the library says that %.80s carried the messages, but %s for %" JSON_INTEGER_FORMAT
			     " of them; %.*s moved most%s",
			     json_text(granted, "lane"), moved, a.messages, (int)(strrchr(a.busiest, '.') - a.busiest),
			     a.busiest, where(at, sizeof(at), side, a.bad, all));
	}
	if (a.looped)
		validity_say(
		    expects_device(granted) ? out->reasons : out->warnings,
		    "the library says that %.80s carried the messages, but loopback did: both sides are on one "
		    "machine%s",
		    json_text(granted, "lane"), where(at, sizeof(at), side, a.looped, all));
	if (!rule || a.unknown)
		validity_say(out->warnings, "no counter tells whether %.80s carried the messages (%s)",
			     json_text(granted, "lane"), side_names[side]);
}

static void judge_lane_evidence(const struct validity_facts *f, struct validity *out)
{
	for (enum side side = SOURCE; side < SIDES; side++) {
		const json_t *granted = json_object_get(f->granted, side_names[side]);

		if (json_object_get(granted, "witness"))
			judge_evidence_of(f, granted, side, out);
	}
}

/* Does the kernel's interface count what a library should take past it? It also counts what others send. */
#define KERNEL_SHARE 0.1 /* of the messages' bytes; less is put down to others */

/* " (no library was preloaded)", " (preloaded: libvma.so, libother.so)". */
static const char *libraries_text(const json_t *bypass, char *buf, size_t size)
{
	const json_t *libraries = json_object_get(bypass, "libraries"), *name;
	size_t i, at = 0;

	snprintf(buf, size, "no library was preloaded");
	json_array_foreach (libraries, i, name)
		if (at < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%.60s",
					       i ? ", " : "preloaded: ", json_string_value(name) ?: "?");
	return buf;
}

/* What the kernel sent and received during a repetition; -1: not counted. */
static json_int_t kernel_bytes(const json_t *counters, enum side side)
{
	const json_int_t sent = counter_rise(counters, side, "kernel_tx_bytes", NULL);
	const json_int_t received = counter_rise(counters, side, "kernel_rx_bytes", NULL);

	return sent < 0 || received < 0 ? -1 : add_saturating(sent, received);
}

static void judge_bypass_of(const struct validity_facts *f, const json_t *bypass, enum side side, struct validity *out)
{
	const size_t all = json_array_size(f->counters);
	const double bytes = (double)json_integer_value(json_object_get(bypass, "message_bytes"));
	json_int_t moved = 0, messages = 0;
	size_t unknown = 0, bad = 0;
	char at[AT_MAX], libraries[200];

	for (size_t i = 0; i < all; i++) {
		const json_t *counters = json_array_get(f->counters, i),
			     *own = json_object_get(counters, side_names[side]);
		const json_int_t kernel = kernel_bytes(counters, side);
		const json_int_t count = add_saturating(get_count(own, "posted"), get_count(own, "received"));

		unknown += kernel < 0;
		if (kernel <= 0 || (double)kernel < KERNEL_SHARE * bytes * (double)count)
			continue;
		bad++;
		moved = add_saturating(moved, kernel);
		messages = add_saturating(messages, count);
	}
	if (bad)
		validity_say(out->reasons,
			     "bypass is expected, but the kernel carried messages: %.16s moved %" JSON_INTEGER_FORMAT
			     " bytes for %" JSON_INTEGER_FORMAT " messages; %s%s",
			     json_text(bypass, "carrier"), moved, messages,
			     libraries_text(bypass, libraries, sizeof(libraries)),
			     where(at, sizeof(at), side, bad, all));
	if (unknown)
		validity_say(out->reasons,
			     "bypass is expected, but whether the kernel carried messages is not known: its interface "
			     "has no counters%s",
			     where(at, sizeof(at), side, unknown, all));
}

static void judge_bypass(const struct validity_facts *f, struct validity *out)
{
	for (enum side side = SOURCE; side < SIDES; side++) {
		const json_t *bypass = json_object_get(json_object_get(f->granted, side_names[side]), "bypass");

		if (bypass)
			judge_bypass_of(f, bypass, side, out);
	}
}

/* --- the link --- */

static void judge_link(const struct validity_facts *f, struct validity *out)
{
	const json_t *source = json_object_get(f->granted, side_names[SOURCE]);

	if (run_is_of_model(source))
		validity_say(out->warnings, VALIDITY_MODEL);

	if (json_is_true(json_object_get(source, "loop")))
		validity_say(out->warnings,
			     "source and sink both use the adapter %.60s, so nothing leaves it; choose two with "
			     "source_device and "
			     "sink_device",
			     json_text(source, "device"));
}

/* --- the checks that the transport states --- */

struct account {
	json_int_t rise, wanted; /* of the repetitions in which the check found something */
	size_t bad, unknown;
};

/* Counters of old devices have 32 bits and stay at their maximum (InfiniBand Architecture 1, 16.1.3.5), which is not
 * informative. */
static bool is_stuck(const json_t *counters, const char *name)
{
	const json_t *device = json_object_get(json_object_get(counters, "device"), side_names[SOURCE]);

	return get_count(json_object_get(device, "after"), name) == UINT32_MAX;
}

/* How far the check's counter rose in a repetition; -1: that is not known. If both sides use the same device, both see
 * the same increase. */
static json_int_t check_rise(const struct counter_check *c, const json_t *counters)
{
	const char *const names[] = {c->counter, c->instead};
	json_int_t most = -1;

	for (size_t i = 0; c->least && i < 2 && names[i] && most < 0; i++)
		most = is_stuck(counters, names[i]) ? -1 : counter_rise(counters, SOURCE, names[i], NULL);
	for (enum side side = SOURCE; !c->least && side < SIDES; side++) {
		const json_int_t rise = counter_rise(counters, side, c->counter, NULL);

		most = rise > most ? rise : most;
	}
	return most;
}

/* `text` of a check, with numbers in place of its words. */
static void say_check(json_t *list, const char *text, const struct account *a, size_t reps, size_t all)
{
	static const char *const words[] = {"{n}", "{of}", "{reps}", "{all}", "{where}"};
	char values[COUNT(words)][AT_MAX], said[TEXT_MAX + AT_MAX] = "";
	size_t n = 0, i;

	snprintf(values[0], AT_MAX, "%" JSON_INTEGER_FORMAT, a->rise);
	snprintf(values[1], AT_MAX, "%" JSON_INTEGER_FORMAT, a->wanted);
	snprintf(values[2], AT_MAX, "%zu", reps);
	snprintf(values[3], AT_MAX, "%zu", all);
	where(values[4], AT_MAX, SOURCE, reps, all);
	while (*text && n + AT_MAX < sizeof(said)) {
		for (i = 0; i < COUNT(words) && strncmp(text, words[i], strlen(words[i])) != 0; i++)
			;
		const char *from = i < COUNT(words) ? values[i] : text;
		const size_t length = i < COUNT(words) ? strlen(from) : 1;

		memcpy(said + n, from, length);
		n += length;
		text += i < COUNT(words) ? strlen(words[i]) : 1;
	}
	validity_say(list, "%s", said);
}

static void judge_check(const struct validity_facts *f, const struct counter_check *c, struct validity *out)
{
	const size_t all = json_array_size(f->counters);
	struct account a = {0};

	for (size_t i = 0; i < all; i++) {
		const json_t *counters = json_array_get(f->counters, i);
		const json_int_t rise = check_rise(c, counters);
		const json_int_t wanted =
		    c->least ? get_count(json_object_get(counters, side_names[SOURCE]), c->least) : 0;

		a.unknown += rise < 0;
		if (rise < 0 || (c->least ? rise >= wanted : !rise))
			continue;
		a.bad++;
		a.rise = add_saturating(a.rise, rise);
		a.wanted = add_saturating(a.wanted, wanted);
	}
	if (a.bad)
		say_check(c->invalidates ? out->reasons : out->warnings, c->text, &a, a.bad, all);
	if (a.unknown && c->unknown)
		say_check(out->warnings, c->unknown, &a, a.unknown, all);
}

static void judge_checks(const struct validity_facts *f, struct validity *out)
{
	static const struct counter_check of_1_0[] = CHECKS_OF_1_0;
	const json_t *row;
	size_t i;

	for (i = 0; !f->traits.checks && i < COUNT(of_1_0); i++)
		if (f->traits.device || !of_1_0[i].least)
			judge_check(f, &of_1_0[i], out);
	json_array_foreach (f->traits.checks, i, row) {
		const struct counter_check c = check_read(row);

		judge_check(f, &c, out);
	}
}

/* --- the clock --- */

#define WIDE_SHARE 0.1 /* share of the median above which the error is mentioned */

/* "alpha and beta" */
static const char *both_hosts(const json_t *between, char *buf, size_t size)
{
	const json_t *hosts = json_object_get(between, "hosts");

	snprintf(buf, size, "%.60s and %.60s", json_string_value(json_array_get(hosts, 0)) ?: "?",
		 json_string_value(json_array_get(hosts, 1)) ?: "?");
	return buf;
}

/* Judge the comparison of the clocks of two hosts. */
static void judge_comparison(const struct validity_facts *f, struct validity *out)
{
	const double error = json_number_or_nan(f->between, "error_ns");
	const double p50 = (double)f->crossing_p50_ns;
	char hosts[128];

	both_hosts(f->between, hosts, sizeof(hosts));
	if (json_is_true(json_object_get(f->between, "stepped")))
		validity_say(out->reasons,
			     "the clocks of %s moved relative to each other: one of them was set or stopped during the "
			     "measurement",
			     hosts);
	if (!(error >= 0))
		validity_say(out->reasons, "the error of the clock between %s is not known", hosts);
	else if (f->crossing && error > p50)
		validity_say(out->reasons,
			     "the error of the clock between %s, %.3g us, is larger than the median of %s, %.3g us; "
			     "round trips need no common clock",
			     hosts, error / 1e3, f->crossing, p50 / 1e3);
	else if (f->crossing && error > WIDE_SHARE * p50)
		validity_say(out->warnings,
			     "the error of the clock between %s, %.3g us, is %.2g %% of the median of %s", hosts,
			     error / 1e3, 100 * error / p50, f->crossing);
}

/* For runs from before the clocks of two hosts were compared, nothing is known about their offset. */
static void judge_common_clock(const struct validity_facts *f, struct validity *out)
{
	const char *why = json_text(f->between, "why");

	if (f->between && !f->crosses)
		return;
	if (f->between && strcmp(json_text(f->between, "method"), "none") != 0)
		judge_comparison(f, out);
	else
		validity_say(out->reasons, "source and sink have no common clock%s%s", *why ? ": " : "", why);
}

static void judge_far_clock(const json_t *clock, enum side side, struct validity *out)
{
	if (clock && !json_is_true(json_object_get(clock, "good")))
		validity_say(out->reasons, "the tick counter of the %s's host failed its checks: %s", side_names[side],
			     json_text(clock, "why"));
}

static void judge_clock(const struct validity_facts *f, struct validity *out)
{
	const json_t *c = f->clock;

	if (f->traits.own_clock)
		return;
	if (!json_is_object(c)) {
		validity_say(out->reasons, "the tick counter was not checked");
		return;
	}
	if (!json_is_true(json_object_get(c, "good")))
		validity_say(out->reasons, "the tick counter failed its checks: %s", json_text(c, "why"));
	else if (!json_is_true(json_object_get(c, "invariant")) && !strcmp(json_text(c, "source"), "tsc"))
		validity_say(
		    out->warnings,
		    "the processor does not promise an invariant time-stamp counter; as measured, it deviates from "
		    "a straight line by at most %.0f ns",
		    json_number_value(json_object_get(c, "residual_ns")));
	for (enum side side = SOURCE; side < SIDES; side++)
		judge_far_clock(f->far_clock[side], side, out);
	if (!json_is_true(json_object_get(c, "common")))
		judge_common_clock(f, out);
}

/* --- where the threads ran --- */

/* "0 1 16 17" (cpufreq's own form). */
static bool is_cpu_among(const char *cpus, long cpu)
{
	char *end;

	for (; *cpus; cpus = end) {
		long found = strtol(cpus, &end, 10);

		if (end == cpus)
			return false;
		if (found == cpu)
			return true;
	}
	return false;
}

/* The frequency governor of a CPU; NULL: unknown, or no frequency scaling. */
static const char *governor_of(const json_t *keys, long cpu)
{
	static const char tail[] = ".governor", head[] = "frequency.";
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)keys, key, value) {
		size_t length = strlen(key), stem = length - strlen(tail);
		char cpus[128];

		if (length < strlen(tail) || strcmp(key + stem, tail) || strncmp(key, head, strlen(head)))
			continue;
		snprintf(cpus, sizeof(cpus), "%.*s.cpus", (int)(stem < 100 ? stem : 100), key);
		if (is_cpu_among(json_text(keys, cpus), cpu))
			return json_string_value(value);
	}
	return NULL;
}

static void judge_frequency(const json_t *keys, long cpu, enum side side, struct validity *out)
{
	const char *governor = governor_of(keys, cpu);

	/* '!': an errno in place of a value. */
	if (governor && *governor != '!' && strcmp(governor, "performance"))
		validity_say(out->warnings, "the frequency of CPU %ld may change: its governor is '%.40s' (%s)", cpu,
			     governor, side_names[side]);
}

static void judge_sibling(const json_t *keys, long cpu, enum side side, struct validity *out)
{
	char key[64];
	struct cpulist siblings;

	snprintf(key, sizeof(key), "cpu.cpu%ld.siblings", cpu);
	if (!cpulist_parse(json_text(keys, key), &siblings, NULL, 0) && cpulist_count(&siblings) > 1)
		validity_say(out->warnings, "CPU %ld shares its core with a sibling that may be busy: %.40s (%s)", cpu,
			     json_text(keys, key), side_names[side]);
}

/* If there are fewer CPUs than polling sides, sides of different flows share CPUs. */
static void judge_sharing(const json_t *placement, json_int_t cpu, enum side side, struct validity *out)
{
	const json_t *other;
	size_t i;

	json_array_foreach (json_object_get(placement, "shared_with"), i, other)
		validity_say(out->warnings, "the %s shares CPU %" JSON_INTEGER_FORMAT " with the %.60s",
			     side_names[side], cpu, json_string_value(other));
}

static void judge_placement(const struct validity_facts *f, struct validity *out)
{
	const json_t *sink = json_object_get(f->placement, side_names[SINK]);

	if (f->traits.own_clock)
		return;
	if (json_is_true(json_object_get(sink, "shared_cpu")))
		validity_say(out->warnings, "source and sink share a CPU");
	if (json_is_true(json_object_get(sink, "shared_smt")))
		validity_say(out->warnings, "source and sink share a core: they are SMT siblings");
	for (enum side side = SOURCE; side < SIDES; side++) {
		json_int_t cpu = get_count(json_object_get(f->placement, side_names[side]), "cpu");

		if (cpu < 0 || cpu >= CPULIST_MAX)
			continue;
		judge_sharing(json_object_get(f->placement, side_names[side]), cpu, side, out);
		if (json_is_true(json_object_get(json_object_get(f->placement, side_names[side]), "slow_cpu")))
			validity_say(out->warnings,
				     "CPU %" JSON_INTEGER_FORMAT " is of a slower kind than others of its machine (%s)",
				     cpu, side_names[side]);
		judge_frequency(f->state[side], (long)cpu, side, out);
		judge_sibling(f->state[side], (long)cpu, side, out);
	}
}

void validity_judge(const struct validity_facts *facts, struct validity *out)
{
	static void (*const judges[])(const struct validity_facts *, struct validity *) = {
	    judge_counters, judge_others, judge_loss, judge_pacing, judge_lane,	 judge_lane_evidence,
	    judge_versions, judge_bypass, judge_link, judge_checks, judge_clock, judge_placement,
	};

	out->reasons = json_array();
	out->warnings = json_array();
	for (size_t i = 0; i < COUNT(judges); i++)
		judges[i](facts, out);
}
