/*
 * The notes below the table of numbers, in its section: why points are not valid, and what
 * increases the error, each with the points concerned.
 */
#ifndef KBLAT_REPORT_HTML_NOTES_H
#define KBLAT_REPORT_HTML_NOTES_H

#include "report/html.h"

/* Ends the section. */
void html_notes(const struct page *p);

#endif
