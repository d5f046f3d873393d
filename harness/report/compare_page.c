/*
 * The page of a comparison.
 */
#include "report/compare_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/manifest.h"
#include "files/rundir/run_mode.h"
#include "judge/analysis/summary.h"
#include "judge/compare/compare_judge.h"
#include "judge/compare/comparison.h"
#include "report/answer_page.h"
#include "report/compare_figures.h"
#include "report/derived.h"
#include "report/model.h"

/* --- shift functions --- */

static bool is_histogram(const char *name, void *arg)
{
	size_t length = strlen(name);

	(void)arg;
	return !strncmp(name, "points/", 7) && length > 10 && !strcmp(name + length - 10, "/data.json");
}

static int by_point_id(const void *id, const void *point)
{
	const json_int_t want = *(const json_int_t *)id, found = ((const struct report_point *)point)->id;

	return (want > found) - (want < found);
}

static const struct report_series *series_of_metric(const struct report *r, json_int_t id, const char *metric)
{
	const struct report_point *p = r->count ? bsearch(&id, r->points, r->count, sizeof(*p), by_point_id) : NULL;

	for (size_t s = 0; p && s < p->series_count; s++)
		if (metric && !strcmp(p->series[s].key, metric))
			return &p->series[s];
	return NULL;
}

static void take_quantiles(const struct report_series *s, double *value)
{
	int64_t ns;

	for (size_t q = 0; q < SHIFT_QUANTILES; q++)
		if (s && model_quantile(s, shift_quantile[q], STATS_BEYOND, &ns))
			value[q] = (double)ns;
}

/* Read the quantiles of one run, for every joined point that counts in it: `value` is [point][run]. */
static int read_quantiles(const struct compare_join *j, size_t run, double (*value)[SHIFT_QUANTILES], struct err *e)
{
	const struct compare_run *of = &j->runs->run[run];
	struct report r;
	int rc = manifest_check_files(of->run.path, is_histogram, NULL, e);

	if (rc)
		return rc;
	rc = model_read(&r, &of->run, 1, e);
	for (size_t i = 0; !rc && i < j->count; i++) {
		const struct summary_point *point = j->point[i].of_run[run];

		if (point && point->valid)
			take_quantiles(series_of_metric(&r, point->id, j->point[i].metric),
				       value[i * j->runs->count + run]);
	}
	model_free(&r);
	return rc;
}

static bool is_any_known(const struct shift *s)
{
	for (size_t q = 0; q < SHIFT_QUANTILES; q++)
		if (s->known[q])
			return true;
	return false;
}

/* Each quantile that is judged has a margin of its own. */
static void take_margins(const struct comparison_point *p, double *margin)
{
	char key[16];

	for (size_t q = 0; q < SHIFT_QUANTILES; q++) {
		char *dot;

		snprintf(key, sizeof(key), "p%g", 100 * shift_quantile[q]);
		if ((dot = strchr(key, '.')))
			*dot = '_';
		margin[q] = NAN;
		for (size_t i = 0; i < p->quantity_count; i++)
			if (!strcmp(p->quantities[i].key, key))
				margin[q] = p->quantities[i].margin.percent;
	}
}

static int fill_figure(struct shift_figure *f, const struct compare_join *j, const struct comparison *c, size_t i,
		       const double (*value)[SHIFT_QUANTILES])
{
	const struct comparison_point *p = &c->points[i];
	int rc = compare_shift(j->runs, value + i * j->runs->count, c->seed, c->alpha, &f->shift);

	*f = (struct shift_figure){
	    .index = (size_t)p->id,
	    .flow = j->point[i].flow,
	    .title = fs_path("%s, point %" JSON_INTEGER_FORMAT "%s%s", *c->experiment ? c->experiment : "?", p->id,
			     *p->label ? ": " : "", p->label),
	    .subtitle = fs_path("by %ss; intervals hold for all quantiles of the point together (%.3g %%)",
				compare_unit_name[c->kind], comparison_confidence(c)),
	    .metric = j->point[i].metric,
	    .shift = f->shift,
	};
	take_margins(p, f->margin);
	f->any = !rc && f->metric && is_any_known(&f->shift);
	return rc;
}

static void figures_drop(struct shift_figure *figures)
{
	for (struct shift_figure *f = figures; f && f->title; f++) {
		free(f->title);
		free(f->subtitle);
	}
	free(figures);
}

/* A list for figure_shift_add(), with one entry per joined point; NULL and `e` on failure. */
static struct shift_figure *shift_figures(const struct compare_join *j, const struct comparison *c, struct err *e)
{
	size_t all = j->count * j->runs->count;
	double(*value)[SHIFT_QUANTILES] = or_abort(calloc(all + 1, sizeof(*value)));
	struct shift_figure *figures = or_abort(calloc(j->count + 1, sizeof(*figures)));
	int rc = 0;

	for (size_t i = 0; i < all; i++)
		for (size_t q = 0; q < SHIFT_QUANTILES; q++)
			value[i][q] = NAN;
	for (size_t run = 0; !rc && run < j->runs->count; run++)
		rc = read_quantiles(j, run, value, e);
	for (size_t i = 0; !rc && i < j->count; i++) {
		rc = fill_figure(&figures[i], j, c, i, (const double(*)[SHIFT_QUANTILES])value);
		if (rc)
			err_sys(e, rc, NULL, "draw the shift function");
	}
	free(value);
	if (!rc)
		return figures;
	figures_drop(figures);
	return NULL;
}

/* --- the page --- */

static void write_verdicts(const struct page *p, const struct comparison_point *point)
{
	static const char *const styles[COMPARE_VERDICTS] = {[COMPARE_REGRESSION] = "bad",
							     [COMPARE_IMPROVEMENT] = "yes",
							     [COMPARE_EQUIVALENT] = "yes",
							     [COMPARE_UNDECIDED] = "unsaid"};

	html_printf(p, "<p>");
	for (size_t i = 0; i < point->quantity_count; i++) {
		const struct comparison_quantity *q = &point->quantities[i];

		html_printf(p, "%s%s <span class=\"%s\">%s</span>", i ? ", " : "", compare_quantity_label(q->key),
			    styles[q->verdict], compare_verdicts[q->verdict]);
	}
	html_printf(p, "</p>\n");
}

/* Figures of boots come first. */
static void write_boots(const struct page *p)
{
	html_printf(p, "<section>\n<h2>In order of time</h2>\n");
	for (size_t i = 0; i < p->figures->count && !strcmp(p->figures->items[i].kind, "boots"); i++)
		html_figure(p, &p->figures->items[i],
			    "Small dots: runs. Large dots: what is compared (boots, or runs of one boot). Dashed: the "
			    "mean of an arm.",
			    " class=\"overview broad\"");
	html_printf(p, "</section>\n");
}

static void write_shifts(const struct page *p, const struct comparison *c, const struct shift_figure *figures)
{
	size_t drawn = 0;

	while (drawn < p->figures->count && strcmp(p->figures->items[drawn].kind, "shift") != 0)
		drawn++;
	html_printf(p, "<section>\n<h2>Shift of the quantiles</h2>\n");
	for (size_t i = 0; figures[i].title; i++) {
		if (!figures[i].any)
			continue;
		html_figure(p, &p->figures->items[drawn++],
			    "The shift of each quantile. Bars: intervals. Shaded: the margin of each quantile that is "
			    "judged; the verdicts below are about these.",
			    " class=\"overview broad\"");
		write_verdicts(p, &c->points[i]);
	}
	if (!drawn)
		html_printf(
		    p,
		    "<p class=\"soft\">There is no shift function: there are too few boots, or no histograms.</p>\n");
	html_printf(p, "</section>\n");
}

/* The content of the page. */
struct compared {
	const struct comparison *result;
	struct shift_figure *shifts;
};

static int draw_comparison(struct figures *f, const void *arg, struct err *e)
{
	return figure_boots_add(f, ((const struct compared *)arg)->result, e)
		   ?: figure_shift_add(f, ((const struct compared *)arg)->shifts, e);
}

static void write_table(const struct page *p, const struct comparison *c)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	if (c->judged) {
		struct table t = comparison_table(c);

		html_printf(p, "<section>\n<h2>Points and quantities</h2>\n");
		html_table(p, &t, "", false);
		html_printf(p, "</section>\n");
		table_free(&t);
	}
	comparison_words(c, out);
	fclose(out);
	html_preformatted(p, "What was compared", text);
	free(text);
}

static void write_comparison(const struct page *p, const void *arg)
{
	const struct compared *c = arg;

	answer_page_outcome(p, c->result->verdict, c->result->answer);
	html_no_figures(p);
	write_boots(p);
	write_shifts(p, c->result, c->shifts);
	write_table(p, c->result);
}

static const char *kernel_of(const struct comparison *c, enum compare_arm arm)
{
	const char *kernel = comparison_kernel(c, arm);

	return kernel ? kernel : "?";
}

int compare_page_make(const char *dir, const struct compare_join *j, const struct comparison *result, char **html_path,
		      struct err *e)
{
	struct compared c = {.result = result};
	json_t *json = compare_json(result);
	char *title = fs_path("%s: NEW (%s) against BASE (%s)", *result->experiment ? result->experiment : "?",
			      kernel_of(result, ARM_WITH), kernel_of(result, ARM_BASE));
	const struct answer_page page = {
	    .dir = dir,
	    .json_name = "compare.json",
	    .json = json,
	    .title = title,
	    .foot =
		"Made by <code>kblat compare</code>; the numbers are in compare.json, the rules in docs/compare.md.",
	    .draw = draw_comparison,
	    .write = write_comparison,
	    .arg = &c,
	};
	const mode_t mask = run_mode_limit(compare_runs_mode(j->runs));
	int rc = derived_directory(dir, e);

	*html_path = NULL;
	if (!rc && !(c.shifts = shift_figures(j, result, e)))
		rc = -EINVAL;
	if (!rc)
		rc = answer_page_make(&page, html_path, e);
	umask(mask);
	figures_drop(c.shifts);
	free(title);
	json_decref(json);
	return rc;
}
