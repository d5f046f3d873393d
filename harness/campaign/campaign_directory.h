/*
 * The directory of what takes many runs and can be resumed: a campaign, an answer about knobs. It
 * belongs to one user, and one process at a time works on it.
 */
#ifndef KBLAT_CAMPAIGN_DIRECTORY_H
#define KBLAT_CAMPAIGN_DIRECTORY_H

struct err;

/* `<name>-<UTC yyyymmddThhmmssZ>-<8 hex>` inside `parent` (made if missing); its absolute path, to be freed. */
int directory_make(const char *parent, const char *name, char **path, struct err *e);

/* Two that work on it would both run the same. `*fd` holds it until it is closed. */
int directory_lock(const char *path, int *fd, struct err *e);

/* `file`, in it, names commands, and where specs are: somebody else's is not taken for one's own. */
int directory_check_owner(const char *path, const char *file, struct err *e);

#endif
