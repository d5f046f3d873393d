/*
 * A setting of a profile, where it stands, and what may be wrong with it.
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

/* Something is wrong with a setting, at the node (NULL: at its key). */
void setting_fault(const struct setting *s, const struct ynode *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The fault "'KEY' must be WHAT, not 'value'"; `key` is the setting's, or one below it. */
void setting_must_be(const struct setting *s, const struct ynode *n, const char *key, const char *what);

/* Is it "on", "yes", "true" or "off", "no", "false"? A fault where it is neither. */
bool setting_is_on(const struct setting *s, const struct ynode *n, const char *key);

/* Is it this word? */
bool setting_is_word(const struct ynode *n, const char *word);

/* Faults for keys of a mapping that are not in `names` (NULL-terminated). */
void setting_check_keys(const struct setting *s, const struct ynode *map, const char *const *names);

#endif
