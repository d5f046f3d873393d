/*
 * What `kblat bundle --mask` hides in every text of a bundle: the names of all hosts and users that its runs and its study
 * know of, what looks like an address of a network, folders of users, and what files/state/mask.h hides. Names are the same
 * everywhere, and those of two hosts stay different.
 */
#ifndef KBLAT_STUDY_BUNDLE_MASK_H
#define KBLAT_STUDY_BUNDLE_MASK_H

#include <stdbool.h>
#include <stddef.h>

struct run;
struct study;

/* Texts that are hidden, and what is written instead. */
struct hidden {
	struct hidden_text {
		char *text, *instead;
		bool anywhere; /* within a word, too */
		bool alone;    /* so short that it is part of many texts: only where there is nothing else */
	} * item;
	size_t count;
};

/* Learn names from a run: its hosts, its command, the addresses in its settings, and the users and hosts that the states of its
 * machines name. */
void hidden_add_run(struct hidden *h, const struct run *run);

/* The same from a study. */
void hidden_add_study(struct hidden *h, const struct study *s);

/* To be called once all are known. */
void hidden_complete(struct hidden *h);
void hidden_free(struct hidden *h);

/* A text without all of that; `file`: its name, which may tell that the whole text is a secret; "": none. The caller frees;
 * `length` becomes that of the result, which has a NUL behind it. */
char *hidden_apply(const struct hidden *h, const char *file, const char *text, size_t *length);

/* The same of a text in gzip: packed again if something is hidden, or if it is damaged (then without what cannot be read). What
 * is no gzip at all is taken as a text. */
char *hidden_apply_gzip(const struct hidden *h, const char *file, const char *data, size_t *length);

#endif
