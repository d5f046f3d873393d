/*
 * How long messages spent in each stage of their way through sockets (`stages: yes`): the mean of each over the
 * messages that have all stamps, so that the four add up to the mean latency of these messages. The last is split in
 * two where the socket stamps messages; then those without that stamp do not count, unless they are the most.
 *
 * {"stack_ns", "queue_ns", "wire_ns", "read_ns", "socket_ns", "take_ns", "messages"}: `messages` is how many have all
 * stamps.
 */
#include <string.h>

#include "judge/analysis/series.h"
#include "judge/analysis/summary.h"

#define PARTS	  6
#define WITHOUT	  4   /* parts of a message without the socket's stamp */
#define SPLIT_MIN 0.5 /* share of messages with that stamp */

static const char *const parts[PARTS] = {
    [STAGES_STACK_NS] = "stack_ns", [STAGES_QUEUE_NS] = "queue_ns",   [STAGES_WIRE_NS] = "wire_ns",
    [STAGES_READ_NS] = "read_ns",   [STAGES_SOCKET_NS] = "socket_ns", [STAGES_TAKE_NS] = "take_ns"};

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

static void add_staged(struct stage_sums *sums, const int64_t *value, unsigned count)
{
	for (unsigned p = 0; p < count; p++)
		sums->ns[p] += (double)value[p];
	sums->messages++;
}

/* `sums`: of all messages, and of those with the socket's stamp. */
static void add_rep(const struct rep *r, const struct layout_series *const series[PARTS], unsigned known,
		    struct stage_sums sums[2])
{
	struct span span[PARTS] = {{.count = 0}};
	int64_t value[PARTS];

	for (unsigned p = 0; p < known; p++)
		span[p] = series_span(r, series[p]);
	for (size_t i = 0; i < span[0].count; i++) {
		unsigned there = 0;

		while (there < known && span_sample(&span[there], i, &value[there]))
			there++;
		if (there >= WITHOUT)
			add_staged(&sums[0], value, WITHOUT);
		if (there == PARTS)
			add_staged(&sums[1], value, PARTS);
	}
}

static bool stages_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			struct summary_block *out)
{
	const struct layout_series *series[PARTS];
	struct stage_sums both[2] = {{.messages = 0}, {.messages = 0}};
	unsigned known = 0;
	bool is_split;

	(void)granted;
	while (known < PARTS && (series[known] = series_of_part(f, parts[known])))
		known++;
	if (known < WITHOUT)
		return false;
	for (size_t i = 0; i < count; i++)
		if (reps[i].is_whole)
			add_rep(&reps[i], series, known, both);
	is_split = both[1].messages && (double)both[1].messages >= SPLIT_MIN * (double)both[0].messages;
	for (unsigned p = 0; p < PARTS; p++)
		out->numbers[p] = both[is_split].messages && (is_split || p < WITHOUT)
				      ? number_real(both[is_split].ns[p] / (double)both[is_split].messages)
				      : number_none();
	out->numbers[STAGES_MESSAGES] = number_integer(both[is_split].messages);
	return true;
}

#define STAGE_ROW(name, index, left_out, what)                                                                         \
	{                                                                                                              \
		.key = name "_ns", .number = index, .label = name, .measure = MEASURE_SERIES, .in_csv = true,          \
		.shown = SHOWN_TABLE | SHOWN_REPORT, .drop_order = (left_out), .worse = 1, .help = "mean time " what   \
	}

static const struct block_statistic stages_statistics[] = {
    STAGE_ROW("stack", STAGES_STACK_NS, 3, "from submission to the device's queue"),
    STAGE_ROW("queue", STAGES_QUEUE_NS, 3, "in the device's queue (qdisc)"),
    STAGE_ROW("wire", STAGES_WIRE_NS, 3, "from driver to driver"),
    STAGE_ROW("read", STAGES_READ_NS, 3, "from the receiving driver to the reader"),
    STAGE_ROW("socket", STAGES_SOCKET_NS, 4, "from the receiving driver to the socket"),
    STAGE_ROW("take", STAGES_TAKE_NS, 4, "from the socket to the reader"),
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
