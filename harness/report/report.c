#include "report/report.h"

#include <errno.h>
#include <stdlib.h>

#include "claims/claims.h"
#include "common/err.h"
#include "common/fs.h"
#include "report/derived.h"
#include "report/figures.h"
#include "report/gather.h"
#include "report/html.h"

/* What is made into a page. */
struct content {
	const struct report *report;
	const struct claim_verdicts *claims;
};

static int write_page(const struct content *c, const struct figures *f, const char *no_figures, const char *path,
		      struct err *e)
{
	struct page page = {.report = c->report,
			    .figures = f,
			    .no_figures = no_figures,
			    .claims = c->claims,
			    .out = derived_open(path, e)};

	if (page.out)
		html_write(&page);
	return derived_close(page.out, path, e);
}

/* Figures that can't be drawn don't cost the page; that they could not is told after it. */
static int make_derived(const struct content *c, const char *dir, const char *html, struct err *e)
{
	char *figures_dir = fs_path("%s/figures", dir);
	struct err drawing = ERR_INIT;
	struct figures f;
	int drawn, rc;

	drawn = figures_draw(&f, c->report, figures_dir, &drawing);
	rc = write_page(c, &f, drawn ? drawing.text : NULL, html, e);
	if (!rc && drawn)
		rc = err_set(e, drawn, drawing.status, NULL, NULL, "%s", drawing.text);
	figures_free(&f);
	free(figures_dir);
	return rc;
}

int report_make(const struct run *runs, size_t count, char **html_path, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct claim_verdicts verdicts;
	int rc;

	/* A run that was killed has no summary to judge by. */
	claims_judge(runs, count, &verdicts, &ignored);
	rc = report_make_judged(runs, count, &verdicts, html_path, e);
	claim_verdicts_free(&verdicts);
	return rc;
}

int report_make_judged(const struct run *runs, size_t count, const struct claim_verdicts *verdicts, char **html_path,
		       struct err *e)
{
	struct report r;
	char *dir;
	int rc;

	*html_path = NULL;
	if (!count)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, "make a report", "no run was given");
	dir = fs_path("%s/derived", runs[0].path);
	rc = gather_report(&r, runs, count, e);
	if (!rc)
		rc = fs_remove_tree(dir, e);
	if (!rc)
		rc = fs_mkdirs(dir, e);
	if (!rc) {
		*html_path = fs_path("%s/report.html", dir);
		rc = make_derived(&(struct content){&r, verdicts}, dir, *html_path, e);
	}
	model_free(&r);
	free(dir);
	return rc;
}
