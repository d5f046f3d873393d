#include "report/run_figures.h"

#include <math.h>
#include <string.h>

#include "common/fs.h"
#include "files/rundir/flows.h"
#include "judge/analysis/fairness.h"
#include "report/chart.h"

#define WIDTH	   800
#define HEIGHT	   400
#define POINTS_MAX 24 /* more do not help; the table of numbers has all */
#define NUMBER_MAX 32

/* The values of all repetitions for a part of the window. */
struct part {
	double sum, least, most;
	size_t count;
};

/* How a flow's share changed during a repetition; NULL: it is not known. */
static const struct summary_shares *shares_in(const struct summary_rep *rep, const char *flow)
{
	const struct summary_block *fairness = summary_find_block(&rep->results, "", &fairness_block);

	for (size_t i = 0; fairness && i < fairness->share_count; i++)
		if (!strcmp(fairness->shares[i].flow, flow))
			return &fairness->shares[i];
	return NULL;
}

static struct part part_of(const struct report_point *p, const char *flow, size_t part)
{
	struct part all = {0, INFINITY, -INFINITY, 0};

	for (size_t i = 0; p->summary && i < p->summary->rep_count; i++) {
		const struct summary_shares *shares = shares_in(&p->summary->reps[i], flow);
		const double share = shares && part < shares->count ? shares->parts[part] : NAN;

		if (isnan(share))
			continue;
		all.sum += share;
		all.least = fmin(all.least, share);
		all.most = fmax(all.most, share);
		all.count++;
	}
	return all;
}

static bool has_shares(const struct report_point *p, const char *flow)
{
	for (size_t i = 0; i < FAIRNESS_WINDOWS; i++)
		if (part_of(p, flow, i).count)
			return true;
	return false;
}

static size_t shared_flows(const struct report_point *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->layout.flow_count; i++)
		count += has_shares(p, p->layout.flows[i].name);
	return count;
}

/* --- a figure --- */

enum { LINE, PERCENT, SHARE, LEAST, MOST, FLOW, COLUMNS };

static void share_row(struct table *t, size_t line, size_t percent, const struct part *part, const char *flow)
{
	size_t row = table_row(t);

	table_count(t, LINE, row, (int64_t)line + 1);
	table_number(t, PERCENT, row, 100 * ((double)percent + .5) / FAIRNESS_WINDOWS);
	table_number(t, SHARE, row, part->sum / (double)part->count);
	table_number(t, LEAST, row, part->least);
	table_number(t, MOST, row, part->most);
	table_text(t, FLOW, row, "%s", flow);
}

/* An empty line ends a flow. */
static struct table share_rows(const struct report_point *p)
{
	static const struct table_column columns[COLUMNS] = {{.key = "line"},  {.key = "percent"}, {.key = "share"},
							     {.key = "least"}, {.key = "most"},	   {.key = "flow"}};
	struct table t = table_of(columns, COLUMNS, 0);

	for (size_t i = 0; i < p->layout.flow_count; i++) {
		const char *flow = p->layout.flows[i].name;

		for (size_t k = 0; k < FAIRNESS_WINDOWS; k++) {
			const struct part part = part_of(p, flow, k);

			if (part.count)
				share_row(&t, i, k, &part, flow);
		}
		table_row(&t);
	}
	return t;
}

/* "small, 43.1 %" */
static char *line_label(const struct report_point *p, const struct layout_flow *flow)
{
	const struct summary_block *fairness = model_block(p, flow, &fairness_block);
	const double share = fairness ? number_value(fairness->numbers[FAIRNESS_SHARE]) : NAN;

	return isnan(share) ? fs_path("%s", flow->name) : fs_path("%s, %.1f %%", flow->name, 100 * share);
}

static void set_shares_variables(struct figures *f, const void *point)
{
	figure_set_number(f, "fair", 1 / (double)shared_flows(point));
}

static const char *jain_text(const struct report_point *p, char *text, size_t size)
{
	const struct summary_block *all =
	    p->summary ? summary_find_block(&p->summary->results, "", &fairness_block) : NULL;
	const double jain = all ? number_value(all->numbers[FAIRNESS_JAIN]) : NAN;

	if (isnan(jain))
		return "";
	snprintf(text, size, "; Jain's index %.3f", jain);
	return text;
}

static int add_shares(struct figures *f, const struct report *r, const struct report_point *p, struct err *e)
{
	char jain[NUMBER_MAX];
	struct chart chart = {
	    .kind = "shares",
	    .point = p,
	    .name = fs_path("%s-shares", p->name),
	    .text = fs_path("The share of the bytes that each flow moved, over time: %s", p->label),
	    .title = fs_path("shares of the flows%s%s%s%s", *p->label ? ": " : "", p->label,
			     jain_text(p, jain, sizeof(jain)), model_is_valid(p) ? "" : "; not valid"),
	    .rows = share_rows(p),
	    .longest = 1,
	    .entries = shared_flows(p),
	    .width = WIDTH,
	    .height = HEIGHT,
	};

	for (size_t i = 0; i < p->layout.flow_count; i++) {
		const struct layout_flow *flow = &p->layout.flows[i];

		chart_series(&chart, has_shares(p, flow->name) ? line_label(p, flow) : fs_path("%s", ""));
	}
	return chart_add(f, r, &chart, set_shares_variables, p, e);
}

int figure_shares_add(struct figures *f, const struct report *r, struct err *e)
{
	size_t drawn = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->count && drawn < POINTS_MAX; i++) {
		if (shared_flows(&r->points[i]) < 2)
			continue;
		rc = add_shares(f, r, &r->points[i], e);
		drawn++;
	}
	return rc;
}
