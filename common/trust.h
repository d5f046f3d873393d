/*
 * Who could have put something there? A path that is trusted is one that nobody but root and this user could make lead
 * elsewhere: every folder, every link on the way and what it ends at belong to one of both, and nobody else may write
 * there. As for sshd and sudo, what belongs to a user is not trusted by root. In a sticky folder, such as /tmp, the entry
 * must be ours; a group that has only this user in it is nobody else. What was trusted stays so: paths below it need no
 * further care, except for links.
 */
#ifndef KBLAT_COMMON_TRUST_H
#define KBLAT_COMMON_TRUST_H

#include "common/err.h"

/* Is this path trusted? What does not exist yet at its end can only be made by us. `operation`: what is not done otherwise,
 * for the message; `advice`: what to do, or NULL. 0, or -EPERM or another negative errno and `e` (STATUS_USAGE). */
int trust_path(const char *path, const char *operation, const char *advice, struct err *e);

/* The same for a folder with a record that is gone on with: it must belong to this user, not to root instead, and only he
 * may write to it. A descriptor of it, or a negative errno and `e`. */
int trust_own_folder(const char *path, const char *operation, const char *advice, struct err *e);

/* May something be added to this folder, which exists? Root adds nothing to what belongs to others, where links and what
 * they exchange meanwhile could lead it anywhere; for other users the folder's permissions say it. 0, or -EPERM and `e`. */
int trust_addition(const char *folder, const char *operation, struct err *e);

/* A folder that nobody named, such as runs/ beside a spec, may have come with the spec: it must not be a link. */
int trust_no_link(const char *folder, const char *operation, struct err *e);

/* Whether an open file of such a folder, `path` in messages, is of this user alone. 0, or -EPERM and `e`. */
int trust_own_file(int fd, const char *path, const char *operation, const char *advice, struct err *e);

#endif
