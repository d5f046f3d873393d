/*
 * Every series of a point and flow by percentile, up to its slowest message, and the share of the
 * messages that took at least a time.
 */
#include "report/run_figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/rep.h"
#include "judge/analysis/series.h"
#include "report/chart.h"

#define WIDTH	  1000
#define HEIGHT	  380
#define FIRST	  10   /* the slowest messages, each of which is drawn */
#define STEP	  1.25 /* beyond those, the factor from one rank to the next */
#define EXACT_MAX (1 << 20)

enum { LINE, RANK, NS, COLUMNS };

/* --- the samples --- */

/* From the columns of all repetitions, a bin for each value; no bins if there are no columns. */
static int read_columns(const char *run, const struct report_series *of, struct histogram *h, struct err *e)
{
	const struct layout_series *series = of->flow->series;
	struct rep *reps = NULL;
	struct span *spans;
	size_t count = 0;
	int rc = rep_open_all(run, of->flow, &reps, &count, e);

	while (strcmp(series->name, of->name) != 0)
		series++;
	spans = or_abort(calloc(count + 1, sizeof(*spans)));
	for (size_t i = 0; i < count; i++)
		spans[i] = series_span(&reps[i], series);
	if (!rc && count)
		rc = series_histogram(series, spans, count, EXACT_MAX, h, e);
	for (size_t i = 0; i < count; i++)
		if (rep_close(&reps[i], e) && !rc)
			rc = -EIO;
	free(spans);
	free(reps);
	return rc;
}

/* Where the histograms of the repetitions are exact, they have the samples, and columns may be long or left out. */
static int read_samples(const struct report *r, const struct report_point *p, const struct report_series *s,
			struct histogram *h, struct err *e)
{
	*h = (struct histogram){.bins = 0};
	return s->histogram.width > 1 ? read_columns(r->runs[p->run].run->path, s, h, e) : 0;
}

/* --- the figure --- */

struct percentiles {
	struct figure_range range; /* ns */
	double count[LAYOUT_MOST]; /* of the samples of each line */
	size_t lines;
};

/* The slowest first. */
static void add_line(struct table *t, struct percentiles *of, const struct histogram *h)
{
	uint64_t all = 0, seen = 0, rank = 1;

	for (size_t i = 0; i < h->bins; i++)
		all += h->count[i];
	for (size_t i = h->bins; i-- > 0;) {
		seen += h->count[i];
		figure_range_add(&of->range, h->value[i]);
		while (rank <= seen) {
			const size_t row = table_row(t);

			table_count(t, LINE, row, (int64_t)of->lines + 1);
			table_count(t, RANK, row, (int64_t)rank);
			table_count(t, NS, row, h->value[i]);
			if (rank == all)
				break;
			rank = rank < FIRST ? rank + 1 : (uint64_t)((double)rank * STEP);
			rank = rank > all ? all : rank;
			/* of equal values, the first and the last are enough */
			if (rank < seen && (double)rank * STEP < (double)seen)
				rank = seen;
		}
	}
	of->count[of->lines++] = (double)all;
}

static double most_samples(const struct percentiles *p)
{
	double most = 1;

	for (size_t i = 0; i < p->lines; i++)
		most = fmax(most, p->count[i]);
	return most;
}

static void set_percentiles(struct figures *f, const void *what)
{
	const struct percentiles *p = what;
	const double least = fmax(p->range.least, 1), most = fmax(p->range.most, 10);
	const struct axis_unit unit = figure_axis_unit(2 * sqrt(least * most));

	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "bottom", 0.9 * least / unit.ns);
	figure_set_number(f, "top", 1.1 * most / unit.ns);
	figure_set_array(f, "counts", p->lines);
	for (size_t i = 0; i < p->lines; i++)
		figure_set_item_number(f, "counts", i, p->count[i]);
	figure_set_number(f, "most_samples", fmax(most_samples(p), 10));
}

static int add_flow(struct figures *f, const struct report *r, const struct report_point *p,
		    const struct layout_flow *flow, struct err *e)
{
	static const struct table_column columns[COLUMNS] = {{.key = "line"}, {.key = "rank"}, {.key = "ns"}};
	const char *of = *flow->name ? ", " : "", *run = r->run_count > 1 ? r->runs[p->run].label : "";
	struct percentiles drawn = {.lines = 0};
	struct chart chart = {
	    .kind = "percentiles",
	    .point = p,
	    .name = fs_path("%s%s%s-percentiles", p->name, *flow->name ? "-" : "", flow->name),
	    .title = fs_path("%s%s%s%s%s", run, *run ? ": " : "", flow->name, of, p->label),
	    .rows = table_of(columns, COLUMNS, 0),
	    .longest = CHART_LONGEST,
	    .width = WIDTH,
	    .height = HEIGHT,
	    .key_row = FIGURE_KEY_ROW,
	};
	int rc = 0, added;

	for (size_t i = 0; !rc && i < p->series_count; i++) {
		const struct report_series *s = &p->series[i];
		struct histogram exact;

		if (s->flow != flow || !model_is_measured(s))
			continue;
		rc = read_samples(r, p, s, &exact, e);
		chart_series(&chart, fs_path("%s", s->label));
		if (!rc)
			add_line(&chart.rows, &drawn, exact.bins ? &exact : &s->histogram);
		histogram_free(&exact);
	}
	chart.entries = chart.series_count;
	chart.text = fs_path("Percentiles of %s%s%s up to the slowest of %.0f messages", flow->name, of, p->label,
			     most_samples(&drawn));
	added = chart_add(f, r, &chart, set_percentiles, &drawn, e);
	f->items[f->count - 1].flow = flow->name;
	return added ?: rc;
}

static bool is_measured(const struct report_point *p, const struct layout_flow *flow)
{
	for (size_t i = 0; i < p->series_count; i++)
		if (p->series[i].flow == flow && model_is_measured(&p->series[i]))
			return true;
	return false;
}

int figure_percentiles_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->count; i++)
		for (size_t k = 0; !rc && k < r->points[i].layout.flow_count; k++)
			if (is_measured(&r->points[i], &r->points[i].layout.flows[k]))
				rc = add_flow(f, r, &r->points[i], &r->points[i].layout.flows[k], e);
	return rc;
}
