/*
 * How well a pacer kept its rate: the steps that were due, those of them that it missed, those that
 * were not sent, and the rate achieved. For kernels with a column t_due.
 *
 * {"asked_hz", "achieved_hz", "steps", "missed", "missed_share", "unsent", "unsent_share",
 * "missing", "missing_share", "not_transmitted", "not_transmitted_share"}: shares are relative to
 * the steps, except for the last one. The rate is measured from the first sample's submission to
 * the last one's, and null if there are fewer than two. A repetition without counters (because its
 * run was killed) only contributes to the rate.
 *
 * The last four have the names known from VILLASnode's benchmark. A missing sample was missed or
 * unsent: it has no row in the file of what was sent. A sample that was not transmitted has a row
 * there, but none in the file of what arrived: `loss` calls it lost, and its share is relative to
 * what was sent.
 */
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"

struct pacing {
	json_int_t steps, missed, unsent, sent, lost;
	double intervals, seconds; /* between sent samples */
};

static void pacing_add_rate(struct pacing *t, const struct npy *submitted)
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

static struct number pacing_share(json_int_t part, json_int_t whole)
{
	return whole ? number_real((double)part / (double)whole) : number_none();
}

static void pacing_fill(const struct pacing *t, struct number *n)
{
	n[PACING_ACHIEVED_HZ] = t->seconds > 0 ? number_real(t->intervals / t->seconds) : number_none();
	n[PACING_STEPS] = number_integer(t->steps);
	n[PACING_MISSED] = number_integer(t->missed);
	n[PACING_MISSED_SHARE] = pacing_share(t->missed, t->steps);
	n[PACING_UNSENT] = number_integer(t->unsent);
	n[PACING_UNSENT_SHARE] = pacing_share(t->unsent, t->steps);
	n[PACING_MISSING] = number_integer(t->missed + t->unsent);
	n[PACING_MISSING_SHARE] = pacing_share(t->missed + t->unsent, t->steps);
	n[PACING_NOT_TRANSMITTED] = number_integer(t->lost);
	n[PACING_NOT_TRANSMITTED_SHARE] = pacing_share(t->lost, t->sent);
}

static bool pacing_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			struct summary_block *out)
{
	int due = layout_column(f, "t_due"), submitted = layout_column(f, "t_subm");
	int received = layout_column(f, "t_recv");
	struct pacing t = {0};

	(void)granted;
	if (due < 0 || submitted < 0 || received < 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		pacing_add_rate(&t, &reps[i].columns[submitted]);
		if (!reps[i].counters)
			continue;
		add_loss(&t, &reps[i].columns[submitted], &reps[i].columns[received]);
		t.steps += (json_int_t)reps[i].columns[due].count;
		t.missed += rep_counter(&reps[i], "source", "missed");
		t.unsent += rep_counter(&reps[i], "source", "unsent");
	}
	out->numbers[PACING_ASKED_HZ] = number_decode(param_value(f->params, "rate_hz"));
	pacing_fill(&t, out->numbers);
	return true;
}

static const struct block_statistic pacing_statistics[] = {
    {.key = "missed_share",
     .number = PACING_MISSED_SHARE,
     .label = "% missed",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = 1,
     .help = "share of the steps that were skipped because the pacer was late"},
    {.key = "achieved_hz",
     .number = PACING_ACHIEVED_HZ,
     .label = "kHz",
     .measure = MEASURE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 5,
     .worse = -1,
     .help = "samples per second, from the first submission to the last"},
    {.key = "steps",
     .number = PACING_STEPS,
     .label = "steps",
     .measure = MEASURE_COUNT,
     .in_csv = true,
     .help = "steps that were due"},
    {.key = "missed",
     .number = PACING_MISSED,
     .label = "missed",
     .measure = MEASURE_COUNT,
     .in_csv = true,
     .help = "steps that were missed"},
    {.key = "unsent",
     .number = PACING_UNSENT,
     .label = "unsent",
     .measure = MEASURE_COUNT,
     .in_csv = true,
     .help = "steps that were not sent"},
    {.key = "unsent_share",
     .number = PACING_UNSENT_SHARE,
     .label = "% unsent",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_REPORT,
     .worse = 1,
     .help = "share of the steps that were not sent: the queue was full, or the time was up"},
    {.key = "missing",
     .number = PACING_MISSING,
     .label = "missing",
     .measure = MEASURE_COUNT,
     .help = "steps without a sample: missed or unsent"},
    {.key = "missing_share",
     .number = PACING_MISSING_SHARE,
     .label = "% missing",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 7,
     .help = "share of the steps without a sample: missed or unsent"},
    {.key = "not_transmitted",
     .number = PACING_NOT_TRANSMITTED,
     .label = "not transmitted",
     .measure = MEASURE_COUNT,
     .help = "samples that were sent and never arrived (lost)"},
    {.key = "not_transmitted_share",
     .number = PACING_NOT_TRANSMITTED_SHARE,
     .label = "% not transmitted",
     .measure = MEASURE_SHARE,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 6,
     .help = "share of the samples sent that never arrived"},
    {.key = NULL},
};

static const struct block_statistic pacing_facts[] = {
    {.key = "asked_hz", .number = PACING_ASKED_HZ},
    {.key = NULL},
};

const struct block pacing_block = {
    .name = "pacing",
    .in_reps = true,
    .make = pacing_make,
    .statistics = pacing_statistics,
    .facts = pacing_facts,
};
