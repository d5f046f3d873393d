#include "report/steps.h"

static bool share_of(const json_t *pacing, const char *key, double *share)
{
	const json_t *j = json_object_get(pacing, key);

	*share = json_is_number(j) ? json_number_value(j) : 0;
	return json_is_number(j) && *share >= 0 && *share <= 1;
}

bool point_steps(const struct report_point *p, struct steps *s)
{
	const json_t *pacing = json_object_get(p->summary, "pacing");

	s->due = json_integer_value(json_object_get(pacing, "steps"));
	if (share_of(pacing, "missed_share", &s->missed_share) && share_of(pacing, "unsent_share", &s->unsent_share))
		return true;
	*s = (struct steps){0, 0, 0};
	return false;
}

void steps_cells(FILE *table, const struct report_point *p)
{
	struct steps s;

	if (point_steps(p, &s))
		fprintf(table, "\t%.6g\t%.6g", s.missed_share, s.unsent_share);
	else
		fputs("\t\t", table);
}
