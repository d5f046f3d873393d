/*
 * What binary.c and binary_*.c share: names of functions and what compilers make of them, the sites in their instructions,
 * and the places where they were inlined.
 */
#ifndef KBLAT_PROGRAM_BINARY_PARTS_H
#define KBLAT_PROGRAM_BINARY_PARTS_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/program/binary_demangle.h"
#include "measure/program/binary_site.h"

struct err;

/* --- the file (binary_file.c) --- */

struct binary {
	const char *path;
	Elf *elf, *debug; /* its file of debug symbols, or NULL */
	int fd, debug_fd;
	enum code_machine machine;
	unsigned word; /* of its addresses, in bytes */
	bool is_go;
	bool is_symbols;      /* it is itself a file of debug symbols */
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
Elf_Scn *binary_section(Elf *elf, const char *name, GElf_Shdr *header);

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

/* --- names (binary_names.c) --- */

/* A list of names, without doubles. */
struct binary_names {
	const char **list; /* NULL ends */
	size_t count;
};

void binary_names_add(struct binary_names *n, const char *name);
void binary_names_free(struct binary_names *n);

/* What a compiler makes of a function, by the name of the symbol. */
enum binary_part {
	PART_WHOLE, /* itself, or a copy of all of it, such as .constprop.0 */
	PART_REST,  /* .part.0: it without its beginning, which is where it is called */
	PART_COLD,  /* .cold: what it seldom comes to; never called */
};

struct binary_body {
	char *name;		   /* as its symbol is */
	struct binary_range range; /* empty: its length is not known */
	enum binary_part part;
	bool is_copy; /* .constprop, .isra: arguments may be missing */
};

/* All bodies of one function. */
struct binary_function {
	struct binary_body *list;
	size_t count;
	bool is_chosen; /* an IFUNC: list[0] is what chooses */
	bool is_coroutine;
	char *folded; /* as it is written: another function that has the same code; NULL: none */
};

/* -ENOENT: there is none of that name. */
int binary_function_find(const struct binary *b, const char *name, struct binary_function *out, struct err *e);

/* The function that is around an address, by symbols or else by the table of unwinding. */
bool binary_function_around(const struct binary *b, uint64_t address, struct binary_body *out);
void binary_function_add(struct binary_function *f, const char *name, struct binary_range range, enum binary_part part);
void binary_function_free(struct binary_function *f);

/* --- functions of Go (binary_go.c) --- */

typedef void binary_go_taker(void *context, const char *name, struct binary_range range);
void binary_go_functions(const struct binary *b, binary_go_taker *take, void *context);

/* --- sites (binary_sites.c) --- */

int binary_sites_of_function(struct binary *b, struct binary_function *f, const char *name, bool at_return,
			     struct binary_sites *out, struct err *e);

/* The site of one address, which must be where an instruction begins. */
int binary_sites_of_address(struct binary *b, uint64_t address, struct binary_sites *out, struct err *e);
struct binary_site *binary_sites_add(const struct binary *b, uint64_t address, struct binary_sites *out);

/* The address is one of a function's own. */
void binary_sites_own(struct binary_sites *s, struct binary_range range);

/* --- inlined functions (binary_inlined.c) --- */

/* Into which functions it was inlined. */
void binary_inlined_into(struct binary *b, const char *name, struct binary_names *out);

/* Add the places where the function was inlined; those that cannot be told apart are counted as missing. */
void binary_inlined_add(struct binary *b, const struct binary_function *f, const char *name, bool at_return,
			struct binary_sites *out);

/* --- USDT probes (binary_usdt.c) --- */

int binary_usdt_find(struct binary *b, const char *name, struct binary_sites *out, struct err *e);

#endif
