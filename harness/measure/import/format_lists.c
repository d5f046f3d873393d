#include "measure/import/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- perftest --- */

/* ib_send_lat -U or -H: "#, usec", then "1, 3.41" and so on, then the table. */
static int perftest_row(struct reading *r, uint64_t expected, int64_t *last, struct err *e)
{
	char *at = r->text, *number = reading_field(&at), *text = reading_field(&at);
	int64_t ns;
	uint64_t n;
	int rc;

	if (!text || at || !reading_count(number, &n))
		return reading_refuse(r, e, "not a sample of perftest:", r->text);
	if (n != expected)
		return reading_refuse(r, e, "samples are missing before number", number);
	rc = reading_latency(r, text, 1000, &ns, e);
	if (!rc && ns < *last)
		r->is_unordered = false;
	*last = ns;
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

int read_perftest(struct reading *r, struct err *e)
{
	bool has_begun = false, has_ended = false;
	uint64_t expected = 1;
	int64_t last = 0;
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		rc = 0;
		if (!strncmp(r->text, "#, ", 3)) {
			if (has_begun)
				return reading_refuse(r, e, "it has a second list of samples: give each run a file",
						      NULL);
			if (strcmp(r->text + 3, "usec") != 0)
				return reading_refuse(r, e, "the samples are not in usec, but in", r->text + 3);
			has_begun = true;
			r->is_unordered = true; /* until one is less than the one before it */
			rc = samples_begin(r->to, e);
		} else if (has_begun && is_perftest_end(r->text)) {
			has_ended = true;
		} else if (has_begun) {
			rc = has_ended ? perftest_summary(r, expected - 1, e) : perftest_row(r, expected++, &last, e);
		}
		if (rc)
			return rc;
	}
	if (!rc && !has_begun)
		return reading_refuse(r, e, "there is no list of samples; run perftest with -U", NULL);
	if (!rc && !has_ended)
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
	(void)received;
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

/* fio's clat log: "time (ms), latency (ns), direction, block size, offset…". */
int read_fio(struct reading *r, struct err *e)
{
	uint64_t time = 0, direction = 0, now, way;
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		char *at = r->text, *text = reading_field(&at), *latency = reading_field(&at), *d = reading_field(&at);
		const bool is_first = !r->to->reps;

		if (!d || !reading_field(&at) || !reading_count(text, &now) || !reading_count(d, &way) || way > 2)
			return reading_refuse(r, e, "not a line of a clat log of fio:", r->text);
		if (now < time)
			return reading_refuse(r, e, "time goes back to", text);
		if (!is_first && way != direction)
			return reading_refuse(r, e, "reads and writes are mixed; log them by separate jobs", NULL);
		time = now;
		direction = way;
		rc = is_first ? samples_begin(r->to, e) : 0;
		if (!rc)
			rc = reading_take(r, latency, 1, e);
		if (rc)
			return rc;
	}
	return rc;
}

/* cyclictest -v: "thread: cycle: latency (us)". */
int read_cyclic_lines(struct reading *r, struct err *e)
{
	const int64_t unit_ns = r->unit ? reading_unit_ns(r->unit) : 1000;
	uint64_t next = 0;
	int rc;

	while ((rc = reading_line(r, e)) > 0) {
		unsigned long thread, cycle;
		char latency[32], rest;

		if (sscanf(r->text, " %lu: %lu: %31s %c", &thread, &cycle, latency, &rest) != 3) {
			if (r->to->reps || strstr(r->text, "istogram"))
				return reading_refuse(r, e, "not a sample of cyclictest -v:", r->text);
			continue;
		}
		if (thread)
			return reading_refuse(r, e, "it has several threads; import their histograms (--json)", NULL);
		if (r->to->reps && cycle < next)
			return reading_refuse(r, e, "the number of a cycle goes back", NULL);
		rc = r->to->reps ? 0 : samples_begin(r->to, e);
		if (!rc && r->to->entries && cycle > next)
			rc = reading_lost(r, cycle - next, e);
		next = cycle + 1;
		if (!rc)
			rc = reading_take(r, latency, unit_ns, e);
		if (rc)
			return rc;
	}
	return rc;
}
