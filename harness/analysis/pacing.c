#include "analysis/pacing.h"

struct pacing {
	json_int_t steps, missed, unsent, sent, lost;
	double intervals, seconds; /* between sent samples */
};

static void add_rate(struct pacing *t, const struct npy *submitted)
{
	int64_t first = NEVER, last = NEVER;
	size_t sent = 0;

	for (size_t i = 0; i < submitted->count; i++) {
		if (submitted->data[i] == NEVER)
			continue;
		first = sent++ ? first : submitted->data[i];
		last = submitted->data[i];
	}
	if (sent < 2)
		return;
	t->intervals += (double)(sent - 1);
	t->seconds += ((double)last - (double)first) / 1e9;
}

/* Count the samples that were sent but never arrived. */
static void add_loss(struct pacing *t, const struct npy *submitted, const struct npy *received)
{
	for (size_t i = 0; i < submitted->count; i++) {
		t->sent += submitted->data[i] != NEVER;
		t->lost += submitted->data[i] != NEVER && received->data[i] == NEVER;
	}
}

static json_t *share(json_int_t part, json_int_t whole)
{
	return whole ? json_real((double)part / (double)whole) : json_null();
}

static json_t *pacing_json(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted)
{
	int due = layout_column(f, "t_due"), submitted = layout_column(f, "t_subm");
	int received = layout_column(f, "t_recv");
	struct pacing t = {0};

	(void)granted;
	if (due < 0 || submitted < 0 || received < 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		add_rate(&t, &reps[i].columns[submitted]);
		if (!reps[i].counters)
			continue;
		add_loss(&t, &reps[i].columns[submitted], &reps[i].columns[received]);
		t.steps += (json_int_t)reps[i].columns[due].count;
		t.missed += rep_counter(&reps[i], "source", "missed");
		t.unsent += rep_counter(&reps[i], "source", "unsent");
	}
	return json_pack("{s:O*, s:o, s:I, s:I, s:o, s:I, s:o, s:I, s:o, s:I, s:o}", "asked_hz",
			 json_object_get(f->params, "rate_hz"), "achieved_hz",
			 t.seconds > 0 ? json_real(t.intervals / t.seconds) : json_null(), "steps", t.steps, "missed",
			 t.missed, "missed_share", share(t.missed, t.steps), "unsent", t.unsent, "unsent_share",
			 share(t.unsent, t.steps), "missing", t.missed + t.unsent, "missing_share",
			 share(t.missed + t.unsent, t.steps), "not_transmitted", t.lost, "not_transmitted_share",
			 share(t.lost, t.sent));
}

static const struct block_statistic pacing_statistics[] = {
    {.key = "missed_share",
     .label = "% missed",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = 1,
     .help = "share of the steps that were skipped because the pacer was late"},
    {.key = "achieved_hz",
     .label = "kHz",
     .measure = MEASURE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .spare = 5,
     .worse = -1,
     .help = "samples per second, from the first submission to the last"},
    {.key = "steps", .label = "steps", .measure = MEASURE_COUNT, .in_csv = true, .help = "steps that were due"},
    {.key = "missed", .label = "missed", .measure = MEASURE_COUNT, .in_csv = true, .help = "steps that were missed"},
    {.key = "unsent", .label = "unsent", .measure = MEASURE_COUNT, .in_csv = true, .help = "steps that were not sent"},
    {.key = "unsent_share",
     .label = "% unsent",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_REPORT,
     .worse = 1,
     .help = "share of the steps that were not sent: the queue was full, or the time was up"},
    {.key = "missing",
     .label = "missing",
     .measure = MEASURE_COUNT,
     .help = "steps without a sample: missed or unsent"},
    {.key = "missing_share",
     .label = "% missing",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .spare = 7,
     .help = "share of the steps without a sample: missed or unsent"},
    {.key = "not_transmitted",
     .label = "not transmitted",
     .measure = MEASURE_COUNT,
     .help = "samples that were sent and never arrived (lost)"},
    {.key = "not_transmitted_share",
     .label = "% not transmitted",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .spare = 6,
     .help = "share of the samples sent that never arrived"},
    {.key = NULL},
};

const struct block pacing_block = {
    .name = "pacing",
    .in_reps = true,
    .make = pacing_json,
    .statistics = pacing_statistics,
};
