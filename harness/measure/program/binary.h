/*
 * What can be probed in a program or library (ELF): its functions, where they begin and where they end, and the USDT
 * probes that its authors put into it (.note.stapsdt). binary.c chooses, binary_names.c reads symbols, binary_sites.c finds
 * the instructions of functions, binary_inlined.c where they were inlined, binary_usdt.c USDT probes.
 *
 * Every site is an instruction of the program at which the kernel can put a breakpoint without anybody noticing: nothing on
 * a stack is changed, so that exceptions pass and stacks may move. What cannot be probed like that is refused by name.
 */
#ifndef KBLAT_PROGRAM_BINARY_H
#define KBLAT_PROGRAM_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/program/binary_file.h"
#include "measure/program/probed_file.h"

struct err;

/* What a site's probe records beside the frame, and what follows from it. */
enum binary_clue {
	CLUE_NONE,
	CLUE_FLAGS,  /* the processor's: the site counts if its condition holds */
	CLUE_TARGET, /* where it jumps: it counts if that is outside the function */
	CLUE_CALLER, /* where it returns to: within the function, it is no call of its own */
};

#define BINARY_FETCH 32

struct binary_site {
	uint64_t offset; /* in the file */
	uint64_t address;
	uint64_t
	    semaphore;	 /* likewise: counts who wants a USDT probe, which is passed over otherwise; 0: there is none */
	char *arguments; /* of a USDT probe, as its note has them: "8@%rbx -4@-20(%rbp)"; NULL: of a function */
	bool is_again;	 /* from here the function goes on at one of its beginnings: that is no new call */
	bool is_joint;	 /* others come here, too */
	unsigned frame;	 /* the register (DWARF's number) by which the frame of the function is known */
	int64_t frame_offset; /* is added to it */
	enum binary_clue clue;
	int condition;		  /* of CLUE_FLAGS */
	char fetch[BINARY_FETCH]; /* how uprobe_events names the clue */
	unsigned body;		  /* which of the function's bodies it is in */
};

struct binary_sites {
	struct binary_site *list;
	size_t count;
	struct binary_range *own; /* of the function with all its parts */
	size_t own_count;
	size_t missing;	  /* places where the function is and no probe is */
	char why[256];	  /* of the first of them */
	char notice[256]; /* what its user has to know; "": nothing */
	bool is_chosen;	  /* its bodies are those among which the program's loader chooses one (IFUNC) */
	bool has_copies;  /* in which arguments may be elsewhere */
	bool has_frames;  /* they are of a function, whose frame is the same at both ends */
	bool is_go;	  /* stacks are those of goroutines */
	enum code_machine machine;
	char build_id[BINARY_ID];
};

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

/* --- names (binary_names.c) --- */

/* A list of names, without doubles. */
struct binary_names {
	const char **list; /* NULL ends */
	size_t count;
};

void binary_names_add(struct binary_names *n, const char *name);
void binary_names_free(struct binary_names *n);

/* "std::sort(int*)" of "_ZSt4sort…", and likewise of Rust, or NULL; the caller frees. */
char *binary_demangled(const char *name);

/* Is it the function's name, as it is linked or as it is written, with or without its parameters? */
bool binary_is_named(const char *symbol, const char *name);

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
};

/* -ENOENT: there is none of that name. */
int binary_function_find(const struct binary *b, const char *name, struct binary_function *out, struct err *e);

/* The function that is around an address, by symbols or else by the table of unwinding. */
bool binary_function_around(const struct binary *b, uint64_t address, struct binary_body *out);
void binary_function_add(struct binary_function *f, const char *name, struct binary_range range, enum binary_part part);
void binary_function_free(struct binary_function *f);

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
