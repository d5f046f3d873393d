/*
 * What can be probed in a program or library (ELF): its functions, where they begin and where they end, and the USDT
 * probes that its authors put into it (.note.stapsdt).
 */
#ifndef KBLAT_PROGRAM_BINARY_H
#define KBLAT_PROGRAM_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/program/binary_site.h"

struct err;
struct probed_file;

/* Is it PROVIDER:NAME, rather than a function, such as shop::serve(long)? */
bool binary_is_usdt(const char *name);

/* Find where a function begins, or where it ends (`at_return`), with all copies and parts that the compiler made of it; an
 * address (0x…); or all sites of a USDT probe. STATUS_USAGE if there is none of that name, if it was inlined (with the
 * functions into which), if there are several functions, or if it cannot be probed. Free in either case. */
int binary_find(const struct probed_file *file, const char *name, bool at_return, struct binary_sites *out,
		struct err *e);
void binary_sites_free(struct binary_sites *s);

/* Is the address in one of the function's parts? */
bool binary_sites_have(const struct binary_sites *s, uint64_t address);

/* --- USDT probes (binary_usdt.c) --- */

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
