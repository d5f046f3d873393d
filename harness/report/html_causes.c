#include "report/html_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"

#include "judge/analysis/causes.h"
#include "report/html.h"

#define CAUSES_MOST 8 /* per point: the most frequent ones */

enum { MESSAGES, SHARE, BAR, P50, MAX, CAUSE, COLUMNS };

static void put_cause(struct table *t, size_t row, const struct summary_cause *c)
{
	char text[CAUSE_TEXT_MAX], *bar = fs_path("<meter max=\"1\" value=\"%.4f\"></meter>", c->share);

	table_count(t, MESSAGES, row, c->messages);
	table_text(t, SHARE, row, "%.1f\u00a0%%", 100 * c->share);
	table_drawing(t, BAR, row, bar);
	table_in_unit(t, P50, row, (double)c->time_p50_ns, "ns");
	table_in_unit(t, MAX, row, (double)c->time_max_ns, "ns");
	table_text(t, CAUSE, row, "%s", cause_describe(&c->cause, text, sizeof(text)));
	free(bar);
}

static void write_cause_table(const struct page *p, const struct summary_block *causes)
{
	static const struct table_column columns[COLUMNS] = {
	    [MESSAGES] = {.label = "messages"}, [SHARE] = {.label = "share"}, [BAR] = {.label = ""},
	    [P50] = {.label = "p50"},		[MAX] = {.label = "max"},     [CAUSE] = {.label = "cause"},
	};
	struct table t =
	    table_of(columns, COLUMNS, causes->cause_count < CAUSES_MOST ? causes->cause_count : CAUSES_MOST);

	for (size_t i = 0; i < t.rows; i++)
		put_cause(&t, i, &causes->causes[i]);
	html_table(p, &t, "", false);
	table_free(&t);
}

static void write_causes(const struct page *p, const struct report_point *point, const struct layout_flow *f,
			 const struct summary_block *causes)
{
	html_printf(p, "<h3>Point ");
	html_point_link(p, point);
	html_printf(p, "%s", *f->name ? ", " : "");
	html_text(p, f->name);
	html_printf(p, ": %lld late messages, %.1f&nbsp;%% explained</h3>\n",
		    (long long)number_count(causes->numbers[CAUSES_MESSAGES]),
		    100 * number_or_zero(causes->numbers[CAUSES_EXPLAINED_SHARE]));
	write_cause_table(p, causes);
	if (causes->cause_count > CAUSES_MOST)
		html_printf(p, "<p class=\"soft\">The first %d of %zu causes.</p>\n", CAUSES_MOST, causes->cause_count);
}

/* The figures of a flow's tail. */
static void write_tail_figures(const struct page *p, const struct report_point *point, const struct layout_flow *flow)
{
	static const struct {
		const char *kind, *caption;
	} kinds[] = {
	    {"tail", "Late messages, the slowest first, each in the colour of its cause."},
	    {"timeline", "The worst messages: what ran on the CPU of the source (above) and of the sink (below) while "
			 "each was in flight. Grey: the endpoint itself."},
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t i = 0; i < p->figures->count; i++) {
			const struct figure *f = &p->figures->items[i];

			if (f->point == point && !strcmp(f->kind, kinds[k].kind) && !strcmp(f->flow, flow->name))
				html_figure(p, f, kinds[k].caption, " class=\"overview broad\"");
		}
}

static void begin_causes(const struct page *p, bool *begun)
{
	if (!*begun)
		html_printf(
		    p, "<section>\n<h2>Late messages</h2>\n<p class=\"soft\">Messages over the limit, by what the "
		       "kernel did meanwhile on the CPUs of source and sink; p50 and max are those of the time that "
		       "the cause took. <code>kblat explain</code> shows the worst messages one by one.</p>\n");
	*begun = true;
}

void html_causes(const struct page *p)
{
	bool begun = false;

	for (size_t i = 0; i < p->report->count; i++) {
		const struct report_point *point = &p->report->points[i];

		for (size_t k = 0; k < point->layout.flow_count; k++) {
			const struct summary_block *causes = model_late(point, &point->layout.flows[k]);

			if (!causes)
				continue;
			begin_causes(p, &begun);
			write_causes(p, point, &point->layout.flows[k], causes);
			write_tail_figures(p, point, &point->layout.flows[k]);
		}
	}
	if (begun)
		html_printf(p, "</section>\n");
}
