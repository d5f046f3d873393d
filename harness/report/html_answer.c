#include "report/html_blocks.h"

#include <string.h>
#include <time.h>

#include "files/rundir/reader.h"
#include "files/rundir/writer.h"
#include "judge/analysis/validity.h"

#define GLANCE 5 /* number of reasons shown here; the rest are below the numbers */

struct verdict {
	const char *style, *word;
};

static bool had_others(const struct run_record *run)
{
	const json_t *text;
	size_t i;

	json_array_foreach (run->warnings, i, text)
		if (validity_is_of_others(json_string_value(text)))
			return true;
	return false;
}

static struct verdict run_verdict(const struct run_record *run)
{
	static const struct {
		const char *status;
		struct verdict verdict;
	} unfinished[] = {
	    {"FAILED", {"no", "Failed."}},
	    {"INTERRUPTED", {"part", "Interrupted: only a part was measured."}},
	    {"RUNNING", {"part", "Not finished: the run is still being measured, or was killed."}},
	};
	const char *status = *run->status ? run->status : "RUNNING";

	for (size_t i = 0; i < sizeof(unfinished) / sizeof(unfinished[0]); i++)
		if (!strcmp(status, unfinished[i].status))
			return unfinished[i].verdict;
	if (run->valid && had_others(run))
		return (struct verdict){"part", "Valid, but other programs ran where it measured."};
	return run->valid ? (struct verdict){"ok", "Valid."} : (struct verdict){"no", "Not valid."};
}

/* The first few different texts. */
struct distinct_texts {
	const char *text[8];
	size_t count;
};

/* False: it is known already, or there are too many. */
static bool add_distinct(struct distinct_texts *s, const char *text)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->text[i], text))
			return false;
	if (s->count == sizeof(s->text) / sizeof(s->text[0]))
		return false;
	s->text[s->count++] = text;
	return true;
}

/* A flow of a point; zero before the first. */
struct place {
	const struct report_point *point;
	const struct layout_flow *flow;
};

/* Advance to the next flow of a run; false: there is none. */
static bool next_flow(const struct page *p, const struct report_run *run, struct place *at)
{
	const struct report *r = p->report;

	if (at->flow && at->flow + 1 < at->point->layout.flows + at->point->layout.flow_count) {
		at->flow++;
		return true;
	}
	at->point = at->point ? at->point + 1 : r->points;
	while (at->point < r->points + r->count && &r->runs[at->point->run] != run)
		at->point++;
	if (at->point >= r->points + r->count)
		return false;
	at->flow = at->point->layout.flows;
	return true;
}

/* The different values of a setting in a run's points: "shmem and verbs". */
static void write_distinct(const struct page *p, const struct report_run *run, const char *key)
{
	struct distinct_texts values = {.count = 0};

	for (struct place at = {0}; next_flow(p, run, &at);) {
		const char *value = html_string(at.flow->params, key, NULL);

		if (value)
			add_distinct(&values, value);
	}
	for (size_t i = 0; i < values.count; i++) {
		html_printf(p, "%s", i == 0 ? "" : i + 1 == values.count ? " and " : ", ");
		html_text(p, values.text[i]);
	}
}

static void write_device(const struct page *p, struct distinct_texts *devices, const json_t *granted)
{
	const char *device = html_string(granted, "device", NULL);

	if (!device || !add_distinct(devices, device))
		return;
	html_printf(p, devices->count > 1 ? ", " : ", device ");
	html_text(p, device);
}

/* Devices that the transports actually used, on either side. */
static void write_devices(const struct page *p, const struct report_run *run)
{
	struct distinct_texts devices = {.count = 0};

	for (struct place at = {0}; next_flow(p, run, &at);) {
		write_device(p, &devices, model_side(at.point, at.flow, "granted", "source"));
		write_device(p, &devices, model_side(at.point, at.flow, "granted", "sink"));
	}
}

/* Measurements with software devices show their implementation and the machine. */
static void write_software(const struct page *p, const struct report_run *run)
{
	struct distinct_texts names = {.count = 0};

	for (struct place at = {0}; next_flow(p, run, &at);) {
		const json_t *granted = model_side(at.point, at.flow, "granted", "source");

		if (run_software(granted))
			add_distinct(&names, run_software(granted));
		if (run_is_of_model(granted))
			add_distinct(&names, "MODEL");
	}
	for (size_t i = 0; i < names.count; i++)
		html_printf(p,
			    "<p class=\"soft\">%s is a software device: these latencies are not those of a network "
			    "adapter.</p>\n",
			    names.text[i]);
}

/* How long it took is known unless it was imported. */
static void write_when(const struct page *p, const struct run_record *run)
{
	char *began = rundir_began(run);
	const int64_t from = utc_seconds(began),
		      to = strcmp(began, run->started_utc) ? -1 : utc_seconds(run->ended_utc);

	if (*began) {
		html_printf(p, ", <time datetime=\"");
		html_text(p, began);
		html_printf(p, "\">");
		if (from < 0)
			html_text(p, began);
		else
			html_printf(p, "%.10s %.5s UTC", began, began + 11);
		html_printf(p, "</time>");
	}
	if (from >= 0 && to >= from)
		html_printf(p, to - from < 120 ? ", in %ld s" : ", in %ld min",
			    (long)(to - from < 120 ? to - from : (to - from + 30) / 60));
	free(began);
}

struct point_counts {
	size_t points, measured, valid;
};

static struct point_counts point_counts_of(const struct report *r, const struct report_run *run)
{
	struct point_counts t = {.points = 0};

	for (size_t i = 0; i < r->count; i++) {
		const struct report_point *point = &r->points[i];

		if (&r->runs[point->run] != run)
			continue;
		t.points++;
		t.measured += !strcmp(model_outcome(point), "completed");
		t.valid += model_is_valid(point);
	}
	return t;
}

/* The reasons, but not more than can be read at a glance. */
static void write_reasons(const struct page *p, const json_t *reasons)
{
	size_t count = json_array_size(reasons), shown = count > GLANCE + 1 ? GLANCE : count;

	if (!count)
		return;
	html_printf(p, "<ul>\n");
	for (size_t i = 0; i < shown; i++)
		html_item(p, html_string_at(reasons, i));
	if (shown < count)
		html_printf(p, "<li>and %zu more, below the numbers</li>\n", count - shown);
	html_printf(p, "</ul>\n");
}

/* The medians of a flow's leading series. */
struct medians {
	int64_t least, most; /* ns */
	const char *label;   /* NULL: no median is known */
};

static struct medians medians_of(const struct report *r, const struct report_run *run, const char *flow)
{
	struct medians m = {.label = NULL};

	for (size_t i = 0; i < r->leading_count; i++) {
		const struct report_item *item = &r->leading[i];
		int64_t median;

		if (&r->runs[item->point->run] != run || strcmp(item->series->flow->name, flow) != 0 ||
		    !model_metric(item->series, STATISTIC_P50, &median))
			continue;
		m.least = m.label && m.least < median ? m.least : median;
		m.most = m.label && m.most > median ? m.most : median;
		m.label = item->series->label;
	}
	return m;
}

static void write_range(const struct page *p, const struct medians *m)
{
	html_text(p, m->label);
	html_printf(p, " ");
	html_ns(p, m->least);
	if (m->most == m->least)
		return;
	html_printf(p, " to ");
	html_ns(p, m->most);
}

/* The medians of the first few flows. */
static void write_medians(const struct page *p, const struct report_run *run)
{
	struct distinct_texts flows = {.count = 0};
	const char *separator = "; median ";

	for (struct place at = {0}; next_flow(p, run, &at);) {
		struct medians m;

		if (!add_distinct(&flows, at.flow->name))
			continue;
		m = medians_of(p->report, run, at.flow->name);
		if (!m.label)
			continue;
		html_printf(p, "%s", separator);
		write_range(p, &m);
		separator = ", ";
	}
}

static void write_answer(const struct page *p, const struct report_run *run)
{
	const struct run_record *record = run->record;
	struct verdict verdict = run_verdict(record);
	struct point_counts t = point_counts_of(p->report, run);

	html_printf(p, "<section class=\"answer %s\">\n<p>", verdict.style);
	if (p->report->run_count > 1) {
		html_text(p, run->label);
		html_printf(p, ": ");
	}
	html_printf(p, "<strong>%s</strong> ", verdict.word);
	html_printf(p, "%zu of %zu points measured", t.measured, t.points);
	if (t.valid < t.measured)
		html_printf(p, ", %zu of them valid", t.valid);
	html_printf(p, ": ");
	write_distinct(p, run, "kernel");
	html_printf(p, " over ");
	write_distinct(p, run, "transport");
	html_printf(p, " on <b>");
	html_text(p, *run->hosts ? run->hosts : "an unknown host");
	html_printf(p, "</b>");
	write_devices(p, run);
	write_when(p, record);
	if (run_record_is_quick(record))
		html_printf(p, ", <b>quick variant</b> (fewer messages than in the full experiment)");
	write_medians(p, run);
	html_printf(p, ".</p>\n");
	write_software(p, run);
	write_reasons(p, record->reasons);
	html_printf(p, "</section>\n");
}

void html_answers(const struct page *p)
{
	for (size_t i = 0; i < p->report->run_count; i++)
		write_answer(p, &p->report->runs[i]);
	html_no_figures(p);
}
