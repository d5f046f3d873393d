/*
 * The instructions of functions, as bytes: where control goes, and where no probe may be put.
 */
#include "measure/program/binary_site.h"

#include <errno.h>

#include "tap.h"

#define AT 0x1000

static struct code decoded(enum code_machine machine, const void *bytes, size_t size)
{
	struct code c;
	uint64_t undecoded;

	is_int(code_decode(machine, bytes, size, AT, &c, &undecoded), 0, "%zu bytes are instructions", size);
	return c;
}

static void test_flow_of_x86(void)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum code_flow flow;
		uint64_t target;
		const char *through, *what;
	} rows[] = {
	    {"\xc3", 1, CODE_RETURN, 0, "", "ret"},
	    {"\xf3\xc3", 2, CODE_RETURN, 0, "", "rep ret"},
	    {"\xf2\xc3", 2, CODE_RETURN, 0, "", "bnd ret"},
	    {"\xc2\x08\x00", 3, CODE_RETURN, 0, "", "ret $8"},
	    {"\xeb\x05", 2, CODE_JUMP, AT + 7, "", "jmp"},
	    {"\xf2\xe9\x05\x00\x00\x00", 6, CODE_JUMP, AT + 11, "", "bnd jmp"},
	    {"\x74\x05", 2, CODE_BRANCH, AT + 7, "", "je"},
	    {"\x0f\x85\x05\x00\x00\x00", 6, CODE_BRANCH, AT + 11, "", "jne"},
	    {"\xe3\x05", 2, CODE_BRANCH, AT + 7, "", "jrcxz"},
	    {"\xff\xe0", 2, CODE_INDIRECT, 0, "%ax:u64", "jmp *%rax"},
	    {"\x3e\xff\xe0", 3, CODE_INDIRECT, 0, "%ax:u64", "notrack jmp *%rax"},
	    {"\x41\xff\xe4", 3, CODE_INDIRECT, 0, "%r12:u64", "jmp *%r12"},
	    {"\xff\x63\x18", 3, CODE_INDIRECT, 0, "+24(%bx):u64", "jmp *24(%rbx)"},
	    {"\xff\x63\xe8", 3, CODE_INDIRECT, 0, "-24(%bx):u64", "jmp *-24(%rbx)"},
	    {"\xff\x25\x01\x00\x00\x00", 6, CODE_INDIRECT, 0, "", "jmp *1(%rip)"},
	    {"\x41\xff\x24\xc4", 4, CODE_INDIRECT, 0, "", "jmp *(%r12,%rax,8)"},
	    {"\x0f\x0b", 2, CODE_STOP, 0, "", "ud2"},
	    {"\xe8\x00\x00\x00\x00", 5, CODE_NEXT, AT + 5, "", "call"},
	    {"\xf3\x0f\x1e\xfa", 4, CODE_NEXT, 0, "", "endbr64"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct code c = decoded(CODE_X86_64, rows[i].bytes, rows[i].size);
		const struct code_instruction *in = &c.list[0];

		ok(c.count == 1 && in->flow == rows[i].flow && in->target == rows[i].target &&
		       !strcmp(in->through, rows[i].through),
		   "%s goes where it goes", rows[i].what);
		ok(in->is_table == (rows[i].bytes[0] == 0x3e) &&
		       in->is_leaving == !strcmp(rows[i].what, "jmp *1(%rip)") &&
		       in->is_call == !strcmp(rows[i].what, "call"),
		   "%s is of its kind", rows[i].what);
		code_free(&c);
	}
}

static void test_harm_of_x86(void)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *what;
	} harmful[] =
	    {
		{"\x9c", 1, "pushfq"},
		{"\x66\x9c", 2, "pushfw"},
		{"\x0f\x05", 2, "syscall"},
		{"\xcd\x80", 2, "int $0x80"},
		{"\xcc", 1, "int3"},
		{"\xf0\x0f\xb1\x0f", 4, "lock cmpxchg"},
		{"\x2e\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, "a nop with a segment prefix"},
		{"\x3e\xff\xe0", 3, "notrack jmp"},
		{"\xc7\xf8\x00\x00\x00\x00", 6, "xbegin"},
		{"\xcb", 1, "lret"},
	    },
	  harmless[] = {
	      {"\xf3\x0f\x1e\xfa", 4, "endbr64"},
	      {"\xf3\xc3", 2, "rep ret"},
	      {"\x55", 1, "push"},
	      {"\x0f\x1f\x44\x00\x00", 5, "the long nop that begins a function"},
	      {"\x9d", 1, "popfq"},
	  };
	/* mov %rdi,-8(%rsp); nop; ret, and the same without the first */
	static const uint8_t red[] = "\x48\x89\x7c\x24\xf8\x0f\x1f\x44\x00\x00\xc3",
			     plain[] = "\x55\x0f\x1f\x44\x00\x00\xc3";
	struct code c;

	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++) {
		c = decoded(CODE_X86_64, harmful[i].bytes, harmful[i].size);
		ok(c.list[0].harm != NULL, "no probe at %s", harmful[i].what);
		code_free(&c);
	}
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		c = decoded(CODE_X86_64, harmless[i].bytes, harmless[i].size);
		ok(!c.list[0].harm, "a probe at %s", harmless[i].what);
		code_free(&c);
	}
	c = decoded(CODE_X86_64, red, sizeof(red) - 1);
	ok(c.list[1].harm && !c.list[2].harm,
	   "no probe at a long nop above what a function keeps below its stack pointer");
	code_free(&c);
	c = decoded(CODE_X86_64, plain, sizeof(plain) - 1);
	ok(!c.list[1].harm, "one at a long nop of a function that keeps nothing there");
	code_free(&c);
}

static void test_bytes_of_x86(void)
{
	static const uint8_t bytes[] = "\x48\x83\xec\x08\xc3\x00\x00\x00\x00";
	uint64_t undecoded = 0, before, after;
	struct code c;

	is_int(code_decode(CODE_X86_64, bytes, 9, AT, &c, &undecoded), -EILSEQ, "data between instructions is seen");
	ok(undecoded == AT + 5, "and where");
	code_free(&c);
	is_int(code_decode(CODE_X86_64, bytes, 3, AT, &c, &undecoded), -EILSEQ, "half an instruction, too");
	code_free(&c);
	c = decoded(CODE_X86_64, bytes, 5);
	ok(code_at(&c, AT) && code_at(&c, AT + 4) && !code_at(&c, AT + 2) && !code_at(&c, AT + 5),
	   "where instructions begin");
	code_neighbours(&c, AT + 2, &before, &after);
	ok(before == AT && after == AT + 4, "and between which an address is");
	code_free(&c);
	is_int(code_decode(CODE_UNKNOWN, bytes, 5, AT, &c, &undecoded), -ENOTSUP,
	       "of other processors, nothing is known");
	code_free(&c);
}

static void test_conditions(void)
{
	enum { CARRY = 1, ZERO = 0x40, SIGN = 0x80, OVERFLOW = 0x800 };

	ok(code_is_taken(4, ZERO) && !code_is_taken(4, 0), "je");
	ok(!code_is_taken(5, ZERO) && code_is_taken(5, 0), "jne");
	ok(code_is_taken(2, CARRY) && code_is_taken(6, ZERO) && code_is_taken(7, 0) && !code_is_taken(7, CARRY),
	   "jb, jbe, ja");
	ok(code_is_taken(12, SIGN) && code_is_taken(12, OVERFLOW) && !code_is_taken(12, SIGN | OVERFLOW), "jl");
	ok(code_is_taken(15, 0) && !code_is_taken(15, ZERO) && !code_is_taken(15, SIGN), "jg");
	ok(code_is_taken(CODE_ALWAYS, 0), "always");
}

static void test_aarch64(void)
{
	static const uint32_t words[] = {
	    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	    0x14000002, /* b .+8 */
	    0x54ffffe0, /* b.eq .-4 */
	    0xb4000040, /* cbz x0, .+8 */
	    0x36000040, /* tbz w0, #0, .+8 */
	    0x94000001, /* bl .+4 */
	    0xd61f0200, /* br x16 */
	    0xd63f0200, /* blr x16 */
	    0xd65f03c0, /* ret */
	    0xd65f0bff, /* retaa */
	    0x90000000, /* adrp x0, . */
	    0x91004000, /* add x0, x0, #16 */
	    0xc85ffc01, /* ldaxr x1, [x0] */
	    0x91000421, /* add x1, x1, #1 */
	    0xc802fc01, /* stlxr w2, x1, [x0] */
	    0xd4000001, /* svc #0 */
	    0xd503201f, /* nop */
	};
	static const enum code_flow flows[] = {CODE_NEXT, CODE_JUMP,	 CODE_BRANCH, CODE_BRANCH, CODE_BRANCH,
					       CODE_NEXT, CODE_INDIRECT, CODE_NEXT,   CODE_RETURN, CODE_RETURN};
	struct code c = decoded(CODE_AARCH64, words, sizeof(words));
	uint64_t undecoded;

	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		ok(c.list[i].flow == flows[i], "word %08x goes where it goes", words[i]);
	ok(c.list[1].target == AT + 12 && c.list[2].target == AT + 4 && c.list[3].target == AT + 20 &&
	       c.list[4].target == AT + 24 && c.list[5].target == AT + 24,
	   "with their targets");
	ok(c.list[5].is_call && c.list[7].is_call && !c.list[1].is_call, "and what is a call");
	is_str(c.list[6].through, "%x16:u64", "an indirect jump names its register");
	ok(c.list[11].named == AT + 16 && !c.list[10].named, "an address of two instructions");
	ok(!c.list[0].harm && !c.list[8].harm && c.list[12].harm && c.list[13].harm && c.list[14].harm &&
	       c.list[15].harm && !c.list[16].harm,
	   "no probe within an exclusive access, or at a system call");
	code_free(&c);
	is_int(code_decode(CODE_AARCH64, (const uint8_t *)words, 6, AT, &c, &undecoded), -EILSEQ,
	       "half a word is none");
	code_free(&c);
}

int main(void)
{
	test_flow_of_x86();
	test_harm_of_x86();
	test_bytes_of_x86();
	test_conditions();
	test_aarch64();
	return done_testing();
}
