/*
 * How the next boot is chosen, for once: by a boot loader, whose commands are a row of a table, or by a program of the
 * user. The entry that is booted by default is never touched.
 */
#ifndef KBLAT_BOOTS_LOADER_H
#define KBLAT_BOOTS_LOADER_H

#include <stdbool.h>

#include "common/err.h"

enum loader_verb {
	LOADER_ENABLE, /* go on after each boot; LOADER_DISABLE: no longer */
	LOADER_DISABLE,
	LOADER_STOP,	/* the same, and what is going on now ends, too */
	LOADER_SET,	/* the entry of the next boot */
	LOADER_CLEAR,	/* that it was set */
	LOADER_PENDING, /* is one set? */
	LOADER_REBOOT,
	LOADER_SETTLED,	  /* has the machine finished booting? */
	LOADER_GOES_DOWN, /* is it shutting down? Not asked of a program of the user */
	LOADER_VERBS
};

#define LOADER_NAMES "grub, bootctl, kexec, guest, or the path of a program"

struct loader {
	const char *name; /* one of the table, or the path of a program */
	const char *dir;  /* of the study: it makes the unit's name */
};

/* Is it the one that boots a virtual machine, not this one (boots_guest.h)? It does nothing of what the verbs ask for. */
bool loader_is_guest(const char *name);

/* Is there one of this name? */
int loader_check_name(const char *name, struct err *e);

/* And may this user call it? */
int loader_check(const char *name, struct err *e);

/* What the boot loader calls the kernel of this release, which the caller frees; NULL and `e`: it has no such entry. A
 * program of the user is given the release itself. */
char *loader_entry(const char *name, const char *kernel, struct err *e);

/* The unit of another study that is enabled, or NULL; the caller frees. A program of the user is not asked. */
char *loader_other_unit(const struct loader *l);

/* Do it, also if a signal asks this process to end; `entry` is for LOADER_SET. 0, or a negative errno and `e`, which
 * has what the command printed. */
int loader_do(const struct loader *l, enum loader_verb verb, const char *entry, struct err *e);

/* LOADER_PENDING, LOADER_SETTLED and LOADER_GOES_DOWN: 1 yes, 0 no, or a negative errno and `e`. */
int loader_ask(const struct loader *l, enum loader_verb verb, struct err *e);

#endif
