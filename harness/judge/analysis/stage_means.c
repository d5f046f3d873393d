/*
 * How long messages spent in each stage of their way through sockets (`stages: yes`): the mean of each over the
 * messages that have all stamps, so that the four add up to the mean latency of these messages.
 *
 * {"stack_ns", "queue_ns", "wire_ns", "read_ns", "messages"}: `messages` is how many have all stamps.
 */
#include <string.h>

#include "judge/analysis/series.h"
#include "judge/analysis/summary.h"

#define PARTS 4

static const char *const parts[PARTS] = {[STAGES_STACK_NS] = "stack_ns",
					 [STAGES_QUEUE_NS] = "queue_ns",
					 [STAGES_WIRE_NS] = "wire_ns",
					 [STAGES_READ_NS] = "read_ns"};

static const struct layout_series *series_of_part(const struct layout_flow *f, const char *name)
{
	for (unsigned i = 0; i < f->series_count; i++)
		if (!strcmp(f->series[i].name, name))
			return &f->series[i];
	return NULL;
}

struct stage_sums {
	double ns[PARTS];
	json_int_t messages;
};

static void add_rep(const struct rep *r, const struct layout_series *const series[PARTS], struct stage_sums *sums)
{
	struct span span[PARTS];
	int64_t value[PARTS];

	for (unsigned p = 0; p < PARTS; p++)
		span[p] = series_span(r, series[p]);
	for (size_t i = 0; i < span[0].count; i++) {
		unsigned there = 0;

		while (there < PARTS && span_sample(&span[there], i, &value[there]))
			there++;
		for (unsigned p = 0; there == PARTS && p < PARTS; p++)
			sums->ns[p] += (double)value[p];
		sums->messages += there == PARTS;
	}
}

static bool stages_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			struct summary_block *out)
{
	const struct layout_series *series[PARTS];
	struct stage_sums sums = {.messages = 0};

	(void)granted;
	for (unsigned p = 0; p < PARTS; p++) {
		series[p] = series_of_part(f, parts[p]);
		if (!series[p])
			return false;
	}
	for (size_t i = 0; i < count; i++)
		if (reps[i].is_whole)
			add_rep(&reps[i], series, &sums);
	for (unsigned p = 0; p < PARTS; p++)
		out->numbers[p] = sums.messages ? number_real(sums.ns[p] / (double)sums.messages) : number_none();
	out->numbers[STAGES_MESSAGES] = number_integer(sums.messages);
	return true;
}

#define STAGE_ROW(name, index, what)                                                                                   \
	{                                                                                                              \
		.key = name "_ns", .number = index, .label = name, .measure = MEASURE_SERIES, .in_csv = true,          \
		.shown = SHOWN_TABLE | SHOWN_REPORT, .spare = 3, .worse = 1, .help = "mean time " what                 \
	}

static const struct block_statistic stages_statistics[] = {
    STAGE_ROW("stack", STAGES_STACK_NS, "from submission to the device's queue"),
    STAGE_ROW("queue", STAGES_QUEUE_NS, "in the device's queue (qdisc)"),
    STAGE_ROW("wire", STAGES_WIRE_NS, "from driver to driver"),
    STAGE_ROW("read", STAGES_READ_NS, "from the receiving driver to the reader"),
    {.key = NULL},
};

static const struct block_statistic stages_facts[] = {
    {.key = "messages", .number = STAGES_MESSAGES, .measure = MEASURE_COUNT},
    {.key = NULL},
};

const struct block stages_block = {
    .name = "stages",
    .in_reps = true,
    .make = stages_make,
    .statistics = stages_statistics,
    .facts = stages_facts,
};
