#include "study/pairs/pairs_answer.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/table.h"
#include "files/rundir/run_mode.h"
#include "judge/analysis/param.h"
#include "report/answer_page.h"
#include "report/escape.h"

#define POINTS_MAX 16
#define NAMES_MAX  48 /* with more hosts there is no room for names */
#define SIDE_LEAST 360
#define SIDE_MOST  900
#define CELL	   14 /* pixels, if there is room */
#define LEFT	   92
#define RIGHT	   150
#define ABOVE	   64
#define BELOW	   110
#define NAME_CUT   14

/* What the page shows. */
struct drawn {
	const struct study *s;
	const struct pairs_answer *answer;
};

/* --- matrices --- */

struct pairs_range {
	double least, most;
};

/* Every cell of the square; the diagonal and pairs that were not measured are empty. */
static struct pairs_range matrix_table(FILE *table, const struct study *s, const struct pairs_matrix *m,
				       const struct pairs_verdict *v)
{
	struct pairs_range range = {INFINITY, -INFINITY};

	fputs("x\ty\tvalue_ns\ttimes\tsource\tsink\n", table);
	for (size_t y = 0; y < m->hosts; y++)
		for (size_t x = 0; x < m->hosts; x++) {
			const double value = m->value[y * m->hosts + x];

			if (isnan(value))
				fprintf(table, "%zu\t%zu\tNaN\t0\t", x + 1, y + 1);
			else
				fprintf(table, "%zu\t%zu\t%.6g\t%.4g\t", x + 1, y + 1, value,
					fmax(v->pair[y * m->hosts + x], fmax(v->host[x], v->host[y])));
			range.least = value > 0 ? fmin(range.least, value) : range.least;
			range.most = value > 0 ? fmax(range.most, value) : range.most;
			escape_tsv(table, s->hosts.item[y].name);
			fputc('\t', table);
			escape_tsv(table, s->hosts.item[x].name);
			fputc('\n', table);
		}
	return range;
}

static void set_names(struct figures *f, const struct study *s)
{
	const size_t count = s->hosts.count <= NAMES_MAX ? s->hosts.count : 0;

	figure_set_count(f, "name_count", count);
	figure_set_array(f, "names", count ? count : 1);
	for (size_t i = 0; i < count; i++) {
		char *name = figure_one_line(fs_path("%s", s->hosts.item[i].name), NAME_CUT);

		figure_set_item(f, "names", i, name);
		free(name);
	}
}

static int add_matrix(struct figures *f, const struct drawn *d, size_t point, enum pairs_quantile quantile,
		      struct err *e)
{
	const struct study *s = d->s;
	const char *statistic = pairs_quantiles[quantile];
	const double side = fmin(fmax((double)s->hosts.count * CELL, SIDE_LEAST), SIDE_MOST);
	struct pairs_matrix m;
	struct pairs_verdict v;
	char name[64], *title;
	FILE *table;

	param_name_unit(d->answer->point[point].metric, name, sizeof(name));
	pairs_answer_matrix(s, point, quantile, &m);
	pairs_judge(&m, &v);
	table = figure_begin(f, "pairs", NULL, fs_path("point-%04zu-%s", point, statistic),
			     fs_path("%s of %s between all pairs of hosts", statistic, name), e);
	if (table) {
		const struct pairs_range range = matrix_table(table, s, &m, &v);
		const struct axis_unit unit = figure_axis_unit(range.most);

		title = figure_one_line(fs_path("%s: %s of %s, point %zu", s->name, statistic, name, point),
					FIGURE_TITLE_MAX);
		figure_set(f, "title", title);
		free(title);
		set_names(f, s);
		figure_set(f, "unit", unit.name);
		figure_set_number(f, "unit_ns", unit.ns);
		figure_set_number(f, "least", range.least / unit.ns);
		figure_set_number(f, "most", range.most / unit.ns);
		figure_set_count(f, "hosts", m.hosts);
		fprintf(f->script, "width = %d\nheight = %d\n", (int)side + LEFT + RIGHT, (int)side + ABOVE + BELOW);
	}
	pairs_verdict_free(&v);
	pairs_matrix_free(&m);
	return figure_end(f, table, e);
}

static int draw_pairs(struct figures *f, const void *arg, struct err *e)
{
	const struct drawn *d = arg;
	int rc = 0;

	for (size_t i = 0; i < d->answer->point_count && i < POINTS_MAX; i++)
		for (enum pairs_quantile q = 0; q < PAIRS_QUANTILES && !rc; q++)
			if (d->answer->point[i].of[q].pairs)
				rc = add_matrix(f, d, i, q, e);
	return rc;
}

/* --- the page --- */

enum { WHO, POINT, SERIES, STATISTIC, VALUE, TIMES, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [WHO] = {.label = "hosts", .most = TABLE_WHOLE, .heads_row = true},
    [POINT] = {.label = "point", .align = TABLE_RIGHT},
    [SERIES] = {.label = "series"},
    [STATISTIC] = {.label = "statistic"},
    [VALUE] = {.label = "value", .align = TABLE_RIGHT},
    [TIMES] = {.label = "times the usual",
	       .align = TABLE_RIGHT,
	       .help = "of a pair, what is usual between these two hosts; of a host, its pairs against all others"},
};

/* A row, of which its statistic is known. */
static size_t statistic_row(struct table *t, const struct pairs_point *p, enum pairs_quantile q, double ns)
{
	const size_t row = table_row(t);
	char name[64];

	param_name_unit(p->metric, name, sizeof(name));
	table_count(t, POINT, row, p->id);
	table_text(t, SERIES, row, "%s", name);
	table_text(t, STATISTIC, row, "%s", pairs_quantiles[q]);
	table_in_unit(t, VALUE, row, ns, "ns");
	return row;
}

static void add_statistic(struct table *t, const struct study *s, const struct pairs_point *p, enum pairs_quantile q)
{
	const struct pairs_statistic *of = &p->of[q];
	size_t row = statistic_row(t, p, q, of->pairs ? of->median_ns : NAN);

	if (of->pairs)
		table_text(t, WHO, row, "median of %zu pairs", of->pairs);
	else
		table_text(t, WHO, row, "no pair has it (it needs 20 messages beyond it)");
	for (size_t i = 0; i < of->slow_hosts; i++) {
		row = statistic_row(t, p, q, NAN);
		table_text(t, WHO, row, "%s", s->hosts.item[of->slow_host[i].source].name);
		table_text(t, TIMES, row, "%.1f", of->slow_host[i].times);
	}
	for (size_t i = 0; i < of->slow_pairs; i++) {
		const struct pairs_slow *slow = &of->slow_pair[i];

		row = statistic_row(t, p, q, slow->value_ns);
		table_text(t, WHO, row, "%s to %s", s->hosts.item[slow->source].name, s->hosts.item[slow->sink].name);
		table_text(t, TIMES, row, "%.1f", slow->times);
	}
}

/* Medians, and whoever stands out. */
static void write_statistics(const struct page *p, const struct drawn *d)
{
	struct table t = table_of(columns, COLUMNS, 0);

	for (size_t i = 0; i < d->answer->point_count; i++)
		for (enum pairs_quantile q = 0; q < PAIRS_QUANTILES; q++)
			add_statistic(&t, d->s, &d->answer->point[i], q);
	html_printf(p, "<section>\n<h2>Medians, and who stands out</h2>\n");
	html_table(p, &t, "", true);
	html_printf(p,
		    "<p class=\"soft\">%zu measured, %zu failed, %zu left, %zu not valid. A pair or a host stands out "
		    "if it takes %g times as long as the median and is %d robust standard deviations above it; what a "
		    "host explains is not counted against its pairs.</p>\n</section>\n",
		    d->answer->measured, d->answer->failed, d->answer->left, d->answer->not_valid, PAIRS_LEAST,
		    PAIRS_DEVIATIONS);
	table_free(&t);
}

static void write_pairs_page(const struct page *p, const void *arg)
{
	const struct drawn *d = arg;
	const bool slow = pairs_answer_is_slow(d->answer);
	char *sentence = pairs_answer_sentence(d->answer);

	answer_page_verdict(p, slow ? "no" : "ok", slow ? "some stand out" : "even", sentence);
	html_no_figures(p);
	html_printf(p, "<section>\n<h2>Pairs</h2>\n<div class=\"grid\">\n");
	for (size_t i = 0; i < p->figures->count; i++)
		html_figure(p, &p->figures->items[i], p->figures->items[i].text, "");
	html_printf(p, "</div>\n</section>\n");
	write_statistics(p, d);
	free(sentence);
}

int pairs_page_make(const struct study *s, const struct pairs_answer *answer, char **html, struct err *e)
{
	const struct drawn drawn = {s, answer};
	char *dir = fs_path("%s/derived", s->path);
	char *title = fs_path("%s: all pairs of %zu hosts", s->name, s->hosts.count);
	json_t *json = pairs_answer_json(s, answer);
	const struct answer_page page = {
	    .dir = dir,
	    .json_name = "pairs.json",
	    .json = json,
	    .title = title,
	    .foot =
		"Made by <code>kblat run --hosts</code>; the numbers are in cells.jsonl, the rules in docs/cluster.md.",
	    .draw = draw_pairs,
	    .write = write_pairs_page,
	    .arg = &drawn,
	};
	const mode_t mask = run_mode_limit(run_mode_below(s->path));
	int rc;

	*html = NULL;
	rc = fs_remove_tree(dir, e) ?: fs_mkdirs(dir, e) ?: answer_page_make(&page, html, e);
	umask(mask);
	json_decref(json);
	free(title);
	free(dir);
	return rc;
}
