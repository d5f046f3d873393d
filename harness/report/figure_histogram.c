#include "report/run_figures.h"

#include <stdlib.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/histogram_plot.h"

/* The content of one figure: the series of a flow. */
struct flow_series {
	const struct report_series *series[LAYOUT_MOST];
	const char *labels[LAYOUT_MOST];
	size_t count;
	struct report_item first; /* described by the text, even if all of its messages were lost */
};

/* False: no series of the flow was measured. */
static bool take_flow(struct flow_series *of, const struct report_point *p, const struct layout_flow *flow)
{
	*of = (struct flow_series){.first = {.point = p}};
	for (size_t i = 0; i < p->series_count; i++) {
		const struct report_series *s = &p->series[i];

		if (s->flow != flow)
			continue;
		of->first.series = of->first.series ? of->first.series : s;
		if (!model_is_measured(s))
			continue;
		of->series[of->count] = s;
		of->labels[of->count++] = s->label;
	}
	return of->count;
}

/* "node-size: small: rc, size 32B" */
static char *histogram_title(const struct report *r, const struct report_item *of)
{
	const struct report_point *p = of->point;
	const char *name = r->runs[p->run].record->name;
	const char *flow = of->series->flow->name;

	if (r->run_count > 1)
		name = r->runs[p->run].label;
	return fs_path("%s%s%s%s%s", name ? name : "", name ? ": " : "", flow, *flow ? ": " : "", p->label);
}

static void write_quantile(FILE *out, const struct report_series *s, unsigned statistic, const char *name,
			   const char *label)
{
	char text[32];
	int64_t value;

	if (model_metric(s, statistic, &value))
		fprintf(out, "%s%s %s", name, label, unit_human_ns(value, text, sizeof(text)));
}

static char *histogram_text(const struct flow_series *of)
{
	const char *flow = of->first.series->flow->name;
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	fprintf(out, "Histogram of %s%s%s", flow, *flow ? ", " : "", of->first.point->label);
	for (size_t i = 0; i < of->count; i++) {
		write_quantile(out, of->series[i], STATISTIC_P50, "; median ", of->labels[i]);
		write_quantile(out, of->series[i], STATISTIC_P99, ", p99", "");
	}
	if (!model_is_valid(of->first.point))
		fprintf(out, "; not valid");
	fclose(out);
	return text;
}

static int add_histogram(struct figures *f, const struct report *r, const struct flow_series *of, struct err *e)
{
	const struct report_point *p = of->first.point;
	const char *flow = of->first.series->flow->name;
	FILE *table = figure_begin(f, "histogram", p, fs_path("%s%s%s-histogram", p->name, *flow ? "-" : "", flow),
				   histogram_text(of), e);

	f->items[f->count - 1].flow = flow;
	if (table) {
		fputs("from_ns\tto_ns", table);
		for (size_t s = 0; s < of->count; s++)
			fprintf(table, "\t%s", of->series[s]->name);
		fputc('\n', table);
		histogram_plot_write(f, table,
				     &(struct histogram_plot){.series = of->series,
							      .labels = of->labels,
							      .count = of->count,
							      .items = &of->first,
							      .item_count = 1,
							      .is_labelled = true,
							      .title = histogram_title(r, &of->first)});
	}
	return figure_end(f, table, e);
}

int figure_histogram_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->count; i++)
		for (size_t k = 0; !rc && k < r->points[i].layout.flow_count; k++) {
			struct flow_series of;

			if (take_flow(&of, &r->points[i], &r->points[i].layout.flows[k]))
				rc = add_histogram(f, r, &of, e);
		}
	return rc;
}
