/*
 * A recorded machine as fuzz targets find it, and the sum of all that is in it.
 */
#ifndef KBLAT_TESTS_MACHINE_TREE_H
#define KBLAT_TESTS_MACHINE_TREE_H

#include "file_tree.h"

/* One that the build has unpacked from tests/sysroots beside this program. */
void machine_tree_init(struct file_tree *t);

/* Of all names and contents but those of kbtune's own folder. */
uint64_t machine_tree_sum(const struct file_tree *t);

extern const char *const machine_tree_words[]; /* for mutators */

#endif
