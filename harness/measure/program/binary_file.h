/*
 * A program or library (ELF), opened: its bytes, its debugging information, and what they say about its functions. For
 * binary_*.c.
 */
#ifndef KBLAT_PROGRAM_BINARY_FILE_H
#define KBLAT_PROGRAM_BINARY_FILE_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/program/binary_site.h"

struct err;

struct binary {
	const char *path;
	Elf *elf, *debug; /* its file of debug symbols, or NULL */
	int fd, debug_fd;
	enum code_machine machine;
	unsigned word; /* of its addresses, in bytes */
	bool is_go;
	Dwarf *dwarf[2];      /* of both files; NULL: not read yet, or there is none */
	Dwarf_CFI *frames[2]; /* likewise: .eh_frame, .debug_frame */
	bool has_dwarf, has_frames;
};

/* `fd` stays the caller's. `root`: where the file system is in which `path` is, for its debug symbols; "": here.
 * STATUS_USAGE if it is none. Close in either case. */
int binary_open(int fd, const char *path, const char *root, struct binary *b, struct err *e);

/* The build's ID, in hexadecimal digits; "": it has none. */
void binary_build_id(Elf *elf, char out[BINARY_ID]);
void binary_close(struct binary *b);

/* Where an address is in the file, in a segment with these rights (PF_X: only what is executed can be probed). */
bool binary_offset(const struct binary *b, uint64_t address, uint32_t rights, uint64_t *offset);

/* Is anything below these addresses changed when it is loaded (relocations of code)? */
bool binary_is_patched(const struct binary *b);

/* The bytes there, of which there are at least `size`; NULL: the file has none. Free. */
uint8_t *binary_bytes(const struct binary *b, uint64_t address, size_t size);

/* The function around an address by the table of unwinding. False: it is not known. */
bool binary_unwound(const struct binary *b, uint64_t address, struct binary_range *out);

/* Where the frame of the function at an address is (DWARF: its CFA): a register's number in DWARF, and what is added to it.
 * False: it is not known. */
bool binary_frame(struct binary *b, uint64_t address, unsigned *reg, int64_t *offset);

/* Debugging information of the binary (0) and of its separate file (1), read when it is first asked for; may be NULL. */
Dwarf *binary_dwarf(struct binary *b, unsigned which);

#endif
