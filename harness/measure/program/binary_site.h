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

#include "measure/program/code.h"

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

#endif
