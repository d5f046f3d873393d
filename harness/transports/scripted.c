#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/npy.h"
#include "common/random.h"
#include "instrument/device_clock.h"
#include "transports/payload.h"
#include "transports/scripted_hot.h"
#include "transports/scripted_pattern.h"

#define TIME_MOST INT64_C(3155760000000000000) /* ns in a hundred years */

static const char *const fault_names[] = {"none", "page_fault", "switch", "overflow", "bad_completion", "bad_payload",
					  "die",  "exit",	"hang",	  "nonsense", "open",		NULL};
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

int64_t scripted_submission(const struct scripted_settings *s, uint32_t seq)
{
	return seq * s->interval + seq / s->schedule.burst * s->schedule.pause_ns;
}

/* Lists of messages have the format of CPU lists, and are limited by CPULIST_MAX. */
static bool is_listed(const struct cpulist *list, uint32_t seq)
{
	return seq < CPULIST_MAX && cpulist_has(list, seq);
}

/* From -noise to +noise: different for each message of each repetition, but the same in every run. */
static int64_t noise_of(const struct scripted_settings *s, uint32_t seq)
{
	uint64_t state = (uint64_t)s->repetition << 32 | seq;

	return s->noise ? (int64_t)random_below(&state, 2 * (uint64_t)s->noise + 1) - s->noise : 0;
}

int64_t scripted_delay(const struct scripted_settings *s, uint32_t seq)
{
	struct cpulist delayed;

	cpulist_parse(s->delayed, &delayed, NULL, 0);
	return s->delay + (seq % 2 ? -s->jitter : s->jitter) + noise_of(s, seq) +
	       (is_listed(&delayed, seq) ? s->delayed_by : 0) + scripted_pattern_delay(s->pattern, seq);
}

static int by_time(const void *a, const void *b)
{
	const struct scripted_arrival *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int make_schedule(struct scripted *t, struct err *e)
{
	struct cpulist lose, duplicate;
	const struct scripted_settings *s = &t->s;

	cpulist_parse(s->lose, &lose, NULL, 0);
	cpulist_parse(s->duplicate, &duplicate, NULL, 0);
	free(t->arrival);
	t->arrivals = 0;
	t->arrival = calloc((size_t)s->schedule.messages * 2 + 1, sizeof(*t->arrival));
	if (!t->arrival)
		return err_sys(e, -ENOMEM, "scripted", "allocate");
	for (uint32_t seq = 0; seq < s->schedule.messages; seq++) {
		int trips = t->role == ROLE_SOURCE ? 2 : 1;
		int64_t submission = t->submission ? t->submission[seq] : scripted_submission(s, seq);
		struct scripted_arrival a = {submission + trips * scripted_delay(s, seq), seq};

		if (is_listed(&lose, seq) || submission == NEVER)
			continue;
		t->arrival[t->arrivals++] = a;
		a.time += 1;
		if (is_listed(&duplicate, seq))
			t->arrival[t->arrivals++] = a;
	}
	qsort(t->arrival, t->arrivals, sizeof(*t->arrival), by_time);
	return 0;
}

static int make_pace(struct scripted *t, struct err *e)
{
	t->submission = calloc((size_t)t->s.schedule.messages, sizeof(*t->submission));
	t->stalls = calloc(1, sizeof(*t->stalls));
	if (!t->submission || !t->stalls)
		return err_sys(e, -ENOMEM, "scripted", "allocate");
	cpulist_parse(t->s.stall, t->stalls, NULL, 0);
	scripted_pace(&t->s, t->submission);
	return 0;
}

static int make_stamps(struct scripted *t, struct err *e)
{
	t->overwritten = calloc(1, sizeof(*t->overwritten));
	if (!t->overwritten)
		return err_sys(e, -ENOMEM, "scripted", "allocate");
	cpulist_parse(t->s.overwrite, t->overwritten, NULL, 0);
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

/* The faults are real, because the kernel's accounting and the coordinator must notice them. */
int scripted_strike(struct scripted *t, uint32_t seq)
{
	static const char nonsense[] = "{]\x01 this is no JSON\n";
	struct timespec moment = {0, 1000};

	switch ((enum scripted_fault)t->s.fault) {
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
	case FAULT_NONSENSE:
		if (write(STDOUT_FILENO, nonsense, sizeof(nonsense) - 1) < 0)
			return -EIO;
		break;
	default:
		break;
	}
	return 0;
}

void *scripted_send_buffer(struct scripted *t, uint32_t seq)
{
	(void)seq;
	return t->payload;
}

/* A buffer may have any alignment. */
static void put_t_send(struct scripted *t)
{
	const uint32_t seq = t->payload_seq + is_listed(t->overwritten, t->payload_seq);
	const int64_t stamp = scripted_submission(&t->s, seq) + t->s.read_delay;

	memcpy(t->payload, &stamp, sizeof(stamp));
}

const void *scripted_recv_buffer(struct scripted *t)
{
	if (t->overwritten) {
		put_t_send(t);
		return t->payload;
	}
	payload_fill(t->payload, (size_t)t->size, t->payload_seq);
	if (t->s.fault == FAULT_BAD_PAYLOAD && t->payload_seq == t->s.fault_at)
		t->payload[t->size - 1] ^= 1;
	return t->payload;
}

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
	return scripted_pattern_check(s->pattern, why, why_size);
}

static void scripted_close(struct transport *transport)
{
	struct scripted *t = (struct scripted *)transport;

	free(t->arrival);
	free(t->submission);
	free(t->stalls);
	free(t->overwritten);
	free(t->payload);
	free(t);
}

static int scripted_open(const struct transport_config *config, const void *settings, struct transport **out,
			 json_t **address, struct err *e)
{
	struct scripted *t = calloc(1, sizeof(*t));

	if (!t)
		return err_sys(e, -ENOMEM, "scripted", "allocate");
	t->base.ops = &scripted_transport;
	t->role = config->role;
	t->size = config->size;
	t->duplex = config->duplex;
	t->s = *(const struct scripted_settings *)settings;
	t->s.schedule = config->schedule;
	if (!t->s.schedule.burst)
		t->s.schedule.burst = INT64_MAX;
	t->payload = calloc(1, (size_t)config->size);

	int rc = t->payload ? 0 : err_sys(e, -ENOMEM, "scripted", "allocate");

	if (!rc && t->s.fault == FAULT_OPEN && t->s.fault_side == (int)t->role)
		rc = err_set(e, -ENODEV, STATUS_IMPOSSIBLE, "scripted", "open", "requested by fault=open");
	if (!rc && t->s.schedule.rate_hz)
		rc = make_pace(t, e);
	if (!rc && config->rewrites)
		rc = make_stamps(t, e);
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
	t->s.repetition++;
	return t->arrival && t->s.noise ? make_schedule(t, e) : 0;
}

/* Called before the first message, and long after the last one. */
static int scripted_read_clock(struct transport *transport, struct device_clock_reading *now, uint64_t *mask,
			       struct err *e)
{
	const struct scripted *t = (const struct scripted *)transport;
	int64_t at = t->stamp ? t->stamp + 1000000000 : 0;

	(void)e;
	*now = (struct device_clock_reading){scripted_device_time(at), at, at};
	*mask = SCRIPTED_CLOCK_MASK;
	return 0;
}

static json_t *scripted_object(const struct transport *transport)
{
	(void)transport;
	return json_object();
}

static int scripted_failure(const struct transport *transport, struct err *e)
{
	const struct scripted *t = (const struct scripted *)transport;

	return err_set(e, -EIO, STATUS_FAILED, "scripted", NULL,
		       "bad completion at message %lld, requested by fault=%s", (long long)t->s.fault_at,
		       fault_names[t->s.fault]);
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
    .granted = scripted_object,
    .device_counters = scripted_object,
    .failure = scripted_failure,
    .close = scripted_close,
};
