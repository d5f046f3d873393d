/*
 * Diagnostics about a text that a user wrote (a spec, a profile). All of them are reported at once, each with
 * file:line:column, the line and a caret. The errors are the user's, so the exit status is STATUS_USAGE.
 */
#ifndef KBLAT_COMMON_DIAG_H
#define KBLAT_COMMON_DIAG_H

#include <stddef.h>
#include <stdio.h>

struct diag_item {
	unsigned line, column; /* from 1; 0: the whole file, or a command line argument */
	char *text;
};

struct diag {
	char *file;	  /* as the user named it */
	const char *text; /* the whole text, not owned; NULL if it could not be read */
	size_t length;
	struct diag_item *items;
	size_t count;	/* of the items kept */
	size_t dropped; /* more than that */
	size_t said;	/* number of errors, including those not kept (repeated, or beyond the limit) */
};

void diag_init(struct diag *d, const char *file);
void diag_free(struct diag *d);

/* Add one. At most 50 are kept; the rest are counted. The same text at the same place is kept
 * once. */
void diag_add(struct diag *d, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Move all to another of the same file. */
void diag_move(struct diag *from, struct diag *to);

/* Columns count characters. Print all in order of place: "file:3:7: unknown setting 'sise'; did you
 * mean 'size'?", the line, a caret. Control characters in the quoted line are shown as '?', a line
 * over 160 characters is cut around the column. */
void diag_print(const struct diag *d, FILE *out);

/*
 * The nearest of `names` (NULL-terminated) to `word` (Damerau-Levenshtein, at most a third of the
 * length, ignoring case), or NULL.
 */
const char *suggest(const char *word, const char *const *names);

/* "; did you mean 'nearest'?", into `buf` of SUGGESTION_MAX; "" for NULL. */
#define SUGGESTION_MAX 96
const char *suggestion(const char *nearest, char *buf, size_t size);

#endif
