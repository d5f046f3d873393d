/*
 * The sites at which a place of a program is probed: types that binary.h and its parts share.
 *
 * Every site is an instruction of the program at which the kernel can put a breakpoint without anybody noticing: nothing on
 * a stack is changed, so that exceptions pass and stacks may move. What cannot be probed like that is refused by name.
 */
#ifndef KBLAT_PROGRAM_BINARY_SITE_H
#define KBLAT_PROGRAM_BINARY_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/or_abort.h"

/* --- instructions (code.c) --- */

/*
 * The instructions of a function: where each begins, where control goes after it, and which of them no probe may be put
 * at. Those of x86-64 and i386 are decoded by libcapstone; those of aarch64 all have four bytes.
 */
enum code_machine { CODE_X86_64, CODE_I386, CODE_AARCH64, CODE_UNKNOWN };

enum code_flow {
	CODE_NEXT,     /* to the next one, as after a call */
	CODE_RETURN,   /* to the caller */
	CODE_JUMP,     /* to `target` */
	CODE_BRANCH,   /* to `target` or to the next one */
	CODE_INDIRECT, /* to where a register or a place in memory says */
	CODE_STOP,     /* nowhere: ud2, hlt */
};

#define CODE_ALWAYS	       -1 /* a condition */
#define CODE_UNKNOWN_CONDITION -2
#define CODE_THROUGH	       24

struct code_instruction {
	uint64_t address;
	uint64_t target;  /* of CODE_JUMP and CODE_BRANCH, and of a call that names its function (else 0) */
	uint64_t named;	  /* the address that it loads into a register; 0: none */
	const char *harm; /* why no probe may be put here, as the end of a sentence; NULL: one may */
	uint8_t size;	  /* in bytes */
	int8_t condition; /* of CODE_BRANCH: as code_is_taken() takes it */
	enum code_flow flow;
	bool is_call;
	bool is_filler;		    /* does nothing, or stops: what compilers put between blocks */
	bool is_table;		    /* CODE_INDIRECT: certainly by a table of places in the same function */
	bool is_leaving;	    /* CODE_INDIRECT: certainly to another function */
	char through[CODE_THROUGH]; /* CODE_INDIRECT: how uprobe_events names the target; "": it cannot */
};

struct code {
	struct code_instruction *list; /* in the order of their addresses */
	size_t count;
	uint64_t begin, end;
};

/*
 * Decode all bytes of a function, which begins at `address`. -EILSEQ: they are not instructions throughout, at
 * `*undecoded`; what comes before is in `out`. -ENOTSUP: another machine. -ELIBACC: libcapstone is not there. Free in
 * either case.
 */
int code_decode(enum code_machine machine, const uint8_t *bytes, size_t size, uint64_t address, struct code *out,
		uint64_t *undecoded);
void code_free(struct code *c);

/* Loads libcapstone, once, which decodes x86: 0, or a negative errno. */
int code_x86_load(struct err *e);

/* The `harm` of a system call. */
#define CODE_ENTERS_KERNEL                                                                                             \
	"it enters the kernel, and would go on behind the copy of it that the kernel executes instead"

/* Its parts: appends an instruction to the list; and decodes for CODE_X86_64 and CODE_I386 from `out->begin` on. */
static inline struct code_instruction *code_add(struct code *c, uint64_t address, size_t size)
{
	c->list = grow_or_abort(c->list, c->count, sizeof(*c->list));
	c->list[c->count] = (struct code_instruction){
	    .address = address, .size = (uint8_t)size, .flow = CODE_NEXT, .condition = CODE_ALWAYS};
	return &c->list[c->count++];
}

int code_x86_decode(enum code_machine machine, const uint8_t *bytes, size_t size, struct code *out,
		    uint64_t *undecoded);

/* The instruction that begins there, or NULL. */
const struct code_instruction *code_at(const struct code *c, uint64_t address);

/* Those around an address that lies inside of an instruction: the last beginning before, and the next one. */
void code_neighbours(const struct code *c, uint64_t address, uint64_t *before, uint64_t *after);

/* Does a branch with this condition (of a CODE_BRANCH) go to its target, with these flags of the processor? */
bool code_is_taken(int condition, uint64_t flags);

/* A range of addresses. */
struct binary_range {
	uint64_t begin, end;
};

#define BINARY_ID 41

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
	size_t missing;	   /* places where the function is and no probe is */
	char why[256];	   /* of the first of them */
	char notice[256];  /* what its user has to know; "": nothing */
	char folded[128];  /* another function that has the same code; "": none */
	bool is_chosen;	   /* its bodies are those among which the program's loader chooses one (IFUNC) */
	bool has_copies;   /* in which arguments may be elsewhere */
	bool is_coroutine; /* its call ends when it first waits */
	bool has_frames;   /* they are of a function, whose frame is the same at both ends */
	bool is_go;	   /* stacks are those of goroutines */
	enum code_machine machine;
	char build_id[BINARY_ID];
};

#endif
