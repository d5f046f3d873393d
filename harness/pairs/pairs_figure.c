#include "pairs/pairs_figure.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/param.h"
#include "common/fs.h"
#include "common/json.h"
#include "pairs/pairs_answer.h"
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

struct pairs_range {
	double least, most;
};

/* Every cell of the square; the diagonal and pairs that were not measured are empty. */
static struct pairs_range matrix_table(FILE *table, const struct pairs *p, const struct pairs_matrix *m,
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
			escape_tsv(table, p->hosts.item[y].name);
			fputc('\t', table);
			escape_tsv(table, p->hosts.item[x].name);
			fputc('\n', table);
		}
	return range;
}

static void set_names(struct figures *f, const struct pairs *p)
{
	const size_t count = p->hosts.count <= NAMES_MAX ? p->hosts.count : 0;

	fprintf(f->script, "name_count = %zu\n", count);
	figure_set_array(f, "names", count ? count : 1);
	for (size_t i = 0; i < count; i++) {
		char *name = figure_one_line(fs_path("%s", p->hosts.item[i].name), NAME_CUT);

		figure_set_item(f, "names", i, name);
		free(name);
	}
}

static int add_matrix(struct figures *f, const struct pairs *p, size_t point, const char *statistic, struct err *e)
{
	const json_t *of = json_array_get(json_object_get(json_object_get(p->j, "answer"), "points"), point);
	const double side = fmin(fmax((double)p->hosts.count * CELL, SIDE_LEAST), SIDE_MOST);
	struct pairs_matrix m;
	struct pairs_verdict v;
	char name[64], *title;
	FILE *table;

	param_name_unit(json_text(of, "metric"), name, sizeof(name));
	pairs_answer_matrix(p, point, statistic, &m);
	pairs_judge(&m, &v);
	table = figure_begin(f, "pairs", NULL, fs_path("point-%04zu-%s", point, statistic),
			     fs_path("%s of %s between all pairs of hosts", statistic, name), e);
	if (table) {
		const struct pairs_range range = matrix_table(table, p, &m, &v);
		const struct axis_unit unit = figure_axis_unit(range.most);

		title =
		    figure_one_line(fs_path("%s: %s of %s, point %zu", json_text(p->j, "name"), statistic, name, point),
				    FIGURE_TITLE_MAX);
		figure_set(f, "title", title);
		free(title);
		set_names(f, p);
		figure_set(f, "unit", unit.name);
		figure_set_number(f, "unit_ns", unit.ns);
		figure_set_number(f, "least", range.least / unit.ns);
		figure_set_number(f, "most", range.most / unit.ns);
		fprintf(f->script, "hosts = %zu\nwidth = %d\nheight = %d\n", m.hosts, (int)side + LEFT + RIGHT,
			(int)side + ABOVE + BELOW);
	}
	pairs_verdict_free(&v);
	pairs_matrix_free(&m);
	return figure_end(f, table, e);
}

int pairs_figure_add(struct figures *f, const struct pairs *p, struct err *e)
{
	const json_t *point;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(json_object_get(p->j, "answer"), "points"), i, point)
		for (size_t s = 0; s < PAIRS_QUANTILES && !rc && i < POINTS_MAX; s++)
			if (json_is_object(json_object_get(point, pairs_quantiles[s])))
				rc = add_matrix(f, p, i, pairs_quantiles[s], e);
	return rc;
}
