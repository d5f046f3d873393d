/*
 * Hides what identifies a machine: hardware addresses (MAC, IPoIB), GUIDs and GIDs, UUIDs, serial numbers, the host's
 * name. Texts are changed in place and keep their length, so that the format of a file does not change. Hidden
 * characters become zeros, or x in texts without a fixed format. IP addresses stay.
 */
#ifndef KBLAT_STATE_MASK_H
#define KBLAT_STATE_MASK_H

#include <stddef.h>

struct sysroot;

struct mask {
	char host[256]; /* "": too short or too common to be looked for */
};

void mask_init(struct mask *m, const struct sysroot *root);

/* In any text: hide everything that looks like an address or is the host's name. */
void mask_text(const struct mask *m, char *text, size_t length);

/* In a file's text: hide all of it if the file's name says that it is a serial number. */
void mask_file(const struct mask *m, const char *path, char *text, size_t length);

#endif
