#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/program/binary.h"
#include "measure/program/binary_parts.h"

#define LONGEST_INSTRUCTION 15
#define BODIES_MOST	    64

/* The stack pointer's number in DWARF, where the frame of a function is when it begins and when it ends: above the address
 * to which it returns, if that is on the stack. */
static unsigned stack_pointer(const struct binary *b)
{
	return b->machine == CODE_AARCH64 ? 31 : b->machine == CODE_I386 ? 4 : 7;
}

static int64_t outer_frame(const struct binary *b)
{
	return b->machine == CODE_AARCH64 ? 0 : b->word;
}

static const char *word_type(const struct binary *b)
{
	return b->word == 4 ? "u32" : "u64";
}

void binary_sites_free(struct binary_sites *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i].arguments);
	free(s->list);
	free(s->own);
	*s = (struct binary_sites){.list = NULL};
}

struct binary_site *binary_sites_add(const struct binary *b, uint64_t address, struct binary_sites *out)
{
	struct binary_site site = {.address = address, .frame = stack_pointer(b), .frame_offset = outer_frame(b)};

	if (!binary_offset(b, address, PF_X, &site.offset))
		return NULL;
	out->machine = b->machine;
	out->is_go = b->is_go;
	out->list = grow_or_abort(out->list, out->count, sizeof(*out->list));
	out->list[out->count++] = site;
	return &out->list[out->count - 1];
}

void binary_sites_own(struct binary_sites *s, struct binary_range range)
{
	s->own = grow_or_abort(s->own, s->own_count, sizeof(*s->own));
	s->own[s->own_count++] = range;
}

bool binary_sites_have(const struct binary_sites *s, uint64_t address)
{
	for (size_t i = 0; i < s->own_count; i++)
		if (address >= s->own[i].begin && address < s->own[i].end)
			return true;
	return false;
}

/* --- the code of a function's bodies --- */

struct bodies {
	struct binary *binary;
	const char *wanted;
	struct binary_function *function;
	struct code code[BODIES_MOST];
	struct binary_sites *out;
	struct err *e;
	bool at_return;
};

static int refuse_function(const struct bodies *s, uint64_t address, const char *why)
{
	return err_set(s->e, -EINVAL, STATUS_USAGE, s->binary->path, NULL,
		       "the function '%.80s' cannot be probed without harm: at 0x%" PRIx64 ", %s", s->wanted, address,
		       why);
}

static int refuse_bytes(const struct bodies *s, int rc, uint64_t address)
{
	if (rc == -ENOTSUP)
		return err_set(s->e, rc, STATUS_USAGE, s->binary->path, NULL,
			       "is of a processor whose instructions are not known (x86-64, i386, aarch64): where the "
			       "functions end is not known, either");
	if (rc == -ELIBACC)
		return code_x86_load(s->e);
	return refuse_function(s, address,
			       "there is no instruction that is known: where the next ones begin is not known, either");
}

static int read_body(struct bodies *s, size_t i)
{
	struct binary_body *body = &s->function->list[i];
	const size_t size = body->range.end - body->range.begin;
	uint8_t *bytes;
	uint64_t undecoded = body->range.begin;
	int rc;

	if (!size)
		return 0;
	bytes = binary_bytes(s->binary, body->range.begin, size);
	if (!bytes)
		return refuse_function(s, body->range.begin, "the file has no code");
	rc = code_decode(s->binary->machine, bytes, size, body->range.begin, &s->code[i], &undecoded);
	free(bytes);
	return rc ? refuse_bytes(s, rc, undecoded) : 0;
}

/* Is the frame of the function on the stack still, so that a jump from here cannot be its last act? */
static bool is_framed(struct binary *b, uint64_t address)
{
	unsigned reg;
	int64_t offset;

	return binary_frame(b, address, &reg, &offset) && (reg != stack_pointer(b) || offset != outer_frame(b));
}

static bool function_has(const struct binary_function *f, uint64_t address)
{
	for (size_t i = 0; i < f->count; i++)
		if (address == f->list[i].range.begin ||
		    (address > f->list[i].range.begin && address < f->list[i].range.end))
			return true;
	return false;
}

/* A part of the function that no name tells, as of a stripped binary: it is jumped to while the frame is there. */
static int add_part(struct bodies *s, const struct code_instruction *from)
{
	struct binary_body around = {.name = NULL};

	if (!binary_function_around(s->binary, from->target, &around))
		return refuse_function(s, from->address, "it jumps to where no function is known");
	if (around.range.begin == from->target && *around.name && around.part != PART_COLD) {
		free(around.name);
		return refuse_function(s, from->address, "it shares the end of another function");
	}
	binary_function_add(s->function, around.name, around.range, PART_COLD);
	free(around.name);
	return 0;
}

static int follow_parts(struct bodies *s, size_t i)
{
	int rc = 0;

	for (size_t k = 0; !rc && k < s->code[i].count; k++) {
		const struct code_instruction *in = &s->code[i].list[k];

		if ((in->flow != CODE_JUMP && in->flow != CODE_BRANCH) || function_has(s->function, in->target) ||
		    !is_framed(s->binary, in->address))
			continue;
		rc = add_part(s, in);
	}
	return rc;
}

/* All jumps within must be to instructions: otherwise there is something else between them. */
static int check_targets(struct bodies *s)
{
	for (size_t i = 0; i < s->function->count; i++)
		for (size_t k = 0; k < s->code[i].count; k++) {
			const struct code_instruction *in = &s->code[i].list[k];

			for (size_t other = 0; other < s->function->count; other++)
				if ((in->flow == CODE_JUMP || in->flow == CODE_BRANCH) &&
				    in->target >= s->code[other].begin && in->target < s->code[other].end &&
				    !code_at(&s->code[other], in->target))
					return refuse_function(
					    s, in->target, "there is something else than instructions between them");
		}
	return 0;
}

static int read_bodies(struct bodies *s)
{
	int rc = 0;

	/* Their number grows. */
	for (size_t i = 0; !rc && i < s->function->count; i++) {
		if (i == BODIES_MOST)
			return refuse_function(s, s->function->list[i].range.begin, "it has too many parts");
		rc = read_body(s, i);
		if (!rc)
			rc = follow_parts(s, i);
	}
	if (!rc)
		rc = check_targets(s);
	for (size_t i = 0; !rc && i < s->function->count; i++)
		binary_sites_own(s->out, s->function->list[i].range);
	return rc;
}

/* --- where it begins --- */

static bool is_beginning(const struct binary_function *f, uint64_t address)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].part != PART_COLD && f->list[i].range.begin == address)
			return true;
	return false;
}

static int add_condition(const struct bodies *s, const struct code_instruction *in, struct binary_site *site)
{
	if (in->flow != CODE_BRANCH)
		return 0;
	if (in->condition < 0 || s->binary->machine == CODE_AARCH64)
		return refuse_function(s, in->address, "it is left on a condition that a probe cannot see");
	site->clue = CLUE_FLAGS;
	site->condition = in->condition;
	snprintf(site->fetch, sizeof(site->fetch), "%%flags:%s", word_type(s->binary));
	return 0;
}

static int add_site(struct bodies *s, size_t body, const struct code_instruction *in, struct binary_site **out)
{
	*out = NULL;
	if (in->harm)
		return refuse_function(s, in->address, in->harm);
	*out = binary_sites_add(s->binary, in->address, s->out);
	if (!*out)
		return refuse_function(s, in->address, "there is no code");
	(*out)->body = (unsigned)body;
	return 0;
}

/* A jump to a beginning: a loop, the next part, or a stack that was too small (Go), after which it begins once more. */
static int add_again(struct bodies *s, size_t body)
{
	int rc = 0;

	for (size_t k = 0; !rc && k < s->code[body].count; k++) {
		const struct code_instruction *in = &s->code[body].list[k];
		struct binary_site *site;

		if ((in->flow != CODE_JUMP && in->flow != CODE_BRANCH) || !is_beginning(s->function, in->target))
			continue;
		rc = add_site(s, body, in, &site);
		if (!rc) {
			site->is_again = true;
			rc = add_condition(s, in, site);
		}
	}
	return rc;
}

/* What the function calls of its own parts is no call of it. */
static void add_caller(const struct bodies *s, struct binary_site *site)
{
	site->clue = CLUE_CALLER;
	if (s->binary->machine == CODE_AARCH64)
		snprintf(site->fetch, sizeof(site->fetch), "%%x30:u64");
	else
		snprintf(site->fetch, sizeof(site->fetch), "+0(%%sp):%s", word_type(s->binary));
}

/* The first instruction, of a function of which nothing else is known. */
static int first_instruction(const struct bodies *s, uint64_t address, struct code_instruction *out)
{
	size_t size = s->binary->machine == CODE_AARCH64 ? 4 : LONGEST_INSTRUCTION;
	uint8_t *bytes = binary_bytes(s->binary, address, size);
	uint64_t undecoded = address;
	struct code code = {.list = NULL};
	int rc;

	/* Where the code of the file ends, there are fewer. */
	while (!bytes && --size)
		bytes = binary_bytes(s->binary, address, size);
	if (!bytes)
		return refuse_function(s, address, "there is no code");
	rc = code_decode(s->binary->machine, bytes, size, address, &code, &undecoded);
	if (code.count)
		*out = code.list[0];
	free(bytes);
	rc = code.count ? 0 : refuse_bytes(s, rc, undecoded);
	code_free(&code);
	return rc;
}

static int add_beginnings(struct bodies *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->function->count; i++) {
		const struct binary_body *body = &s->function->list[i];
		struct code_instruction first;
		struct binary_site *site;

		if (body->part != PART_COLD) {
			rc = first_instruction(s, body->range.begin, &first) ?: add_site(s, i, &first, &site);
			if (!rc && body->part == PART_REST)
				add_caller(s, site);
		}
		if (!rc)
			rc = add_again(s, i);
	}
	return rc;
}

/* --- where it ends --- */

static void note_leaving(const struct bodies *s, const struct code_instruction *in)
{
	struct binary_body other = {.name = NULL};

	if (*s->out->notice)
		return;
	if (in->target && binary_function_around(s->binary, in->target, &other)) {
		char *written = binary_demangled(other.name);

		snprintf(s->out->notice, sizeof(s->out->notice), " to '%.80s'", written ? written : other.name);
		free(written);
		free(other.name);
	}
	snprintf(s->out->notice + strlen(s->out->notice), sizeof(s->out->notice) - strlen(s->out->notice),
		 " at 0x%" PRIx64, in->address);
}

static int add_indirect(struct bodies *s, size_t body, const struct code_instruction *in)
{
	struct binary_site *site;
	int rc;

	if (in->is_table || is_framed(s->binary, in->address))
		return 0;
	if (!in->is_leaving && !*in->through)
		return refuse_function(s, in->address,
				       "it jumps to a place that a probe cannot see, within or out of it");
	rc = add_site(s, body, in, &site);
	if (!rc && !in->is_leaving) {
		site->clue = CLUE_TARGET;
		snprintf(site->fetch, sizeof(site->fetch), "%s", in->through);
	}
	return rc;
}

static int add_end(struct bodies *s, size_t body, const struct code_instruction *in)
{
	struct binary_site *site;
	int rc;

	switch (in->flow) {
	case CODE_RETURN:
		return add_site(s, body, in, &site);
	case CODE_INDIRECT:
		return add_indirect(s, body, in);
	case CODE_JUMP:
	case CODE_BRANCH:
		if (binary_sites_have(s->out, in->target) || is_framed(s->binary, in->address))
			return 0;
		rc = add_site(s, body, in, &site);
		if (!rc)
			note_leaving(s, in);
		return rc ? rc : add_condition(s, in, site);
	case CODE_NEXT:
	case CODE_STOP:
		break;
	}
	return 0;
}

static int add_ends(struct bodies *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->function->count; i++) {
		if (!s->code[i].count)
			return refuse_function(
			    s, s->function->list[i].range.begin,
			    "it begins, and neither its symbol nor the table of unwinding says how long it is");
		for (size_t k = 0; !rc && k < s->code[i].count; k++)
			rc = add_end(s, i, &s->code[i].list[k]);
	}
	if (!rc && !s->out->count)
		rc = err_set(s->e, -EINVAL, STATUS_USAGE, s->binary->path, NULL, "the function '%.80s' never returns",
			     s->wanted);
	return rc;
}

/* --- a function that is chosen when the program is loaded --- */

/* Each that the chooser may answer: what its instructions name. */
static int replace_by_candidates(struct bodies *s)
{
	const struct binary_body chooser = s->function->list[0];
	struct binary_function found = {.list = NULL};
	int rc = read_body(s, 0);

	for (size_t k = 0; !rc && k < s->code[0].count; k++) {
		const uint64_t named = s->code[0].list[k].named;
		struct binary_body one;

		if (!named || function_has(&found, named) || !binary_function_around(s->binary, named, &one))
			continue;
		if (one.range.begin == named)
			binary_function_add(&found, one.name, one.range, one.part);
		free(one.name);
	}
	code_free(&s->code[0]);
	if (!rc && !found.count)
		rc =
		    err_set(s->e, -EINVAL, STATUS_USAGE, s->binary->path, NULL,
			    "the function '%.80s' is one that a function at 0x%" PRIx64
			    " chooses when the program is loaded (IFUNC), and which ones it chooses from is not known: "
			    "give the one that runs here (BINARY:0xADDRESS)",
			    s->wanted, chooser.range.begin);
	if (rc) {
		binary_function_free(&found);
		return rc;
	}
	binary_function_free(s->function);
	*s->function = found;
	s->function->is_chosen = true;
	s->out->is_chosen = true;
	return 0;
}

/* --- any --- */

int binary_sites_of_function(struct binary *b, struct binary_function *f, const char *name, bool at_return,
			     struct binary_sites *out, struct err *e)
{
	struct bodies s = {.binary = b, .wanted = name, .function = f, .out = out, .e = e, .at_return = at_return};
	int rc = f->is_chosen ? replace_by_candidates(&s) : 0;

	for (size_t i = 0; i < f->count; i++)
		out->has_copies |= f->list[i].is_copy;
	out->is_coroutine = f->is_coroutine;
	snprintf(out->folded, sizeof(out->folded), "%s", f->folded ?: "");
	out->has_frames = true;
	if (!rc)
		rc = read_bodies(&s);
	if (!rc)
		rc = at_return ? add_ends(&s) : add_beginnings(&s);
	for (size_t i = 0; i < BODIES_MOST; i++)
		code_free(&s.code[i]);
	return rc;
}

static int check_address(struct binary *b, uint64_t address, struct err *e)
{
	struct binary_body around = {.name = NULL};
	struct binary_function f = {.list = NULL};
	struct binary_sites none = {.list = NULL};
	struct bodies s = {.binary = b, .function = &f, .out = &none, .e = e};
	const struct code_instruction *in;
	uint64_t before, after, offset;
	char text[64];
	int rc = 0;

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	s.wanted = text;
	if (!binary_offset(b, address, PF_X, &offset))
		return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL, "has no code at address 0x%" PRIx64, address);
	if (!binary_function_around(b, address, &around))
		return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
			       "address 0x%" PRIx64
			       " is in no function that is known, so whether an instruction begins "
			       "there is not known, either",
			       address);
	binary_function_add(&f, around.name, around.range, around.part);
	rc = read_body(&s, 0) ?: check_targets(&s);
	in = rc ? NULL : code_at(&s.code[0], address);
	code_neighbours(&s.code[0], address, &before, &after);
	if (!rc && !in)
		rc = err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
			     "address 0x%" PRIx64 " is inside of an instruction; instructions begin at 0x%" PRIx64
			     " and 0x%" PRIx64,
			     address, before, after);
	else if (!rc && in->harm)
		rc = err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
			     "address 0x%" PRIx64
			     " cannot be probed without harm: %s (the instructions beside it are at "
			     "0x%" PRIx64 " and 0x%" PRIx64 ")",
			     address, in->harm, before, address + in->size);
	free(around.name);
	code_free(&s.code[0]);
	binary_function_free(&f);
	return rc;
}

int binary_sites_of_address(struct binary *b, uint64_t address, struct binary_sites *out, struct err *e)
{
	const int rc = check_address(b, address, e);

	if (!rc)
		binary_sites_add(b, address, out);
	return rc;
}
