/*
 * The directory of something that takes many runs and can be resumed: a campaign, or a knob study. It belongs to one
 * user, and only one process at a time works on it.
 */
#ifndef KBLAT_CAMPAIGN_DIRECTORY_H
#define KBLAT_CAMPAIGN_DIRECTORY_H

struct err;

/* `<name>-<UTC yyyymmddThhmmssZ>-<8 hex>` inside `parent` (made if missing); its absolute path, to be freed. */
int directory_make(const char *parent, const char *name, char **path, struct err *e);

/* Lock it, as two processes would run the same experiments. `*fd` holds the lock until it is closed. */
int directory_lock(const char *path, int *fd, struct err *e);

/* Check that the directory belongs to the user, because `file` in it contains commands to run and paths of specs. */
int directory_check_owner(const char *path, const char *file, struct err *e);

#endif
