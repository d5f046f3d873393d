#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "claims/claims.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "report/derived.h"
#include "report/figures.h"
#include "report/gather.h"
#include "report/gnuplot.h"
#include "report/run_figures.h"
#include "report/run_page.h"
#include "rundir/run_mode.h"

/* What will become a page once its figures are drawn. */
struct report_draft {
	struct report report;
	struct figures figures;
	const struct claim_verdicts *verdicts;
	char *dir;
	struct err drawing; /* why there are no figures */
	int drawn;
	mode_t mode; /* of all files */
};

static void free_draft(struct report_draft *d)
{
	figures_free(&d->figures);
	model_free(&d->report);
	free(d->dir);
	free(d);
}

static int write_report(const struct report_draft *d, const char *path, struct err *e)
{
	struct page page = {.report = &d->report,
			    .figures = &d->figures,
			    .no_figures = d->drawn ? d->drawing.text : NULL,
			    .claims = d->verdicts,
			    .out = derived_open(path, e)};

	if (page.out)
		run_page_write(&page);
	return derived_close(page.out, path, e);
}

static int start_figures(struct report_draft *d, struct gnuplot *g, struct err *e)
{
	char *figures_dir = fs_path("%s/figures", d->dir);
	const mode_t mask = run_mode_limit(d->mode);
	int rc = fs_remove_tree(d->dir, e) ?: fs_mkdirs(d->dir, e);

	if (!rc)
		d->drawn = figures_start(&d->figures, figures_dir, run_figures_add, &d->report, g, &d->drawing);
	umask(mask);
	free(figures_dir);
	return rc;
}

struct report_draft *report_start(const struct run *runs, size_t count, const struct claim_verdicts *verdicts,
				  struct gnuplot *g, struct err *e)
{
	struct report_draft *d = or_abort(calloc(1, sizeof(*d)));
	int rc;

	d->verdicts = verdicts;
	d->mode = run_mode_of(runs, count);
	d->dir = fs_path("%s/derived", runs[0].path);
	rc = gather_report(&d->report, runs, count, e);
	d->report.claims = verdicts;
	rc = rc ?: start_figures(d, g, e);
	if (!rc)
		return d;
	free_draft(d);
	return NULL;
}

/* The page is made even if figures cannot be drawn; the error is returned afterwards. */
int report_finish(struct report_draft *d, struct gnuplot *g, char **html_path, struct err *e)
{
	mode_t mask;
	int rc;

	if (!d->drawn)
		d->drawn = figures_finish(&d->figures, g, &d->drawing);
	*html_path = fs_path("%s/report.html", d->dir);
	mask = run_mode_limit(d->mode);
	rc = write_report(d, *html_path, e);
	umask(mask);
	if (!rc && d->drawn)
		rc = err_set(e, d->drawn, d->drawing.status, NULL, NULL, "%s", d->drawing.text);
	free_draft(d);
	return rc;
}

int report_make(const struct run *runs, size_t count, char **html_path, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct report_draft *draft;
	struct gnuplot *g;
	struct claim_verdicts verdicts;
	int rc = -EINVAL;

	*html_path = NULL;
	if (!count)
		return err_set(e, rc, STATUS_USAGE, NULL, "make a report", "no run was given");
	g = gnuplot_open();
	/* A run that was killed has no summary, which judging needs. */
	claims_judge(runs, count, &verdicts, &ignored);
	draft = report_start(runs, count, &verdicts, g, e);
	if (draft)
		rc = report_finish(draft, g, html_path, e);
	claim_verdicts_free(&verdicts);
	gnuplot_close(g);
	return rc;
}
