#include "analysis/processor.h"

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

static json_t *cycles_json(json_int_t cycles, bool counts)
{
	return counts ? json_integer(cycles) : json_null();
}

static json_t *processor_json(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted)
{
	struct processor p = {.source_counts = count > 0, .sink_counts = count > 0};

	(void)f, (void)granted;
	for (size_t i = 0; i < count; i++)
		processor_add(&p, &reps[i]);
	/* Earlier versions did not count it, and with virtual time there is none. */
	if (!(p.window > 0) || !(p.source > 0))
		return NULL;
	return json_pack("{s:f, s:f, s:o, s:I, s:I, s:o, s:o}", "source_share", p.source / p.window, "sink_share",
			 p.sink / p.window, "machine_cpus",
			 p.machine_window >= MACHINE_LEAST_NS ? json_real(p.machine / p.machine_window) : json_null(),
			 "source_ns", (json_int_t)p.source, "sink_ns", (json_int_t)p.sink, "source_cycles",
			 cycles_json(p.source_cycles, p.source_counts), "sink_cycles",
			 cycles_json(p.sink_cycles, p.sink_counts));
}

static const struct block_statistic processor_statistics[] = {
    {.key = "source_share",
     .label = "% CPU source",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "share of one CPU that the source's threads used while its loop ran"},
    {.key = "sink_share",
     .label = "% CPU sink",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "the same for the sink's threads"},
    {.key = "machine_cpus",
     .label = "CPUs busy",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "CPUs of the source's machine that were busy meanwhile, interrupts and other programs included"},
    {.key = "source_ns",
     .label = "source's CPU ns",
     .measure = MEASURE_COUNT,
     .help = "nanoseconds of CPU time that the source's threads used"},
    {.key = "sink_ns", .label = "sink's CPU ns", .measure = MEASURE_COUNT, .help = "the same for the sink"},
    {.key = "source_cycles",
     .label = "source's cycles",
     .measure = MEASURE_COUNT,
     .in_csv = true,
     .help = "processor cycles of the source's threads, with `cycles: yes`"},
    {.key = "sink_cycles",
     .label = "sink's cycles",
     .measure = MEASURE_COUNT,
     .in_csv = true,
     .help = "the same for the sink"},
    {.key = NULL},
};

const struct block processor_block = {
    .name = "cpu",
    .in_reps = true,
    .make = processor_json,
    .statistics = processor_statistics,
};
