/*
 * What pages are written with. A page is one file that works offline, for a phone, for print,
 * light and dark. Everything from a run is escaped; figures are <img> data URIs (inlined SVGs of
 * gnuplot's share their ids), and a strict Content-Security-Policy lets nothing else in but the one
 * script (html_script.h).
 */
#ifndef KBLAT_REPORT_HTML_H
#define KBLAT_REPORT_HTML_H

#include <stdio.h>

#include "claims/claim_verdict.h"
#include "report/figure.h"
#include "report/model.h"

struct page {
	const struct report *report;
	const struct figures *figures;
	const char *no_figures; /* why there are none; NULL: there are */
	const struct claim_verdicts *claims;
	FILE *out;
};

/* Everything up to the heading, and all after the last section; other pages begin and end alike.
 * `text` is HTML. */
void html_head(const struct page *p, const char *title);
void html_foot(const struct page *p, const char *text);

/* A foot of one's own between these. */
void html_begin_foot(const struct page *p);
void html_end_foot(const struct page *p);

/* A figure with its caption and its files; `style` is added to the element: "" or " class=...". */
void html_figure(const struct page *p, const struct figure *f, const char *caption, const char *style);

/* Why there are none, where there are none. */
void html_no_figures(const struct page *p);

/* A section with what is printed for people at a terminal: the same words in both places. */
void html_printed(const struct page *p, const char *heading, void (*print)(const json_t *json, FILE *out),
		  const json_t *json);

/* A heading that names the run, where there are several. */
void html_run_heading(const struct page *p, const struct report_run *run);

/* printf, with nothing escaped; an escaped text; a nanosecond quantity for people, exact in its
 * title. */
void html_printf(const struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_text(const struct page *p, const char *text);
void html_ns(const struct page *p, int64_t ns);
void html_ns_near(const struct page *p, double ns);	/* the nearest that fits */
void html_item(const struct page *p, const char *text); /* <li> */

/* "3", linked to its histogram; with its run where there are several. */
void html_point_link(const struct page *p, const struct report_point *point);

/* A string of JSON that may be missing, of another type, or empty. */
const char *html_string(const json_t *object, const char *key, const char *otherwise);
const char *html_string_at(const json_t *array, size_t i); /* "?" */

#endif
