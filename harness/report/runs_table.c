#include "report/runs_table.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "judge/analysis/param.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/labels.h"

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

int runs_medians_read(struct runs_medians *m, struct index *ix, const char *experiment, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_MEDIANS, "t", experiment);
	int rc;

	*m = (struct runs_medians){0};
	while ((rc = index_sql_next(ix, s, e)) > 0)
		add_median(m, s);
	return rc ?: label_series(m, ix, experiment, e);
}

void runs_medians_free(struct runs_medians *m)
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

int runs_list_read(struct runs_list *l, struct index *ix, struct err *e)
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

void runs_list_free(struct runs_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		for (int c = 0; c < RUNS_COLUMNS; c++)
			free(l->run[i].text[c]);
	free(l->run);
}

bool runs_entry_is_valid(const struct runs_entry *run)
{
	return *run->text[RUNS_VALID] == '1';
}

char *runs_value_text(double value, bool is_ns, char *buf, size_t size)
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

void runs_table_write(const struct page *p, const struct index *ix, const struct runs_medians *m, struct runs_list *l)
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
