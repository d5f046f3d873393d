/*
 * The shift function of each point of a comparison.
 */
#include <math.h>
#include <stdlib.h>

#include "common/fs.h"
#include "report/compare_figures.h"

#define WIDTH	  900
#define HEIGHT	  420
#define MOST	  60 /* per cent; larger values are cut off */
#define LABEL_MAX 16

/* "p99.9". */
static const char *shift_label(double quantile, char *buf, size_t size)
{
	snprintf(buf, size, "p%g", 100 * quantile);
	return buf;
}

static void shift_table(FILE *table, const struct shift *s, size_t *known)
{
	fputs("x\teffect_percent\tlow_percent\thigh_percent\tquantile\n", table);
	*known = 0;
	for (size_t q = 0; q < SHIFT_QUANTILES; q++) {
		if (!s->known[q])
			continue;
		++*known;
		fprintf(table, "%zu\t%.4f\t%.4f\t%.4f\t%g\n", q + 1, s->effect[q], fmax(s->low[q], -1e6),
			fmin(s->high[q], 1e6), shift_quantile[q]);
	}
}

/* Round numbers with some space; what is far beyond the effects is cut off. */
static void find_range(const struct shift_figure *of, double *bottom, double *top)
{
	const struct shift *s = &of->shift;
	double most = 0, reach = 0;

	for (size_t q = 0; q < SHIFT_QUANTILES; q++) {
		most = fmax(most, of->margin[q]);
		reach = fmax(reach, of->margin[q]);
		if (!s->known[q])
			continue;
		most = fmax(most, fabs(s->effect[q]));
		if (isfinite(s->low[q]) && isfinite(s->high[q]))
			reach = fmax(reach, fmax(fabs(s->low[q]), fabs(s->high[q])));
	}
	*top = 1.15 * fmin(reach, fmax(4 * most, MOST));
	*bottom = -*top;
}

static void shift_labels(struct figures *f)
{
	char text[LABEL_MAX];

	figure_set_array(f, "labels", SHIFT_QUANTILES);
	for (size_t q = 0; q < SHIFT_QUANTILES; q++)
		figure_set_item(f, "labels", q, shift_label(shift_quantile[q], text, sizeof(text)));
	fprintf(f->script, "points = %d\n", SHIFT_QUANTILES);
}

static int add_figure(struct figures *f, const struct shift_figure *of, struct err *e)
{
	double bottom, top;
	size_t known;
	FILE *table =
	    figure_begin(f, "shift", NULL, fs_path("shift-%04zu%s%s", of->index, *of->flow ? "-" : "", of->flow),
			 fs_path("How far each quantile of point %zu moved, with intervals", of->index), e);
	char *title;

	if (!table)
		return figure_end(f, table, e);
	shift_table(table, &of->shift, &known);
	find_range(of, &bottom, &top);
	title = figure_one_line(fs_path("%s: shift of %s", of->title, of->metric), FIGURE_TITLE_MAX);
	figure_set(f, "title", title);
	free(title);
	figure_set(f, "subtitle", of->subtitle);
	figure_set_number(f, "bottom", bottom);
	figure_set_number(f, "top", top);
	figure_set_array(f, "margins", SHIFT_QUANTILES);
	for (size_t q = 0; q < SHIFT_QUANTILES; q++)
		figure_set_item_number(f, "margins", q, of->margin[q]);
	fprintf(f->script, "width = %d\nheight = %d\n", WIDTH, HEIGHT);
	shift_labels(f);
	return figure_end(f, table, e);
}

int figure_shift_add(struct figures *f, const void *figures, struct err *e)
{
	int rc = 0;

	for (const struct shift_figure *of = figures; !rc && of->title; of++)
		if (of->any)
			rc = add_figure(f, of, e);
	return rc;
}
