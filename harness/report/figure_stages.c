#include "report/run_figures.h"

#include <math.h>
#include <stdlib.h>

#include "common/fs.h"
#include "judge/analysis/blocks.h"
#include "report/chart.h"
#include "report/model.h"

#define WIDTH	  900
#define SIDES	  150 /* pixels above and below the bars */
#define ROW	  26
#define ROWS_MAX  40
#define LABEL_MAX 40 /* characters for which there is room beside a bar */
#define PARTS	  5

/* `whole`: what the part is where only the sum with the one before is known. */
static const struct {
	unsigned number, whole;
	const char *name;
} parts[PARTS] = {{STAGES_STACK_NS, STAGES_STACK_NS, "stack"},
		  {STAGES_QUEUE_NS, STAGES_QUEUE_NS, "queue of the device"},
		  {STAGES_WIRE_NS, STAGES_WIRE_NS, "wire"},
		  {STAGES_SOCKET_NS, STAGES_MESSAGES, "up to the socket"},
		  {STAGES_TAKE_NS, STAGES_READ_NS, "up to the reader"}};

/* Points and flows that have stages. */
struct staged {
	const struct report *r;
	const struct report_item *item[ROWS_MAX];
	size_t count;
	double longest_ns;
};

static double part_of(const struct report_item *item, unsigned part)
{
	const struct summary_block *stages = model_block(item->point, item->series->flow, &stages_block);
	double ns = stages ? number_value(stages->numbers[parts[part].number]) : NAN;

	if (stages && isnan(ns))
		ns = parts[part].whole == STAGES_MESSAGES ? 0 : number_value(stages->numbers[parts[part].whole]);
	/* Below zero by the error of the clocks at most. */
	return isnan(ns) ? NAN : fmax(ns, 0);
}

static double sum_of_parts(const struct report_item *item)
{
	double sum = 0;

	for (unsigned i = 0; i < PARTS; i++)
		sum += part_of(item, i);
	return sum;
}

static void find_staged(struct staged *s, const struct report *r)
{
	s->r = r;
	for (size_t i = 0; i < r->leading_count && s->count < ROWS_MAX; i++) {
		const double sum = sum_of_parts(&r->leading[i]);

		if (isnan(sum))
			continue;
		s->item[s->count++] = &r->leading[i];
		s->longest_ns = fmax(s->longest_ns, sum);
	}
}

/* "tcp, size 64B", or with the flow's name. */
static char *row_label(const struct staged *s, size_t row)
{
	const struct report_point *p = s->item[row]->point;
	const char *flow = s->item[row]->series->flow->name;
	const char *run = s->r->run_count > 1 ? s->r->runs[p->run].label : "";

	return figure_one_line(
	    fs_path("%s%s%s%s%s", run, *run && *p->label ? ": " : "", p->label, *flow ? ", " : "", flow), LABEL_MAX);
}

enum { BAR, FIRST_PART, COLUMNS = FIRST_PART + PARTS };

static struct table staged_rows(const struct staged *s)
{
	static const struct table_column columns[COLUMNS] = {{.key = "row"},	   {.key = "stack_ns"},
							     {.key = "queue_ns"},  {.key = "wire_ns"},
							     {.key = "socket_ns"}, {.key = "take_ns"}};
	struct table t = table_of(columns, COLUMNS, 0);

	for (size_t i = 0; i < s->count; i++) {
		const size_t row = table_row(&t);

		table_count(&t, BAR, row, (int64_t)i + 1);
		for (unsigned part = 0; part < PARTS; part++)
			table_number(&t, FIRST_PART + part, row, part_of(s->item[i], part));
	}
	return t;
}

static void set_staged_variables(struct figures *f, const void *what)
{
	const struct staged *s = what;
	const struct axis_unit unit = figure_axis_unit(s->longest_ns);

	figure_set_array(f, "labels", s->count);
	for (size_t i = 0; i < s->count; i++) {
		char *label = row_label(s, i);

		figure_set_item(f, "labels", i, label);
		free(label);
	}
	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "rows", (double)s->count);
}

int figure_stages_add(struct figures *f, const struct report *r, struct err *e)
{
	struct staged s = {.count = 0};
	struct chart chart = {.kind = "stages", .longest = 1, .entries = PARTS, .width = WIDTH};

	find_staged(&s, r);
	if (!s.count)
		return 0;
	chart.name = fs_path("stages");
	chart.text =
	    fs_path("The mean latency of each point, split into the stages of a message's way through sockets");
	chart.title = fs_path("mean latency by stage");
	chart.rows = staged_rows(&s);
	chart.height = SIDES + ROW * s.count;
	for (unsigned i = 0; i < PARTS; i++)
		chart_series(&chart, fs_path("%s", parts[i].name));
	return chart_add(f, r, &chart, set_staged_variables, &s, e);
}
