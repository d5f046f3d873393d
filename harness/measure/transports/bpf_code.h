/*
 * Programs for the kernel, written as instructions, as clang is no dependency of kblat. See bpf(2).
 */
#ifndef KBLAT_TRANSPORTS_BPF_CODE_H
#define KBLAT_TRANSPORTS_BPF_CODE_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#define BPF_CODE_MAX 96 /* instructions */

/* Names of instructions, as in the kernel's samples/bpf/bpf_insn.h. */
#define INSTRUCTION(c, d, s, o, i)                                                                                     \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (int32_t)(i)})
#define LOAD(size, d, s, o)   INSTRUCTION(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define STORE(size, d, o, s)  INSTRUCTION(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define COPY(d, s)	      INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, value)	      INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, value)
#define ADD(d, value)	      INSTRUCTION(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, value)
#define MATH(op, d, value)    INSTRUCTION(BPF_ALU64 | (op) | BPF_K, d, 0, 0, value)
#define MATH_32(op, d, value) INSTRUCTION(BPF_ALU | (op) | BPF_K, d, 0, 0, value)
#define MATH_OF(op, d, s)     INSTRUCTION(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define FROM(order, d)	      INSTRUCTION(BPF_ALU | BPF_END | (order), d, 0, 0, 32)
#define WIDE(d, kind, value)                                                                                           \
	INSTRUCTION(BPF_LD | BPF_DW | BPF_IMM, d, kind, 0, value), INSTRUCTION(0, 0, 0, 0, (uint64_t)(value) >> 32)
#define MAP(d, fd)	  INSTRUCTION(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSTRUCTION(0, 0, 0, 0, 0)
#define CALL(function)	  INSTRUCTION(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define RETURN		  INSTRUCTION(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define COUNT_UP(d, o, s) INSTRUCTION(BPF_STX | BPF_ATOMIC | BPF_DW, d, s, o, BPF_ADD)

/* Jumps to the last PASS_SIZE instructions are given their distances when the program is complete. */
#define TO_PASS		       32767
#define UNLESS(s, value)       INSTRUCTION(BPF_JMP32 | BPF_JNE | BPF_K, s, 0, TO_PASS, value)
#define UNLESS_SAME(a, b)      INSTRUCTION(BPF_JMP | BPF_JNE | BPF_X, a, b, TO_PASS, 0)
#define IF_ANY(s, bits)	       INSTRUCTION(BPF_JMP32 | BPF_JSET | BPF_K, s, 0, TO_PASS, bits)
#define IF_ABOVE(a, b)	       INSTRUCTION(BPF_JMP | BPF_JGT | BPF_X, a, b, TO_PASS, 0)
#define IF_ZERO(s)	       INSTRUCTION(BPF_JMP | BPF_JEQ | BPF_K, s, 0, TO_PASS, 0)
#define IF_SET(s, to)	       INSTRUCTION(BPF_JMP | BPF_JNE | BPF_K, s, 0, to, 0)
#define IF_NOT_POSITIVE(s)     INSTRUCTION(BPF_JMP | BPF_JSLE | BPF_K, s, 0, TO_PASS, 0)
#define IF_EQUAL(s, value, to) INSTRUCTION(BPF_JMP32 | BPF_JEQ | BPF_K, s, 0, to, value)

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

#define PASS_SIZE 2 /* instructions at the end */

static inline void bpf_code_link(struct bpf_insn *program, const struct bpf_insn *made, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		program[i] = made[i];
		if (program[i].off == TO_PASS)
			program[i].off = (int16_t)(count - PASS_SIZE - i - 1);
	}
}

#endif
