#include "report/html_causes.h"

#include <string.h>

#include "analysis/causes.h"

#define CAUSES_MOST 8 /* per point: the most frequent ones */

static void write_cause(const struct page *p, const json_t *entry)
{
	const double share = json_number_value(json_object_get(entry, "share"));
	struct cause cause;
	char text[CAUSE_TEXT_MAX];

	if (!causes_read_entry(entry, &cause))
		return;
	html_printf(p, "<tr><td>%lld</td><td>%.1f&nbsp;%%</td><td><meter max=\"1\" value=\"%.4f\"></meter></td><td>",
		    (long long)json_integer_value(json_object_get(entry, "messages")), 100 * share, share);
	html_ns(p, json_integer_value(json_object_get(entry, "time_p50_ns")));
	html_printf(p, "</td><td>");
	html_ns(p, json_integer_value(json_object_get(entry, "time_max_ns")));
	html_printf(p, "</td><td>");
	html_text(p, cause_describe(&cause, text, sizeof(text)));
	html_printf(p, "</td></tr>\n");
}

static void write_causes(const struct page *p, const struct report_point *point, const struct layout_flow *f,
			 const json_t *causes)
{
	const json_t *list = json_object_get(causes, "causes"), *entry;
	size_t i;

	html_printf(p, "<h3>Point ");
	html_point_link(p, point);
	html_printf(p, "%s", *f->name ? ", " : "");
	html_text(p, f->name);
	html_printf(p, ": %lld late messages, %.1f&nbsp;%% explained</h3>\n",
		    (long long)json_integer_value(json_object_get(causes, "messages")),
		    100 * json_number_value(json_object_get(causes, "explained_share")));
	html_printf(p,
		    "<div class=\"wide\" tabindex=\"0\">\n<table>\n<thead><tr><th>messages</th><th>share</th><th></th>"
		    "<th>p50</th><th>max</th><th>cause</th></tr></thead>\n<tbody>\n");
	json_array_foreach (list, i, entry) {
		if (i < CAUSES_MOST)
			write_cause(p, entry);
	}
	html_printf(p, "</tbody>\n</table>\n</div>\n");
	if (json_array_size(list) > CAUSES_MOST)
		html_printf(p, "<p class=\"soft\">The first %d of %zu causes.</p>\n", CAUSES_MOST,
			    json_array_size(list));
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
			const json_t *causes = causes_if_late(point->summary, point->layout.flows[k].name);

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
