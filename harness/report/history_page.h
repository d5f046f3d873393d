/*
 * A history as a page: DIR/report.html with a figure for each point, DIR/figures and
 * DIR/history.json. The directory is chosen by the user, and never that of a run.
 */
#ifndef KBLAT_REPORT_HISTORY_PAGE_H
#define KBLAT_REPORT_HISTORY_PAGE_H

struct compare_runs;
struct history;
struct err;

/* Make the page of a history of these runs, as DIR/`name` (NULL: report.html); see compare_page_make(). */
int history_page_make(const char *dir, const char *name, const struct compare_runs *runs, const struct history *history,
		      char **html_path, struct err *e);

#endif
