#include "measure/instrument/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "common/or_abort.h"
#include "common/sysroot.h"
#include "measure/instrument/pinned.h"

enum {
	POINTS = 64,		/* maximum number of points of a fit */
	BRACKETS = 24,		/* number of readings from which a point is chosen */
	RESIDUAL_MAX_NS = 1000, /* see judge() */
	COLUMN = 1 << 15,	/* stamps in a batch: 256 KiB, which fit in an L2 cache */
	KINDS = 3,		/* of batches */
	BATCHES = 24,		/* of each kind, at most */
	BATCHES_MS = 16,	/* and at least this long, in which a slow CPU raises its frequency */
	ROUNDS = 20000,		/* of the ping-pong */
	ROUNDS_MS = 50,		/* and its maximum duration */
};

static int64_t raw_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/*
 * Ticks and nanoseconds of the same moment. The kernel's clock is read between two readings of the
 * counter. Anything that happens in between (an interrupt, the hypervisor) widens the bracket, so
 * the narrowest of several is the best.
 */
struct clock_point clock_observe(void)
{
	struct clock_point best = {0, 0};
	int64_t width = INT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		int64_t before = clock_ticks_begin();
		int64_t ns = raw_ns();
		int64_t after = clock_ticks_end();

		if (after - before < width) {
			width = after - before;
			best.ticks = before + width / 2;
			best.ns = ns;
		}
	}
	return best;
}

void clock_fit(const struct clock_point *points, size_t count, struct clock_report *out)
{
	double mean_t = 0, mean_n = 0, tt = 0, tn = 0, squares = 0;

	out->hz = out->residual_ns = out->drift_ppm = 0;
	/* Differences from the first point, because the values themselves may exceed a double's 53 bits. */
	for (size_t i = 0; i < count; i++) {
		mean_t += (double)(points[i].ticks - points[0].ticks) / (double)count;
		mean_n += (double)(points[i].ns - points[0].ns) / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		double t = (double)(points[i].ticks - points[0].ticks) - mean_t;
		double n = (double)(points[i].ns - points[0].ns) - mean_n;

		tt += t * t;
		tn += t * n;
	}
	if (count < 3 || tt <= 0 || tn <= 0)
		return;

	double slope = tn / tt;

	for (size_t i = 0; i < count; i++) {
		double t = (double)(points[i].ticks - points[0].ticks) - mean_t;
		double n = (double)(points[i].ns - points[0].ns) - mean_n;
		double residual = fabs(n - slope * t);

		squares += residual * residual;
		out->residual_ns = fmax(out->residual_ns, residual);
	}
	out->hz = 1e9 / slope;
	/* Two standard errors of the slope: about 95 %. */
	out->drift_ppm = 2e6 * sqrt(squares / (double)(count - 2) / tt) / slope;
}

static bool is_rising(const struct clock_point *points, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (points[i].ticks <= points[i - 1].ticks)
			return false;
	return true;
}

static int64_t batch_begin(int64_t *column)
{
	int64_t from = clock_ticks_begin();

	(void)column;
	for (size_t i = 0; i < COLUMN; i++)
		(void)clock_ticks_begin();
	return clock_ticks_begin() - from;
}

static int64_t batch_end(int64_t *column)
{
	int64_t from = clock_ticks_begin();

	(void)column;
	for (size_t i = 0; i < COLUMN; i++)
		(void)clock_ticks_end();
	return clock_ticks_begin() - from;
}

static int64_t batch_stamp(int64_t *column)
{
	int64_t from = clock_ticks_begin();

	for (size_t i = 0; i < COLUMN; i++)
		column[i] = clock_ticks_begin();
	return clock_ticks_begin() - from;
}

static bool is_sorted(const int64_t *column)
{
	for (size_t i = 1; i < COLUMN; i++)
		if (column[i] < column[i - 1])
			return false;
	return true;
}

struct cheapest {
	int64_t best, second;
};

static void offer(struct cheapest *c, int64_t ticks)
{
	if (ticks < c->best) {
		c->second = c->best;
		c->best = ticks;
	} else if (ticks < c->second) {
		c->second = ticks;
	}
}

/* Two batches agree to 1 %, so a third one would hardly be cheaper. */
static bool is_confirmed(const struct cheapest *c)
{
	return c->second - c->best <= c->best / 100;
}

/* What reading the clock costs: the cheapest batch of each kind. The kinds alternate, so that a temporary slowdown of the
 * machine does not favour one of them. */
struct costs {
	struct cheapest ticks[KINDS];
	int64_t *column, until; /* until: there are more, to let a slow CPU raise its frequency */
	int batches;
	bool enough, monotonic;
};

static struct costs costs_begin(void)
{
	struct costs c = {.column = or_abort(malloc(COLUMN * sizeof(*c.column))),
			  .until = raw_ns() + BATCHES_MS * 1000000,
			  .monotonic = true};

	memset(c.column, 0, COLUMN * sizeof(*c.column)); /* touched: a page fault is not part of a stamp's cost */
	for (int k = 0; k < KINDS; k++)
		c.ticks[k] = (struct cheapest){INT64_MAX, INT64_MAX};
	return c;
}

static void costs_batch(struct costs *c)
{
	static int64_t (*const batch[KINDS])(int64_t *) = {batch_begin, batch_end, batch_stamp};
	const int kind = c->batches++ % KINDS;

	offer(&c->ticks[kind], batch[kind](c->column));
	if (kind != KINDS - 1)
		return;
	c->monotonic &= is_sorted(c->column);
	c->enough = raw_ns() > c->until;
	for (int k = 0; k < KINDS; k++)
		c->enough &= is_confirmed(&c->ticks[k]);
	c->enough |= c->batches >= BATCHES * KINDS;
}

static void costs_end(struct costs *c, struct clock_report *out)
{
	double *const cost[KINDS] = {&out->cost_ns, &out->cost_end_ns, &out->stamp_ns};

	while (!c->enough)
		costs_batch(c);
	for (int k = 0; k < KINDS; k++)
		*cost[k] = out->hz > 0 ? (double)c->ticks[k].best / COLUMN * 1e9 / out->hz : 0;
	out->monotonic &= c->monotonic;
	free(c->column);
}

static void pass_time(struct costs *c, int64_t until)
{
	int64_t left;

	while ((left = until - raw_ns()) > 0) {
		const struct timespec pause = {left / 1000000000, left % 1000000000};

		if (c->enough)
			nanosleep(&pause, NULL);
		else
			costs_batch(c);
	}
}

/* The fit, and between its points the costs. */
static void measure(unsigned milliseconds, struct clock_report *out)
{
	struct clock_point points[POINTS];
	struct costs costs = costs_begin();
	const int64_t begun = raw_ns(), pause_ns = (int64_t)milliseconds * 1000000 / (POINTS - 1);

	for (int i = 0; i < POINTS; i++) {
		pass_time(&costs, begun + i * pause_ns);
		points[i] = clock_observe();
	}
	clock_fit(points, POINTS, out);
	out->monotonic = is_rising(points, POINTS);
	costs_end(&costs, out);
}

static bool has_invariant_counter(void)
{
#if defined(__x86_64__)
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & 1u << 8);
#else
	return true; /* neither arm64's counter nor CLOCK_MONOTONIC_RAW depends on the CPU's frequency */
#endif
}

static void read_kernel_source(char *buf, size_t size)
{
	struct sysroot root;

	snprintf(buf, size, "unknown");
	if (sysroot_open(&root, NULL, NULL))
		return;
	if (sysroot_line(&root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", buf, size))
		snprintf(buf, size, "unknown");
	sysroot_close(&root);
}

/*
 * A counter that follows the CPU's frequency is wrong by several per cent, so a fit over tens of
 * milliseconds has residuals of a hundred microseconds and more; for a counter that jumps, they are as large
 * as the jump. The residuals of a good counter are the width of the brackets: tens of nanoseconds,
 * or a few hundred if a hypervisor emulates it. One microsecond is between the two.
 */
static void judge(struct clock_report *out)
{
	out->why[0] = '\0';
	if (out->hz <= 0)
		snprintf(out->why, sizeof(out->why), "the tick counter does not follow CLOCK_MONOTONIC_RAW at all");
	else if (!out->monotonic)
		snprintf(out->why, sizeof(out->why), "the tick counter stepped back");
	else if (out->residual_ns > RESIDUAL_MAX_NS)
		snprintf(out->why, sizeof(out->why),
			 "the tick counter strays %.0f ns from CLOCK_MONOTONIC_RAW; %d ns are allowed",
			 out->residual_ns, RESIDUAL_MAX_NS);
	out->good = !out->why[0];
}

void clock_calibrate(unsigned milliseconds, struct clock_report *out)
{
	memset(out, 0, sizeof(*out));
	snprintf(out->source, sizeof(out->source), "%s", CLOCK_SOURCE);
	out->invariant = has_invariant_counter();
	read_kernel_source(out->kernel_source, sizeof(out->kernel_source));
	out->skew_ns = -1;
	measure(milliseconds < 10 ? 10 : milliseconds, out);
	judge(out);
}

/* Two threads and the cache line that they exchange: `ball` is odd on the way there, and even on
 * the way back. */
struct pingpong {
	_Alignas(64) _Atomic uint32_t ball;
	_Atomic int64_t echoed_at; /* written before the ball returns */
	_Alignas(64) _Atomic bool stop;
	_Alignas(64) int64_t low, high; /* bounds of the offset of the echo's counter from the server's, in ticks */
};

static void *echo(void *arg)
{
	struct pingpong *p = arg;
	uint32_t expected = 1;

	while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
		if (atomic_load_explicit(&p->ball, memory_order_acquire) != expected) {
			cpu_relax();
			continue;
		}
		atomic_store_explicit(&p->echoed_at, clock_ticks_begin(), memory_order_relaxed);
		atomic_store_explicit(&p->ball, expected + 1, memory_order_release);
		expected += 2;
	}
	return NULL;
}

/*
 * The echo happened after the ball left and before it returned. So the offset of its counter lies
 * between echoed - back and echoed - left. Every round gives such an interval; the result is their
 * intersection, whose width is the sum of the shortest way there and the shortest way back.
 */
static void *clock_serve(void *arg)
{
	struct pingpong *p = arg;
	int64_t low = INT64_MIN, high = INT64_MAX;
	int64_t end = raw_ns() + (int64_t)ROUNDS_MS * 1000000;

	for (uint32_t i = 0; i < ROUNDS && (i % 64 || raw_ns() < end); i++) {
		int64_t left = clock_ticks_begin();

		atomic_store_explicit(&p->ball, 2 * i + 1, memory_order_release);
		while (atomic_load_explicit(&p->ball, memory_order_acquire) != 2 * i + 2)
			cpu_relax();

		int64_t back = clock_ticks_end();
		int64_t echoed = atomic_load_explicit(&p->echoed_at, memory_order_relaxed);

		low = echoed - back > low ? echoed - back : low;
		high = echoed - left < high ? echoed - left : high;
	}
	p->low = low;
	p->high = high;
	return NULL;
}

/* Both ends are separate threads, so that the caller's affinity does not change. */
static int play(struct pingpong *p, int cpu_a, int cpu_b)
{
	pthread_t server, echoer;
	int rc;

	if (pinned_start(&echoer, cpu_b, echo, p))
		return -1;
	rc = pinned_start(&server, cpu_a, clock_serve, p);
	if (!rc)
		pthread_join(server, NULL);
	atomic_store(&p->stop, true);
	pthread_join(echoer, NULL);
	return rc;
}

int64_t clock_skew_ns(int cpu_a, int cpu_b, double hz)
{
	struct pingpong p = {.ball = 0};
	int64_t bound;

	if (cpu_a < 0 || cpu_b < 0 || cpu_a == cpu_b || !(hz > 0) || play(&p, cpu_a, cpu_b))
		return -1;
	bound = llabs(p.low) > llabs(p.high) ? llabs(p.low) : llabs(p.high);
	return (int64_t)ceil((double)bound * 1e9 / hz);
}

/*
 * 62 bits for the factor: it fits in a JSON integer, its product with 64 bits of ticks fits in 128
 * bits, and the rounding error is about a nanosecond per century.
 */
struct clock_conversion clock_conversion_from(int64_t origin, double hz)
{
	struct clock_conversion c = {.origin = origin, .shift = 62};
	long double factor = hz > 0 ? 1e9L / (long double)hz : 1; /* no frequency: treat ticks as nanoseconds */

	while (ldexpl(factor, (int)c.shift) > ldexpl(1, 62) && c.shift)
		c.shift--;
	c.numerator = (uint64_t)roundl(ldexpl(factor, (int)c.shift));
	return c;
}

json_t *clock_json(const struct clock_report *r)
{
	json_t *skew = r->skew_ns < 0 ? json_null() : json_integer(r->skew_ns);

	return json_pack("{s:s, s:b, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:o, s:b, s:s}", "source", r->source,
			 "invariant", r->invariant, "kernel_clocksource", r->kernel_source, "hz", r->hz, "residual_ns",
			 r->residual_ns, "drift_ppm", r->drift_ppm, "cost_ns", r->cost_ns, "cost_end_ns",
			 r->cost_end_ns, "stamp_ns", r->stamp_ns, "monotonic", r->monotonic, "skew_ns", skew, "good",
			 r->good, "why", r->why);
}
