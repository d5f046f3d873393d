#include "knobs/knobs_page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "knobs/knobs_figure.h"
#include "knobs/knobs_table.h"
#include "report/answer_page.h"
#include "rundir/run_mode.h"

static int draw_knobs(struct figures *f, const void *arg, struct err *e)
{
	return knobs_figure_add(f, ((const struct knobs *)arg)->j, e);
}

static void write_knobs_answer(const struct page *p, const json_t *smallest)
{
	const char *verdict = html_string(smallest, "verdict", "undecided");
	const char *style = !strcmp(verdict, "worse") ? "no" : !strcmp(verdict, "undecided") ? "part" : "ok";

	answer_page_verdict(p, style, verdict, html_string(smallest, "answer", "too few blocks were measured"));
}

static void write_knobs_page(const struct page *p, const void *arg)
{
	const struct knobs *k = arg;

	write_knobs_answer(p, json_object_get(k->j, "smallest"));
	html_no_figures(p);
	html_printf(p, "<section>\n<h2>Each knob</h2>\n");
	for (size_t i = 0; i < p->figures->count; i++)
		html_figure(p, &p->figures->items[i],
			    "The effect of each knob alone, and of leaving it out of the whole profile; for each, the "
			    "quantity with "
			    "the clearest effect. The bars are 95 % intervals, which hold for all effects together; "
			    "the faint ones "
			    "are 90 % intervals of the one effect.",
			    " class=\"overview broad\"");
	html_printf(p, "</section>\n");
	html_printed(p, "As a table", knobs_table, k->j);
}

int knobs_page_make(const struct knobs *k, struct err *e)
{
	char *dir = fs_path("%s/derived", k->path), *html = NULL;
	char *title = fs_path("%s: which knobs of %s help", json_text(k->j, "name"), json_text(k->j, "profile"));
	const struct answer_page page = {
	    .dir = dir,
	    .json_name = "knobs.json",
	    .json = k->j,
	    .title = title,
	    .foot = "Made by <code>kblat knobs</code>; the numbers are in knobs.json, the rules in docs/knobs.md.",
	    .draw = draw_knobs,
	    .write = write_knobs_page,
	    .arg = k,
	};
	const mode_t mask = run_mode_limit(run_mode_below(k->path));
	int rc = fs_remove_tree(dir, e) ?: fs_mkdirs(dir, e) ?: answer_page_make(&page, &html, e);

	umask(mask);

	free(html);
	free(title);
	free(dir);
	return rc;
}
