#include "report/answer_page.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "report/derived.h"
#include "report/figure.h"

static int answer_page_write(const struct answer_page *a, const struct figures *f, const char *no_figures,
			     const char *path, struct err *e)
{
	struct page page = {.figures = f, .no_figures = no_figures, .out = derived_open(path, e)};

	if (page.out) {
		html_head(&page, a->title);
		a->write(&page, a->arg);
		html_foot(&page, a->foot);
	}
	return derived_close(page.out, path, e);
}

void answer_page_verdict(const struct page *p, const char *style, const char *verdict, const char *answer)
{
	html_printf(p, "<div class=\"answer %s\"><p><strong>", style);
	html_text(p, verdict);
	html_printf(p, "</strong>: ");
	html_text(p, answer);
	html_printf(p, ".</p></div>\n");
}

void answer_page_outcome(const struct page *p, enum compare_outcome outcome, const char *answer)
{
	static const char *const styles[COMPARE_OUTCOMES] = {
	    [OUTCOME_REGRESSION] = "no", [OUTCOME_NONE] = "ok", [OUTCOME_UNDECIDED] = "part"};

	answer_page_verdict(p, styles[outcome], compare_outcomes[outcome], answer);
}

int answer_page_make(const struct answer_page *a, char **html_path, struct err *e)
{
	char *figures_dir = fs_path("%s/figures", a->dir), *json = fs_path("%s/%s", a->dir, a->json_name);
	struct err drawing = ERR_INIT;
	struct figures f;
	int drawn = figures_make(&f, figures_dir, a->draw, a->arg, &drawing), rc;

	*html_path = fs_path("%s/%s", a->dir, a->name ?: "report.html");
	rc = json_write(json, a->json, e) ?: answer_page_write(a, &f, drawn ? drawing.text : NULL, *html_path, e);
	if (!rc && drawn)
		rc = err_set(e, drawn, drawing.status, NULL, NULL, "%s", drawing.text);
	figures_free(&f);
	free(figures_dir);
	free(json);
	return rc;
}
