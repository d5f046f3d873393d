/*
 * The arguments of a `kblat run` in a separate process, as a JSON array of words, which is also how
 * they are recorded; and what the run made.
 */
#ifndef KBLAT_CAMPAIGN_CHILD_WORDS_H
#define KBLAT_CAMPAIGN_CHILD_WORDS_H

#include <jansson.h>

/* "--quick", "--mask" and "--no-state", where `options` have them. */
void child_words_add_flags(json_t *words, const json_t *options);

/* Add `flag` and `text`; nothing if `text` is NULL. */
void child_words_add(json_t *words, const char *flag, const char *text);

/* Print "kblat: MEANING 'TEXT'" to standard error; nothing if `text` is NULL. For options that are
 * not on the command line, because the work is resumed. The text is not shortened, because users
 * must see which commands are started. */
void child_words_show(const char *meaning, const char *text);

/* `flag` before each of the list. */
void child_words_add_each(json_t *words, const char *flag, const json_t *list);

/* NULL-terminated, for exec; its strings are those of `words`. The caller frees the array alone. */
char **child_words_argv(const json_t *words);

/* Set "run" of `record` to the path below `folder` of the run that the last line printed names, if it names one. */
void child_words_note_run(json_t *record, const char *folder, const char *line);

#endif
