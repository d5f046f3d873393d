/*
 * Standard output and standard error as all text of ours leaves: printable characters, line breaks and tabs. Whatever a text
 * from a file, the network or another process contains (escape sequences, C1 controls, separators and marks that reorder a line,
 * invalid UTF-8), '?' is shown instead. What a program writes to the descriptors themselves passes unchanged.
 */
#ifndef KBLAT_COMMON_CLEAN_STREAM_H
#define KBLAT_COMMON_CLEAN_STREAM_H

#include <stdio.h>

/* From now on, `stdout` and `stderr`. They have no descriptor for fileno(). */
void clean_streams(void);

/* As they were before, for an endpoint: libraries that it loads write to the descriptors of these streams, and the
 * coordinator, which reads them, cleans what it shows. */
void clean_streams_not(void);

/* A line that other programs take as the path that it is: its bytes that are not UTF-8 are not changed, unless `to`, stdout
 * or stderr, is a terminal. */
void clean_stream_path(FILE *to, const char *path);

/* Go back to the beginning of the line of standard error, which is a terminal, and erase it. */
void clean_stream_erase_line(void);

#endif
