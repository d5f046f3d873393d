/* Instructions of x86-64 and i386, decoded by libcapstone. */
#include "measure/program/binary_site.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/library_load.h"
#include "common/or_abort.h"

/* --- the library --- */

#define FUNCTIONS(X)                                                                                                   \
	X(cs, open) X(cs, option) X(cs, malloc) X(cs, disasm_iter) X(cs, insn_group) X(cs, free) X(cs, close)
#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)

static struct {
	FUNCTIONS(LOADED_FIELD)
} cs;

/* It has 1.3 MB of tables to relocate. */
int code_x86_load(struct err *e)
{
	static const char *const names[] = {FUNCTIONS(LOADED_NAME) NULL};

	return cs.close ? 0
			: library_load("libcapstone.so." TEXT(CS_API_MAJOR), "libcapstone" TEXT(CS_API_MAJOR),
				       "capstone", names, &cs, e);
}

/* --- instructions --- */

/* How the kernel (Documentation/trace/uprobetracer.rst) calls a register, or NULL. */
static const char *x86_register(x86_reg reg)
{
	static const struct {
		x86_reg reg;
		const char *name;
	} known[] = {
	    {X86_REG_RAX, "ax"},  {X86_REG_RBX, "bx"},	{X86_REG_RCX, "cx"},  {X86_REG_RDX, "dx"},
	    {X86_REG_RSI, "si"},  {X86_REG_RDI, "di"},	{X86_REG_RBP, "bp"},  {X86_REG_RSP, "sp"},
	    {X86_REG_R8, "r8"},	  {X86_REG_R9, "r9"},	{X86_REG_R10, "r10"}, {X86_REG_R11, "r11"},
	    {X86_REG_R12, "r12"}, {X86_REG_R13, "r13"}, {X86_REG_R14, "r14"}, {X86_REG_R15, "r15"},
	    {X86_REG_EAX, "ax"},  {X86_REG_EBX, "bx"},	{X86_REG_ECX, "cx"},  {X86_REG_EDX, "dx"},
	    {X86_REG_ESI, "si"},  {X86_REG_EDI, "di"},	{X86_REG_EBP, "bp"},  {X86_REG_ESP, "sp"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].reg == reg)
			return known[i].name;
	return NULL;
}

/* An indirect jump: by which register, or from which place in memory. */
static void x86_take_indirect(const cs_insn *in, enum code_machine machine, struct code_instruction *out)
{
	const cs_x86 *x = &in->detail->x86;
	const cs_x86_op *op = &x->operands[0];
	const char *name = x86_register(op->type == X86_OP_MEM ? op->mem.base : op->reg);
	const char *type = machine == CODE_I386 ? "u32" : "u64";

	out->flow = CODE_INDIRECT;
	/* notrack, which compilers write for tables only. */
	out->is_table = x->prefix[1] == X86_PREFIX_DS;
	if (op->type == X86_OP_REG && name)
		snprintf(out->through, sizeof(out->through), "%%%s:%s", name, type);
	else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP)
		out->is_leaving = true;
	else if (op->type == X86_OP_MEM && name && op->mem.index == X86_REG_INVALID && !op->mem.segment)
		snprintf(out->through, sizeof(out->through), "%+" PRId64 "(%%%s):%s", op->mem.disp, name, type);
}

static bool x86_is_branch(const cs_insn *in)
{
	const uint8_t *op = in->detail->x86.opcode;

	return (op[0] >= 0x70 && op[0] < 0x80) || (op[0] == 0x0f && op[1] >= 0x80 && op[1] < 0x90) ||
	       (op[0] >= 0xe0 && op[0] <= 0xe3);
}

static void x86_take_flow(const cs_insn *in, enum code_machine machine, struct code_instruction *out)
{
	const cs_x86 *x = &in->detail->x86;
	const bool is_direct = x->op_count && x->operands[0].type == X86_OP_IMM;
	const uint64_t target =
	    is_direct ? (uint64_t)x->operands[0].imm & (machine == CODE_I386 ? UINT32_MAX : UINT64_MAX) : 0;

	if (in->id == X86_INS_RET) {
		out->flow = CODE_RETURN;
	} else if (in->id == X86_INS_CALL) {
		out->is_call = true;
		out->target = target;
	} else if (in->id == X86_INS_JMP && !is_direct) {
		x86_take_indirect(in, machine, out);
	} else if (in->id == X86_INS_JMP) {
		out->flow = CODE_JUMP;
		out->target = target;
	} else if (x86_is_branch(in)) {
		out->flow = CODE_BRANCH;
		out->target = target;
		out->condition = (int8_t)(x->opcode[0] >= 0xe0	 ? CODE_UNKNOWN_CONDITION
					  : x->opcode[0] == 0x0f ? x->opcode[1] & 15
								 : x->opcode[0] & 15);
	} else if (in->id == X86_INS_UD2 || in->id == X86_INS_HLT) {
		out->flow = CODE_STOP;
	}
}

/* lea address(%rip),%rax; or, in programs whose addresses are fixed, mov $address,%eax. */
static uint64_t x86_named(const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;

	if (in->id == X86_INS_LEA && x->operands[1].mem.base == X86_REG_RIP)
		return in->address + in->size + (uint64_t)x->operands[1].mem.disp;
	if (in->id == X86_INS_MOV && x->op_count == 2 && x->operands[0].type == X86_OP_REG &&
	    x->operands[1].type == X86_OP_IMM)
		return (uint64_t)x->operands[1].imm;
	return 0;
}

/* Found by trying each (kernel 6.18), or by reading arch/x86/kernel/uprobes.c. */
static const char *x86_harm(const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;

	switch (in->id) {
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
	case X86_INS_INTO:
		return CODE_ENTERS_KERNEL;
	case X86_INS_INT1:
	case X86_INS_INT3:
		return "it is a breakpoint itself";
	case X86_INS_PUSHF:
	case X86_INS_PUSHFD:
	case X86_INS_PUSHFQ:
		return "it stores the processor's flags, with the one by which the kernel executes single "
		       "instructions, "
		       "of which the program would die";
	case X86_INS_XBEGIN:
	case X86_INS_XABORT:
	case X86_INS_XEND:
		return "it is of a transaction, which a probe aborts each time";
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
		return "it returns to another segment";
	default:
		break;
	}
	if (x->prefix[0] == X86_PREFIX_LOCK)
		return "the kernel cannot execute instructions with a lock prefix for a probe";
	if (x->prefix[1] == X86_PREFIX_CS || x->prefix[1] == X86_PREFIX_SS || x->prefix[1] == X86_PREFIX_DS ||
	    x->prefix[1] == X86_PREFIX_ES)
		return "the kernel cannot execute instructions with a segment prefix for a probe";
	return NULL;
}

/* Does it keep something below its stack pointer, as functions may that call none? */
static bool x86_uses_red_zone(const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;

	for (uint8_t i = 0; in->id != X86_INS_LEA && i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_MEM && x->operands[i].mem.base == X86_REG_RSP &&
		    x->operands[i].mem.disp < 0)
			return true;
	return false;
}

/* What no program does: bytes that mean it are data. Zeros are add %al,(%rax). */
static bool x86_is_data(csh handle, const cs_insn *in)
{
	return (in->size == 2 && !in->bytes[0] && !in->bytes[1]) ||
	       (cs.insn_group(handle, in, CS_GRP_PRIVILEGE) && in->id != X86_INS_HLT) || in->id == X86_INS_IN ||
	       in->id == X86_INS_OUT || in->id == X86_INS_INSB || in->id == X86_INS_INSD || in->id == X86_INS_OUTSB ||
	       in->id == X86_INS_OUTSD;
}

/* Kernels since 6.18 replace this nop, once it is probed, by a call, which writes below the stack pointer: nobody minds at
 * the beginning of a function. */
static void refuse_long_nops(const uint8_t *bytes, struct code *c)
{
	for (size_t i = 1; i < c->count; i++)
		if (c->list[i].size == 5 && !memcmp(bytes + (c->list[i].address - c->begin), "\x0f\x1f\x44\x00\x00", 5))
			c->list[i].harm =
			    "the kernel replaces this instruction (nop) by a call, which would overwrite what "
			    "the function keeps below its stack pointer";
}

int code_x86_decode(enum code_machine machine, const uint8_t *bytes, size_t size, struct code *out, uint64_t *undecoded)
{
	const uint8_t *at = bytes;
	uint64_t address = out->begin;
	bool has_red_zone = false, is_data = false;
	struct err missing = ERR_INIT;
	csh handle;
	cs_insn *in;

	if (code_x86_load(&missing))
		return -ELIBACC;
	if (cs.open(CS_ARCH_X86, machine == CODE_I386 ? CS_MODE_32 : CS_MODE_64, &handle) != CS_ERR_OK)
		return -ENOTSUP;
	cs.option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	in = or_abort(cs.malloc(handle));
	while (size && cs.disasm_iter(handle, &at, &size, &address, in) && !(is_data = x86_is_data(handle, in))) {
		struct code_instruction *one = code_add(out, in->address, in->size);

		x86_take_flow(in, machine, one);
		one->named = x86_named(in);
		one->is_filler = in->id == X86_INS_NOP || in->id == X86_INS_INT3 ||
				 (in->size == 2 && !memcmp(in->bytes, "\x66\x90", 2));
		one->harm = x86_harm(in);
		has_red_zone |= x86_uses_red_zone(in);
	}
	if (size || is_data)
		*undecoded = is_data ? in->address : address;
	cs.free(in, 1);
	cs.close(&handle);
	if (has_red_zone)
		refuse_long_nops(bytes, out);
	return size || is_data ? -EILSEQ : 0;
}
