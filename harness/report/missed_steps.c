#include "report/missed_steps.h"

#include "analysis/pacing.h"
#include "rundir/flows.h"

static bool share_of(const json_t *pacing, const char *key, double *share)
{
	const json_t *j = json_object_get(pacing, key);

	*share = json_is_number(j) ? json_number_value(j) : 0;
	return json_is_number(j) && *share >= 0 && *share <= 1;
}

bool missed_steps_of(const struct report_point *p, const struct layout_flow *flow, struct missed_steps *s)
{
	const json_t *pacing = flows_get(p->summary, flow->name, pacing_block.name);

	s->due = json_integer_value(json_object_get(pacing, "steps"));
	if (share_of(pacing, "missed_share", &s->missed_share) && share_of(pacing, "unsent_share", &s->unsent_share))
		return true;
	*s = (struct missed_steps){0, 0, 0};
	return false;
}

void missed_steps_cells(FILE *table, const struct report_point *p, const struct layout_flow *flow)
{
	struct missed_steps s;

	if (missed_steps_of(p, flow, &s))
		fprintf(table, "\t%.6g\t%.6g", s.missed_share, s.unsent_share);
	else
		fputs("\t\t", table);
}
