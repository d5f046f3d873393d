#include "pairs/pairs_page.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/fs.h"
#include "common/json.h"
#include "pairs/pairs_answer.h"
#include "pairs/pairs_figure.h"
#include "pairs/pairs_table.h"
#include "report/answer_page.h"
#include "rundir/run_mode.h"

static int draw_pairs(struct figures *f, const void *arg, struct err *e)
{
	return pairs_figure_add(f, arg, e);
}

static void write_pairs_page(const struct page *p, const void *arg)
{
	const struct pairs *pairs = arg;
	const json_t *answer = json_object_get(pairs->j, "answer");
	const bool slow = pairs_answer_is_slow(answer);
	char *sentence = pairs_table_sentence(answer);

	answer_page_verdict(p, slow ? "no" : "ok", slow ? "some stand out" : "even", sentence);
	free(sentence);
	html_no_figures(p);
	html_printf(p, "<section>\n<h2>Pairs</h2>\n<div class=\"grid\">\n");
	for (size_t i = 0; i < p->figures->count; i++)
		html_figure(p, &p->figures->items[i], p->figures->items[i].text, "");
	html_printf(p, "</div>\n</section>\n");
	html_printed(p, "In words", pairs_table, pairs->j);
}

int pairs_page_make(const struct pairs *p, char **html, struct err *e)
{
	char *dir = fs_path("%s/derived", p->path);
	char *title = fs_path("%s: all pairs of %zu hosts", json_text(p->j, "name"), p->hosts.count);
	const struct answer_page page = {
	    .dir = dir,
	    .json_name = "pairs.json",
	    .json = p->j,
	    .title = title,
	    .foot =
		"Made by <code>kblat run --hosts</code>; the numbers are in pairs.jsonl, the rules in docs/cluster.md.",
	    .draw = draw_pairs,
	    .write = write_pairs_page,
	    .arg = p,
	};
	const mode_t mask = run_mode_limit(run_mode_below(p->path));
	int rc;

	*html = NULL;
	rc = fs_remove_tree(dir, e) ?: fs_mkdirs(dir, e) ?: answer_page_make(&page, html, e);
	umask(mask);

	free(title);
	free(dir);
	return rc;
}
