/* derived/: escapes, labels, merged histograms, bins, figures and the page, over made-up run
 * directories. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/escape.h"
#include "report/figure.h"
#include "report/gnuplot.h"
#include "report/labels.h"
#include "report/model.h"
#include "report/report.h"
#include "tests/unit/fixture_run.h"
#include "tests/unit/tap.h"

#define SPEC "kernel: oneway\nmatrix:\n  - transport: verbs\n    qp: [rc, uc] # <b>bold</b>\n"

static const struct fixture_point nic_points[] = {
    {"verbs", "rc", "busy", 32, 8, 4000, 1269, .06, .0004, 1.15, 0, NULL, NULL, NULL, NULL},
    {"verbs", "uc", "busy", 32, 8, 4000, 1251, .06, .0006, .92, 3, NULL, NULL, NULL, "messages were lost: 24"},
    {"verbs", "uc", "event", 32, 8, 4000, 3598, .12, .004, .9, 0, NULL, NULL, "page faults in 2 of 8 repetitions",
     NULL},
    {"shmem", NULL, "busy", 32, 8, 4000, 143, .08, .002, .12, 0, NULL, NULL, NULL, NULL},
    {"verbs", "ud", "event", 32, 8, 4000, 42000, .3, .03, 1.4, 0, NULL, NULL, NULL, NULL},
    {"verbs", "rc", "event", 4096, 8, 4000, 0, 0, 0, 0, 0, "failed", "sink: memlock limit too small", NULL, NULL},
};

static const struct fixture_run nic = {
    .name = "nic",
    .title = "One-way <latency>",
    .host = "t630",
    .device = "mlx5_0",
    .driver = "mlx5_core",
    .status = "COMPLETED",
    .spec = SPEC,
    .reason = "point 2: page faults",
    .points = nic_points,
    .count = 6,
};

/* Everything that could end a string, a tag, an element or a row, start a command, or break XML;
 * and a character of three bytes. */
#define HOSTILE                                                                                                        \
	"a\"b'c`touch pwned`$(touch pwned)<script>alert(1)</script>&amp;%d%n@x{/Bold y}\\\n\t\033[31m\xe2\x82\xac"     \
	"\xef\xbf\xbe"

static const struct fixture_point hostile_points[] = {
    {HOSTILE, HOSTILE, "busy", 32, 1, 500, 1200, .1, 0, .9, 0, NULL, NULL, HOSTILE, HOSTILE},
    {"verbs", "50% \"", "event", 32, 1, 500, 1200, .1, 0, .9, 0, NULL, NULL, NULL, NULL},
};

static const struct fixture_run hostile = {
    .name = HOSTILE,
    .title = HOSTILE,
    .host = "ev<i>l",
    .device = HOSTILE,
    .driver = HOSTILE,
    .status = "INTERRUPTED",
    .spec = HOSTILE,
    .reason = HOSTILE,
    .points = hostile_points,
    .count = 2,
};

static char *slurp(const char *path)
{
	struct err e = ERR_INIT;
	char *text = NULL;
	size_t size;

	fs_read(path, 64 << 20, &text, &size, &e);
	return text;
}

static char *slurp_in(const char *dir, const char *name)
{
	char *path = fs_path("%s/%s", dir, name), *text = slurp(path);

	free(path);
	return text;
}

static bool is_there(const char *dir, const char *name)
{
	char *path = fs_path("%s/%s", dir, name);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; text && (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

/* --- escapes --- */

static char *written(void (*escape)(FILE *, const char *), const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	escape(f, text);
	fclose(f);
	return out;
}

static void shown_text(FILE *out, const char *text)
{
	char *shown = escape_shown(text);

	fputs(shown, out);
	free(shown);
}

static void escape_base64_text(FILE *out, const char *text)
{
	escape_base64(out, text, strlen(text));
}

static const struct {
	void (*escape)(FILE *, const char *);
	const char *raw, *want, *what;
} escapes[] = {
    {escape_html, "<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;", "markup"},
    {escape_html, "a\nb\tc", "a\nb\tc", "newlines and tabs stay in HTML"},
    {escape_html, "\033[1m\xff\xef\xbf\xbe", "\xef\xbf\xbd[1m\xef\xbf\xbd\xef\xbf\xbd", "what may not be shown"},
    {escape_html, "5 \xe2\x82\xac", "5 \xe2\x82\xac", "a character of three bytes"},
    {escape_gnuplot, "p99 = 1.2 us", "\"p99 = 1.2 us\"", "plain text for gnuplot"},
    {escape_gnuplot, "\"`x`'@y\\$", "\"\\042\\140x\\140\\047\\100y\\134\\044\"", "quotes, backticks, macros"},
    {escape_gnuplot, "a\nb\xff", "\"a\\nb?\"", "a newline and a stray byte"},
    {escape_gnuplot, "\xe2\x82\xac", "\"\\342\\202\\254\"", "UTF-8 in octal"},
    {escape_tsv, "a\tb\nc\"", "a b c\"", "a cell"},
    {escape_url, "../my-run_1.2~/a b#c?50%", "../my-run_1.2~/a%20b%23c%3F50%25", "a path in a link"},
    {escape_url, "a:b/\"<\xe2\x82\xac", "a%3Ab/%22%3C%E2%82%AC", "signs that end a link, or begin a scheme"},
    {shown_text, "<a>\tb\n\033\xff\xe2\x82\xac", "<a>\tb\n\xef\xbf\xbd\xef\xbf\xbd\xe2\x82\xac",
     "text for JSON: UTF-8 without what is not printable"},
    {escape_base64_text, "", "", "base64 of nothing (RFC 4648)"},
    {escape_base64_text, "f", "Zg==", "base64 of one byte"},
    {escape_base64_text, "fo", "Zm8=", "base64 of two"},
    {escape_base64_text, "foo", "Zm9v", "base64 of three"},
    {escape_base64_text, "foobar\xff", "Zm9vYmFy/w==", "base64 of seven"},
};

static void test_escapes(void)
{
	static const char *const words[][2] = {
	    {"plain-1.0/x", "plain-1.0/x"}, {"", "''"}, {"it's", "'it'\\''s'"}, {"a b", "'a b'"}};
	char *got;

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		got = written(escapes[i].escape, escapes[i].raw);
		is_str(got, escapes[i].want, "%s", escapes[i].what);
		free(got);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		got = escape_shell(words[i][0]);
		is_str(got, words[i][1], "a shell's word: %s", words[i][1]);
		free(got);
	}
}

/* --- the model --- */

static void test_params(void)
{
	static const struct {
		const char *key, *json, *name, *value;
	} params[] = {
	    {"size_bytes", "65536", "size", "64KiB"},
	    {"pause_ns", "5500", "pause", "5500ns"},
	    {"rate_hz", "25000", "rate", "25kHz"},
	    {"check", "true", "check", "yes"},
	    {"source_cpu", "\"auto\"", "source cpu", "auto"},
	    {"_ns", "3", " ns", "3"},
	};
	char buf[64];

	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		json_t *value = json_loads(params[i].json, JSON_DECODE_ANY, NULL);

		is_str(label_key(params[i].key, buf, sizeof(buf)), params[i].name, "%s is shown as", params[i].key);
		is_str(label_value(params[i].key, value, buf, sizeof(buf)), params[i].value, "%s of %s is shown as",
		       params[i].json, params[i].key);
		json_decref(value);
	}
}

static void open_run(struct run *run, const char *path)
{
	struct err e = ERR_INIT;

	if (run_open(path, run, &e)) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
}

/* The merged histogram must know what the summary, computed from all samples at once, says. */
static void check_merged(const struct report_point *p)
{
	for (size_t s = 0; s < p->series_count; s++) {
		int64_t want = -1, got = -2;

		model_metric(&p->series[s], STATISTIC_P50, &want);
		ok(model_quantile(&p->series[s], 0.5, 20, &got), "point %u: %s has a median", p->id,
		   p->series[s].label);
		is_int(got, want, "point %u: merged repetitions have the summary's median of %s", p->id,
		       p->series[s].label);
		model_metric(&p->series[s], STATISTIC_N, &want);
		is_int((int64_t)p->series[s].count, want, "point %u: and its count", p->id);
	}
}

static void test_model(const char *dir)
{
	struct err e = ERR_INIT;
	struct report r;
	struct run run;
	int64_t value;

	open_run(&run, dir);
	if (!is_int(model_read(&r, &run, 1, &e), 0, "a run is gathered"))
		note("%s", e.text);
	is_int((int64_t)r.count, 6, "with all of its points");
	is_str(r.points[0].label, "verbs, rc, busy, size 32B", "a label: values; a bare number gets its name");
	is_str(r.points[3].label, "shmem, busy, size 32B", "no value of what a point does not have");
	is_str(r.points[5].name, "point-0005", "names of files");
	is_str(r.runs[0].label, "run", "the run by its directory");
	is_str(r.runs[0].hosts, "t630", "its host");
	for (size_t i = 0; i < 5; i++)
		check_merged(&r.points[i]);
	ok(model_is_valid(&r.points[0]) && !model_is_valid(&r.points[2]), "point 0 is valid, point 2 is not");
	is_str(model_reason(&r.points[2]), "page faults in 2 of 8 repetitions", "the reason why point 2 is not valid");
	is_str(model_outcome(&r.points[5]), "failed", "a point that failed");
	is_int((int64_t)r.points[5].series_count, 0, "has no series");
	ok(!model_quantile(&r.points[0].series[0], 0.9999, 20, &value), "no quantile with too little beyond it");
	ok(model_quantile(&r.points[0].series[0], 0.1, 20, &value) && value > 1000 && value < 1269,
	   "P10 is below the median");
	model_free(&r);
	run_close(&run);
}

/* --- tables and figures --- */

struct table {
	double first_edge, last_edge; /* of the bins proper */
	size_t rows;
	uint64_t sum, beyond, below; /* of the first series */
};

static struct table read_histogram(const char *derived, const char *name)
{
	char *text = slurp_in(derived, name), *line, *rest = text;
	struct table t = {.rows = 0};

	strsep(&rest, "\n");
	while (rest && (line = strsep(&rest, "\n")) && *line) {
		char *from = strsep(&line, "\t"), *to = strsep(&line, "\t"), *count = strsep(&line, "\t");
		uint64_t n = count ? strtoull(count, NULL, 10) : 0;

		t.sum += n;
		if (!*from) {
			t.below = n;
		} else if (!*to) {
			t.beyond = n;
			t.last_edge = atof(from);
		} else if (!t.rows++) {
			t.first_edge = atof(from);
		}
	}
	free(text);
	return t;
}

static void check_histogram(const char *derived, unsigned point, double last, uint64_t sum, const char *what)
{
	char *name = fs_path("figures/point-%04u-histogram.tsv", point);
	struct table t = read_histogram(derived, name);

	ok(t.rows == 100 && t.first_edge == 0 && t.last_edge == last, "%s: 100 bins from %g to %g ns (%zu to %g)", what,
	   t.first_edge, last, t.rows, t.last_edge);
	is_int((int64_t)t.sum, (int64_t)sum, "%s: every message is in a bin or outside", what);
	ok(t.beyond * 500 < sum, "%s: %" PRIu64 " messages are beyond", what, t.beyond);
	free(name);
}

static void test_tables(const char *derived)
{
	char *overview = slurp_in(derived, "figures/overview.tsv");
	struct table slow;

	check_histogram(derived, 0, 10000, 32000, "a network adapter has bins up to the limit");
	check_histogram(derived, 1, 10000, 32000 - 24, "lost messages are in none");
	check_histogram(derived, 3, 2000, 32000, "shared memory has finer ones");
	slow = read_histogram(derived, "figures/point-0004-histogram.tsv");
	ok(slow.rows == 100 && slow.last_edge >= 200000, "slow messages have coarser ones");
	is_int((int64_t)slow.sum, 32000, "the slowest are counted, too");
	ok(slow.beyond > 0, "beyond the last bin: %" PRIu64, slow.beyond);
	is_int((int64_t)count_of(overview, "\n"), 7, "the overview has a row for each point and a heading");
	contains(overview, "x\tvalid\tt_lat_p10_ns\tt_lat_p50_ns\tt_lat_p90_ns\tt_lat_p99_ns\tt_comp_p10_ns",
		 "its heading");
	like(overview, "\n3\t0\t[0-9\t]+run\t2\tverbs, uc, event, size 32B\n", "a point that is not valid is marked");
	like(overview, "\n6\t0\t+run\t5\tverbs, rc, event, size 4KiB\n", "a point without numbers has empty cells");
	free(overview);
}

static void check_drawn(const char *derived, const char *name)
{
	static const struct {
		const char *format, *begin, *end;
	} formats[] = {{"svg", "<?xml", "</svg>"}, {"pdf", "%PDF", "%%EOF"}};

	for (size_t i = 0; i < 2; i++) {
		char *path = fs_path("%s/figures/%s.%s", derived, name, formats[i].format), *data = NULL;
		struct err e = ERR_INIT;
		size_t size = 0;

		fs_read(path, 16 << 20, &data, &size, &e);
		ok(data && !strncmp(data, formats[i].begin, strlen(formats[i].begin)) &&
		       memmem(data, size, formats[i].end, strlen(formats[i].end)),
		   "%s.%s is drawn to its end", name, formats[i].format);
		free(data);
		free(path);
	}
}

static void test_figures(const char *derived)
{
	char *svg;

	check_drawn(derived, "overview");
	check_drawn(derived, "point-0000-histogram");
	check_drawn(derived, "point-0004-histogram");
	ok(!is_there(derived, "figures/point-0005-histogram.svg"), "nothing is drawn of what was not measured");
	svg = slurp_in(derived, "figures/point-0002-histogram.svg");
	contains(svg, "NOT VALID: page faults in 2 of 8 repetitions", "what is not valid says so across the figure");
	contains(svg, "median 3.60 us", "the figure names its median");
	contains(svg, "lost: 0 of 32000", "and the number of lost messages");
	like(svg, "over 10us: 0\\.[0-9]+ %", "the share over the limit");
	contains(svg, "latency [us]", "an axis with its unit");
	free(svg);
	svg = slurp_in(derived, "figures/point-0000-histogram.svg");
	ok(svg && !strstr(svg, "NOT VALID"), "what is valid does not");
	contains(svg, ">messages per bin of 100ns<", "how wide a bin is");
	free(svg);
}

/* --- the page --- */

static void test_page(const char *html)
{
	char *page = slurp(html);

	contains(page, "default-src 'none'; style-src 'unsafe-inline'", "a strict policy");
	contains(page, "<title>One-way &lt;latency&gt;</title>", "the title, escaped");
	like(page,
	     "<strong>Not valid\\.</strong> 5 of 6 points measured, 4 of them valid: oneway over verbs and shmem on "
	     "<b>t630</b>, device mlx5_0",
	     "the answer in a sentence");
	contains(page, "<li>point 2: page faults</li>", "why not");
	like(page, "<span title=\"12[0-9]{2} ns\">1\\.2[0-9] us</span>", "numbers for people, nanoseconds on pointing");
	like(page, "title=\"sink: memlock limit too small\"><span class=\"bad\">failed</span></td>", "a failed point");
	like(page, "<td colspan=\"[0-9]+\">sink: memlock limit too small</td>",
	     "a failed point has the reason in place of numbers");
	is_int((int64_t)count_of(page, "<script type=\"application/json\">{\"kind\":"), 12,
	       "the overview, a pair, and of five points histograms and percentiles: what each is drawn from, once");
	is_int((int64_t)count_of(page, "<img"), 0, "the page has no images");
	ok(page && !strstr(page, "http://") && !strstr(page, "https://"), "nothing from elsewhere");
	is_int((int64_t)count_of(page, "<script>"), 1, "the page has a single script");
	contains(page, "script-src 'sha256-", "which the policy allows by its sum");
	contains(page, "href=\"figures/point-0000-histogram.pdf\"", "a link to the PDF");
	like(page, "verbs, uc, event, size 32B; median t_lat 3\\.60 us, p99 [0-9.]+ us;",
	     "a histogram's numbers for readers who cannot see it");
	contains(page, ">96 / 127</td>", "the numbers have the messages in flight");
	contains(page, "frequency.policy0.governor", "a setting that changed meanwhile");
	contains(page, "residual of the fit", "the machine has the quality of its clock");
	contains(page, "source: device mlx5_0, driver mlx5_core", "the page says what devices the points were given");
	contains(page, "6.1.0-56-amd64", "the machine has its kernel");
	contains(page, "kblat run &#39;experiments/it&#39;\\&#39;&#39;s here&#39;", "how to repeat it, for a shell");
	contains(page, "# &lt;b&gt;bold&lt;/b&gt;", "the specification, escaped");
	free(page);
}

static int make(const char *dir, char **html, struct err *e)
{
	struct run run;
	int rc;

	open_run(&run, dir);
	rc = report_make(&run, 1, html, e);
	run_close(&run);
	return rc;
}

static void test_report(const char *dir, const char *derived)
{
	struct err e = ERR_INIT;
	char *html = NULL, *want = fs_path("%s/report.html", derived);

	if (!is_int(make(dir, &html, &e), 0, "a report is made"))
		note("%s", e.text);
	is_str(html, want, "the path of the page is returned");
	test_tables(derived);
	test_figures(derived);
	test_page(want);
	free(want);
	free(html);
}

static void test_again(const char *dir, const char *derived)
{
	char *stray = fs_path("%s/stray", derived), *html = NULL;
	struct err e = ERR_INIT;

	tap_file(stray, "x", 1);
	is_int(make(dir, &html, &e), 0, "a second report takes the place of the first");
	ok(access(stray, F_OK), "and leaves nothing of it");
	free(html);
	free(stray);
}

/* A link in the place of derived/ is somebody's trap: what it leads to is not touched. */
static void test_link(const char *dir, const char *derived, const char *top)
{
	char *elsewhere = fs_path("%s/elsewhere", top), *file = fs_path("%s/keep", elsewhere), *html = NULL;
	struct err e = ERR_INIT;

	mkdir(elsewhere, 0700);
	tap_file(file, "x", 1);
	fs_remove_tree(derived, &e);
	ok(!symlink(elsewhere, derived), "derived/ is a link");
	ok(make(dir, &html, &e) < 0 && !html, "no report is made through it");
	contains(e.text, "/derived", "which is told");
	ok(!access(file, F_OK) && !is_there(elsewhere, "report.html"), "and nothing behind the link is touched");
	unlink(derived);
	free(html);
	free(file);
	free(elsewhere);
}

/* --- text that bites --- */

static void test_hostile(const char *top)
{
	char *dir = fs_path("%s/hostile", top), *derived = fs_path("%s/derived", dir), *html = NULL, *page, *svg;
	struct err e = ERR_INIT;

	fixture_run_make(dir, &hostile);
	if (!is_int(make(dir, &html, &e), 0, "a report of a hostile run is made"))
		note("%s", e.text);
	page = slurp(html);
	ok(page && count_of(page, "<script>") == 1 && !strstr(page, "<i>l"),
	   "no markup of the run's gets into the page");
	ok(page && !strchr(page, '\033'), "no control character gets onto the page");
	contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;", "markup is shown as text");
	svg = slurp_in(derived, "figures/overview.svg");
	contains(svg, "50% \"", "a label is taken as it is, not as a format");
	ok(svg && !strstr(svg, "<script") && !strchr(svg, '\033') && !strstr(svg, "\xef\xbf\xbe"),
	   "neither markup nor a control character gets into a figure");
	check_drawn(derived, "point-0000-histogram");
	ok(!is_there(derived, "figures/pwned") && access("pwned", F_OK), "no command was run");
	free(svg);
	free(page);
	free(html);
	free(derived);
	free(dir);
}

/* --- without gnuplot, with one that fails --- */

/* A PATH that holds nothing, or a `gnuplot` that is this script. */
static char *fake_path(const char *top, const char *script)
{
	char *dir = fs_path("%s/bin", top), *path = fs_path("%s/gnuplot", dir), *old = strdup(getenv("PATH"));

	mkdir(dir, 0700);
	unlink(path);
	if (script) {
		tap_file(path, script, strlen(script));
		chmod(path, 0700);
	}
	setenv("PATH", dir, 1);
	free(path);
	free(dir);
	return old;
}

static void restore_path(char *old)
{
	setenv("PATH", old, 1);
	free(old);
}

static void test_no_gnuplot(const char *top, const char *dir, const char *derived)
{
	char *old = fake_path(top, NULL), *html = NULL, *page;
	struct err e = ERR_INIT;

	is_int(make(dir, &html, &e), -ENOENT, "without gnuplot");
	is_int(e.status, STATUS_IMPOSSIBLE, "without gnuplot, figures are not possible here");
	contains(e.text, "install gnuplot-nox", "the message says what to install");
	ok(is_there(derived, "figures/point-0000-histogram.tsv"), "the tables are there");
	page = slurp(html);
	contains(page, "No figures as files:", "and the page, which says why there are no SVG and PDF");
	contains(page, "{\"kind\":\"histogram\"", "a page without gnuplot has its figures");
	contains(page, "p99.9", "a page without gnuplot has the numbers");
	free(page);
	free(html);
	restore_path(old);
}

static void test_failing_gnuplot(const char *top, const char *dir)
{
	char *old = fake_path(top, "#!/bin/sh\necho 'line 7: it hurts' >&2\nexit 3\n"), *html = NULL;
	struct err e = ERR_INIT;

	is_int(make(dir, &html, &e), -EIO, "a gnuplot that fails");
	is_int(e.status, STATUS_FAILED, "an error of gnuplot is a failure");
	contains(e.text, "exit status 3: line 7: it hurts", "with its own words");
	ok(html && !access(html, F_OK), "the page is there");
	free(html);
	restore_path(old);
}

/* The plot scripts, but one that holds something else. */
static char *plots_with(const char *top, const char *name, const char *content)
{
	char *dir = fs_path("%s/plots", top), *path = fs_path("%s/%s", dir, name);
	struct err e = ERR_INIT;
	char *all = plot_scripts(&e), *copy = fs_path("cp -r '%s' '%s' && rm '%s'", all, dir, path);

	if (system(copy))
		note("the plot scripts could not be copied");
	tap_file(path, content, strlen(content));
	free(copy);
	free(all);
	free(path);
	return dir;
}

static void test_failing_figure(const char *top, const char *dir)
{
	char *plots = plots_with(top, "histogram.gp", "plot nothing_such\n"), *html = NULL;
	struct err e = ERR_INIT;

	setenv("KBLAT_PLOTS", plots, 1);
	is_int(make(dir, &html, &e), -EIO, "a figure that can't be drawn");
	like(e.text,
	     "gnuplot: cannot draw figure (overlay-1|point-000[0-9]-histogram): exit status [0-9]+: .*nothing_such",
	     "is named, and what gnuplot has against it");
	unsetenv("KBLAT_PLOTS");
	free(html);
	free(plots);
}

/* Its first process fails as soon as the second is there, which goes on for ever; alone, it goes
 * on at once. */
#define STUCK                                                                                                          \
	"#!/bin/sh\n"                                                                                                  \
	"case \"$*\" in\n"                                                                                             \
	"*'part = 0; parts = 2'*)\n"                                                                                   \
	"    echo 'figure overview' >&2; until [ -s stuck ]; do /bin/sleep 0.02; done; exit 3;;\n"                     \
	"esac\n"                                                                                                       \
	"echo $$ >stuck; exec /bin/sleep 1000\n"

static pid_t pid_in(const char *dir, const char *name)
{
	char *text = slurp_in(dir, name);
	pid_t pid = text ? atoi(text) : 0;

	free(text);
	return pid;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static bool has_ended(pid_t pid)
{
	for (int i = 0; i < 500 && !kill(pid, 0); i++)
		nap();
	return pid > 0 && kill(pid, 0) < 0;
}

/* Two runs have figures for two processes. */
static int make_twice(const char *dir, struct err *e)
{
	struct run runs[2];
	char *html = NULL;
	int rc;

	open_run(&runs[0], dir);
	open_run(&runs[1], dir);
	rc = report_make(runs, 2, &html, e);
	run_close(&runs[1]);
	run_close(&runs[0]);
	free(html);
	return rc;
}

static void test_nothing_left_behind(const char *top, const char *dir, const char *derived)
{
	char *old = fake_path(top, STUCK), *stuck = fs_path("%s/figures/stuck", derived);
	struct err e = ERR_INIT;
	cpu_set_t set;
	pid_t pid;

	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) >= 2) {
		is_int(make_twice(dir, &e), -EIO, "one of two processes fails");
		contains(e.text, "gnuplot: cannot draw figure overview: exit status 3", "which is told");
		ok(has_ended(pid_in(derived, "figures/stuck")), "the other is ended");
	}
	unlink(stuck);
	pid = fork();
	if (!pid) {
		make(dir, &(char *){NULL}, &e);
		_exit(0);
	}
	for (int i = 0; i < 500 && !pid_in(derived, "figures/stuck"); i++)
		nap();
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	ok(has_ended(pid_in(derived, "figures/stuck")), "who is ended while gnuplot draws takes it along");
	free(stuck);
	restore_path(old);
}

static void test_no_scripts(const char *top, const char *dir)
{
	struct err e = ERR_INIT;
	char *old = getenv("KBLAT_PLOTS") ? strdup(getenv("KBLAT_PLOTS")) : NULL, *html = NULL;

	setenv("KBLAT_PLOTS", top, 1);
	is_int(make(dir, &html, &e), -ENOENT, "a folder without plot scripts");
	contains(e.text, "set KBLAT_PLOTS", "without plot scripts, the message names KBLAT_PLOTS");
	ok(html && !access(html, F_OK), "the page is there");
	if (old)
		setenv("KBLAT_PLOTS", old, 1);
	else
		unsetenv("KBLAT_PLOTS");
	free(old);
	free(html);
}

/* --- several runs, unfinished runs --- */

static void test_two_runs(const char *top, const char *dir, const char *derived)
{
	struct fixture_point points[6];
	struct fixture_run second = nic;
	char *other = fs_path("%s/other", top), *html = NULL, *page;
	struct err e = ERR_INIT;
	struct run runs[2];

	memcpy(points, nic_points, sizeof(points));
	for (size_t i = 0; i < second.count; i++)
		points[i].reps = 2;
	second.points = points;
	second.host = "guest";
	second.device = "rxe0";
	second.driver = "rdma_rxe";
	second.software = "Soft-RoCE";
	fixture_run_make(other, &second);
	open_run(&runs[0], dir);
	open_run(&runs[1], other);
	if (!is_int(report_make(runs, 2, &html, &e), 0, "a report of two runs is made"))
		note("%s", e.text);
	check_drawn(derived, "point-0000-histogram");
	check_drawn(derived, "run-2-point-0000-histogram");
	ok(!is_there(other, "derived"), "in the first run's directory only");
	page = slurp(html);
	is_int((int64_t)count_of(page, "<tbody class=\"point\">"), 12, "all points are in one table");
	is_int((int64_t)count_of(page, "<h2>All points</h2>"), 1, "there is one overview of both runs");
	contains(page, "on <b>guest</b>, device rxe0", "with an answer for each");
	is_int((int64_t)count_of(page, "Soft-RoCE is a software device"), 1, "a software device is called one");
	contains(page, "<td rowspan=\"2\">guest</td>", "each point has the host of its run");
	ok(page && !strstr(page, ">repetitions</th>"), "what only the runs differ in tells no points apart");
	free(page);
	free(html);
	run_close(&runs[1]);
	run_close(&runs[0]);
	free(other);
}

/* What varies in one experiment tells no points of another one apart. */
static void test_two_experiments(const char *top, const char *dir)
{
	struct fixture_point points[2] = {nic_points[0], nic_points[0]};
	struct fixture_run second = nic;
	char *other = fs_path("%s/sizes", top), *into = fs_path("%s/page", top), *html = NULL, *page;
	struct err e = ERR_INIT;
	struct run runs[2];

	points[1].size_bytes = 2 * points[0].size_bytes;
	second.points = points;
	second.count = 2;
	second.name = "sizes";
	fixture_run_make(other, &second);
	open_run(&runs[0], dir);
	open_run(&runs[1], other);
	if (!is_int(report_make_in(runs, 2, into, &html, &e), 0, "a report of two experiments is made"))
		note("%s", e.text);
	page = slurp(html);
	contains(page, "<h1>2 experiments: nic to sizes</h1>", "it is called by both");
	contains(page, "<p>sizes: <strong>", "each answer says which one it is about");
	is_int((int64_t)count_of(page, "<th scope=\"col\">series</th>") +
		   (int64_t)count_of(page, "submission to the send completion\">series</th>"),
	       2, "each has a table of its own");
	is_int((int64_t)count_of(page, ">poll</th>"), 1, "whose settings are its own");
	contains(page, "Point nic 0: verbs, rc, busy, size 32B.", "points of the first");
	contains(page, "Point sizes 1: verbs, size 64B.", "and of the second have its settings alone");
	contains(page, "--only transport=verbs --only size=64B</pre>", "also in the command that measures it again");
	is_int((int64_t)count_of(page, "<dt>p50</dt>"), 1, "what the columns are is said once");
	free(page);
	free(html);
	run_close(&runs[1]);
	run_close(&runs[0]);
	free(into);
	free(other);
}

/* --- what was recorded --- */

static const struct fixture_with with_points[] = {{true, false},  {false, true},  {false, false},
						  {false, false}, {false, false}, {false, false}};

/* A series is in tables, figures and the page of the points that recorded it, and of no other. */
static void test_recorded(const char *top)
{
	struct fixture_run run = nic;
	struct fixture_point points[6];
	char *dir = fs_path("%s/recorded", top), *derived = fs_path("%s/derived", dir), *html = NULL, *text;
	struct err e = ERR_INIT;

	memcpy(points, nic_points, sizeof(points));
	points[4].comp_share = 0;
	run.points = points;
	run.with = with_points;
	fixture_run_make(dir, &run);
	if (!is_int(make(dir, &html, &e), 0, "a report of points that record different things is made"))
		note("%s", e.text);
	text = slurp_in(derived, "figures/point-0000-histogram.tsv");
	like(text, "^from_ns\tto_ns\tlat_ns\tcomp_lat_ns\tsend_lat_ns\n", "the table of one with t_send");
	free(text);
	text = slurp_in(derived, "figures/point-0001-histogram.tsv");
	like(text, "^from_ns\tto_ns\tlat_ns\tcomp_lat_ns\thw_lat_ns\thw_comp_lat_ns\n",
	     "the table of a point with t_hw");
	free(text);
	text = slurp_in(derived, "figures/point-0002-histogram.tsv");
	like(text, "^from_ns\tto_ns\tlat_ns\tcomp_lat_ns\n", "the table of a point with neither");
	free(text);
	text = slurp_in(derived, "figures/point-0004-histogram.tsv");
	like(text, "^from_ns\tto_ns\tlat_ns\n", "of one that asked for no completions");
	free(text);
	text = slurp_in(derived, "figures/point-0001-histogram.svg");
	ok(text && strstr(text, ">t_hw<") && strstr(text, ">t_hw_comp<") && !strstr(text, "t_send"),
	   "the figure's legend has the device's stamps");
	free(text);
	text = slurp_in(derived, "figures/overview.tsv");
	like(text, "^x\t.*\tt_hw_p50_ns\t.*\n2\t[0-9]\t.*\n", "the overview has them, too");
	free(text);
	text = slurp_in(derived, "figures/point-0002-histogram.svg");
	ok(text && !strstr(text, ">t_hw") && !strstr(text, ">t_send"), "a legend has nothing that was not recorded");
	free(text);
	text = slurp(html);
	is_int((int64_t)count_of(text, "<td>t_lat</td>"), 5, "the page has a row of t_lat for each measured point");
	is_int((int64_t)count_of(text, "<td>t_comp</td>"), 4, "rows of t_comp for the points that asked for it");
	is_int((int64_t)count_of(text, "<td>t_send</td>"), 1, "a row of t_send for the point that has it");
	is_int((int64_t)count_of(text, "<td>t_hw</td>"), 1, "a row of t_hw for the point that has it");
	is_int((int64_t)count_of(text, "<td>t_hw_comp</td>"), 1, "a row of t_hw_comp for the point that has it");
	free(text);
	free(html);
	free(derived);
	free(dir);
}

/* A label from outside neither adds a column nor ends the line. */
static void test_headings(const char *top)
{
	struct fixture_run run = nic;
	char *dir = fs_path("%s/headings", top), *derived = fs_path("%s/derived", dir), *html = NULL, *text;
	const char *label = fixture_series[0].label;
	struct err e = ERR_INIT;

	fixture_series[0].label = "t\tlat\nb";
	fixture_run_make(dir, &run);
	fixture_series[0].label = label;
	if (!is_int(make(dir, &html, &e), 0, "a report of a run with a damaged label is made"))
		note("%s", e.text);
	text = slurp_in(derived, "figures/overview.tsv");
	like(text, "^x\tvalid\tt lat b_p10_ns\t.*\trun\tpoint\tlabel\n", "its table has a heading of one line");
	free(text);
	free(html);
	free(derived);
	free(dir);
}

/* Killed: no summary, some repetitions reduced, the columns gone. */
static void test_killed(const char *top)
{
	struct fixture_run killed = nic;
	char *dir = fs_path("%s/killed.partial", top), *html = NULL, *page;
	struct err e = ERR_INIT;

	killed.no_summary = true;
	killed.status = "RUNNING";
	fixture_run_make(dir, &killed);
	if (!is_int(make(dir, &html, &e), 0, "a report of a killed run is made"))
		note("%s", e.text);
	page = slurp(html);
	contains(page, "Not finished", "the page of a killed run says that it is not finished");
	free(page);
	free(html);
	free(dir);
}

static void test_damaged(const char *top)
{
	char *dir = fs_path("%s/damaged", top), *file = fs_path("%s/points/0001/rep-02/data.json", dir), *html = NULL;
	struct err e = ERR_INIT;

	fixture_run_make(dir, &nic);
	tap_file(file, "{", 1);
	ok(make(dir, &html, &e) < 0, "a damaged histogram is an error");
	contains(e.text, "points/0001/rep-02/data.json", "that names the file");
	ok(!html, "and no page is made");
	free(html);
	free(file);
	free(dir);
}

int main(void)
{
	char *top = tap_dir(), *dir = fs_path("%s/run", top), *derived = fs_path("%s/derived", dir);

	fixture_run_make(dir, &nic);
	test_escapes();
	test_params();
	test_model(dir);
	test_report(dir, derived);
	test_again(dir, derived);
	test_link(dir, derived, top);
	test_hostile(top);
	test_no_gnuplot(top, dir, derived);
	test_failing_gnuplot(top, dir);
	test_failing_figure(top, dir);
	test_nothing_left_behind(top, dir, derived);
	test_no_scripts(top, dir);
	test_two_runs(top, dir, derived);
	test_two_experiments(top, dir);
	test_recorded(top);
	test_headings(top);
	test_killed(top);
	test_damaged(top);
	free(derived);
	free(dir);
	tap_dir_remove(top);
	return done_testing();
}
