/*
 * The directory of something that takes many runs and can be resumed: a campaign, or a knob study. It belongs to one
 * user, and only one process at a time works on it.
 */
#ifndef KBLAT_CAMPAIGN_DIRECTORY_H
#define KBLAT_CAMPAIGN_DIRECTORY_H

struct err;

/* The mode of the file that contains the commands: nobody else may write to it, whatever the umask. */
#define DIRECTORY_FILE_MODE 0644

/* `<name>-<UTC yyyymmddThhmmssZ>-<8 hex>` inside `parent` (made if missing); its absolute path, to be freed. */
int directory_make(const char *parent, const char *name, char **path, struct err *e);

/* Lock it, as two processes would run the same experiments. `*fd` holds the lock until it is closed. */
int directory_lock(const char *path, int *fd, struct err *e);

/* Check that only the user may write to the directory and to `file` in it, which contains commands to run and paths of
 * specs. */
int directory_check_owner(const char *path, const char *file, struct err *e);

#endif
