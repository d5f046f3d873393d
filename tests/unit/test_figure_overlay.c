/* Two points in one histogram: which pairs there are, their words and tables. */
#include <unistd.h>

#include "report/report.h"
#include "tests/unit/fixture_figures.h"
#include "tests/unit/tap.h"

#define PAIRS_MAX 32

static struct fixture_point points[FIXTURE_POINTS_MAX];
static size_t point_count;

static void add(const char *transport, const char *qp, const char *poll, int64_t size)
{
	points[point_count] = fixture_plain_point(transport, qp, poll, size, *poll == 'b' ? 1250 : 3600);
	points[point_count++].comp_share = 1.2;
}

/* Its report's script. */
static char *make(const char *root, const char *name, const struct fixture_with *with)
{
	struct fixture_run run = fixture_plain_run(name, points, point_count);
	char *dir, *script;

	run.with = with;
	dir = fixture_run_report(root, &run);
	script = fixture_derived(dir, "figures/figures.gp");
	free(dir);
	point_count = 0;
	return script;
}

static char *derived(const char *root, const char *name, const char *file)
{
	char *dir = fs_path("%s/%s", root, name), *text = fixture_derived(dir, file);

	free(dir);
	return text;
}

static void pairs_are(const char *script, size_t want, const char *what)
{
	is_int((long long)fixture_count(script, "kind = \"overlay\""), (long long)want, "%s", what);
}

static void test_pairs(const char *root)
{
	char *script, *text;

	for (size_t i = 0; i < 2; i++) {
		add("verbs", i ? "uc" : "rc", "busy", 32);
		add("verbs", i ? "uc" : "rc", "event", 32);
	}
	points[1].reason = "7 page faults";
	script = make(root, "pairs", NULL);
	pairs_are(script, 2, "busy and event, of each service type; service types are not laid over each other");
	contains(script, "title = \"pairs: t_lat: busy and event; rc\"",
		 "the title says what differs, and what they share");
	contains(script, "series[1] = \"busy\"\nmedian[1] = 12", "the first");
	contains(script, "series[2] = \"event\"\nmedian[2] = 3", "the second");
	contains(script, "lost: 0 of 1000, 0 of 1000", "what was lost of both");
	like(script, "largest: [0-9.]+ us, [0-9.]+ us", "the largest of both");
	text = derived(root, "pairs", "figures/overlay-1.tsv");
	like(text, "^from_ns\tto_ns\tbusy\tevent\n\t0\t0\t0\n0\t100\t",
	     "its table has a column for each, and no t_comp");
	free(text);
	text = derived(root, "pairs", "figures/overlay-1.svg");
	contains(text, "NOT VALID: 7 page faults", "one that is not valid makes the figure so");
	free(text);
	text = derived(root, "pairs", "figures/overlay-2.svg");
	ok(text && !strstr(text, "NOT VALID"), "and no other");
	free(text);
	text = derived(root, "pairs", "report.html");
	contains(text, "Histograms of t_lat: busy and event; uc", "the page shows it");
	free(text);
	free(script);
}

static void test_added_series(const char *root)
{
	static const struct fixture_with with[] = {{false, false}, {true, false}};
	char *script;

	add("verbs", "uc", "busy", 32);
	add("verbs", "uc", "busy", 32);
	script = make(root, "submit-send", with);
	pairs_are(script, 1, "without t_send, and with it");
	contains(script, "series[1] = \"t_lat (t send no)\"\nmedian[1] = 12", "from submission without");
	like(script, "series\\[2\\] = \"t_send \\(t send yes\\)\"\nmedian\\[2\\] = (9[0-9]{2}|10[0-9]{2})\n",
	     "from the read of the payload with it");
	free(script);
}

static void test_device_stamps(const char *root)
{
	static const struct fixture_with with[] = {{false, false}, {false, true}};
	char *script;

	add("verbs", "uc", "busy", 32);
	add("verbs", "uc", "busy", 32);
	script = make(root, "stamps", with);
	contains(script, "series[2] = \"t hw yes\"", "stamps of the device end elsewhere: t_lat beside t_lat");
	free(script);
}

/* Two settings that change together are one. */
static void test_together(const char *root)
{
	char *script;

	add("a", NULL, "busy", 32);
	add("b", NULL, "event", 32);
	script = make(root, "together", NULL);
	pairs_are(script, 1, "two settings that change together tell a pair apart");
	contains(script, "series[2] = \"b, event\"", "and are both named");
	free(script);
	add("a", NULL, "busy", 32);
	add("a", NULL, "event", 32);
	add("b", NULL, "event", 32);
	script = make(root, "apart", NULL);
	pairs_are(script, 2, "two that do not make pairs that differ in one");
	free(script);
}

static void test_none(const char *root)
{
	char *script;

	for (size_t i = 0; i < 3; i++) {
		add("verbs", "rc", "busy", 8 << i);
		add("verbs", "rc", "event", 8 << i);
	}
	script = make(root, "axis", NULL);
	contains(script, "kind = \"axis\"", "where a figure against a setting compares them");
	pairs_are(script, 0, "there are no pairs");
	free(script);
	add("verbs", "rc", "busy", 8);
	add("verbs", "rc", "busy", 16);
	script = make(root, "sizes", NULL);
	pairs_are(script, 0, "nor of two sizes");
	free(script);
	for (size_t i = 0; i < 3; i++)
		add(fixture_transports[i], "rc", "busy", 32);
	script = make(root, "three", NULL);
	pairs_are(script, 0, "nor of three values");
	free(script);
}

static void test_many(const char *root)
{
	struct fixture_with with[FIXTURE_POINTS_MAX] = {{false, false}};
	char *script, *page;

	for (size_t t = 0; t < 9; t++)
		for (int i = 0; i < 4; i++) {
			with[point_count].t_hw = i / 2;
			add(fixture_transports[t], NULL, i % 2 ? "busy" : "event", 32);
		}
	script = make(root, "many", with);
	pairs_are(script, PAIRS_MAX, "no more than can be looked at");
	page = derived(root, "many", "report.html");
	contains(page, "The first 32 of 36 pairs.", "and the page says so");
	free(page);
	free(script);
}

static void test_two_runs(const char *root)
{
	char *paths[2], *html = NULL, *script = NULL;
	struct err e = ERR_INIT;
	struct run runs[2];
	size_t size;

	for (int i = 0; i < 2; i++) {
		add("verbs", "rc", "busy", 32);
		free(make(root, i ? "after" : "before", NULL));
		paths[i] = fs_path("%s/%s", root, i ? "after" : "before");
		run_open(paths[i], &runs[i], &e);
	}
	if (report_make(runs, 2, &html, &e))
		note("%s", e.text);
	free(html);
	html = fs_path("%s/derived/figures/figures.gp", paths[0]);
	fs_read(html, 16 << 20, &script, &size, &e);
	pairs_are(script, 1, "the same point of two runs is a pair");
	contains(script, "series[1] = \"before\"", "named by its run");
	free(html);
	free(script);
	for (int i = 0; i < 2; i++) {
		run_close(&runs[i]);
		free(paths[i]);
	}
}

int main(void)
{
	char *root = tap_dir();

	test_pairs(root);
	test_added_series(root);
	test_device_stamps(root);
	test_together(root);
	test_none(root);
	test_many(root);
	test_two_runs(root);
	tap_dir_remove(root);
	return done_testing();
}
