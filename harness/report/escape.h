/*
 * Text from specs, machines and run directories, made safe for what it is written into. All of it
 * is untrusted: a title may hold markup, quotes, backticks, control characters or stray bytes.
 * Nothing here fails; a stream keeps its own error.
 */
#ifndef KBLAT_REPORT_ESCAPE_H
#define KBLAT_REPORT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* For HTML, as an element's text or in a quoted attribute. Newlines and tabs stay; unprintable
 * characters and stray bytes become U+FFFD. */
void escape_html(FILE *out, const char *text);
void escape_html_bytes(FILE *out, const char *text, size_t length);

/*
 * A string constant for gnuplot, quotes included. Only letters, digits and a few signs are written
 * as they are, everything else as \ooo, so that neither command substitution (which works on the
 * raw line, inside double quotes too) nor a macro can be started. A newline becomes \n.
 */
void escape_gnuplot(FILE *out, const char *text);

/* A path for a link, in a quoted attribute: what is no letter, digit or plain sign as %XX. */
void escape_url(FILE *out, const char *path);

/* A cell of a tab-separated table: tabs and newlines become blanks. */
void escape_tsv(FILE *out, const char *text);

/* A word for a POSIX shell, in single quotes where needed. The caller frees. */
char *escape_shell(const char *text);

void escape_base64(FILE *out, const void *data, size_t length);

#endif
