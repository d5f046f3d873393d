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

enum tree_change {
	TREE_SAME,
	TREE_CHANGED, /* other content, or a folder of other entries; perhaps changed back */
	TREE_GONE     /* nothing, or something of another kind, is in its place */
};

struct tree_entry {
	char *path; /* below the folder; "." is itself */
	char *data; /* of a link, where to */
	size_t size;
	enum tree_kind kind;
	unsigned mode; /* as lstat() tells it; 0: that of a new file */
	size_t parent; /* index of the folder that it is in */
	uint64_t sum;  /* of its name and content */
	enum tree_change change;
};

struct file_tree {
	char *path;
	int fd;
	struct tree_entry *entries; /* as they are without an input; folders before what is in them */
	size_t count;
};

/* A new one below fuzz_folder(). */
void file_tree_init(struct file_tree *t, const char *name);

/* All that is below `dir` (from the root of the repository), below `below` ("" or "a/"), where `wants` (NULL: all) says so. */
void file_tree_add(struct file_tree *t, const char *dir, const char *below, bool (*wants)(const char *path));
void file_tree_add_file(struct file_tree *t, const char *path, const char *data, size_t size);

void file_tree_apply(const struct file_tree *t, const uint8_t *data, size_t size);

/* A sum of all that is not as it was made: 0 if nothing. Paths that are `ignored` (NULL: none) are left out. */
uint64_t file_tree_difference(struct file_tree *t, bool (*ignored)(const char *path));

/* Everything is as it was made, whatever the input or a program did there. */
void file_tree_restore(struct file_tree *t);

/* For mutate_files(), which takes content from there: the tree of this target, once it is made. */
extern struct file_tree *file_tree_of_target;

#endif
