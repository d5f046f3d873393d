/*
 * Makes text from outside (of a user, a file or another process) safe to print, as it may contain anything. No allocation.
 */
#ifndef KBLAT_COMMON_TEXT_H
#define KBLAT_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Longest a quoted text gets: 48 bytes of it, "...", two quotes and the NUL. */
#define TEXT_QUOTE_MAX 56

/* The UTF-8 character at `s`, of at most `n` bytes: its length and `*cp`, or 0 where there is none
 * (RFC 3629: no surrogates, no overlong forms). */
size_t text_utf8(const char *s, size_t n, uint32_t *cp);

/* Whether a character may reach a terminal: no controls (C0, DEL, C1), nothing that reorders the
 * line. */
bool text_is_printable(uint32_t cp);

/* How wide it is on a terminal: two columns for a character of East Asia or an emoji, none for an accent of its own. */
size_t text_columns(const char *s, size_t n);

/* Copy `n` bytes, unprintable characters and stray bytes shown as '?', cut at a whole character.
 * Returns `buf`. */
char *text_clean(const char *s, size_t n, char *buf, size_t size);

/* Print a text, cleaned; at most TEXT_PRINT_MAX bytes of it. */
#define TEXT_PRINT_MAX 2047
void text_print(const char *text, FILE *out);

/* A text of others within a line of ours, for arguments of printf() and its like: cleaned, so that it stays on the line, and cut as
 * above. Of each thread the last 16 of these stay. */
const char *text_shown(const char *text);

/* The same for what names something (a version, a kernel, a host, a thread) in a sentence, which it must not be able to continue: a
 * single word as it is, anything else in quotes. */
const char *text_named(const char *text);

/* Who is told of the faults that are found, one text for each; their count. */
struct complaints {
	void (*tell)(void *arg, const char *text);
	void *arg;
	int count;
};

/* Tell, cleaned and cut as above. */
void complain(struct complaints *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does a list of `length` bytes have this word, between any of the separators? */
bool text_has_word(const char *list, size_t length, const char *word, const char *separators);

/* Is it one of a NULL-terminated list (NULL: an empty one)? */
bool text_is_among(const char *text, const char *const *list);

/* Adds a text to a list as "a, b", which is NULL or fresh; the caller frees it. */
void text_list_add(char **list, const char *separator, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Is there something before this end? */
bool text_ends_in(const char *text, const char *end);

/* 'text' in quotes, cleaned, a long one cut with "..."; single quotes in it become double ones. Returns `buf`. */
char *text_quote(const char *text, char *buf, size_t size);

#endif
