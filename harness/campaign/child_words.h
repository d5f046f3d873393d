/*
 * What a `kblat run` in a process of its own is started with, word by word in a JSON array, as it is recorded; and what
 * it made.
 */
#ifndef KBLAT_CAMPAIGN_CHILD_WORDS_H
#define KBLAT_CAMPAIGN_CHILD_WORDS_H

#include <jansson.h>

/* "--quick", "--mask" and "--no-state", where `options` have them. */
void child_words_add_flags(json_t *words, const json_t *options);

/* `flag` and `text`; nothing where there is no text. */
void child_words_add(json_t *words, const char *flag, const char *text);

/* On standard error: "kblat: MEANING 'TEXT'". For what is not on the command line, as it was begun before: whole, as what is
 * started must be seen. Nothing where there is no text. */
void child_words_show(const char *meaning, const char *text);

/* `flag` before each of the list. */
void child_words_add_each(json_t *words, const char *flag, const json_t *list);

/* NULL-terminated, for exec; its strings are those of `words`. The caller frees the array alone. */
char **child_words_argv(const json_t *words);

/* Set "run" of `record` to the path below `folder` of the run that the last line printed names, if it names one. */
void child_words_note_run(json_t *record, const char *folder, const char *line);

#endif
