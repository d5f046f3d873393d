/*
 * The blocks of the page of a report, each in a source file of its own: html_NAME.c.
 */
#ifndef KBLAT_REPORT_HTML_BLOCKS_H
#define KBLAT_REPORT_HTML_BLOCKS_H

#include "report/html.h"

/* The answer of a report: what ran where and when, and whether it may be quoted, in a sentence
 * for each run. */
void html_answers(const struct page *p);

/* How many claims of the source, of ours and of the measurement itself hold, fail, and are not judged, for which reasons: a
 * sentence for each, as what the source says is not mixed with what we say. */
void html_claims_answer(const struct page *p);

/* The claims of the specs and their verdicts: a row for each claim, with its cases below it. First those that fail, then
 * those that hold; those that are not judged are collapsed, by reason. */
void html_claims(const struct page *p);

/* The table of numbers: a row for each series of each flow of each point. Its columns are the
 * statistics and summary blocks of analysis/ that a report shows and that at least one point
 * has. html_notes() must end its section. */
void html_numbers(const struct page *p);

/* Why messages were late, point by point, from the blocks `causes` of the summary: a section, if
 * any point was measured with `explain`. */
void html_causes(const struct page *p);

/* The notes below the table of numbers, in its section: why points are not valid, and what
 * increases the error, each with the points concerned. Ends the section. */
void html_notes(const struct page *p);

/* The details of each point, collapsed: its histograms, its raw columns, and the command that
 * measures it again. */
void html_points(const struct page *p);

/* "Point 3: rc, busy, size 32B." The caller frees. */
char *html_point_caption(const struct page *p, const struct report_point *point, const char *flow);

/* The machines of a run, and what changed on them meanwhile. */
void html_machines(const struct page *p);
void html_changes(const struct page *p);

/* How to verify and repeat a run, and its spec. */
void html_repeat(const struct page *p);

/* The command that measures a point again: the command of its run, in which the point's filters,
 * {"size": "32B"}, replace those for the same settings. */
void html_repeat_point(const struct page *p, const struct report_run *run, const json_t *filters);

void html_specs(const struct page *p);

#endif
