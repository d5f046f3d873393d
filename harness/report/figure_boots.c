/*
 * Boots (or runs) of both arms in chronological order, which makes a drift or an outlier visible at
 * a glance.
 */
#include "report/compare_figures.h"

#include <math.h>
#include <stdlib.h>

#include "common/fs.h"
#include "files/rundir/flows.h"
#include "judge/compare/compare_point.h"

#define WIDTH  900
#define HEIGHT 380

/* One row per run, with the value of its unit. */
static void boots_table(FILE *table, const struct comparison_point *p)
{
	fputs("x\tarm\tvalue\trun\n", table);
	for (size_t i = 0; i < p->unit_count; i++)
		for (size_t k = 0; k < p->units[i].run_count; k++)
			fprintf(table, "%zu\t%d\t%.10g\t%.10g\n", i + 1, p->units[i].arm == ARM_WITH ? 2 : 1,
				p->units[i].value, p->units[i].runs[k]);
}

static void boots_range(struct figures *f, const struct comparison_point *p)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < p->unit_count; i++)
		for (size_t k = 0; k < p->units[i].run_count; k++) {
			least = fmin(least, p->units[i].runs[k]);
			most = fmax(most, p->units[i].runs[k]);
		}
	figure_set_range(f, comparison_first(p)->unit, least, most, 1);
}

/* "BASE: 6.1.0-50-amd64": an arm's name in the key, and its mean. */
static void set_arm(struct figures *f, const struct comparison *c, const struct comparison_point *p,
		    enum compare_arm arm)
{
	static const struct {
		const char *name, *level;
	} arms[ARMS] = {{"base_name", "base_level"}, {"with_name", "with_level"}};
	const char *kernel = comparison_kernel(c, arm);
	char *text = figure_one_line(fs_path("%s: %s", compare_arm_name[arm], kernel ? kernel : ""), 40);

	figure_set(f, arms[arm].name, text);
	figure_set_number(f, arms[arm].level, comparison_first(p)->level[arm]);
	free(text);
}

static char *boots_name(const struct comparison_point *p)
{
	int flow = (int)(flows_bare_key(p->metric) - p->metric);

	return fs_path("boots-%04lld%s%.*s", (long long)p->id, flow ? "-" : "", flow ? flow - 1 : 0, p->metric);
}

static int boots_add_point(struct figures *f, const struct comparison *c, const struct comparison_point *p,
			   struct err *e)
{
	const char *unit = compare_unit_name[c->kind];
	long long id = (long long)p->id;
	FILE *table = figure_begin(f, "boots", NULL, boots_name(p),
				   fs_path("The %ss of point %lld in order of time, BASE and NEW", unit, id), e);
	char *title;

	if (!table)
		return figure_end(f, table, e);
	boots_table(table, p);
	title = figure_one_line(fs_path("%s, point %lld%s%s: %s of %s", *c->experiment ? c->experiment : "?", id,
					*p->label ? ": " : "", p->label,
					compare_quantity_label(comparison_first(p)->key), p->metric),
				FIGURE_TITLE_MAX);
	figure_set(f, "title", title);
	free(title);
	figure_set(f, "what", unit);
	set_arm(f, c, p, ARM_BASE);
	set_arm(f, c, p, ARM_WITH);
	boots_range(f, p);
	figure_set_count(f, "points", p->unit_count);
	fprintf(f->script, "width = %d\nheight = %d\n", WIDTH, HEIGHT);
	return figure_end(f, table, e);
}

int figure_boots_add(struct figures *f, const struct comparison *c, struct err *e)
{
	int rc = 0;

	for (const struct comparison_point *p = c->points; !rc && p < c->points + c->point_count; p++)
		if (p->quantity_count && p->unit_count)
			rc = boots_add_point(f, c, p, e);
	return rc;
}
