#include "report/runs_table.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/escape.h"

#define OPEN_RUNS   50 /* the newest runs, which are shown; the others are collapsed */
#define MEDIANS_MAX 4  /* medians of a run's points in its row */

int runs_list_read(struct runs_list *l, struct index *ix, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_RUNS, "");
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0) {
		struct runs_entry *run;

		l->run = grow_or_abort(l->run, l->count, sizeof(*l->run));
		run = &l->run[l->count++];
		*run = (struct runs_entry){.id = sqlite3_column_int64(s, RUNS_ID)};
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

static void write_run_medians(const struct page *p, const struct runs_medians *m, const struct runs_entry *run)
{
	size_t shown = 0;
	char text[32];

	for (size_t i = run->first_median; i < m->median_count && m->median[i].run == run->id; i++) {
		const struct runs_median *median = &m->median[i];

		if (isnan(median->value))
			continue;
		if (shown++ == MEDIANS_MAX) {
			html_printf(p, ", …");
			break;
		}
		html_printf(p, "%s%s", shown > 1 ? ", " : "",
			    runs_value_text(median->value, median->is_ns, text, sizeof(text)));
	}
}

static void write_run(const struct page *p, const struct index *ix, const struct runs_medians *m,
		      const struct runs_entry *run)
{
	bool sealed = *run->text[RUNS_SEALED] == '1';

	html_printf(p, "<tr><td><time>");
	html_text(p, run->text[RUNS_STARTED]);
	html_printf(p, "</time></td><th scope=\"row\"><a href=\"");
	escape_url(p->out, run->text[RUNS_PATH]);
	html_printf(p, "%s\">", has_page(ix, run->text[RUNS_PATH]) ? "/derived/report.html" : "/");
	html_text(p, run->text[RUNS_PATH]);
	html_printf(p, "</a></th><td title=\"");
	html_text(p, run->text[RUNS_REASON]);
	html_printf(p, "\"><span class=\"%s\">%s</span></td><td>",
		    runs_entry_is_valid(run) ? "yes"
		    : sealed		     ? "bad"
					     : "unsaid",
		    runs_entry_is_valid(run) ? "valid"
		    : sealed		     ? "NOT VALID"
					     : "not sealed");
	write_run_medians(p, m, run);
	for (int c = RUNS_HOSTS; c <= RUNS_KERNELS; c++) {
		html_printf(p, "</td><td>");
		html_text(p, run->text[c]);
	}
	html_printf(p, "</td><td>");
	html_text(p, run->text[RUNS_VERSION]);
	html_printf(p, " ");
	html_text(p, run->text[RUNS_COMMIT]);
	html_printf(p, "</td></tr>\n");
}

/* Newest first: `from` is counted from the end. */
static void write_run_table(const struct page *p, const struct index *ix, const struct runs_medians *m,
			    const struct runs_list *l, size_t from, size_t to)
{
	html_printf(p, "<div class=\"wide\" tabindex=\"0\">\n<table>\n<thead><tr><th scope=\"col\">when</th>"
		       "<th scope=\"col\">run</th><th scope=\"col\">valid</th><th scope=\"col\" title=\"of the first "
		       "points\">medians</th><th scope=\"col\">hosts</th><th scope=\"col\">kernels</th><th "
		       "scope=\"col\">kblat</th></tr></thead>\n<tbody>\n");
	for (size_t i = from; i < to; i++)
		write_run(p, ix, m, &l->run[l->count - 1 - i]);
	html_printf(p, "</tbody>\n</table>\n</div>\n");
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
