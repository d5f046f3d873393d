/*
 * A recorded machine as fuzz targets find it, and what has changed in it.
 */
#ifndef KBLAT_TESTS_MACHINE_TREE_H
#define KBLAT_TESTS_MACHINE_TREE_H

#include "file_tree.h"

/* One that the build has unpacked from tests/sysroots beside this program. */
void machine_tree_init(struct file_tree *t);

/* file_tree_difference() of all but kbtune's own folder. */
uint64_t machine_tree_difference(struct file_tree *t);

extern const char *const machine_tree_words[]; /* for mutators */

#endif
