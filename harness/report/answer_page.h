/*
 * The page of an answer that several runs give (a comparison, a history), in a directory of the
 * reader's own: the JSON it was made from, its figures, and report.html.
 */
#ifndef KBLAT_REPORT_ANSWER_PAGE_H
#define KBLAT_REPORT_ANSWER_PAGE_H

#include "report/html.h"

struct answer_page {
	const char *dir;       /* made by derived_directory() */
	const char *json_name; /* "compare.json" */
	const json_t *json;
	const char *title;
	const char *foot; /* HTML */
	int (*draw)(struct figures *f, const void *arg, struct err *e);
	void (*write)(const struct page *p, const void *arg); /* between the heading and the foot */
	const void *arg;				      /* of both */
};

/* The answer itself: a word, in a box of `style` (ok, no, part), and a sentence without its full stop. */
void answer_page_verdict(const struct page *p, const char *style, const char *verdict, const char *answer);

/* `html_path` is the caller's to free, failed or not. Figures that can't be drawn cost neither
 * page nor JSON: the page says so, and so does the status. */
int answer_page_make(const struct answer_page *a, char **html_path, struct err *e);

#endif
