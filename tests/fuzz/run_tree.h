/*
 * Run directories as fuzz targets find them: those of tests/runs, without the raw files of their states.
 */
#ifndef KBLAT_TESTS_RUN_TREE_H
#define KBLAT_TESTS_RUN_TREE_H

#include "file_tree.h"

#define RUN_TREE_RUNS "tests/runs/1.0.0/made/"

/* Below `below` ("" or "a/"). */
void run_tree_add(struct file_tree *t, const char *name, const char *below);

/* The same with nothing but what a comparison reads. */
void run_tree_add_documents(struct file_tree *t, const char *name, const char *below);

/* A manifest that fits what is there now, so that readers look further: `below` as above. */
void run_tree_seal(const struct file_tree *t, const char *below);

extern const char *const run_tree_words[]; /* for mutators */

#endif
