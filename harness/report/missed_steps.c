#include "report/missed_steps.h"

#include "analysis/pacing.h"
#include "rundir/flows.h"

static bool share_of(const json_t *pacing, const char *key, double *share)
{
	const json_t *j = json_object_get(pacing, key);

	*share = json_is_number(j) ? json_number_value(j) : 0;
	return json_is_number(j) && *share >= 0 && *share <= 1;
}

/* The loss of the flow's leading series, for runs whose pacing block does not contain it. */
static int64_t lost_of(const struct report_point *p, const struct layout_flow *flow)
{
	int64_t lost = 0;

	for (size_t i = 0; i < p->series_count; i++)
		if (p->series[i].flow == flow && p->series[i].leads)
			model_metric(&p->series[i], "lost", &lost);
	return lost;
}

static void add_lost(struct missed_steps *s, const struct report_point *p, const struct layout_flow *flow,
		     const json_t *pacing)
{
	const json_t *j = json_object_get(pacing, "not_transmitted");
	double lost = json_is_integer(j) ? (double)json_integer_value(j) : (double)lost_of(p, flow);
	double sent = (double)s->due * (1 - missed_steps_in(s));

	s->lost_share = lost / (double)s->due;
	s->not_transmitted_share = sent > 0 ? lost / sent : 0;
}

bool missed_steps_of(const struct report_point *p, const struct layout_flow *flow, struct missed_steps *s)
{
	const json_t *pacing = flows_get(p->summary, flow->name, pacing_block.name);

	*s = (struct missed_steps){.due = json_integer_value(json_object_get(pacing, "steps"))};
	if (s->due > 0 && share_of(pacing, "missed_share", &s->missed_share) &&
	    share_of(pacing, "unsent_share", &s->unsent_share)) {
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

void missed_steps_cells(FILE *table, const struct report_point *p, const struct layout_flow *flow)
{
	struct missed_steps s;

	if (missed_steps_of(p, flow, &s))
		fprintf(table, "\t%.6g\t%.6g", s.missed_share, s.unsent_share);
	else
		fputs("\t\t", table);
}
