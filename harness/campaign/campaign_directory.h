/*
 * The directory of something that takes many runs and can be resumed: a campaign, or a knob study. It belongs to one
 * user, and only one process at a time works on it.
 */
#ifndef KBLAT_CAMPAIGN_DIRECTORY_H
#define KBLAT_CAMPAIGN_DIRECTORY_H

#include <jansson.h>

struct err;

/* The mode of the file that contains the commands: nobody else may write to it, whatever the umask. */
#define DIRECTORY_FILE_MODE 0644

/* `<name>-<UTC yyyymmddThhmmssZ>-<8 hex>` inside `parent` (made if missing); its absolute path, to be freed. It is locked,
 * as two processes would run the same experiments: `*lock` holds the lock until it is closed. */
int directory_make(const char *parent, const char *name, char **path, int *lock, struct err *e);

/* Lock the directory at a real path to continue it, and read `file` in it, which contains commands to run and paths of
 * specs. Only the user may write to either. What is checked is what is open, so it does not matter if the path leads
 * elsewhere meanwhile. */
int directory_resume(const char *path, const char *file, int *lock, json_t **content, struct err *e);

#endif
