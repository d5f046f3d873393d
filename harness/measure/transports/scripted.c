/*
 * A transport without a network: delays, losses and reorderings are settings, and time is virtual,
 * so the correct results of a run are known to the nanosecond. It serves to test the recorder,
 * statistics, flags and the handling of failing endpoints from end to end.
 *
 * Message i is submitted at i * interval (+ pauses), completes comp_delay later, and arrives after
 * `delay` + jitter(i), where jitter alternates between +jitter and -jitter. Messages in `delayed`
 * take `delayed_by` longer, those in `lose` never arrive, those in `duplicate` arrive twice.
 * `pattern` and `noise` add to the latency of every message; `noise` differs between repetitions.
 * The sink sees arrivals in chronological order. Both sides derive everything from the settings and
 * do not communicate.
 *
 * With the kernel `rate`, the pacer determines when a message is submitted: step i is due at (i +
 * 1) / rate; at the steps in `stall` the pacer wakes up `stall_by` late. scripted_pace() computes
 * from the settings alone what must happen to every step.
 *
 * With t_send: the device reads the payload of a message read_delay after its submission; a message
 * in `overwrite` is read when the next one has already replaced it.
 *
 * With device stamps: the device stamps a completion `poll_delay` before it is polled, with a clock
 * of its own that counts 4 ticks a nanosecond in 48 bits, and wraps around soon after the start.
 *
 * `fault` makes one side really fail at message `fault_at`: a page fault, a recorder overflow, a
 * bad completion, death, silence, or invalid output.
 *
 * Duplex: the sink sends every message back, with the same delay; so a round trip takes twice the
 * delay, and a message that is lost on the way there does not return. A source that waits for the
 * next reply sees it arrive; if it was lost, nothing arrives until scripted_pause() has advanced
 * the time.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "measure/instrument/device_clock.h"
#include "measure/transports/payload.h"
#include "measure/transports/scripted_script.h"

#define TIME_MOST INT64_C(3155760000000000000) /* ns in a hundred years */

#define SCRIPTED_CLOCK_HZ   4000000000
#define SCRIPTED_CLOCK_MASK ((1ULL << 48) - 1)

static uint64_t scripted_device_time(int64_t ns)
{
	return (SCRIPTED_CLOCK_MASK - 1000 + 4 * (uint64_t)ns) & SCRIPTED_CLOCK_MASK;
}

struct scripted_arrival {
	int64_t time;
	uint32_t seq;
};

struct scripted {
	struct transport base;
	struct scripted_script script;
	enum role role;
	bool duplex;
	int64_t now;		 /* source: submission of the next message; sink: arrival of the last */
	int64_t stamp;		 /* what scripted_end() returns */
	uint32_t posted, polled; /* source */
	uint32_t last;		 /* source: the message posted last */
	uint32_t step;		 /* source of a kernel with a pacer: the next step that is due */
	int64_t *submission;	 /* of every step, set by scripted_pace(); NULL: the kernel has no pacer */
	bool rewrites;		 /* the payload is t_send */
	uint32_t next;		 /* sink: index in arrivals */
	uint32_t arrivals;
	struct scripted_arrival *arrival;
	char *payload; /* a correct payload */
	int64_t size;
	uint32_t payload_seq;
	bool failed;
};

extern const struct transport_ops scripted_transport;

static const char *const fault_names[] = {
    "none", "page_fault", "switch", "overflow", "bad_completion", "bad_payload", "die", "exit", "hang", "open", NULL};
static const char *const side_names[] = {"source", "sink", NULL};

#define FIELD(f) offsetof(struct scripted_settings, f)

static const struct opt scripted_options[] = {
    {"interval", OPT_TIME, FIELD(interval), "10us", 1, 1000000000, NULL, "virtual time between submissions"},
    {"delay", OPT_TIME, FIELD(delay), "1us", 0, 1000000000, NULL, "latency of a message"},
    {"jitter", OPT_TIME, FIELD(jitter), "0ns", 0, 1000000000, NULL,
     "alternately added to and subtracted from the latency of messages"},
    {"noise", OPT_TIME, FIELD(noise), "0ns", 0, 1000000000, NULL,
     "random change of the latency of each message, up to this much more or less, the same in every run"},
    {"comp_delay", OPT_TIME, FIELD(comp_delay), "2us", 0, 1000000000, NULL, "submission to send completion"},
    {"poll_delay", OPT_TIME, FIELD(poll_delay), "0ns", 0, 1000000000, NULL,
     "with t_hw: how long after the device stamps a completion it is polled"},
    {"lose", OPT_LIST, FIELD(lose), "", 0, 0, NULL, "messages that never arrive"},
    {"duplicate", OPT_LIST, FIELD(duplicate), "", 0, 0, NULL, "messages that arrive twice"},
    {"delayed", OPT_LIST, FIELD(delayed), "", 0, 0, NULL, "messages that take delayed_by longer"},
    {"read_delay", OPT_TIME, FIELD(read_delay), "500ns", 0, 1000000000, NULL,
     "with t_send: submission to the moment at which the device reads the payload"},
    {"overwrite", OPT_LIST, FIELD(overwrite), "", 0, 0, NULL,
     "with t_send: messages whose payload is overwritten by that of the next message before it is read"},
    {"delayed_by", OPT_TIME, FIELD(delayed_by), "25us", 0, 10000000000, NULL, "how much longer"},
    {"pattern", OPT_STR, FIELD(pattern), "", 0, 0, NULL,
     "PERIOD:PHASES:TIME, several with blanks between them, such as 32:31-32:4us: of every 32 messages the 31st "
     "and the 32nd take 4 us longer"},
    {"stall", OPT_LIST, FIELD(stall), "", 0, 0, NULL, "steps for which the pacer is late (kernel rate)"},
    {"stall_by", OPT_TIME, FIELD(stall_by), "25us", 1, 10000000000, NULL, "how late"},
    {"reliable", OPT_BOOL, FIELD(reliable), "yes", 0, 0, NULL, "whether a loss invalidates the result"},
    {"fault", OPT_ENUM, FIELD(fault), "none", 0, 0, fault_names, "what goes wrong"},
    {"fault_at", OPT_INT, FIELD(fault_at), "0", 0, UINT32_MAX, NULL, "at which message"},
    {"fault_side", OPT_ENUM, FIELD(fault_side), "sink", 0, 0, side_names, "on which side"},
    {.name = NULL},
};

static int by_time(const void *a, const void *b)
{
	const struct scripted_arrival *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int make_schedule(struct scripted *t, struct err *e)
{
	const struct scripted_script *s = &t->script;

	free(t->arrival);
	t->arrivals = 0;
	t->arrival = large_alloc((size_t)s->schedule.messages * 2 + 1, sizeof(*t->arrival));
	if (!t->arrival)
		return err_sys(e, -ENOMEM, "scripted", "allocate");
	for (uint32_t seq = 0; seq < s->schedule.messages; seq++) {
		int trips = t->role == ROLE_SOURCE ? 2 : 1;
		int64_t submission = t->submission ? t->submission[seq] : scripted_submission(s, seq);
		struct scripted_arrival a = {submission + trips * scripted_delay(s, seq), seq};

		if (scripted_is_listed(&s->lose, seq) || submission == NEVER)
			continue;
		t->arrival[t->arrivals++] = a;
		a.time += 1;
		if (scripted_is_listed(&s->duplicate, seq))
			t->arrival[t->arrivals++] = a;
	}
	qsort(t->arrival, t->arrivals, sizeof(*t->arrival), by_time);
	return 0;
}

static int make_pace(struct scripted *t, struct err *e)
{
	t->submission = large_alloc((size_t)t->script.schedule.messages, sizeof(*t->submission));
	if (!t->submission)
		return err_sys(e, -ENOMEM, "scripted", "allocate");
	scripted_pace(&t->script, t->submission);
	return 0;
}

static void fault_page(void)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED) {
		*(volatile char *)p = 1;
		munmap(p, 4096);
	}
}

/* --- the hot path --- */

/* The faults are real, because the kernel's accounting and the coordinator must notice them. */
static int scripted_cause_fault(struct scripted *t, uint32_t seq)
{
	struct timespec moment = {0, 1000};

	switch ((enum scripted_fault)t->script.settings.fault) {
	case FAULT_PAGE_FAULT:
		fault_page();
		break;
	case FAULT_SWITCH:
		nanosleep(&moment, NULL);
		break;
	case FAULT_BAD_COMPLETION:
		t->failed = true;
		return -EIO;
	case FAULT_DIE:
		fprintf(stderr, "scripted: dying at message %u\n", seq);
		raise(SIGKILL);
		break;
	case FAULT_EXIT:
		fprintf(stderr, "scripted: leaving at message %u\n", seq);
		_exit(9);
	case FAULT_HANG:
		for (;;)
			pause();
	default:
		break;
	}
	return 0;
}

/* The source's virtual time when it waits: `until`, or later if that is the time of a step at which
 * it is delayed. */
static int64_t scripted_wake(struct scripted *t, int64_t until)
{
	if (until <= t->now)
		return t->now;
	t->now = until;
	while (scripted_due(&t->script, t->step) < until)
		t->step++;
	if (scripted_due(&t->script, t->step) == until && scripted_is_listed(&t->script.stall, t->step))
		t->now += t->script.settings.stall_by;
	return t->now;
}

/* Everything posted has completed by now. */
static int scripted_complete(struct scripted *t, uint32_t *seq)
{
	t->polled = t->posted;
	t->stamp = t->now;
	*seq = t->last;
	return 1;
}

static void *scripted_send_buffer(struct transport *transport, uint32_t seq)
{
	(void)seq;
	return ((struct scripted *)transport)->payload;
}

/* A buffer may have any alignment. */
static void put_t_send(struct scripted *t)
{
	const uint32_t seq = t->payload_seq + scripted_is_listed(&t->script.overwrite, t->payload_seq);
	const int64_t stamp = scripted_submission(&t->script, seq) + t->script.settings.read_delay;

	memcpy(t->payload, &stamp, sizeof(stamp));
}

static const void *scripted_recv_buffer(struct transport *transport)
{
	struct scripted *t = (struct scripted *)transport;

	if (t->rewrites) {
		put_t_send(t);
		return t->payload;
	}
	payload_fill(t->payload, (size_t)t->size, t->payload_seq);
	if (t->script.settings.fault == FAULT_BAD_PAYLOAD && t->payload_seq == t->script.settings.fault_at)
		t->payload[t->size - 1] ^= 1;
	return t->payload;
}

static int64_t scripted_begin(struct transport *transport)
{
	struct scripted *t = (struct scripted *)transport;

	return t->role == ROLE_SOURCE && !t->submission ? scripted_submission(&t->script, t->posted) : t->now;
}

static int64_t scripted_end(struct transport *transport)
{
	struct scripted *t = (struct scripted *)transport;

	return t->stamp;
}

static int64_t scripted_pause(struct transport *transport, int64_t until)
{
	struct scripted *t = (struct scripted *)transport;

	return t->submission ? scripted_wake(t, until) : until; /* other pauses are part of scripted_submission() */
}

static int scripted_post(struct transport *transport, uint32_t seq, bool signal)
{
	struct scripted *t = (struct scripted *)transport;

	(void)signal;
	t->posted++;
	t->last = seq;
	return t->role == ROLE_SOURCE && t->script.settings.fault_side == ROLE_SOURCE &&
		       seq == t->script.settings.fault_at
		   ? scripted_cause_fault(t, seq)
		   : 0;
}

static int scripted_poll_send(struct transport *transport, uint32_t *seq)
{
	struct scripted *t = (struct scripted *)transport;

	if (t->failed)
		return -EIO;
	if (t->polled == t->posted)
		return 0;
	if (t->submission)
		return scripted_complete(t, seq);
	*seq = t->polled++;
	t->stamp = scripted_submission(&t->script, *seq) + t->script.settings.comp_delay;
	return 1;
}

static int scripted_poll_recv(struct transport *transport, uint32_t *seq)
{
	struct scripted *t = (struct scripted *)transport;

	if (t->failed)
		return -EIO;
	if (t->next == t->arrivals)
		return 0;
	if (t->role == ROLE_SOURCE && t->arrival[t->next].seq >= t->posted)
		return 0; /* nothing returns before it was sent */

	const struct scripted_arrival *a = &t->arrival[t->next++];
	int rc = 0;

	*seq = a->seq;
	t->payload_seq = a->seq;
	t->now = t->stamp = a->time;
	if (t->role == ROLE_SINK && t->script.settings.fault_side == ROLE_SINK && a->seq == t->script.settings.fault_at)
		rc = scripted_cause_fault(t, a->seq);
	if (rc == 0 && t->role == ROLE_SINK && t->script.settings.fault == FAULT_OVERFLOW &&
	    a->seq == t->script.settings.fault_at)
		*seq = UINT32_MAX;
	return rc < 0 ? rc : 1;
}

static int scripted_poll_send_stamped(struct transport *transport, uint32_t *seq, uint64_t *device)
{
	struct scripted *t = (struct scripted *)transport;
	int rc = scripted_poll_send(transport, seq);

	*device = scripted_device_time(t->stamp - t->script.settings.poll_delay);
	return rc;
}

static int scripted_poll_recv_stamped(struct transport *transport, uint32_t *seq, uint64_t *device)
{
	struct scripted *t = (struct scripted *)transport;
	int rc = scripted_poll_recv(transport, seq);

	*device = scripted_device_time(t->stamp - t->script.settings.poll_delay);
	return rc;
}

/* --- the control path --- */

static void scripted_traits(const void *settings, struct transport_traits *out)
{
	const struct scripted_settings *s = settings;

	out->is_reliable = s->reliable;
}

/* Would the stamps of all messages fit into 64 bits? */
static bool fits_in_time(const struct scripted_settings *s, const struct schedule *c)
{
	const __int128 pauses = c->burst ? c->messages / c->burst : 0;

	return (__int128)c->messages * s->interval + pauses * c->pause_ns < TIME_MOST;
}

static int scripted_check(const void *settings, const struct transport_config *config, char *why, size_t why_size)
{
	const struct scripted_settings *s = settings;

	if (*s->stall && !config->schedule.rate_hz) {
		snprintf(why, why_size,
			 "stall delays a pacer, but this kernel has none; use the kernel rate, or delayed");
		return -EINVAL;
	}
	if (*s->overwrite && !config->rewrites) {
		snprintf(why, why_size, "overwrite is about stamps in the payload; use t_send");
		return -EINVAL;
	}
	if (!fits_in_time(s, &config->schedule)) {
		snprintf(
		    why, why_size,
		    "interval and pause: all messages together would take more than a hundred years of virtual time");
		return -EINVAL;
	}
	if (s->jitter + s->noise > s->delay) {
		snprintf(why, why_size, "%s larger than delay: a message would arrive before it is sent",
			 s->noise ? "jitter and noise together are" : "jitter is");
		return -EINVAL;
	}
	return scripted_patterns_check(s->pattern, why, why_size);
}

static void scripted_close(struct transport *transport)
{
	struct scripted *t = (struct scripted *)transport;

	free(t->arrival);
	free(t->submission);
	scripted_script_free(&t->script);
	free(t->payload);
	free(t);
}

static int scripted_open(const struct transport_config *config, const void *settings, struct transport **out,
			 json_t **address, struct err *e)
{
	struct scripted *t = or_abort(calloc(1, sizeof(*t)));

	t->base.ops = &scripted_transport;
	t->role = config->role;
	t->size = config->size;
	t->duplex = config->duplex;
	t->rewrites = config->rewrites;
	scripted_script_read(&t->script, settings, &config->schedule);
	t->payload = large_alloc(1, (size_t)config->size);

	int rc = t->payload ? 0 : err_sys(e, -ENOMEM, "scripted", "allocate");

	if (!rc && t->script.settings.fault == FAULT_OPEN && t->script.settings.fault_side == (int)t->role)
		rc = err_set(e, -ENODEV, STATUS_IMPOSSIBLE, "scripted", "open", "requested by fault=open");
	if (!rc && t->script.schedule.rate_hz)
		rc = make_pace(t, e);
	if (!rc && (t->role == ROLE_SINK || t->duplex))
		rc = make_schedule(t, e);
	if (rc) {
		scripted_close(&t->base);
		return rc;
	}
	*address = json_object();
	*out = &t->base;
	return 0;
}

static int scripted_connect(struct transport *transport, const json_t *peer, struct err *e)
{
	(void)transport;
	(void)peer;
	(void)e;
	return 0;
}

static int scripted_prepare(struct transport *transport, struct err *e)
{
	struct scripted *t = (struct scripted *)transport;

	t->posted = t->polled = t->next = t->step = 0;
	t->now = t->stamp = 0;
	t->failed = false;
	t->script.repetition++;
	return t->arrival && t->script.settings.noise ? make_schedule(t, e) : 0;
}

/* Called before the first message, and long after the last one. */
static int scripted_read_clock(struct transport *transport, struct device_clock_reading *now,
			       struct device_counter *counter, struct err *e)
{
	const struct scripted *t = (const struct scripted *)transport;
	int64_t at = t->stamp ? t->stamp + 1000000000 : 0;

	(void)e;
	*now = (struct device_clock_reading){scripted_device_time(at), at, at};
	*counter = (struct device_counter){.mask = SCRIPTED_CLOCK_MASK, .hz = SCRIPTED_CLOCK_HZ};
	return 0;
}

static json_t *scripted_granted(const struct transport *transport)
{
	(void)transport;
	return json_object();
}

static int scripted_failure(const struct transport *transport, struct err *e)
{
	const struct scripted *t = (const struct scripted *)transport;

	return err_set(e, -EIO, STATUS_FAILED, "scripted", NULL,
		       "bad completion at message %lld, requested by fault=%s", (long long)t->script.settings.fault_at,
		       fault_names[t->script.settings.fault]);
}

const struct transport_ops scripted_transport = {
    .name = "scripted",
    .summary = "no network: scripted delays, losses and faults in virtual time, to test the harness itself",
    .options = scripted_options,
    .settings_size = sizeof(struct scripted_settings),
    .poll_modes = 1 << POLL_BUSY,
    .typical = {.post_ns = 60, .latency_ns = 0, .sleeping_ns = 0},
    .has_own_clock = true,
    .check = scripted_check,
    .traits = scripted_traits,
    .open = scripted_open,
    .connect = scripted_connect,
    .prepare = scripted_prepare,
    .read_clock = scripted_read_clock,
    .granted = scripted_granted,
    .failure = scripted_failure,
    .close = scripted_close,
    .begin = scripted_begin,
    .end = scripted_end,
    .pause = scripted_pause,
    .send_buffer = scripted_send_buffer,
    .post = scripted_post,
    .poll_send = scripted_poll_send,
    .poll_send_stamped = scripted_poll_send_stamped,
    .poll_recv = scripted_poll_recv,
    .poll_recv_stamped = scripted_poll_recv_stamped,
    .recv_buffer = scripted_recv_buffer,
};
