#include "campaign/child_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"

void child_words_add_flags(json_t *words, const json_t *options)
{
	if (json_is_true(json_object_get(options, "quick")))
		json_array_append_new(words, json_string("--quick"));
	if (json_is_true(json_object_get(options, "mask")))
		json_array_append_new(words, json_string("--mask"));
	if (json_is_true(json_object_get(options, "no_state")))
		json_array_append_new(words, json_string("--no-state"));
}

void child_words_add(json_t *words, const char *flag, const char *text)
{
	if (!*text)
		return;
	json_array_append_new(words, json_string(flag));
	json_array_append_new(words, json_string(text));
}

void child_words_add_each(json_t *words, const char *flag, const json_t *list)
{
	const json_t *value;
	size_t i;

	json_array_foreach (list, i, value) {
		json_array_append_new(words, json_string(flag));
		json_array_append(words, (json_t *)value);
	}
}

void child_words_show(const char *meaning, const char *text)
{
	char *whole = or_abort(malloc(strlen(text) + 1));

	if (*text)
		fprintf(stderr, "kblat: %s '%s'\n", meaning, text_clean(text, strlen(text), whole, strlen(text) + 1));
	free(whole);
}

char **child_words_argv(const json_t *words)
{
	char **argv = or_abort(calloc(json_array_size(words) + 1, sizeof(*argv)));

	for (size_t i = 0; i < json_array_size(words); i++)
		argv[i] = (char *)json_string_value(json_array_get(words, i));
	return argv;
}

void child_words_note_run(json_t *record, const char *folder, const char *line)
{
	size_t length = strlen(folder);
	char *file = fs_path("%s/run.json", line);

	if (!strncmp(line, folder, length) && line[length] == '/' && !access(file, F_OK))
		json_object_set_new(record, "run", json_string(line + length + 1));
	free(file);
}
