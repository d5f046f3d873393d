/*
 * JSON files, with jansson: files are written completely or not at all, and read with limits.
 */
#ifndef KBLAT_COMMON_JSON_H
#define KBLAT_COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct err;

/* Read a file of at most 64 MiB; duplicate keys refused. NULL and `e` ("file:line:column: ...",
 * STATUS_USAGE; STATUS_FAILED if it can't be read). */
json_t *json_read(const char *path, struct err *e);

/* The same for a file that is open, and is closed (or a negative errno: why it is not); `path` is for messages. */
json_t *json_read_opened(int fd, const char *path, struct err *e);

/* Write as `<path>.tmp`, fsync, rename. Indented by 1, keys in the order they were added, a newline
 * at the end. Consumes no reference. */
int json_write(const char *path, const json_t *value, struct err *e);

/* The same with these permissions, less the umask. */
int json_write_mode(const char *path, const json_t *value, mode_t mode, struct err *e);

/* As json_dumps(), but what is not printable (text_is_printable) is escaped, so that it may reach a terminal. NULL: it cannot be
 * represented. The caller frees. */
char *json_shown(const json_t *value, size_t flags);

/* To a stream, in the same form. 0 or a negative errno. */
int json_print(const json_t *value, FILE *out);

/* Text from outside (arguments, paths, names), which may hold any bytes, as a string: a new reference; null for NULL. Bytes
 * that are not UTF-8 become \\xNN, and so that this can be taken back, the backslash of a \\x that was there becomes \\x5c. */
json_t *json_outside(const char *text);

/* The same in memory that the caller frees; and back, the bytes as they were (NULL for what is no string). */
char *json_outside_text(const char *text);
char *json_inside_bytes(const json_t *value);

/* An array of these strings, which may come from outside: a new reference. */
json_t *json_texts(const char *const *texts, size_t count);

/* Is `text` one of the strings of an array? */
bool json_has_string(const json_t *array, const char *text);

/* The value of an object's `key`: a string (if it is not one, `otherwise` or ""), or a number (if it is not one,
 * NAN). */
const char *json_text_or(const json_t *object, const char *key, const char *otherwise);
const char *json_text(const json_t *object, const char *key);
double json_number_or_nan(const json_t *object, const char *key);

#endif
