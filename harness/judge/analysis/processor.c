/*
 * How much CPU time a flow took: what its measuring threads used, according to the kernel's
 * accounting, and how busy its machine was meanwhile. The latter includes the time of a device's
 * driver in interrupts and softirqs, which is not charged to any thread.
 *
 * {"source_share", "sink_share", "machine_cpus", "source_ns", "sink_ns", "source_cycles",
 * "sink_cycles"}: the shares are fractions of one CPU over the time that the source's loop took,
 * more than 1 if a side has several threads. machine_cpus, of the source's machine, is null if it
 * is not known, such as over intervals shorter than the kernel's resolution. Cycles are null unless
 * they were asked for (`cycles: yes`) and the processor counts them.
 */
#include "judge/analysis/summary.h"

/* Over less than this, /proc/stat, which counts hundredths of a second, has an error of more than a tenth. */
#define MACHINE_LEAST_NS 100000000

struct processor {
	double window;	     /* total time of the source's loops */
	double source, sink; /* CPU time that the threads of each side used meanwhile */
	double machine, machine_window;
	json_int_t source_cycles, sink_cycles;
	bool source_counts, sink_counts; /* cycles, in every repetition */
};

/* The sink's loop begins before the source's, and may end after it. A sink that sleeps while there
 * is nothing to do does not use the CPU then; one that used more CPU time than the source's loop
 * took has polled all the time. */
static double used_meanwhile(const struct rep *r, double window)
{
	const double used = (double)rep_counter(r, "sink", "cpu_ns");
	const double own = (double)rep_counter(r, "sink", "duration_ns");

	return used > window && own > window ? used * window / own : used;
}

static void processor_add(struct processor *p, const struct rep *r)
{
	const double window = (double)rep_counter(r, "source", "duration_ns");
	const json_int_t source = rep_counter(r, "source", "cycles"), sink = rep_counter(r, "sink", "cycles");

	p->window += window;
	p->source += (double)rep_counter(r, "source", "cpu_ns");
	p->sink += used_meanwhile(r, window);
	p->machine += (double)rep_counter(r, "source", "machine_busy_ns");
	p->machine_window += (double)rep_counter(r, "source", "machine_ns");
	p->source_counts &= source > 0;
	p->sink_counts &= sink > 0;
	if (__builtin_add_overflow(p->source_cycles, source, &p->source_cycles))
		p->source_counts = false;
	if (__builtin_add_overflow(p->sink_cycles, sink, &p->sink_cycles))
		p->sink_counts = false;
}

static struct number cycles_if(json_int_t cycles, bool counts)
{
	return counts ? number_integer(cycles) : number_none();
}

static bool processor_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			   struct summary_block *out)
{
	struct processor p = {.source_counts = count > 0, .sink_counts = count > 0};
	struct number *n = out->numbers;

	(void)f, (void)granted;
	for (size_t i = 0; i < count; i++)
		processor_add(&p, &reps[i]);
	/* Earlier versions did not count it, and with virtual time there is none. */
	if (!(p.window > 0) || !(p.source > 0))
		return false;
	n[CPU_SOURCE_SHARE] = number_real(p.source / p.window);
	n[CPU_SINK_SHARE] = number_real(p.sink / p.window);
	n[CPU_MACHINE_CPUS] =
	    p.machine_window >= MACHINE_LEAST_NS ? number_real(p.machine / p.machine_window) : number_none();
	n[CPU_SOURCE_NS] = number_integer((json_int_t)p.source);
	n[CPU_SINK_NS] = number_integer((json_int_t)p.sink);
	n[CPU_SOURCE_CYCLES] = cycles_if(p.source_cycles, p.source_counts);
	n[CPU_SINK_CYCLES] = cycles_if(p.sink_cycles, p.sink_counts);
	return true;
}

static const struct block_statistic processor_statistics[] = {
    {.key = "source_share",
     .number = CPU_SOURCE_SHARE,
     .label = "% CPU source",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "share of one CPU that the source's threads used while its loop ran"},
    {.key = "sink_share",
     .number = CPU_SINK_SHARE,
     .label = "% CPU sink",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "the same for the sink's threads"},
    {.key = "machine_cpus",
     .number = CPU_MACHINE_CPUS,
     .label = "CPUs busy",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "CPUs of the source's machine that were busy meanwhile, interrupts and other programs included"},
    {.key = "source_ns",
     .number = CPU_SOURCE_NS,
     .label = "source's CPU ns",
     .measure = MEASURE_COUNT,
     .help = "nanoseconds of CPU time that the source's threads used"},
    {.key = "sink_ns",
     .number = CPU_SINK_NS,
     .label = "sink's CPU ns",
     .measure = MEASURE_COUNT,
     .help = "the same for the sink"},
    {.key = "source_cycles",
     .number = CPU_SOURCE_CYCLES,
     .label = "source's cycles",
     .measure = MEASURE_COUNT,
     .in_csv = true,
     .help = "processor cycles of the source's threads, with `cycles: yes`"},
    {.key = "sink_cycles",
     .number = CPU_SINK_CYCLES,
     .label = "sink's cycles",
     .measure = MEASURE_COUNT,
     .in_csv = true,
     .help = "the same for the sink"},
    {.key = NULL},
};

const struct block processor_block = {
    .name = "cpu",
    .in_reps = true,
    .make = processor_make,
    .statistics = processor_statistics,
};

/*
 * What a computation on the sink's CPU had left of its speed while messages came (`work: yes`).
 *
 * {"slowdown", "share", "units_per_s", "alone_per_s"}: the rate alone divided by that beside the
 * messages; the inverse; both rates. Null if it did not get any CPU time beside them, or if it was not
 * pinned, so that it may have had another CPU than the sink.
 */
static struct number work_rate(json_int_t units, json_int_t ns)
{
	return ns > 0 ? number_real((double)units / ((double)ns / 1e9)) : number_none();
}

static bool work_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
		      struct summary_block *out)
{
	json_int_t units = 0, ns = 0, alone_units = 0, alone_ns = 0;
	bool pinned = true;
	double share;

	(void)f, (void)granted;
	for (size_t i = 0; i < count; i++) {
		pinned &= rep_counter(&reps[i], "sink", "pinned") > 0;
		units += rep_counter(&reps[i], "sink", "work_units");
		ns += rep_counter(&reps[i], "sink", "work_ns");
		alone_units += rep_counter(&reps[i], "sink", "work_alone_units");
		alone_ns += rep_counter(&reps[i], "sink", "work_alone_ns");
	}
	if (alone_units <= 0 || alone_ns <= 0)
		return false;
	out->numbers[WORK_SLOWDOWN] = out->numbers[WORK_SHARE] = number_none();
	out->numbers[WORK_UNITS_PER_S] = work_rate(units, ns);
	out->numbers[WORK_ALONE_PER_S] = work_rate(alone_units, alone_ns);
	if (!pinned || units <= 0 || ns <= 0)
		return true;
	share = (double)units / (double)ns / ((double)alone_units / (double)alone_ns);
	out->numbers[WORK_SHARE] = number_real(share);
	out->numbers[WORK_SLOWDOWN] = number_real(1 / share);
	return true;
}

static const struct block_statistic work_statistics[] = {
    {.key = "slowdown",
     .number = WORK_SLOWDOWN,
     .label = "slowdown of work",
     .measure = MEASURE_RATIO,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = 1,
     .help = "how many times as long a computation on the sink's CPU took while messages came"},
    {.key = "share",
     .number = WORK_SHARE,
     .label = "% work",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_REPORT,
     .help = "what it had left of its speed: the inverse"},
    {.key = "units_per_s",
     .number = WORK_UNITS_PER_S,
     .label = "work/s",
     .measure = MEASURE_RATIO,
     .help = "its speed while messages came, in units of some microseconds"},
    {.key = "alone_per_s",
     .number = WORK_ALONE_PER_S,
     .label = "work/s alone",
     .measure = MEASURE_RATIO,
     .help = "its speed alone, after the messages"},
    {.key = NULL},
};

const struct block work_block = {
    .name = "work",
    .in_reps = true,
    .make = work_make,
    .statistics = work_statistics,
};
