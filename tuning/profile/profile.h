/*
 * A profile: what a quiet machine should look like, in YAML, in terms of the hardware and not of one machine's numbers.
 * It lives in profiles/NAME/profile.yaml. `include: NAME` takes another profile's settings where this one has none of
 * that key. The caller supplies the permitted keys.
 */
#ifndef KBLAT_TUNING_PROFILE_H
#define KBLAT_TUNING_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/diag.h"
#include "common/yaml.h"

struct err;

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
	bool left_out; /* --without: it still says which CPUs are meant, and is not applied */
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

#define PROFILE_INCLUDES_MAX 4

struct profile {
	char *name, *title;
	struct profile_file files[PROFILE_INCLUDES_MAX]; /* the profile itself first */
	size_t file_count;
	struct setting *settings;
	size_t setting_count;
};

/*
 * Load by name, or by path (of a profile.yaml or its folder) where `name` has a '/'. 0; -ENOENT and
 * `e` if there is no such profile; -EINVAL if it has errors, which profile_print_faults() prints.
 * Call profile_free() in any case. `keys`: all keys that a profile may have, NULL-terminated.
 */
int profile_load(const char *name, const char *const *keys, struct profile *p, struct err *e);
void profile_free(struct profile *p);

/* The setting of a key, or NULL. */
const struct setting *profile_get(const struct profile *p, const char *key);

/* Leave out the settings of these keys. 0, or -EINVAL and `e` (STATUS_USAGE): the profile has none of that key. */
int profile_leave_out(struct profile *p, const char *const *names, size_t count, struct err *e);

bool profile_has_faults(const struct profile *p);
void profile_print_faults(const struct profile *p, FILE *out);

/*
 * Folders where profiles are looked for, first to last: $KBTUNE_PROFILES, /etc/kbtune/profiles,
 * those that came with the program (common/datadir.h). NULL-terminated; free with fs_files_free.
 */
char **profile_folders(void);

#endif
