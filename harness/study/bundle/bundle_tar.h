/*
 * The file of a bundle: tar in gzip. A bundle has exactly one form, so the reader takes nothing but that, and needs to
 * interpret nothing: each header must be the one that the writer would make, padding is zero, and the header of gzip
 * carries the SHA-256 of all that follows it (as an extra field, which other programs pass over).
 *
 * Why no library reads it: one that does, such as libarchive, is made to accept what many programs write (links, sparse
 * files, long names of three kinds, sizes of three kinds, archives behind each other), and all of that would have to be
 * found and refused again. Here, a member has no name and no size but those of bundle.json.
 */
#ifndef KBLAT_STUDY_BUNDLE_TAR_H
#define KBLAT_STUDY_BUNDLE_TAR_H

#include "study/bundle/bundle.h"

/* Fill in size and hash of each file that has none yet, from its content. 0 or a negative errno and `e`. */
int bundle_hash_files(struct bundle *b, struct err *e);

/* Write it as `path`, whole or not at all; an existing file is replaced only with `replace`. `folder` has bundle.json
 * and, if it is signed, its signature. */
int bundle_tar_write(const struct bundle *b, const char *folder, const char *path, bool replace, struct err *e);

/* Read it into `folder`, which is new and empty. -EBADMSG, -EINVAL (STATUS_USAGE) and `e`, which names the member, if it
 * is not whole. Nothing is written that bundle.json does not declare, and nothing at all if there is no room for it. */
int bundle_tar_read(const char *path, const char *folder, struct bundle *out, struct err *e);

#endif
