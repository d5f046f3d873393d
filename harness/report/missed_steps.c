#include "report/missed_steps.h"

static bool share_of(const struct summary_block *pacing, enum pacing_number number, double *share)
{
	const struct number n = pacing->numbers[number];

	*share = number_or_zero(n);
	return number_is_known(n) && *share >= 0 && *share <= 1;
}

/* The loss of the flow's leading series, for runs whose pacing block does not contain it. */
static int64_t lost_of(const struct report_point *p, const struct layout_flow *flow)
{
	int64_t lost = 0;

	for (size_t i = 0; i < p->series_count; i++)
		if (p->series[i].flow == flow && p->series[i].leads)
			model_metric(&p->series[i], STATISTIC_LOST, &lost);
	return lost;
}

static void add_lost(struct missed_steps *s, const struct report_point *p, const struct layout_flow *flow,
		     const struct summary_block *pacing)
{
	const struct number n = pacing->numbers[PACING_NOT_TRANSMITTED];
	double lost = n.kind == NUMBER_INTEGER ? (double)n.integer : (double)lost_of(p, flow);
	double sent = (double)s->due * (1 - missed_steps_in(s));

	s->lost_share = lost / (double)s->due;
	s->not_transmitted_share = sent > 0 ? lost / sent : 0;
}

bool missed_steps_of(const struct report_point *p, const struct layout_flow *flow, struct missed_steps *s)
{
	const struct summary_block *pacing = model_block(p, flow, &pacing_block);

	*s = (struct missed_steps){.due = pacing ? number_count(pacing->numbers[PACING_STEPS]) : 0};
	if (s->due > 0 && share_of(pacing, PACING_MISSED_SHARE, &s->missed_share) &&
	    share_of(pacing, PACING_UNSENT_SHARE, &s->unsent_share)) {
		add_lost(s, p, flow, pacing);
		return true;
	}
	*s = (struct missed_steps){0};
	return false;
}

double missed_steps_in(const struct missed_steps *s)
{
	return s->missed_share + s->unsent_share;
}

double missed_steps_out(const struct missed_steps *s)
{
	return missed_steps_in(s) + s->lost_share;
}

void missed_steps_put(struct table *t, size_t column, size_t row, const struct report_item *item)
{
	struct missed_steps s;

	if (!missed_steps_of(item->point, item->series->flow, &s))
		return;
	table_number(t, column, row, s.missed_share);
	table_number(t, column + 1, row, s.unsent_share);
}
