/* Figures of paced points: medians over rate and size as surfaces, missed steps there, beneath
 * axes and in histograms. */
#include <unistd.h>

#include "report/report.h"
#include "tests/unit/fixture_figures.h"
#include "tests/unit/tap.h"

/* Each service type at each rate and size; median (rate index + 1) us * size index, so that both
 * ends are known. */
struct grid {
	const char *name;
	const char *qps[2];
	unsigned qp_count, rates, sizes;
	bool (*has)(unsigned rate, unsigned size); /* NULL: all of them */
};

static const int64_t rates[] = {100, 2500, 10000, 25000, 50000, 100000};

static void add_point(struct fixture_point *p, struct fixture_pacing *pacing, const char *qp, unsigned rate,
		      unsigned size)
{
	*p = fixture_plain_point("verbs", qp, "busy", 8 << size, 1000.0 * (size + 1) * (rate + 1));
	p->reps = 1;
	p->lost = rate == 2 && size == 2 ? 8 : 0;
	*pacing =
	    (struct fixture_pacing){rates[rate], 800, rate == 2 && size == 2 ? .3125 : .01, rate == 2 ? .0625 : 0};
}

static char *make(const char *root, const struct grid *g)
{
	static struct fixture_point points[FIXTURE_POINTS_MAX];
	static struct fixture_pacing pacing[FIXTURE_POINTS_MAX];
	struct fixture_run run = fixture_plain_run(g->name, points, 0);

	run.pacing = pacing;
	for (unsigned q = 0; q < g->qp_count; q++)
		for (unsigned r = 0; r < g->rates; r++)
			for (unsigned s = 0; s < g->sizes; s++)
				if (!g->has || g->has(r, s)) {
					add_point(&points[run.count], &pacing[run.count], g->qps[q], r, s);
					run.count++;
				}
	return fixture_run_report(root, &run);
}

/* Of markers in an SVG. */
#define GREEN "color='rgb( 31, 122,  31)'"
#define RED   "color='rgb(204,   7,  30)'"

/* Overview, size and rate are figures 0 to 2. */
static void check_tables(const char *dir)
{
	char *rc = fixture_derived(dir, "figures/surface-3.tsv"), *uc = fixture_derived(dir, "figures/surface-4.tsv");
	char *none = fixture_derived(dir, "figures/surface-5.tsv");

	like(rc, "^x\ty\tvalid\tp50_ns\tmissed_share\tunsent_share\trate_hz\tsize_bytes\trun\tpoint\tlabel\n1\t1\t1\t",
	     "a surface for the first service type");
	is_int((long long)fixture_count(rc, "verbs") + (long long)fixture_count(rc, "\trc, "), 12,
	       "its points, and none of the other");
	is_int((long long)fixture_count(rc, "\n\n"), 2, "an empty line between its rows");
	like(rc, "\n3\t3\t1\t[0-9]+\t0\\.3125\t0\\.0625\t10000\t32\t",
	     "a point with what its pacer missed and could not send");
	contains(uc, "\tuc, ", "one for the second");
	ok(!none, "and no more");
	free(rc);
	free(uc);
	free(none);
}

static void check_drawing(const char *dir)
{
	char *script = fixture_derived(dir, "figures/figures.gp"), *svg = fixture_derived(dir, "figures/surface-3.svg");
	char *pdf = fixture_derived(dir, "figures/surface-3.pdf"), *page = fixture_derived(dir, "report.html");

	contains(script, "x_labels[1] = \"100Hz\"", "rates are on the first axis");
	contains(script, "y_labels[3] = \"32B\"", "sizes on the second");
	like(script, "min_x = real\\(1\\)\nmin_y = real\\(1\\)\n", "the least is where it is");
	like(script, "max_x = real\\(4\\)\nmax_y = real\\(3\\)\n", "the largest, too");
	like(svg, ">min (9[0-9]{2} ns|1\\.0[0-9] us)<", "the least is written");
	like(svg, ">max 1[12]\\.[0-9]+ us<", "the largest is written");
	contains(svg, ">38 %<", "a large share of steps that came to nothing is written");
	is_int((long long)fixture_count(svg, " %<"), (long long)fixture_count(svg, ">38 %<"), "small ones are not");
	is_int((long long)fixture_count(svg, GREEN), 11 * (long long)fixture_count(svg, RED),
	       "a green mark at each point with few");
	ok(fixture_count(svg, RED) > 0, "a red one where there are many");
	like(script, "\nunit_ns = real\\(1000\\)\nbottom = real\\(0\\)\ntop = real\\(1[23]\\.",
	     "heights are linear, from 0");
	ok(pdf != NULL, "a PDF, too");
	contains(page, "Surface of the medians over rate and size: rc", "the page has it");
	free(script);
	free(svg);
	free(pdf);
	free(page);
}

static void check_others(const char *dir)
{
	char *axis = fixture_derived(dir, "figures/axis-1.tsv"), *svg = fixture_derived(dir, "figures/axis-1.svg");
	char *histogram = fixture_derived(dir, "figures/point-0008-histogram.svg");

	contains(axis, "\t0.3125\t0.0625\t32\t", "an axis has the steps in its table");
	contains(svg, "missed (filled) and not sent (hollow)", "and beneath its points");
	contains(histogram, ">missing in: 37.5 % of 800 steps<", "a histogram says what was missed or not sent");
	contains(histogram, ">missing out: 38.5 %<", "with what was lost, too");
	contains(histogram, ">not transmitted: 1.6 % of those sent<", "and that alone, of what was sent");
	free(axis);
	free(svg);
	free(histogram);
}

static void test_surfaces(const char *root)
{
	const struct grid grid = {"grid", {"rc", "uc"}, 2, 4, 3, NULL};
	char *dir = make(root, &grid);

	check_tables(dir);
	check_drawing(dir);
	check_others(dir);
	free(dir);
}

static bool rise_together(unsigned rate, unsigned size)
{
	return rate == size;
}

static bool is_cross(unsigned rate, unsigned size)
{
	return !rate || !size;
}

static void test_none(const char *root)
{
	static const struct {
		struct grid grid;
		const char *what;
	} cases[] = {{{"two", {"rc"}, 1, 4, 2, NULL}, "two values are no axis"},
		     {{"one", {"rc"}, 1, 1, 4, NULL}, "one setting alone is no surface"},
		     {{"diagonal", {"rc"}, 1, 6, 6, rise_together}, "nor are two that rise together"},
		     {{"cross", {"rc"}, 1, 6, 6, is_cross}, "nor two of which one stays while the other varies"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *dir = make(root, &cases[i].grid), *script = fixture_derived(dir, "figures/figures.gp");

		ok(script && !strstr(script, "kind = \"surface\""), "%s", cases[i].what);
		free(script);
		free(dir);
	}
}

int main(void)
{
	char *root = tap_dir();

	test_surfaces(root);
	test_none(root);
	tap_dir_remove(root);
	return done_testing();
}
