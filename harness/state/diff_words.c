#include "state/diff_words.h"

#include <string.h>

#define BLANKS	    " \t\n"
#define LEAST_WORDS 3

/* Each word once, in order, which an object preserves. */
static json_t *words_of(const json_t *text)
{
	const char *at = json_string_value(text) ?: "";
	json_t *words = json_object();

	while (*(at += strspn(at, BLANKS))) {
		size_t length = strcspn(at, BLANKS);

		json_object_setn_new(words, at, length, json_true());
		at += length;
	}
	return words;
}

static json_t *words_missing_in(const json_t *other, const json_t *words)
{
	json_t *missing = json_array(), *value;
	const char *word;

	json_object_foreach ((json_t *)words, word, value)
		if (!json_object_get(other, word))
			json_array_append_new(missing, json_string(word));
	return missing;
}

bool diff_words(const json_t *a, const json_t *b, json_t **removed, json_t **added)
{
	json_t *of_a = words_of(a), *of_b = words_of(b), *gone = words_missing_in(of_b, of_a),
	       *come = words_missing_in(of_a, of_b);
	size_t common = json_object_size(of_a) - json_array_size(gone);
	bool lists = (json_object_size(of_a) >= LEAST_WORDS || json_object_size(of_b) >= LEAST_WORDS) && common &&
		     json_array_size(gone) + json_array_size(come);

	json_decref(of_a);
	json_decref(of_b);
	if (lists) {
		*removed = gone;
		*added = come;
		return true;
	}
	json_decref(gone);
	json_decref(come);
	return false;
}
