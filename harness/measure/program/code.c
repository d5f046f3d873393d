#include "measure/program/binary_site.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void code_free(struct code *c)
{
	free(c->list);
	*c = (struct code){.list = NULL};
}

bool code_is_taken(int condition, uint64_t flags)
{
	const bool carry = flags & 0x1, parity = flags & 0x4, zero = flags & 0x40, sign = flags & 0x80,
		   overflow = flags & 0x800;
	const bool holds[] = {
	    overflow, carry, zero, carry || zero, sign, parity, sign != overflow, zero || sign != overflow};

	if (condition < 0 || condition > 15)
		return true;
	return holds[condition / 2] != (condition & 1);
}

/* --- aarch64 --- */

/* Bits of an instruction from `low` on, with a sign. */
static uint64_t arm_number(uint32_t word, unsigned low, unsigned bits)
{
	return (uint64_t)((int64_t)((uint64_t)(word >> low) << (64 - bits)) >> (64 - bits));
}

/* "Arm Architecture Reference Manual", C4.1: index by encoding. */
static void arm_take_flow(uint32_t w, struct code_instruction *out)
{
	if ((w & 0xfffffc1f) == 0xd65f0000 || w == 0xd65f0bff || w == 0xd65f0fff) { /* ret, retaa, retab */
		out->flow = CODE_RETURN;
	} else if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
		out->is_call = w >> 31;
		out->flow = out->is_call ? CODE_NEXT : CODE_JUMP;
		out->target = out->address + 4 * arm_number(w, 0, 26);
	} else if ((w & 0xff000000) == 0x54000000) { /* b.cond */
		out->flow = CODE_BRANCH;
		out->condition = CODE_UNKNOWN_CONDITION;
		out->target = out->address + 4 * arm_number(w, 5, 19);
	} else if ((w & 0x7c000000) == 0x34000000) { /* cbz, cbnz, tbz, tbnz */
		out->flow = CODE_BRANCH;
		out->condition = CODE_UNKNOWN_CONDITION;
		out->target = out->address + 4 * arm_number(w, 5, w & 0x02000000 ? 14 : 19);
	} else if ((w & 0xfffffc1f) == 0xd61f0000 || (w & 0xfefff800) == 0xd61f0800) { /* br, braa */
		out->flow = CODE_INDIRECT;
		if ((w & 0xfffffc1f) == 0xd61f0000)
			snprintf(out->through, sizeof(out->through), "%%x%u:u64", w >> 5 & 31);
	} else if ((w & 0xfffffc1f) == 0xd63f0000 || (w & 0xfefff800) == 0xd63f0800) { /* blr, blraa */
		out->is_call = true;
	} else if (w >> 16 == 0 || (w & 0xffe0001f) == 0xd4400000) { /* udf, hlt */
		out->flow = CODE_STOP;
	}
}

/* adr, or adrp and the add that follows for the same register (`page`: what it loaded). */
static uint64_t arm_named(uint32_t w, uint64_t address, uint64_t page[32])
{
	const unsigned to = w & 31, from = w >> 5 & 31;
	const uint64_t distance = arm_number((w >> 5 & 0x7ffff) << 2 | (w >> 29 & 3), 0, 21);
	uint64_t named = 0;

	if ((w & 0x9f000000) == 0x10000000)
		named = address + distance;
	else if ((w & 0xffc00000) == 0x91000000 && page[from])
		named = page[from] + (w >> 10 & 0xfff);
	page[to] = (w & 0x9f000000) == 0x90000000 ? (address & ~UINT64_C(0xfff)) + (distance << 12) : 0;
	return named;
}

static const char *arm_harm(uint32_t w, bool *is_exclusive)
{
	const bool is_access = (w & 0x3fa00000) == 0x08000000 || (w & 0xbfa00000) == 0x88200000, loads = w >> 22 & 1;
	const char *harm = NULL;

	if ((w & 0xff000000) == 0xd4000000)
		harm = CODE_ENTERS_KERNEL;
	else if (*is_exclusive || is_access)
		harm = "it is between a load and a store that have to come without an interruption (exclusive access), "
		       "which would be tried for ever";
	if (is_access)
		*is_exclusive = loads;
	return harm;
}

static int arm_decode(const uint8_t *bytes, size_t size, struct code *out, uint64_t *undecoded)
{
	bool is_exclusive = false;
	uint64_t page[32] = {0};

	for (size_t at = 0; at + 4 <= size; at += 4) {
		struct code_instruction *one = code_add(out, out->begin + at, 4);
		uint32_t word;

		memcpy(&word, bytes + at, 4);
		arm_take_flow(word, one);
		one->is_filler = word == 0xd503201f;
		one->named = arm_named(word, one->address, page);
		one->harm = arm_harm(word, &is_exclusive);
		is_exclusive &= one->flow == CODE_NEXT || one->flow == CODE_BRANCH;
	}
	if (size % 4 || out->begin % 4) {
		*undecoded = out->begin + size / 4 * 4;
		return -EILSEQ;
	}
	return 0;
}

/* --- any --- */

int code_decode(enum code_machine machine, const uint8_t *bytes, size_t size, uint64_t address, struct code *out,
		uint64_t *undecoded)
{
	*out = (struct code){.begin = address, .end = address + size};
	switch (machine) {
	case CODE_X86_64:
	case CODE_I386:
		return code_x86_decode(machine, bytes, size, out, undecoded);
	case CODE_AARCH64:
		return arm_decode(bytes, size, out, undecoded);
	case CODE_UNKNOWN:
		break;
	}
	return -ENOTSUP;
}

/* The first one that begins there or later. */
static size_t first_from(const struct code *c, uint64_t address)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (c->list[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct code_instruction *code_at(const struct code *c, uint64_t address)
{
	const size_t i = first_from(c, address);

	return i < c->count && c->list[i].address == address ? &c->list[i] : NULL;
}

void code_neighbours(const struct code *c, uint64_t address, uint64_t *before, uint64_t *after)
{
	const size_t i = first_from(c, address);

	*before = i ? c->list[i - 1].address : c->begin;
	*after = i < c->count ? c->list[i].address : c->end;
}
