/*
 * Escapes text from specs, machines and run directories for the format that it is written to. All
 * of it is untrusted: a title may contain markup, quotes, backticks, control characters or invalid
 * UTF-8. These functions do not report errors; use the error indicator of the stream.
 */
#ifndef KBLAT_REPORT_ESCAPE_H
#define KBLAT_REPORT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* For HTML, as the text of an element or in a quoted attribute. Newlines and tabs are preserved;
 * unprintable characters and invalid UTF-8 become U+FFFD. */
void escape_html(FILE *out, const char *text);
void escape_html_bytes(FILE *out, const char *text, size_t length);

/*
 * A string constant for gnuplot, including the quotes. Only letters, digits and a few other
 * characters are written unchanged, everything else as \ooo. This rules out macros and command
 * substitution, which gnuplot applies to the raw line, even inside double quotes. A newline becomes
 * \n.
 */
void escape_gnuplot(FILE *out, const char *text);

/* A path for a link, in a quoted attribute: everything but letters, digits and unreserved
 * characters becomes %XX. */
void escape_url(FILE *out, const char *path);

/* A cell of a tab-separated table: tabs and newlines become spaces. */
void escape_tsv(FILE *out, const char *text);

/* A word for a POSIX shell, in single quotes if necessary. The caller frees. */
char *escape_shell(const char *text);

/* UTF-8 without anything unprintable, which becomes U+FFFD; newlines and tabs are preserved. The caller frees. */
char *escape_shown(const char *text);

void escape_base64(FILE *out, const void *data, size_t length);

#endif
