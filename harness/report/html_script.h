/*
 * The script of every page: clicking a column heading sorts the table, and following a link to
 * something collapsed expands it. Pages are complete without it.
 */
#ifndef KBLAT_REPORT_HTML_SCRIPT_H
#define KBLAT_REPORT_HTML_SCRIPT_H

#include <stdio.h>

/* Write the <script> element. */
void html_script_write(FILE *out);

/* Write "'sha256-…'", the script's hash for the Content-Security-Policy, which keeps other scripts
 * from running. */
void html_script_hash(FILE *out);

#endif
