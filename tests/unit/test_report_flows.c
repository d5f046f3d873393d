/* The report of points with several flows: names, rows, figures and placement of each. */
#include <stdio.h>
#include <unistd.h>

#include "judge/compare/compare_runs.h"
#include "judge/compare/history.h"
#include "report/compare_figures.h"
#include "report/figure.h"
#include "report/history_page.h"
#include "report/model.h"
#include "report/report.h"
#include "tests/unit/fixture_run.h"
#include "tests/unit/tap.h"

/* Points of a run without flows, two and two: what becomes the flows "large" and "small" of one. */
static const struct fixture_point halves[] = {
    {"tcp", NULL, "busy", 65536, 3, 2000, 90000, .1, .01, .5, 0, NULL, NULL, NULL, NULL},
    {"verbs", "rc", "busy", 32, 3, 2000, 1300, .05, .001, 1.1, 0, NULL, NULL, NULL, NULL},
    {"tcp", NULL, "busy", 262144, 3, 2000, 250000, .1, .01, .5, 0, NULL, NULL, NULL, NULL},
    {"verbs", "rc", "busy", 32, 3, 2000, 1700, .05, .001, 1.1, 5, NULL, NULL, "7 page faults", NULL},
    {"tcp", NULL, "busy", 1048576, 3, 2000, 900000, .1, .01, .5, 0, NULL, NULL, NULL, NULL},
    {"verbs", "rc", "busy", 32, 3, 2000, 2500, .05, .001, 1.1, 0, NULL, NULL, NULL, NULL},
};

static const struct fixture_pacing pacing[] = {{10, 1000, .001, 0},   {20000, 1000, .01, 0}, {10, 1000, .001, 0},
					       {20000, 1000, .02, 0}, {10, 1000, .001, 0},   {20000, 1000, .25, .125}};

static const char *const flows[] = {"large", "small"};

#define POINTS 3
#define FLOWS  2

static const struct fixture_run beside = {
    .name = "beside",
    .title = "Small beside large",
    .host = "t630",
    .device = "mlx5_0",
    .driver = "mlx5_core",
    .status = "COMPLETED",
    .spec = "kernel: oneway\n",
    .reason = "point 1: small: 7 page faults",
    .points = halves,
    .count = POINTS * FLOWS,
    .pacing = pacing,
};

/* --- a run of them --- */

static json_t *load(const char *dir, const char *name)
{
	char *path = fs_path("%s/%s", dir, name);
	json_t *j = json_load_file(path, 0, NULL);

	free(path);
	return j;
}

static bool is_of_point(const char *key)
{
	return !strcmp(key, "repetitions");
}

/* Everything of `from`, into `to` with the flow's name before its keys. */
static void add_prefixed(json_t *to, const json_t *from, const char *flow)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)from, key, value) {
		char *full = is_of_point(key) ? fs_path("%s", key) : fs_path("%s.%s", flow, key);

		json_object_set(to, full, value);
		free(full);
	}
}

static json_t *joined_params(const json_t *points, size_t point)
{
	json_t *params = json_pack("{ss ss}", "flows", "large small", "until", "all");

	for (size_t f = 0; f < FLOWS; f++)
		add_prefixed(params, json_object_get(json_array_get(points, point * FLOWS + f), "params"), flows[f]);
	return params;
}

static void join_resolved(const char *dir)
{
	json_t *resolved = load(dir, "resolved.json"), *points = json_array();

	for (size_t i = 0; i < POINTS; i++)
		json_array_append_new(points, json_pack("{si so}", "id", (int)i, "params",
							joined_params(json_object_get(resolved, "points"), i)));
	json_object_set_new(resolved, "points", points);
	fixture_save(fs_path("%s/resolved.json", dir), resolved);
}

static void add_reasons(json_t *to, const json_t *from, const char *flow)
{
	const json_t *reason;
	size_t i;

	json_array_foreach (from, i, reason)
		json_array_append_new(to, json_sprintf("%s: %s", flow, json_string_value(reason)));
}

static json_t *joined_point(const json_t *points, size_t point)
{
	json_t *metrics = json_object(), *reasons = json_array();
	json_t *joined =
	    json_pack("{si so so s[] so s[] s{si}}", "id", (int)point, "params", joined_params(points, point),
		      "metrics", metrics, "warnings", "reasons", reasons, "reps", "start", "spread_ns", 4321);

	for (size_t f = 0; f < FLOWS; f++) {
		const json_t *half = json_array_get(points, point * FLOWS + f);
		json_t *beside_them = json_pack("{sO sO}", "in_flight", json_object_get(half, "in_flight"), "pacing",
						json_object_get(half, "pacing"));

		add_prefixed(metrics, json_object_get(half, "metrics"), flows[f]);
		add_prefixed(joined, beside_them, flows[f]);
		add_reasons(reasons, json_object_get(half, "reasons"), flows[f]);
		json_decref(beside_them);
	}
	json_object_set_new(joined, "valid", json_boolean(!json_array_size(reasons)));
	return joined;
}

static void join_summary(const char *dir)
{
	json_t *summary = load(dir, "summary.json"), *points = json_array();

	for (size_t i = 0; i < POINTS; i++)
		json_array_append_new(points, joined_point(json_object_get(summary, "points"), i));
	json_object_set_new(summary, "points", points);
	fixture_save(fs_path("%s/summary.json", dir), summary);
}

static json_t *sides(int cpu, const char *device)
{
	return json_pack("{s{si ss*} s{si}}", "source", "cpu", cpu, "device", device, "sink", "cpu", cpu + 1);
}

static void join_point(const char *dir, size_t point)
{
	fixture_mkdirs(fs_path("%s/points/%04zu", dir, point));
	fixture_save(fs_path("%s/points/%04zu/point.json", dir, point),
		     json_pack("{si si ss ss s{so so} s{s{} so}}", "schema", 1, "id", (int)point, "outcome",
			       "completed", "why", "", "placement", "large", sides(2, NULL), "small", sides(4, NULL),
			       "granted", "large", "small", sides(9, "mlx5_0")));
	for (unsigned r = 0; r < halves[0].reps; r++) {
		fixture_mkdirs(fs_path("%s/points/%04zu/rep-%02u", dir, point, r));
		for (size_t f = 0; f < FLOWS; f++) {
			char *from = fs_path("%s/halves/%04zu/rep-%02u", dir, point * FLOWS + f, r);
			char *to = fs_path("%s/points/%04zu/rep-%02u/%s", dir, point, r, flows[f]);

			ok(!rename(from, to), "%s", to);
			free(to);
			free(from);
		}
	}
}

static void make_run(const char *dir)
{
	char *points = fs_path("%s/points", dir), *before = fs_path("%s/halves", dir);
	struct err e = ERR_INIT;

	fixture_run_make(dir, &beside);
	rename(points, before);
	for (size_t i = 0; i < POINTS; i++)
		join_point(dir, i);
	join_resolved(dir);
	join_summary(dir);
	fs_remove_tree(before, &e);
	ok(!manifest_write(dir, &e), "it is sealed again %s", e.text);
	free(before);
	free(points);
}

/* --- what is shown of it --- */

static char *slurp(const char *dir, const char *name)
{
	char *path = fs_path("%s/derived/%s", dir, name), *text = NULL;
	struct err e = ERR_INIT;
	size_t size;

	if (fs_read(path, 64 << 20, &text, &size, &e))
		note("%s", e.text);
	free(path);
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; text && (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

static void test_model(const struct run *run)
{
	struct err e = ERR_INIT;
	struct report r;

	if (!is_int(model_read(&r, run, 1, &e), 0, "a run of points with flows is gathered"))
		note("%s", e.text);
	is_int((int64_t)r.points[0].series_count, 4, "each flow has its series");
	is_str(r.points[0].series[2].label, "small t_lat", "with its name before the label");
	is_str(r.points[0].series[2].key, "small.lat_ns", "and before the metric");
	is_int((int64_t)r.points[0].series[2].count, 6000, "merged from its own repetitions");
	ok(r.points[0].series[0].leads && !r.points[0].series[1].leads && r.points[0].series[2].leads,
	   "the first of each flow leads");
	is_str(r.points[0].label, "large.size 64KiB", "a point is called by what varies between points");
	model_free(&r);
}

static void test_page(const char *dir)
{
	char *page = slurp(dir, "report.html");

	is_int((int64_t)count_of(page, "<td>large t_lat</td>"), 3, "a row of each flow's latency");
	is_int((int64_t)count_of(page, "<td>small t_comp</td>"), 3, "and of its other series");
	contains(page, "<th scope=\"col\">flow</th>", "a column for the flow");
	contains(page, "<th scope=\"row\" rowspan=\"4\"><a href=\"#point-0000\">0</a></th>",
		 "a point stands beside the rows of its flows");
	contains(page, "<td rowspan=\"2\">small</td><td rowspan=\"2\">verbs</td>", "a flow beside those of its series");
	contains(page, "start spread", "how far apart they started");
	contains(page, "4321 ns", "in nanoseconds");
	contains(page, "% missed", "what a pacer missed has a column");
	contains(page, "12.5 %", "and what was not sent");
	contains(page, "small: 7 page faults", "why a point is not valid names the flow");
	contains(page,
		 "large source: cpu 2\nlarge sink: cpu 3\nsmall source: cpu 4, cpu 9, device mlx5_0\nsmall sink: cpu 5",
		 "where each flow ran, and what it was given");
	contains(page, "oneway over tcp and verbs on <b>t630</b>, device mlx5_0", "the answer knows them all");
	like(page, "; median large t_lat <span[^>]*>[0-9.]+ us</span> to .*, small t_lat <span",
	     "and the medians of each");
	is_int((int64_t)count_of(page, "Histogram of small, "), 3, "a histogram of each flow");
	is_int((int64_t)count_of(page, "<figcaption>Histogram of small."), 3, "with the flow in its caption");
	is_int((int64_t)count_of(page, "<figcaption>Percentiles of small."), 3, "and its percentiles");
	free(page);
}

static void test_figures(const char *dir)
{
	char *text = slurp(dir, "figures/overview.tsv");

	like(text, "^x\tvalid\tlarge t_lat_p10_ns\t.*\tsmall t_comp_p99_ns\trun\tpoint\tlabel\n",
	     "the overview has every flow's series");
	free(text);
	text = slurp(dir, "figures/point-0001-small-histogram.tsv");
	like(text, "^from_ns\tto_ns\tlat_ns\tcomp_lat_ns\n\t0\t", "a histogram is a flow's");
	free(text);
	text = slurp(dir, "figures/point-0001-small-histogram.svg");
	contains(text, "beside: small: large.size 256KiB", "with the flow in its title");
	contains(text, ">small t_comp<", "and in its legend");
	contains(text, "missing in: 2 % of 1000 steps", "of its own pacer");
	free(text);
	text = slurp(dir, "figures/axis-1.tsv");
	is_int((int64_t)count_of(text, "\n"), 7, "against a flow's setting, all flows");
	like(text, "\n1\t2\t3\t1\t[0-9]+\t[0-9]+\t[0-9]+\t0.25\t0.125\t1048576\trun\t2\tlarge.size 1MiB\n",
	     "with steps");
	free(text);
	text = slurp(dir, "figures/figures.gp");
	contains(text, "lines[1] = \"large\"\nlines[2] = \"small\"", "a line for each flow");
	free(text);
}

/* --- pages of several runs --- */

static struct history_build two_builds[] = {
    {.kernel = "a", .boot = "1", .started_utc = "", .runs = 1, .value = 1000, .level = 1000},
    {.kernel = "b", .boot = "2", .started_utc = "", .runs = 1, .value = 1100, .level = 1050},
};

static struct history_point point_of(char *metric, const char *unit)
{
	return (struct history_point){
	    .id = 7, .label = "", .metric = metric, .unit = unit, .why = "", .builds = two_builds, .build_count = 2};
}

/* Two flows of one point have a figure each. */
static void test_history(const char *top)
{
	struct history_point points[] = {point_of("large.pacing", "Hz"), point_of("small.lat_ns", "ns")};
	const struct history history = {
	    .experiment = "x", .answer = "", .quantity = "p50", .kind = UNIT_BOOT, .points = points, .point_count = 2};
	char *dir = fs_path("%s/history", top), *path = fs_path("%s/figures/history-0007-small.svg", dir), *html = NULL;
	char *script = fs_path("%s/figures/figures.gp", dir), *text = NULL;
	size_t size;
	struct err e = ERR_INIT;

	if (!is_int(history_page_make(dir, NULL, &(struct compare_runs){.count = 0}, &history, &html, &e), 0,
		    "a history of two flows becomes a page"))
		note("%s", e.text);
	ok(!access(path, R_OK), "with a figure of each");
	fs_read(script, 1 << 20, &text, &size, &e);
	contains(text, "unit = \"Hz\"", "in the unit of what is compared");
	contains(text, "unit = \"ns\"", "each in its own");
	free(text);
	free(script);
	free(html);
	free(path);
	free(dir);
}

static void test_shift(const char *top)
{
	struct shift_figure shifts[] = {
	    {.index = 7, .flow = "large", .title = "t", .subtitle = "s", .metric = "large.lat_ns", .any = true},
	    {.index = 7, .flow = "small", .title = "t", .subtitle = "s", .metric = "small.lat_ns", .any = true},
	    {.title = NULL},
	};
	char *dir = fs_path("%s/shift", top), *path = fs_path("%s/shift-0007-small.tsv", dir);
	struct err e = ERR_INIT;
	struct figures f;

	for (size_t i = 0; i < 2; i++) {
		for (size_t q = 0; q < SHIFT_QUANTILES; q++)
			shifts[i].margin[q] = q % 2 ? 2 : NAN;
		shifts[i].shift.known[0] = true;
	}
	if (!is_int(figures_make(&f, dir, figure_shift_add, shifts, &e), 0, "shifts of two flows are drawn"))
		note("%s", e.text);
	ok(!access(path, R_OK), "with a table of each");
	figures_free(&f);
	free(path);
	free(dir);
}

int main(void)
{
	char *top = tap_dir(), *dir = fs_path("%s/run", top), *html = NULL;
	struct err e = ERR_INIT;
	struct run run;

	make_run(dir);
	if (!is_int(run_open(dir, &run, &e), 0, "the run is opened"))
		note("%s", e.text);
	test_model(&run);
	if (!is_int(report_make(&run, 1, &html, &e), 0, "its report is made"))
		note("%s", e.text);
	test_page(dir);
	test_figures(dir);
	test_history(top);
	test_shift(top);
	run_close(&run);
	free(html);
	free(dir);
	tap_dir_remove(top);
	return done_testing();
}
