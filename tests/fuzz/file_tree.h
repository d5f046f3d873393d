/*
 * A folder of files in memory as a program finds it, and what an input changes in it. An input is a text:
 *
 *   == PATH            the file PATH is what follows, up to the next such line
 *   == PATH -          there is no such file
 *   == PATH > TARGET   a symbolic link
 *
 * Paths that lead out of the folder are passed over.
 */
#ifndef KBLAT_TESTS_FILE_TREE_H
#define KBLAT_TESTS_FILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_TREE_MARK "== "

enum tree_kind { TREE_FILE, TREE_LINK, TREE_FOLDER };

struct tree_file {
	char *path; /* below the folder */
	char *data; /* of a link, where to */
	size_t size;
	enum tree_kind kind;
	unsigned mode; /* 0: that of a new file */
};

struct file_tree {
	char *path;
	struct tree_file *files; /* as they are without an input */
	size_t count;
	char **touched; /* by the input */
	size_t touched_count;
};

/* A new one below fuzz_folder(). */
void file_tree_init(struct file_tree *t, const char *name);

/* All that is below `dir` (from the root of the repository), below `below` ("" or "a/"), where `wants` (NULL: all) says so. */
void file_tree_add(struct file_tree *t, const char *dir, const char *below, bool (*wants)(const char *path));
void file_tree_add_file(struct file_tree *t, const char *path, const char *data, size_t size);

void file_tree_apply(struct file_tree *t, const uint8_t *data, size_t size);

/* This was changed by other means, too. */
void file_tree_touch(struct file_tree *t, const char *path);

/* What the input touched is as it was. */
void file_tree_restore(struct file_tree *t);

/* Everything is, whatever a program did there. */
void file_tree_renew(struct file_tree *t);

/* For mutate_files(), which takes content from there: the tree of this target, once it is made. */
extern struct file_tree *file_tree_of_target;

#endif
