/*
 * How to check a run and to repeat it, and what it was asked to do.
 */
#ifndef KBLAT_REPORT_HTML_REPEAT_H
#define KBLAT_REPORT_HTML_REPEAT_H

#include "report/html.h"

void html_repeat(const struct page *p);
/* The command that made a run (run.json), and a word of one, quoted for a shell. */
void html_repeat_argv(const struct page *p, const json_t *run);
void html_repeat_word(const struct page *p, const char *word);

void html_specs(const struct page *p);

#endif
