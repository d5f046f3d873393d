/*
 * The script of every page: a heading sorts its table, and a link to something folded away unfolds
 * it. Pages are whole without it.
 */
#ifndef KBLAT_REPORT_HTML_SCRIPT_H
#define KBLAT_REPORT_HTML_SCRIPT_H

#include <stdio.h>

/* The <script> element. */
void html_script_write(FILE *out);

/* "'sha256-…'": what a Content-Security-Policy calls this script, so that no other one runs. */
void html_script_hash(FILE *out);

#endif
