/* Medians against an axis: which figures there are, their panels, lines and tables. */
#include <inttypes.h>
#include <unistd.h>

#include "report/report.h"
#include "tests/unit/fixture_figures.h"
#include "tests/unit/tap.h"

/* Sizes 8 B .. 8 B << (sizes - 1) for each service type and way of polling, and for each of several
 * transports. */
struct shape {
	const char *name;
	const char *qps[3], *polls[3];
	unsigned qp_count, poll_count, sizes;
	const char *invalid; /* of the first point */
	unsigned transports; /* 0: one */
};

/* Backwards: the order of the axis is not that of the points. UD lacks the largest. */
static void add_sizes(struct fixture_run *run, struct fixture_point *points, const struct shape *s,
		      const unsigned of[3])
{
	const char *qp = s->qps[of[1]];

	for (unsigned i = s->sizes; i-- > 0;) {
		if (!strcmp(qp, "ud") && i + 1 == s->sizes)
			continue;
		points[run->count] =
		    fixture_plain_point(fixture_transports[of[0]], qp, s->polls[of[2]], 8 << i, 1000 * (i + 1));
		points[run->count].messages = 500 + i;
		points[run->count].reason = run->count ? NULL : s->invalid;
		run->count++;
	}
}

static char *make(const char *root, const struct shape *s, char **script)
{
	static struct fixture_point points[FIXTURE_POINTS_MAX];
	struct fixture_run run = fixture_plain_run(s->name, points, 0);
	char *dir, *tsv;

	for (unsigned t = 0; t == 0 || t < s->transports; t++)
		for (unsigned q = 0; q < s->qp_count; q++)
			for (unsigned p = 0; p < s->poll_count; p++)
				add_sizes(&run, points, s, (unsigned[]){t, q, p});
	dir = fixture_run_report(root, &run);
	tsv = fixture_derived(dir, "figures/axis-1.tsv");
	*script = fixture_derived(dir, "figures/figures.gp");
	free(dir);
	return tsv;
}

static size_t rows_of(const char *tsv)
{
	size_t rows = 0;

	for (; tsv && *tsv; tsv++)
		rows += *tsv == '\n';
	return rows ? rows - 1 : 0;
}

static bool has_file(const char *root, const char *name, const char *file)
{
	char *path = fs_path("%s/%s/derived/figures/%s", root, name, file);
	bool there = !access(path, R_OK);

	free(path);
	return there;
}

static void test_panels(const char *root)
{
	const struct shape shape = {"panels", {"rc", "uc", "ud"}, {"busy", "event"}, 3, 2, 4, "7 page faults"};
	char *script, *tsv = make(root, &shape, &script), *page, *path;
	struct err e = ERR_INIT;
	size_t size;

	is_int((long long)rows_of(tsv), 22, "a row for each point that there is");
	like(tsv,
	     "^panel\tline\tx\tvalid\tp50_ns\tp10_ns\tp90_ns\tmissed_share\tunsent_share\tsize_"
	     "bytes\trun\tpoint\tlabel\n1\t1\t1\t1\t(9[0-9]{2}|10["
	     "0-9]{2})\t",
	     "panel by panel, line by line, from the smallest size on");
	like(tsv, "\n1\t1\t4\t0\t", "the point that is not valid is marked");
	like(tsv, "\n3\t2\t3\t1\t", "UD's largest is the third size");
	ok(tsv && !strstr(tsv, "\n3\t2\t4\t"), "and there is none after it");
	contains(script, "panels[1] = \"RC\"\npanels[2] = \"UC\"\npanels[3] = \"UD\"", "a panel for each service type");
	contains(script, "lines[1] = \"busy\"\nlines[2] = \"event\"\n",
		 "a line for each way of polling; messages and bursts, which go along with the size, make none");
	contains(script, "labels[1] = \"8B\"", "sizes have units");
	contains(script, "invalid_count = 1", "how many are not valid");
	ok(has_file(root, "panels", "axis-1.svg"), "it is drawn");
	ok(!has_file(root, "panels", "axis-2.tsv"), "and none against the burst, which only goes along");
	path = fs_path("%s/panels/derived/report.html", root);
	page = NULL;
	fs_read(path, 16 << 20, &page, &size, &e);
	contains(page, "Medians with P10 and P90 against size", "and shown");
	free(path);
	free(page);
	free(script);
	free(tsv);
}

static void test_none(const char *root)
{
	const struct shape two = {"two", {"rc"}, {"busy"}, 1, 1, 2, NULL},
			   three = {"three", {"rc"}, {"busy"}, 1, 1, 3, NULL};
	char *script, *tsv = make(root, &two, &script);

	ok(!tsv, "two sizes are no axis");
	free(script);
	free(tsv);
	tsv = make(root, &three, &script);
	is_int((long long)rows_of(tsv), 3, "three are");
	contains(script, "panel_count = 1\n", "with one service type there is one panel");
	contains(script, "key_rows = 0\n", "and for one line no key");
	contains(script, "steps_height = 0\n", "without a pacer no strip of steps");
	like(tsv, "\n1\t1\t1\t1\t[0-9]+\t[0-9]+\t[0-9]+\t\t\t8\t", "and empty cells");
	free(script);
	free(tsv);
}

/* Of the first two figures against a setting. */
static bool ranges_are_alike(const char *script)
{
	const char *at = script ? strstr(script, "kind = \"axis\"") : NULL;
	double value[2][2];

	for (int i = 0; i < 2; i++, at = strstr(at, "kind = \"axis\"")) {
		if (!at || !(at = strstr(at, "\nbottom = real(")))
			return false;
		sscanf(at, "\nbottom = real(%lf)\ntop = real(%lf)", &value[i][0], &value[i][1]);
		if (i)
			break;
	}
	return value[0][0] == value[1][0] && value[0][1] == value[1][1];
}

/* More lines than can be told apart: whole groups of a transport's, as many as fit. */
static void test_many_lines(const char *root)
{
	const struct shape nine = {"nine", {"rc"}, {"busy", "event", "adaptive"}, 1, 3, 3, NULL, 3},
			   ten = {"ten", {"rc"}, {"busy"}, 1, 1, 3, NULL, 10};
	char *script, *tsv = make(root, &nine, &script);

	is_int((long long)rows_of(tsv), 18, "of nine lines six are in the first figure");
	contains(script, "lines 1 to 6 of 9", "it says which");
	contains(script, "lines 7 to 9 of 9", "the others are in a second");
	contains(script,
		 "lines[1] = \"b, busy\"\nlines[2] = \"b, event\"\nlines[3] = \"b, adaptive\"\nline_count = 3\n",
		 "a transport's together");
	ok(has_file(root, "nine", "axis-2.svg"), "it is drawn, too");
	ok(!has_file(root, "nine", "axis-3.tsv"), "there is no third");
	ok(ranges_are_alike(script), "both have one scale");
	free(script);
	free(tsv);
	tsv = make(root, &ten, &script);
	is_int((long long)rows_of(tsv), 24, "of ten groups of one line eight are in the first");
	contains(script, "lines 9 to 10 of 10", "two in the second");
	free(script);
	free(tsv);
}

/* A setting whose name would be two cells and a line. */
#define AWKWARD "a\tb\nc"

static void add_awkward_setting(const char *dir)
{
	char *path = fs_path("%s/resolved.json", dir);
	json_t *resolved = json_load_file(path, 0, NULL), *point;
	size_t i;

	json_array_foreach (json_object_get(resolved, "points"), i, point)
		json_object_set_new(json_object_get(point, "params"), AWKWARD, json_integer((json_int_t)i / 3));
	fixture_save(path, resolved);
}

static void test_heading(const char *root)
{
	const struct shape shape = {"heading", {"rc"}, {"busy"}, 1, 1, 3, NULL, 3};
	char *script, *dir = fs_path("%s/heading", root), *html = NULL;
	struct err e = ERR_INIT;
	struct run run;

	free(make(root, &shape, &script));
	free(script);
	add_awkward_setting(dir);
	ok(!run_open(dir, &run, &e) && !report_make(&run, 1, &html, &e), "a setting with an awkward name %s", e.text);
	run_close(&run);
	free(html);
	html = fixture_derived(dir, "figures/axis-2.tsv");
	like(html, "^[^\n]*\tunsent_share\ta b c\trun\tpoint\tlabel\n1\t", "has one cell in the heading of an axis");
	free(html);
	html = fixture_derived(dir, "figures/surface-3.tsv");
	like(html, "^[^\n]*\tunsent_share\t[^\t\n]*\t[^\t\n]*\trun\tpoint\tlabel\n1\t", "and of a surface");
	contains(html, "\ta b c\t", "where it is");
	free(html);
	free(dir);
}

int main(void)
{
	char *root = tap_dir();

	test_panels(root);
	test_none(root);
	test_many_lines(root);
	test_heading(root);
	tap_dir_remove(root);
	return done_testing();
}
