/*
 * Functions for writing pages. A page is a single file that works offline, on phones, in print, and
 * in light and dark mode. Everything from a run is escaped. A figure is its table and its variables
 * (figure.h), once, as JSON; the page's script (page.js) draws it as SVG: at the width of the window,
 * in the colours of the page, with each value where a pointer is. A strict Content-Security-Policy
 * allows nothing else but this script and its style (page.css).
 */
#ifndef KBLAT_REPORT_HTML_H
#define KBLAT_REPORT_HTML_H

#include <stdio.h>

#include "common/table.h"
#include "judge/claims/claim_verdict.h"
#include "report/figure.h"
#include "report/model.h"

struct page {
	const struct report *report;
	const struct figures *figures;
	const char *no_figures; /* why there are none as SVG and PDF; NULL: there are */
	const struct claim_verdicts *claims;
	FILE *out;
};

/* Write everything up to the heading, and everything after the last section. `text` is HTML. */
void html_head(const struct page *p, const char *title);
void html_foot(const struct page *p, const char *text);

/* To be called around a custom foot. */
void html_begin_foot(const struct page *p);
void html_end_foot(const struct page *p);

/* A figure with its caption and links to its files; `style` is added to the element: "" or " class=...". */
void html_figure(const struct page *p, const struct figure *f, const char *caption, const char *style);

/* If gnuplot could not draw the figures as files, write why; those of the page need no gnuplot. */
void html_no_figures(const struct page *p);

/* A section of preformatted text, which is escaped. */
void html_preformatted(const struct page *p, const char *heading, const char *text);

/* A heading with the name of the run, if there are several runs. */
void html_run_heading(const struct page *p, const struct report_run *run);

/* printf without escaping; an escaped text; a time in nanoseconds formatted for people, with the
 * exact value in the title attribute. */
void html_printf(const struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_text(const struct page *p, const char *text);
void html_ns(const struct page *p, int64_t ns);
void html_ns_near(const struct page *p, double ns);	/* rounded to an integer */
void html_item(const struct page *p, const char *text); /* <li> */

/* "3", linked to its histogram; with its run if there are several. */
void html_point_link(const struct page *p, const struct report_point *point);

/* A string from JSON; `otherwise` if it is missing, empty or not a string. */
const char *html_string(const json_t *object, const char *key, const char *otherwise);
const char *html_string_at(const json_t *array, size_t i); /* "?" */

/* A word, and whether it is good. */
void html_verdict(const struct page *p, enum tone tone, const char *text);

/*
 * A table (common/table.h). Headings can be clicked to sort by; the rows of a group stay together. A time is written for
 * people, with its nanoseconds in the title. `style`: a class of the table, or ""; `tall`: it scrolls within the page.
 * Without any label there is no line of headings.
 */
typedef void html_table_writer(const struct page *p, const struct table *t, const char *style, bool tall);
html_table_writer html_table;

/* Its two parts: the table itself, and the list of what its columns are. */
html_table_writer html_rows;
void html_columns(const struct page *p, const struct table *t);

#endif
