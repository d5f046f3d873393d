#include "report/runs_page.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/trust.h"
#include "common/units.h"
#include "files/rundir/find.h"
#include "judge/analysis/param.h"
#include "judge/index/index_file.h"
#include "judge/index/index_sql.h"
#include "judge/index/index_update.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/labels.h"

/* --- the table of an experiment: its runs, the newest first, with the medians of each --- */

/* The median of a point's first metric in a run. */
struct runs_median {
	int64_t run;
	double value; /* NaN: there is none */
	bool is_ns, valid;
};

/* Points with equal settings. */
struct runs_series {
	int64_t setting_set, point; /* `point`: its number in the first run that has it */
	char *metric, *label;
	bool is_ns;
	size_t runs;   /* number of runs that have it, valid or not */
	double *value; /* of the valid ones */
	size_t count;
};

struct runs_medians {
	struct runs_median *median;
	size_t median_count;
	struct runs_series *series;
	size_t series_count;
};

/* The columns of INDEX_RUNS. */
enum runs_column {
	RUNS_ID,
	RUNS_PATH,
	RUNS_EXPERIMENT,
	RUNS_TITLE,
	RUNS_STATUS,
	RUNS_VALID,
	RUNS_REASON,
	RUNS_STARTED,
	RUNS_HOSTS,
	RUNS_KERNELS,
	RUNS_VERSION,
	RUNS_COMMIT,
	RUNS_SEALED,
	RUNS_COLUMNS
};

struct runs_entry {
	int64_t id;
	char *text[RUNS_COLUMNS]; /* "" if there is none */
	size_t first_median;	  /* index of its first median */
};

struct runs_list {
	struct runs_entry *run;
	size_t count;
};

#define OPEN_RUNS   50 /* the newest runs, which are shown; the others are collapsed */
#define MEDIANS_MAX 4  /* medians of a run's points in its row */
#define METRIC_MAX  96

/* --- medians --- */

/* The columns of INDEX_MEDIANS. */
enum { M_RUN, M_POINT, M_SETTING_SET, M_METRIC, M_MEDIAN, M_VALID };

static struct runs_series *series_of_set(struct runs_medians *m, int64_t set)
{
	for (size_t i = 0; i < m->series_count; i++)
		if (m->series[i].setting_set == set)
			return &m->series[i];
	return NULL;
}

static struct runs_series *new_series(struct runs_medians *m, sqlite3_stmt *s, bool in_ns)
{
	m->series = grow_or_abort(m->series, m->series_count, sizeof(*m->series));
	m->series[m->series_count] = (struct runs_series){
	    .setting_set = index_sql_integer(s, M_SETTING_SET),
	    .point = index_sql_integer(s, M_POINT),
	    .metric = fs_path("%s", index_sql_text(s, M_METRIC)),
	    .is_ns = in_ns,
	};
	return &m->series[m->series_count++];
}

static void add_to_series(struct runs_medians *m, sqlite3_stmt *s, const struct runs_median *median)
{
	struct runs_series *series = series_of_set(m, index_sql_integer(s, M_SETTING_SET));

	if (!series)
		series = new_series(m, s, median->is_ns);
	series->runs++;
	if (!median->valid || isnan(median->value))
		return;
	series->value = grow_or_abort(series->value, series->count, sizeof(*series->value));
	series->value[series->count++] = median->value;
}

static bool is_ns(const char *metric)
{
	char name[METRIC_MAX];

	return param_name_unit(metric, name, sizeof(name)) == UNIT_TIME_NS;
}

static void add_median(struct runs_medians *m, sqlite3_stmt *s)
{
	const struct runs_median median = {
	    .run = index_sql_integer(s, M_RUN),
	    .value = index_sql_double(s, M_MEDIAN),
	    .is_ns = is_ns(index_sql_text(s, M_METRIC)),
	    .valid = index_sql_integer(s, M_VALID),
	};

	m->median = grow_or_abort(m->median, m->median_count, sizeof(*m->median));
	m->median[m->median_count++] = median;
	add_to_series(m, s, &median);
}

/* --- labels --- */

/* The settings of each series, in the order of the series. */
static int read_settings(struct runs_medians *m, json_t **settings, struct index *ix, const char *experiment,
			 struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_SETTING_SETS, "t", experiment);
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0) {
		const struct runs_series *series = series_of_set(m, index_sql_integer(s, 0));

		if (series)
			settings[series - m->series] = json_loads(index_sql_text(s, 1), 0, NULL);
	}
	return rc;
}

static int label_series(struct runs_medians *m, struct index *ix, const char *experiment, struct err *e)
{
	json_t **settings = or_abort(calloc(m->series_count + 1, sizeof(*settings)));
	char **labels = or_abort(calloc(m->series_count + 1, sizeof(*labels)));
	int rc = read_settings(m, settings, ix, experiment, e);

	label_apart(settings, m->series_count, labels);
	for (size_t i = 0; i < m->series_count; i++) {
		m->series[i].label = labels[i];
		json_decref(settings[i]);
	}
	free(labels);
	free(settings);
	return rc;
}

/* Release with runs_medians_free() in any case. `experiment`: NULL means runs without a name. */
static int runs_medians_read(struct runs_medians *m, struct index *ix, const char *experiment, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_MEDIANS, "t", experiment);
	int rc;

	*m = (struct runs_medians){0};
	while ((rc = index_sql_next(ix, s, e)) > 0)
		add_median(m, s);
	return rc ?: label_series(m, ix, experiment, e);
}

static void runs_medians_free(struct runs_medians *m)
{
	for (size_t i = 0; i < m->series_count; i++) {
		free(m->series[i].metric);
		free(m->series[i].label);
		free(m->series[i].value);
	}
	free(m->series);
	free(m->median);
	*m = (struct runs_medians){0};
}

/* --- runs --- */

/* Read the runs of all experiments, one experiment after the other, each in chronological order.
 * Release with runs_list_free() in any case. */
static int runs_list_read(struct runs_list *l, struct index *ix, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_RUNS, "");
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0) {
		struct runs_entry *run;

		l->run = grow_or_abort(l->run, l->count, sizeof(*l->run));
		run = &l->run[l->count++];
		*run = (struct runs_entry){.id = index_sql_integer(s, RUNS_ID)};
		for (int c = 0; c < RUNS_COLUMNS; c++)
			run->text[c] = fs_path("%s", index_sql_text(s, c));
	}
	return rc;
}

static void runs_list_free(struct runs_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		for (int c = 0; c < RUNS_COLUMNS; c++)
			free(l->run[i].text[c]);
	free(l->run);
}

static bool runs_entry_is_valid(const struct runs_entry *run)
{
	return *run->text[RUNS_VALID] == '1';
}

/* "14.2us", "0.97". Returns `buf`. */
static char *runs_value_text(double value, bool is_ns, char *buf, size_t size)
{
	if (is_ns)
		return unit_human_ns((int64_t)llround(value), buf, size);
	snprintf(buf, size, "%.4g", value);
	return buf;
}

/* --- rows --- */

static bool has_page(const struct index *ix, const char *path)
{
	char *page = fs_path("%s/%s/derived/report.html", ix->dir, path);
	bool there = !access(page, R_OK);

	free(page);
	return there;
}

enum { WHEN, RUN, VALID, MEDIANS, HOSTS, KERNELS, KBLAT, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [WHEN] = {.label = "when"},	  [RUN] = {.label = "run", .heads_row = true},
    [VALID] = {.label = "valid"}, [MEDIANS] = {.label = "medians", .help = "of the first points"},
    [HOSTS] = {.label = "hosts"}, [KERNELS] = {.label = "kernels"},
    [KBLAT] = {.label = "kblat"},
};

/* The caller frees. */
static char *medians_of_run(const struct runs_medians *m, const struct runs_entry *run)
{
	char text[32], *all = NULL;
	size_t shown = 0, size;
	FILE *out = or_abort(open_memstream(&all, &size));

	for (size_t i = run->first_median; i < m->median_count && m->median[i].run == run->id; i++) {
		const struct runs_median *median = &m->median[i];

		if (isnan(median->value))
			continue;
		if (shown++ == MEDIANS_MAX) {
			fprintf(out, ", …");
			break;
		}
		fprintf(out, "%s%s", shown > 1 ? ", " : "",
			runs_value_text(median->value, median->is_ns, text, sizeof(text)));
	}
	fclose(out);
	return all;
}

static void put_when(struct table *t, size_t row, const char *started)
{
	char *markup = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&markup, &size));

	fputs("<time>", out);
	escape_html(out, started);
	fputs("</time>", out);
	fclose(out);
	table_drawing(t, WHEN, row, markup);
	free(markup);
}

static void put_link(struct table *t, size_t row, const struct index *ix, const char *path)
{
	char *url = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&url, &size));

	escape_url(out, path);
	fclose(out);
	table_text(t, RUN, row, "%s", path);
	table_link(t, RUN, row, "%s%s", url, has_page(ix, path) ? "/derived/report.html" : "/");
	free(url);
}

static void put_run(struct table *t, size_t row, const struct index *ix, const struct runs_medians *m,
		    const struct runs_entry *run)
{
	bool sealed = *run->text[RUNS_SEALED] == '1';
	char *medians = medians_of_run(m, run);

	put_when(t, row, run->text[RUNS_STARTED]);
	put_link(t, row, ix, run->text[RUNS_PATH]);
	if (runs_entry_is_valid(run))
		table_verdict(t, VALID, row, TONE_GOOD, "valid");
	else
		table_verdict(t, VALID, row, sealed ? TONE_BAD : TONE_NEUTRAL, sealed ? "NOT VALID" : "not sealed");
	table_help(t, VALID, row, "%s", run->text[RUNS_REASON]);
	table_text(t, MEDIANS, row, "%s", medians);
	table_text(t, HOSTS, row, "%s", run->text[RUNS_HOSTS]);
	table_text(t, KERNELS, row, "%s", run->text[RUNS_KERNELS]);
	table_text(t, KBLAT, row, "%s %s", run->text[RUNS_VERSION], run->text[RUNS_COMMIT]);
	free(medians);
}

/* Newest first: `from` is counted from the end. */
static void write_run_table(const struct page *p, const struct index *ix, const struct runs_medians *m,
			    const struct runs_list *l, size_t from, size_t to)
{
	struct table t = table_of(columns, COLUMNS, to - from);

	for (size_t i = from; i < to; i++)
		put_run(&t, i - from, ix, m, &l->run[l->count - 1 - i]);
	html_table(p, &t, "", false);
	table_free(&t);
}

/* Both are in the same order. */
static void find_first_medians(struct runs_list *l, const struct runs_medians *m)
{
	size_t k = 0;

	for (size_t i = 0; i < l->count; i++) {
		l->run[i].first_median = k;
		while (k < m->median_count && m->median[k].run == l->run[i].id)
			k++;
	}
}

/* Write the table of one experiment: its runs `l` and their medians `m`. */
static void runs_table_write(const struct page *p, const struct index *ix, const struct runs_medians *m,
			     struct runs_list *l)
{
	size_t open = l->count < OPEN_RUNS ? l->count : OPEN_RUNS;

	find_first_medians(l, m);
	html_printf(p, "<h3>Runs</h3>\n");
	write_run_table(p, ix, m, l, 0, open);
	if (open == l->count)
		return;
	html_printf(p, "<details><summary>%zu older runs</summary>\n", l->count - open);
	write_run_table(p, ix, m, l, open, l->count);
	html_printf(p, "</details>\n");
}

#define SPARK_WIDTH  180
#define SPARK_HEIGHT 26
#define SPARK_EDGE   3	 /* space for the dot at the end */
#define SPARK_PLACES 120 /* more cannot be distinguished */
#define OPEN_SERIES  24
#define NO_NAME_TEXT "(without a name)"

/* --- values as a line --- */

struct spark_range {
	double least, most;
};

static double mean_between(const double *values, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += values[i];
	return sum / (double)(to - from);
}

static double place_value(const double *values, size_t count, size_t places, size_t at)
{
	return mean_between(values, at * count / places, (at + 1) * count / places);
}

static double spark_x(size_t at, size_t places)
{
	return places > 1 ? SPARK_EDGE + (double)at * (SPARK_WIDTH - 2 * SPARK_EDGE) / (double)(places - 1)
			  : SPARK_WIDTH / 2.0;
}

/* Equal values are in the middle. */
static double spark_y(double value, struct spark_range r)
{
	double share = r.most > r.least ? (value - r.least) / (r.most - r.least) : 0.5;

	return SPARK_HEIGHT - SPARK_EDGE - share * (SPARK_HEIGHT - 2 * SPARK_EDGE);
}

/* `text` (not escaped yet) gives the same as numbers, for readers who cannot see the line. If there
 * are many values, each position on the line is the mean of several. */
static void sparkline_write(FILE *out, const double *values, size_t count, const char *text)
{
	size_t places = count < SPARK_PLACES ? count : SPARK_PLACES;
	struct spark_range r = {INFINITY, -INFINITY};

	for (size_t i = 0; i < places; i++) {
		double value = place_value(values, count, places, i);

		r.least = fmin(r.least, value);
		r.most = fmax(r.most, value);
	}
	fprintf(out, "<svg class=\"spark\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" aria-label=\"",
		SPARK_WIDTH, SPARK_HEIGHT, SPARK_WIDTH, SPARK_HEIGHT);
	escape_html(out, text);
	fprintf(out, "\"><polyline fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" points=\"");
	for (size_t i = 0; i < places; i++)
		fprintf(out, "%s%.1f,%.1f", i ? " " : "", spark_x(i, places),
			spark_y(place_value(values, count, places, i), r));
	fprintf(out, "\"/>");
	if (places)
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"currentColor\"/>",
			spark_x(places - 1, places), spark_y(place_value(values, count, places, places - 1), r));
	fprintf(out, "</svg>");
}

/* --- medians --- */

enum { POINT, SETTINGS, METRIC, VALID_RUNS, LAST, LOWEST, HIGHEST, OVER_TIME, SERIES_COLUMNS };

static const struct table_column series_columns[SERIES_COLUMNS] = {
    [POINT] = {.label = "point", .align = TABLE_RIGHT, .heads_row = true},
    [SETTINGS] = {.label = "settings that differ"},
    [METRIC] = {.label = "metric"},
    [VALID_RUNS] = {.label = "valid runs", .align = TABLE_RIGHT},
    [LAST] = {.label = "last median", .align = TABLE_RIGHT},
    [LOWEST] = {.label = "lowest", .align = TABLE_RIGHT},
    [HIGHEST] = {.label = "highest", .align = TABLE_RIGHT},
    [OVER_TIME] = {.label = "over time", .unsorted = true},
};

static char *spark_of(const struct runs_series *s, double least, double most)
{
	char first[32], last[32], low[32], high[32], *markup = NULL;
	char *text = fs_path("median in %zu runs: first %s, last %s, lowest %s, highest %s", s->count,
			     runs_value_text(s->value[0], s->is_ns, first, sizeof(first)),
			     runs_value_text(s->value[s->count - 1], s->is_ns, last, sizeof(last)),
			     runs_value_text(least, s->is_ns, low, sizeof(low)),
			     runs_value_text(most, s->is_ns, high, sizeof(high)));
	size_t size;
	FILE *out = or_abort(open_memstream(&markup, &size));

	sparkline_write(out, s->value, s->count, text);
	fclose(out);
	free(text);
	return markup;
}

static void put_series(struct table *t, size_t row, const struct runs_series *s)
{
	double least = INFINITY, most = -INFINITY;
	char *spark = NULL;

	for (size_t i = 0; i < s->count; i++) {
		least = fmin(least, s->value[i]);
		most = fmax(most, s->value[i]);
	}
	table_count(t, POINT, row, s->point);
	table_text(t, SETTINGS, row, "%s", s->label);
	table_text(t, METRIC, row, "%s", *s->metric ? s->metric : "–");
	table_text(t, VALID_RUNS, row, "%zu of %zu", s->count, s->runs);
	table_in_unit(t, LAST, row, s->count ? s->value[s->count - 1] : NAN, s->is_ns ? "ns" : "");
	table_in_unit(t, LOWEST, row, s->count ? least : NAN, s->is_ns ? "ns" : "");
	table_in_unit(t, HIGHEST, row, s->count ? most : NAN, s->is_ns ? "ns" : "");
	if (!s->count)
		return;
	spark = spark_of(s, least, most);
	table_drawing(t, OVER_TIME, row, spark);
	free(spark);
}

static void write_series_table(const struct page *p, const struct runs_series *s, size_t count)
{
	struct table t = table_of(series_columns, SERIES_COLUMNS, count);

	for (size_t i = 0; i < count; i++)
		put_series(&t, i, &s[i]);
	html_table(p, &t, "", false);
	table_free(&t);
}

static void write_all_series(const struct page *p, const struct runs_medians *m)
{
	size_t open = m->series_count < OPEN_SERIES ? m->series_count : OPEN_SERIES;

	html_printf(p, "<h3>Medians</h3>\n");
	write_series_table(p, m->series, open);
	if (open == m->series_count)
		return;
	html_printf(p, "<details><summary>%zu more points</summary>\n", m->series_count - open);
	write_series_table(p, m->series + open, m->series_count - open);
	html_printf(p, "</details>\n");
}

/* --- an experiment --- */

static int write_runs_of(const struct page *p, struct index *ix, struct runs_list *l, struct err *e)
{
	const char *name = l->run[0].text[RUNS_EXPERIMENT];
	struct runs_medians m;
	int rc = runs_medians_read(&m, ix, *name ? name : NULL, e);
	size_t valid = 0;

	for (size_t i = 0; i < l->count; i++)
		valid += runs_entry_is_valid(&l->run[i]);
	html_printf(p, "<section>\n<h2>");
	html_text(p, *name ? name : NO_NAME_TEXT);
	html_printf(p, "</h2>\n<p class=\"soft\">");
	html_text(p, l->run[l->count - 1].text[RUNS_TITLE]);
	html_printf(p, "</p>\n<p>%zu run%s, %zu valid.</p>\n", l->count, l->count == 1 ? "" : "s", valid);
	write_all_series(p, &m);
	runs_table_write(p, ix, &m, l);
	html_printf(p, "</section>\n");
	runs_medians_free(&m);
	return rc;
}

static size_t runs_of_experiment(const struct runs_list *l, size_t from)
{
	size_t to = from + 1;

	while (to < l->count && !strcmp(l->run[to].text[RUNS_EXPERIMENT], l->run[from].text[RUNS_EXPERIMENT]))
		to++;
	return to - from;
}

/* --- the page --- */

static int write_unreadable(const struct page *p, struct index *ix, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_UNREADABLE, "");
	bool any = false;
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0) {
		html_printf(p, "%s", any ? "" : "<section>\n<h2>Could not be read</h2>\n<ul>\n");
		html_item(p, index_sql_text(s, 1));
		any = true;
	}
	html_printf(p, "%s", any ? "</ul>\n</section>\n" : "");
	return rc;
}

static int write_sections(const struct page *p, struct index *ix, const struct runs_list *l, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->count;) {
		struct runs_list one = {.run = l->run + i, .count = runs_of_experiment(l, i)};

		rc = write_runs_of(p, ix, &one, e);
		i += one.count;
	}
	return rc ?: write_unreadable(p, ix, e);
}

static void write_folder_head(const struct page *p, const struct index *ix, const struct runs_list *l)
{
	char *title = fs_path("Runs below %s", ix->dir);
	size_t experiments = 0;

	for (size_t i = 0; i < l->count; i += runs_of_experiment(l, i))
		experiments++;
	html_head(p, title);
	html_printf(p,
		    "<p class=\"soft\">%zu run%s of %zu experiment%s. Medians are those of a point's first metric in "
		    "valid runs, in order of time.</p>\n",
		    l->count, l->count == 1 ? "" : "s", experiments, experiments == 1 ? "" : "s");
	free(title);
}

static int write_page(struct index *ix, FILE *out, struct err *e)
{
	const struct page page = {.out = out};
	struct runs_list l = {0};
	int rc = runs_list_read(&l, ix, e);

	if (!rc) {
		write_folder_head(&page, ix, &l);
		rc = write_sections(&page, ix, &l, e);
		html_foot(&page, "Made by <code>kblat report</code> from <a href=\"" INDEX_FILE "\">" INDEX_FILE
				 "</a>, and can be generated again at any time from the run directories.");
	}
	runs_list_free(&l);
	return rc;
}

static int make_from_index(const char *dir, char **html_path, struct err *e)
{
	struct index ix;
	char *text = NULL, *page;
	size_t size = 0;
	FILE *out;
	int rc = index_file_open(&ix, dir, e);

	if (rc)
		return e->status ? rc
				 : err_set(e, rc, STATUS_FAILED, dir, "read its index", "it was changed meanwhile");
	out = or_abort(open_memstream(&text, &size));
	rc = write_page(&ix, out, e);
	fclose(out);
	page = fs_path("%s/" RUNS_PAGE_FILE, ix.dir);
	rc = rc ?: fs_write_mode(page, text, size, index_file_mode(&ix), e);
	if (rc)
		free(page);
	else
		*html_path = page;
	index_file_close(&ix);
	free(text);
	return rc;
}

/* `arg`: a folder, which find_runs() also visits if it is a run itself. */
static int is_below(void *arg, const char *path, struct err *e)
{
	const char *const *dir = arg;

	(void)e;
	return strcmp(path, *dir) != 0;
}

bool runs_page_is(const char *dir)
{
	struct err ignored = ERR_INIT;

	return fs_is_directory(dir) && find_runs(dir, is_below, &dir, &ignored) > 0;
}

int runs_page_make(const char *dir, char **html_path, struct err *e)
{
	char *real = realpath(dir, NULL);
	struct index_changes changes;
	int rc = (real ? trust_addition(real, "write its page", e) : 0) ?: index_update(dir, false, &changes, e);

	*html_path = NULL;
	if (!rc)
		rc = make_from_index(real, html_path, e);
	/* Damaged in a part that only the page reads. */
	if (rc == -EBADMSG) {
		err_clear(e);
		rc = index_update(dir, true, &changes, e) ?: make_from_index(real, html_path, e);
	}
	free(real);
	return rc;
}
