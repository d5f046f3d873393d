/*
 * A setting of a profile, its position in the file, and reporting errors in it.
 */
#ifndef KBLAT_TUNING_SETTING_H
#define KBLAT_TUNING_SETTING_H

#include <stdbool.h>

#include "common/diag.h"
#include "common/yaml.h"

struct profile_file {
	char *folder;
	struct diag diag;
	struct ynode *root;
	char *text;
};

/* One key of a profile, and its value. */
struct setting {
	const char *key;
	const struct ynode *value;
	unsigned line, column; /* of the key */
	struct profile_file *file;
};

/* Report an error in a setting, at the node (NULL: at its key). */
void setting_fault(const struct setting *s, const struct ynode *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Report the error "'KEY' must be WHAT, not 'value'"; `key` is that of the setting, or one below it. */
void setting_must_be(const struct setting *s, const struct ynode *n, const char *key, const char *what);

/* Is it "on", "yes", "true" or "off", "no", "false"? Reports an error if it is neither. */
bool setting_is_on(const struct setting *s, const struct ynode *n, const char *key);

/* Is it this word? */
bool setting_is_word(const struct ynode *n, const char *word);

/* Report an error for each key of a mapping that is not in `names` (NULL-terminated). */
void setting_check_keys(const struct setting *s, const struct ynode *map, const char *const *names);

#endif
