/*
 * Standard output and standard error as all text of ours leaves: printable characters, line breaks and tabs. Whatever a text
 * from a file, the network or another process contains (escape sequences, C1 controls, separators and marks that reorder a line,
 * invalid UTF-8), '?' is shown instead. What a program writes to the descriptors themselves passes unchanged.
 *
 * On a terminal, no line is wider than it is (as COLUMNS says, otherwise the terminal itself): one that would be is continued
 * at a word on the next line, below its column. A word that is wider stays whole. Elsewhere lines stay as they are, since
 * programs read them.
 */
#ifndef KBLAT_COMMON_CLEAN_STREAM_H
#define KBLAT_COMMON_CLEAN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* From now on, `stdout` and `stderr`. They have no descriptor for fileno(). */
void clean_streams(void);

/* As they were before, for an endpoint: libraries that it loads write to the descriptors of these streams, and the
 * coordinator, which reads them, cleans what it shows. */
void clean_streams_not(void);

/* A line that other programs take as the path that it is: its bytes that are not UTF-8 are not changed, unless `to`, stdout
 * or stderr, is a terminal. */
void clean_stream_path(FILE *to, const char *path);

/* The width of the terminal that it is, or `otherwise`. */
size_t clean_stream_width(FILE *to, size_t otherwise);

/* What follows is for programs, also on a terminal (JSON, CSV): its lines stay as they are, until it ends. */
void clean_stream_document(FILE *to, bool begins);

/* Go back to the beginning of the line of standard error, which is a terminal, and erase it. */
void clean_stream_erase_line(void);

#endif
