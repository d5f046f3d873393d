/*
 * What can be probed in a program or library (ELF): its functions, where they begin and where they end, and the USDT
 * probes that its authors put into it (.note.stapsdt).
 */
#ifndef KBLAT_PROGRAM_BINARY_H
#define KBLAT_PROGRAM_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "measure/program/binary_site.h"

struct err;

/*
 * Which file is meant by the name of a program or library: the one that a process runs, whatever has become of its path, or
 * what that is in its own file system (a container's); or else the one that a shell would find.
 */
struct probed_file {
	int fd;	      /* open for reading; -1: none */
	char *path;   /* as its process sees it */
	char *root;   /* where its process' file system is to be found: "/proc/<pid>/root", or "" */
	pid_t runner; /* a process that runs it; 0: none does */
};

/* A program's path, as a shell finds it, with links followed; NULL: there is none. The caller frees. */
char *probed_file_path(const char *name);

/* `tasks`: of the traced program, if it runs already. -ENOENT: there is no such file, of which `e` says nothing. Close in
 * either case. */
int probed_file_open(const char *name, const pid_t *tasks, size_t count, struct probed_file *out, struct err *e);
void probed_file_close(struct probed_file *f);

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
