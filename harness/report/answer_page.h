/*
 * The page of a result that comes from several runs (a comparison, a history), in a directory
 * chosen by the user: the JSON from which it is made, its figures, and report.html.
 */
#ifndef KBLAT_REPORT_ANSWER_PAGE_H
#define KBLAT_REPORT_ANSWER_PAGE_H

#include "judge/compare/comparison.h"
#include "report/html.h"

struct answer_page {
	const char *dir;       /* created by derived_directory() */
	const char *name;      /* of the page; NULL: "report.html" */
	const char *json_name; /* "compare.json" */
	const json_t *json;
	const char *title;
	const char *foot; /* HTML */
	int (*draw)(struct figures *f, const void *arg, struct err *e);
	void (*write)(const struct page *p, const void *arg); /* writes what is between the heading and the foot */
	const void *arg;				      /* for both functions */
};

/* Write the answer: a word, in a box of `style` (ok, no, part), and a sentence without its full stop. */
void answer_page_verdict(const struct page *p, const char *style, const char *verdict, const char *answer);

/* The same of a comparison's verdict. */
void answer_page_outcome(const struct page *p, enum compare_outcome outcome, const char *answer);

/* The caller frees `html_path`, even on failure. If figures cannot be drawn, the page and the JSON
 * are made nevertheless; the page mentions it, and the status reports it. */
int answer_page_make(const struct answer_page *a, char **html_path, struct err *e);

#endif
