#include "measure/import/formats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

/* What is half of a round trip has the name that it has in kblat's own runs, which claims and comparisons use. */
static void name_series(struct reading *r, const char *series, const char *label)
{
	r->series = series;
	r->label = label;
}

/* --- perftest --- */

/* ib_send_lat -U or -H: "#, usec", then "1, 3.41" and so on, then the table. With both, the sorted list of -H follows. */
struct perftest {
	bool has_begun, is_sorted_again, has_ended;
	uint64_t listed; /* so far */
	int64_t last;
};

static int perftest_row(struct reading *r, struct perftest *p, struct err *e)
{
	char *at = r->text, *number = reading_field(&at), *text = reading_field(&at);
	int64_t ns;
	uint64_t n;
	int rc;

	if (!text || at || !reading_count(number, &n))
		return reading_refuse(r, e, "not a sample of perftest:", r->text);
	if (n != ++p->listed)
		return reading_refuse(r, e, "samples are missing before number", number);
	rc = reading_latency(r, text, 1000, &ns, e);
	if (!rc && ns < p->last)
		r->is_unordered = false;
	p->last = ns;
	return rc ? rc : samples_add(r->to, ns, 1, e);
}

/* What follows the samples: the summary, without which the output was cut off. */
static bool is_perftest_end(const char *text)
{
	return !strncmp(text, "---", 3) || !strncmp(text, " #bytes", 7) || !strncmp(text, "#bytes", 6);
}

/* Of the summary, "BYTES ITERATIONS …": one less than these were timed. A histogram (-H) lacks the slowest two. */
static int perftest_summary(const struct reading *r, uint64_t listed, struct err *e)
{
	unsigned long long bytes, iterations;
	float least;

	if (sscanf(r->text, " %llu %llu %f", &bytes, &iterations, &least) != 3 || listed + 1 >= iterations)
		return 0;
	return reading_refuse(r, e, "the slowest messages are not listed; run perftest with -U, not -H", NULL);
}

static int perftest_begin(struct reading *r, struct perftest *p, struct err *e)
{
	if (p->has_ended || p->is_sorted_again || (p->has_begun && r->is_unordered))
		return reading_refuse(r, e, "it has a second list of samples: give each run a file", NULL);
	if (!strcmp(r->text + 3, "cycles"))
		return reading_refuse(r, e, "the samples are in cycles of an unknown clock; run perftest without -C",
				      NULL);
	if (strcmp(r->text + 3, "usec") != 0)
		return reading_refuse(r, e, "the samples are not in usec, but in", r->text + 3);
	p->is_sorted_again = p->has_begun;
	if (p->is_sorted_again)
		return 0;
	p->has_begun = true;
	r->is_unordered = true; /* until one is less than the one before it */
	return samples_begin(r->to, e);
}

static int perftest_line(struct reading *r, struct perftest *p, struct err *e)
{
	if (!strncmp(r->text, "#, ", 3))
		return perftest_begin(r, p, e);
	/* Those of a ping-pong are half of a round trip; a read or an atomic operation is timed as a whole. */
	if (!p->has_begun && strstr(r->text, " Latency Test") &&
	    (strstr(r->text, "Send") || strstr(r->text, "RDMA_Write ")))
		name_series(r, "half_rtt_ns", "t_rtt/2");
	if (!p->has_begun && strstr(r->text, "tps average"))
		return reading_refuse(r, e, "there is no list of samples: run perftest with -n, not for a time (-D)",
				      NULL);
	if (p->has_begun && is_perftest_end(r->text)) {
		p->has_ended = true;
		return 0;
	}
	if (p->is_sorted_again && !p->has_ended)
		reading_skip(r, "lines of a sorted list");
	else if (p->has_begun)
		return p->has_ended ? perftest_summary(r, p->listed, e) : perftest_row(r, p, e);
	return 0;
}

int read_perftest(struct reading *r, struct err *e)
{
	struct perftest p = {.listed = 0};
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		rc = perftest_line(r, &p, e);
		if (rc)
			return rc;
	}
	if (!rc && !p.has_begun)
		return reading_refuse(r, e, "there is no list of samples; run perftest with -U", NULL);
	if (!rc && !p.has_ended)
		return reading_refuse(r, e, "the summary after the samples is missing: the file was cut off", NULL);
	return rc;
}

/* --- sockperf --- */

#define SOCKPERF_HEAD "packet, txTime(sec), rxTime(sec), "

struct sockperf_state {
	int64_t unit_ns;
	uint64_t next;
	double sent;
	bool has_any;
};

/* With --full-rtt, or of a stream, they are whole; otherwise half of the time between sending and receiving. */
static void sockperf_name(struct reading *r, double round_trip_s, double latency_s)
{
	if (r->to->entries)
		return;
	if (fabs(latency_s - round_trip_s / 2) < 2e-9)
		name_series(r, "half_rtt_ns", "t_rtt/2");
	else if (fabs(latency_s - round_trip_s) < 2e-9)
		name_series(r, "rtt_ns", "t_rtt");
}

static int sockperf_row(struct reading *r, struct sockperf_state *s, struct err *e)
{
	char *at = r->text, *number = reading_field(&at), *sent = reading_field(&at), *received = reading_field(&at);
	char *latency = reading_field(&at), *end;
	uint64_t n;
	double t;
	int rc;

	if (!latency || at || !reading_count(number, &n))
		return reading_refuse(r, e, "not a sample of sockperf:", r->text);
	t = strtod(sent, &end);
	if (end == sent || *end || !isfinite(t))
		return reading_refuse(r, e, "not a time:", sent);
	sockperf_name(r, strtod(received, NULL) - t, strtod(latency, NULL) * (double)s->unit_ns / 1e9);
	if (s->has_any && (n < s->next || t < s->sent))
		return reading_refuse(r, e, "time or number goes back to", n < s->next ? number : sent);
	rc = s->has_any && n > s->next ? reading_lost(r, n - s->next, e) : 0;
	*s = (struct sockperf_state){s->unit_ns, n + 1, t, true};
	return rc ? rc : reading_take(r, latency, s->unit_ns, e);
}

static int sockperf_begin(struct reading *r, struct sockperf_state *s, struct err *e)
{
	if (s->unit_ns)
		return reading_refuse(r, e, "it has a second list of samples: give each run a file", NULL);
	s->unit_ns = reading_unit_of(r->text + strlen(SOCKPERF_HEAD));
	if (!s->unit_ns)
		return reading_refuse(r, e, "unknown unit:", r->text + strlen(SOCKPERF_HEAD));
	return samples_begin(r->to, e);
}

int read_sockperf(struct reading *r, struct err *e)
{
	struct sockperf_state s = {.unit_ns = 0};
	bool has_ended = false;
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		rc = 0;
		if (!strncmp(r->text, SOCKPERF_HEAD, strlen(SOCKPERF_HEAD)))
			rc = sockperf_begin(r, &s, e);
		else if (s.unit_ns && !strncmp(r->text, "---", 3))
			has_ended = true;
		else if (s.unit_ns && !has_ended)
			rc = sockperf_row(r, &s, e);
		if (rc)
			return rc;
	}
	if (!rc && !s.unit_ns)
		return reading_refuse(r, e, "there is no list of samples; run sockperf with --full-log FILE", NULL);
	if (!rc && !has_ended)
		return reading_refuse(r, e, "the line after the samples is missing: the file was cut off", NULL);
	return rc;
}

/* --- fio --- */

static const char *const fio_directions[] = {"read", "write", "trim"};

struct fio {
	uint64_t time, direction;
	int asked;  /* the direction; -1: the only one */
	bool is_ns; /* fio 3 wrote it: only that has a sixth column, or a priority in hexadecimal */
};

/*
 * A clat log is "time (ms), latency, direction, block size", then what the version has: an offset, or a priority, or both.
 * fio 2 wrote latencies in us, fio 3 writes them in ns. Only the columns say which: a fifth that is 0 or 1 is fio 3's
 * priority, and might be the offset of fio 2's first operation.
 */
static int fio_unit(struct reading *r, struct fio *f, char *rest, int64_t *unit_ns, struct err *e)
{
	const char *fifth = reading_field(&rest), *sixth = reading_field(&rest);
	const int64_t asked = r->unit ? reading_unit_ns(r->unit) : 0;

	f->is_ns |= sixth || (fifth && !strncmp(fifth, "0x", 2));
	if (f->is_ns && asked > 1)
		return reading_refuse(r, e, "--unit contradicts its columns: fio 3 wrote it, in ns", NULL);
	*unit_ns = asked ? asked : 1;
	return asked || f->is_ns || (fifth && (!strcmp(fifth, "0") || !strcmp(fifth, "1")))
		   ? 0
		   : reading_refuse(
			 r, e, "the unit cannot be seen: fio 2 wrote us, fio 3 writes ns; give --unit us or ns", NULL);
}

static int fio_line(struct reading *r, struct fio *f, struct err *e)
{
	char *at = r->text, *text = reading_field(&at), *latency = reading_field(&at), *d = reading_field(&at);
	uint64_t now, way;
	int64_t unit_ns;
	int rc;

	if (!d || !reading_field(&at) || !reading_count(text, &now) || !reading_count(d, &way) || way > 2)
		return reading_refuse(r, e, "not a line of a clat log of fio:", r->text);
	if (now < f->time)
		return reading_refuse(r, e, "time goes back to", text);
	f->time = now;
	if (f->asked >= 0 && (uint64_t)f->asked != way) {
		reading_skip(r, "operations of another direction");
		return 0;
	}
	if (r->to->reps && way != f->direction)
		return reading_refuse(r, e, "reads and writes are mixed; choose with --column read, write or trim",
				      NULL);
	f->direction = way;
	rc = fio_unit(r, f, at, &unit_ns, e);
	if (!rc && !r->to->reps)
		rc = samples_begin(r->to, e);
	return rc ? rc : reading_take(r, latency, unit_ns, e);
}

int read_fio(struct reading *r, struct err *e)
{
	struct fio f = {.asked = -1};
	int rc;

	for (int d = 0; r->column && d < 3; d++)
		if (!strcmp(r->column, fio_directions[d]))
			f.asked = d;
	if (r->column && f.asked < 0)
		return reading_refuse(r, e, "--column must be read, write or trim, not", r->column);
	while ((rc = reading_line(r, e)) > 0) {
		rc = fio_line(r, &f, e);
		if (rc)
			return rc;
	}
	return rc;
}

/* --- cyclictest -v --- */

#define CYCLIC_THREADS 4096

/* What one thread's lines have: a latency in ns, or how many cycles are missing, as a negative number. */
struct cyclic_thread {
	int64_t *values;
	size_t count;
	uint64_t next; /* cycle */
};

struct cyclic {
	struct cyclic_thread *threads;
	size_t count;
	bool has_ended;
};

static void cyclic_keep(struct cyclic_thread *t, int64_t value)
{
	t->values = grow_or_abort(t->values, t->count, sizeof(*t->values));
	t->values[t->count++] = value;
}

static int cyclic_sample(struct reading *r, struct cyclic *c, unsigned long thread, unsigned long cycle,
			 const char *latency, struct err *e)
{
	const int64_t unit_ns = r->unit ? reading_unit_ns(r->unit) : 1000;
	struct cyclic_thread *t;
	int64_t ns;
	int rc;

	if (c->has_ended)
		return reading_refuse(r, e, "it has a second list of samples: give each run a file", NULL);
	if (thread >= CYCLIC_THREADS)
		return reading_refuse(r, e, "there are no so many threads", NULL);
	for (; c->count <= thread; c->count++) {
		c->threads = grow_or_abort(c->threads, c->count, sizeof(*c->threads));
		c->threads[c->count] = (struct cyclic_thread){.values = NULL};
	}
	t = &c->threads[thread];
	if (t->count && cycle < t->next)
		return reading_refuse(r, e, "the number of a cycle goes back", NULL);
	if (t->count && cycle - t->next > READING_LOST_MAX)
		return reading_refuse(r, e, "more than a million cycles are missing before", latency);
	rc = reading_latency(r, latency, unit_ns, &ns, e);
	if (rc)
		return rc;
	if (t->count && cycle > t->next)
		cyclic_keep(t, -(int64_t)(cycle - t->next));
	cyclic_keep(t, ns);
	t->next = cycle + 1;
	return 0;
}

static int cyclic_line(struct reading *r, struct cyclic *c, struct err *e)
{
	unsigned long thread, cycle;
	char latency[32], rest;

	if (sscanf(r->text, " %lu: %lu: %31s %c", &thread, &cycle, latency, &rest) == 3)
		return cyclic_sample(r, c, thread, cycle, latency, e);
	if (sscanf(r->text, "Thread %lu Interval: %lu", &thread, &cycle) == 2)
		return 0;
	c->has_ended |= c->count && sscanf(r->text, "T:%lu (%lu) P:%c", &thread, &cycle, &rest) == 3;
	if ((c->count && !c->has_ended) || strstr(r->text, "istogram"))
		return reading_refuse(r, e, "not a sample of cyclictest -v:", r->text);
	return 0;
}

/* Each thread is a repetition; one that was never heard of has none. */
static int cyclic_take(struct reading *r, const struct cyclic *c, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < c->count; i++) {
		const struct cyclic_thread *t = &c->threads[i];

		rc = t->count ? samples_begin(r->to, e) : 0;
		for (size_t k = 0; !rc && k < t->count; k++)
			rc = t->values[k] < 0 ? reading_lost(r, -(uint64_t)t->values[k], e)
					      : samples_add(r->to, t->values[k], 1, e);
	}
	return rc;
}

/* "thread: cycle: latency (us)". With -q, summaries of the threads end it: "T: 0 (4711) P: 0 I:1000 C:". */
int read_cyclic_lines(struct reading *r, struct err *e)
{
	struct cyclic c = {.count = 0};
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		rc = cyclic_line(r, &c, e);
		if (rc)
			break;
	}
	if (!rc)
		rc = cyclic_take(r, &c, e);
	for (size_t i = 0; i < c.count; i++)
		free(c.threads[i].values);
	free(c.threads);
	return rc;
}
