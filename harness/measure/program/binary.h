/*
 * What can be probed in a program or library (ELF): its functions, and the USDT probes that its authors put into it
 * (.note.stapsdt).
 */
#ifndef KBLAT_PROGRAM_BINARY_H
#define KBLAT_PROGRAM_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct binary_site {
	uint64_t offset; /* in the file */
	uint64_t
	    semaphore;	 /* likewise: counts who wants a USDT probe, which is passed over otherwise; 0: there is none */
	char *arguments; /* of a USDT probe, as its note has them: "8@%rbx -4@-20(%rbp)"; NULL: of a function */
};

struct binary_sites {
	struct binary_site *list;
	size_t count;
};

/* Is it PROVIDER:NAME, rather than a function, such as shop::serve(long)? */
bool binary_is_usdt(const char *name);

/* Find a function, an address (0x…), or all sites of a USDT probe. STATUS_USAGE if there is none of that name, if it was
 * inlined (with the functions into which), or if there are several functions. Free in either case. */
int binary_find(const char *path, const char *name, struct binary_sites *out, struct err *e);
void binary_sites_free(struct binary_sites *s);

#define BINARY_NAME 128

/* The content of a note of a USDT probe. */
struct usdt_note {
	uint64_t address, base, semaphore;
	char provider[BINARY_NAME], name[BINARY_NAME], arguments[2 * BINARY_NAME];
};

/* `word`: the size of its addresses. False: it is not whole. */
bool usdt_note_read(const uint8_t *data, size_t size, size_t word, struct usdt_note *out);

#define USDT_FETCH 48

/* The argument of that number, from 1 on, as uprobe_events names it: "%bx:u64", "-20(%bp):s32". False: there is none, or
 * it is not in a register, or in memory at one. */
bool usdt_argument(const char *arguments, unsigned number, char out[USDT_FETCH]);

#endif
