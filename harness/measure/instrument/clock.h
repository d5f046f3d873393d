/*
 * The tick clock. On x86-64 the time-stamp counter: reads are fenced, so that what is measured stays between its stamps
 * (Intel SDM 3, 18.17; AMD APM 3, RDTSCP). On arm64 the generic timer's virtual count, likewise: its reads stay between
 * barriers, or could be executed early. clock_ticks_begin() starts an interval (everything before it has been
 * executed), clock_ticks_end() ends one (what it ends has been executed). Elsewhere CLOCK_MONOTONIC_RAW, whose ticks
 * are nanoseconds.
 *
 * The frequency is never taken from cpufreq. It is fitted: ticks against CLOCK_MONOTONIC_RAW, with the residual as the
 * gate. Two endpoints convert with one and the same `struct clock_conversion`, so that a fit's error cannot move one
 * against the other.
 */
#ifndef KBLAT_INSTRUMENT_CLOCK_H
#define KBLAT_INSTRUMENT_CLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct err;

#if defined(__x86_64__)
#define CLOCK_SOURCE "tsc"
static inline int64_t clock_ticks_begin(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(lo), "=d"(hi)::"memory");
	return (int64_t)((uint64_t)hi << 32 | lo);
}

static inline int64_t clock_ticks_end(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtscp\n\tlfence" : "=a"(lo), "=d"(hi)::"rcx", "memory");
	return (int64_t)((uint64_t)hi << 32 | lo);
}

/* About now: nothing keeps it from being executed a little earlier or later. */
static inline int64_t clock_ticks_now(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi)::"memory");
	return (int64_t)((uint64_t)hi << 32 | lo);
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}
#elif defined(__aarch64__)
#define CLOCK_SOURCE "cntvct"
static inline int64_t clock_ticks_begin(void)
{
	int64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
}

static inline int64_t clock_ticks_end(void)
{
	int64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
	return ticks;
}

static inline void cpu_relax(void)
{
	__asm__ volatile("yield" ::: "memory");
}
#else
#define CLOCK_SOURCE "monotonic_raw"
static inline int64_t clock_ticks_begin(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t clock_ticks_end(void)
{
	return clock_ticks_begin();
}

static inline void cpu_relax(void)
{
	__asm__ volatile("" ::: "memory");
}
#endif

#if !defined(__x86_64__)
static inline int64_t clock_ticks_now(void)
{
	return clock_ticks_begin();
}
#endif

/* ns = (ticks - origin) * numerator >> shift, in 128 bits: exact to the rounding of one nanosecond over years. */
struct clock_conversion {
	int64_t origin;	    /* ticks at the run's t0 */
	uint64_t numerator; /* 2^shift * 1e9 / hz */
	unsigned shift;
};

struct clock_report {
	char source[16];	/* CLOCK_SOURCE */
	bool invariant;		/* x86-64: CPUID 80000007H EDX[8]; arm64: always, by the architecture */
	char kernel_source[32]; /* the kernel's own clocksource */
	double hz;
	double residual_ns; /* largest distance of a point from the fitted line */
	double drift_ppm;   /* half-width of the slope's uncertainty */
	double cost_ns;	    /* of one read (begin), alone in a loop */
	double cost_end_ns;
	double stamp_ns; /* of one read and its store into a column, as in the timed loops */
	bool monotonic;	 /* no step back was seen */
	int64_t skew_ns; /* bound on the difference between the two CPUs that were compared; -1: not measured */
	bool good;	 /* residual and monotonic checks passed */
	char why[160];	 /* if not good */
};

/* The counter and CLOCK_MONOTONIC_RAW at one moment. */
struct clock_point {
	int64_t ticks, ns;
};

/* Now: the tightest of several tries. */
struct clock_point clock_observe(void);

/* The line through `count` points by least squares: fills hz, residual_ns, drift_ppm; hz is 0 if there is no such line.
 * Pure. */
void clock_fit(const struct clock_point *points, size_t count, struct clock_report *out);

/* Fit over about `milliseconds` (at least 10; 100 is plenty) and measure the costs meanwhile. Never fails: a bad clock is
 * a result. */
void clock_calibrate(unsigned milliseconds, struct clock_report *out);

/* Bound the skew between two CPUs by passing a cache line to and fro (ticks read on both sides). -1 where it cannot be
 * done (one CPU, no permission). */
int64_t clock_skew_ns(int cpu_a, int cpu_b, double hz);

/* The conversion whose t0 is now (or `origin` ticks). */
struct clock_conversion clock_conversion_from(int64_t origin, double hz);

static inline int64_t clock_to_ns(const struct clock_conversion *c, int64_t ticks)
{
	return (int64_t)(((__int128)(ticks - c->origin) * (__int128)c->numerator) >> c->shift);
}

/* The shortest interval, in ticks, that is at least `ns` (rounded up): origin + clock_from_ns(c, ns) is the first tick
 * that converts to `ns`. */
static inline int64_t clock_from_ns(const struct clock_conversion *c, int64_t ns)
{
	__int128 scaled = (__int128)ns * ((__int128)1 << c->shift), numerator = (__int128)c->numerator;

	return (int64_t)(scaled / numerator + (scaled % numerator > 0));
}

/* {"source", "invariant", "kernel_clocksource", "hz", "residual_ns", "drift_ppm", "cost_ns", ..., "skew_ns" (null: not
 * measured), "good", "why"}: run.json's "clock". */
json_t *clock_json(const struct clock_report *r);

#endif
