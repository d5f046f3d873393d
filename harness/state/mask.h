/*
 * Hiding what tells one machine from another: hardware addresses (MAC, IPoIB), GUIDs and GIDs,
 * UUIDs, serial numbers, the host's name. In place and without changing a text's length, so that
 * what was a file stays one of the same form. What was hidden becomes zeros, or x where it had no
 * form. IP addresses stay.
 */
#ifndef KBLAT_STATE_MASK_H
#define KBLAT_STATE_MASK_H

#include <stddef.h>

struct sysroot;

struct mask {
	char host[256]; /* "": too short or too common to be looked for */
};

void mask_init(struct mask *m, const struct sysroot *root);

/* Any text: what has the form of an address or is the host's name. */
void mask_text(const struct mask *m, char *text, size_t length);

/* A file's: all of it, where the file's name says that it holds a serial number. */
void mask_file(const struct mask *m, const char *path, char *text, size_t length);

#endif
