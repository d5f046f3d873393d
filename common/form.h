/*
 * The formats of values in kernel files: how to read and write a value, and when two texts mean the same. Pure.
 */
#ifndef KBLAT_COMMON_FORM_H
#define KBLAT_COMMON_FORM_H

#include <stdbool.h>
#include <stddef.h>

enum form {
	FORM_TEXT,	 /* words and numbers: "performance", "10", "4096\t131072\t6291456" */
	FORM_CHOICE,	 /* "always [madvise] never"; one of them is written */
	FORM_LIST,	 /* CPUs: "0-3,8" */
	FORM_MASK,	 /* CPUs: "ff,00000003" */
	FORM_CONTROLLER, /* cgroup.subtree_control: a value is "+cpuset" or "-cpuset" */
	FORM_COUNT,
};

/* For the journal. -1 for an unknown name. */
const char *form_name(enum form f);
int form_find(const char *name);

/*
 * The value in a file's text, in the format for writing. `about` is the desired value; only FORM_CONTROLLER needs it.
 * "" if the text contains none. The caller frees.
 */
char *form_value(enum form f, const char *text, const char *about);

/*
 * Whether two values (as from form_value) are the same, however they are spelled: sets of CPUs; in texts, word for word,
 * also numbers ("0x10" and "16", "1G" and "1024M"), switches ("1", "Y", "on"), lists of ranges ("2,3" and "2-3") and
 * masks with all their zeros. "(null)", of a set that the kernel has not allocated, is an empty text.
 */
bool form_same(enum form f, const char *a, const char *b);

/* The form of a file that nothing else is known of, by its name and text. */
enum form form_of_file(const char *path, const char *text);

/* Does a file with this text offer the value? For FORM_CHOICE it must be one of the words; otherwise always true. */
bool form_offers(enum form f, const char *text, const char *value);

/* The text of such a file after the value has been written to it, for recorded machines. The caller frees. */
char *form_written(enum form f, const char *text, const char *value);

#endif
