/*
 * The forms in which kernel files say a value, what to write to get one, and when two texts say the
 * same. Pure.
 */
#ifndef KBLAT_TUNING_FORM_H
#define KBLAT_TUNING_FORM_H

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
 * The value that a file's text says, as one would write it. `about` is the value that is asked for;
 * only FORM_CONTROLLER needs it. "" where the text says none. The caller frees.
 */
char *form_value(enum form f, const char *text, const char *about);

/* Whether two values (as from form_value) are the same. */
bool form_same(enum form f, const char *a, const char *b);

/* Whether a file of this text offers the value: for FORM_CHOICE, one of its words; true for the
 * others. */
bool form_offers(enum form f, const char *text, const char *value);

/* What a file of this text holds once the value is written to it, for recorded machines. The caller
 * frees. */
char *form_written(enum form f, const char *text, const char *value);

#endif
