#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/or_abort.h"
#include "measure/program/binary.h"
#include "measure/program/binary_parts.h"

bool binary_is_usdt(const char *name)
{
	const char *at = name;

	while ((at = strchr(at, ':')) && at[1] == ':')
		at += 2;
	return at && at > name && at[1];
}

static bool read_note_text(const uint8_t *data, size_t size, size_t *at, char *out, size_t room)
{
	const char *text = (const char *)data + *at;
	const size_t length = strnlen(text, size - *at);

	if (length == size - *at || length >= room)
		return false;
	memcpy(out, text, length + 1);
	*at += length + 1;
	return true;
}

bool usdt_note_read(const uint8_t *data, size_t size, size_t word, struct usdt_note *out)
{
	uint64_t *const addresses[] = {&out->address, &out->base, &out->semaphore};
	size_t at = 0;

	if ((word != 4 && word != 8) || size < 3 * word)
		return false;
	for (size_t i = 0; i < 3; i++, at += word) {
		uint32_t narrow;

		if (word == 8) {
			memcpy(addresses[i], data + at, 8);
		} else {
			memcpy(&narrow, data + at, 4);
			*addresses[i] = narrow;
		}
	}
	return read_note_text(data, size, &at, out->provider, sizeof(out->provider)) &&
	       read_note_text(data, size, &at, out->name, sizeof(out->name)) &&
	       read_note_text(data, size, &at, out->arguments, sizeof(out->arguments));
}

struct usdt_search {
	struct binary *binary;
	const char *wanted;
	uint64_t base; /* of the section .stapsdt.base, which tells by how much addresses were moved since; 0: none */
	struct binary_names all;
	struct binary_sites *out;
};

/* It is a nop, which compilers align to nothing; whatever else was written there is looked at as other code. */
static struct binary_site *add_usdt_site(struct usdt_search *u, uint64_t address, struct err *e)
{
	uint8_t *nop = binary_bytes(u->binary, address, 1);
	const bool is_nop = nop && u->binary->machine == CODE_X86_64 && *nop == 0x90;
	struct binary_site *site = NULL;

	free(nop);
	if (is_nop)
		site = binary_sites_add(u->binary, address, u->out);
	else if (binary_sites_of_address(u->binary, address, u->out, e))
		return NULL;
	else
		site = &u->out->list[u->out->count - 1];
	if (!site)
		err_set(e, -EINVAL, STATUS_USAGE, u->binary->path, NULL,
			"the probe '%.80s' is at address 0x%" PRIx64 ", where there is no code", u->wanted, address);
	return site;
}

static int take_note(struct usdt_search *u, const uint8_t *data, size_t size, struct err *e)
{
	const size_t word = gelf_getclass(u->binary->elf) == ELFCLASS32 ? 4 : 8;
	char name[2 * BINARY_NAME];
	struct usdt_note note;
	struct binary_site *site;
	uint64_t moved;

	if (!usdt_note_read(data, size, word, &note))
		return 0;
	snprintf(name, sizeof(name), "%s:%s", note.provider, note.name);
	binary_names_add(&u->all, name);
	if (strcmp(name, u->wanted) != 0)
		return 0;
	moved = u->base ? u->base - note.base : 0;
	site = add_usdt_site(u, note.address + moved, e);
	if (!site)
		return -EINVAL;
	site->arguments = or_abort(strdup(note.arguments));
	if (note.semaphore && !binary_offset(u->binary, note.semaphore + moved, PF_W, &site->semaphore))
		return err_set(e, -EINVAL, STATUS_USAGE, u->binary->path, NULL,
			       "the probe '%.80s' has a semaphore outside the data of the file", u->wanted);
	return 0;
}

static int take_notes(struct usdt_search *u, Elf_Data *data, struct err *e)
{
	size_t name, text;
	GElf_Nhdr note;
	int rc = 0;

	for (size_t at = 0; !rc && (at = gelf_getnote(data, at, &note, &name, &text)) > 0;)
		if (note.n_type == 3 && note.n_namesz == sizeof("stapsdt") &&
		    !memcmp((const char *)data->d_buf + name, "stapsdt", sizeof("stapsdt")))
			rc = take_note(u, (const uint8_t *)data->d_buf + text, note.n_descsz, e);
	return rc;
}

static uint64_t usdt_base(Elf *elf)
{
	size_t names;
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; !elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section));) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, ".stapsdt.base"))
			return header.sh_addr;
	}
	return 0;
}

int binary_usdt_find(struct binary *b, const char *name, struct binary_sites *out, struct err *e)
{
	struct usdt_search u = {.binary = b, .wanted = name, .base = usdt_base(b->elf), .out = out};
	char hint[SUGGESTION_MAX];
	int rc = 0;

	for (Elf_Scn *section = NULL; !rc && (section = elf_nextscn(b->elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE && data)
			rc = take_notes(&u, data, e);
	}
	if (!rc && !out->count)
		rc = err_set(e, -ENOENT, STATUS_USAGE, b->path, NULL, "has no USDT probe '%.80s'%s", name,
			     !u.all.count ? ": it has none at all"
					  : suggestion(suggest(name, u.all.list), hint, sizeof(hint)));
	binary_names_free(&u.all);
	return rc;
}

/* --- arguments of USDT probes --- */

/* "rax", "eax", "ax", "al": "ax", as the kernel calls it. */
static bool register_name(const char *text, size_t length, char out[8])
{
#if defined(__x86_64__)
	static const char *const known[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
	const size_t numbered = length >= 2 && text[0] == 'r' ? strspn(text + 1, "0123456789") : 0;

	if (numbered) {
		snprintf(out, 8, "r%.*s", (int)(numbered > 2 ? 2 : numbered), text + 1);
		return numbered <= 2 && length <= numbered + 2;
	}
	if (length == 3 && (text[0] == 'r' || text[0] == 'e'))
		text++, length--;
	else if (length == 3 && text[2] == 'l')
		length--;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (length == 2 &&
		    (!strncmp(text, known[i], 2) || (text[1] == 'l' && text[0] == known[i][0] && i < 4))) {
			snprintf(out, 8, "%s", known[i]);
			return true;
		}
	return false;
#else
	if (length < 2 || length > 3 || (text[0] != 'x' && text[0] != 'w' && strncmp(text, "sp", 2) != 0))
		return false;
	snprintf(out, 8, "%c%.*s", text[0] == 'w' ? 'x' : text[0], (int)length - 1, text + 1);
	return true;
#endif
}

/* "-20(%rbp)" or "[sp, 12]": the offset, and the register. */
static const char *memory_operand(const char *text, size_t length, long *offset, size_t *register_length)
{
#if defined(__x86_64__)
	const char *open = memchr(text, '(', length),
		   *close = open ? memchr(open, ')', length - (size_t)(open - text)) : NULL;
	char *end;

	if (!close || close != text + length - 1 || open[1] != '%')
		return NULL;
	*offset = open == text ? 0 : strtol(text, &end, 10);
	if (open != text && end != open)
		return NULL;
	*register_length = (size_t)(close - open) - 2;
	return open + 2;
#else
	const char *comma = memchr(text, ',', length);

	if (length < 3 || text[0] != '[' || text[length - 1] != ']')
		return NULL;
	*offset = comma ? strtol(comma + 1, NULL, 10) : 0;
	*register_length = (size_t)((comma ? comma : text + length - 1) - text) - 1;
	return text + 1;
#endif
}

/* "8@%rbx": in a register; "-4@-20(%rbp)": four bytes with a sign, in memory. */
static bool operand_as_fetched(const char *text, size_t length, char out[USDT_FETCH])
{
	const char *at = memchr(text, '@', length), *operand;
	long size = strtol(text, NULL, 10), offset;
	char name[8], type[8];
	size_t left;

	if (!at || (labs(size) != 1 && labs(size) != 2 && labs(size) != 4 && labs(size) != 8))
		return false;
	snprintf(type, sizeof(type), "%c%ld", size < 0 ? 's' : 'u', 8 * labs(size));
	left = length - (size_t)(at + 1 - text);
	operand = memory_operand(at + 1, left, &offset, &left);
	if (operand) {
		if (!register_name(operand, left, name))
			return false;
		return snprintf(out, USDT_FETCH, "%+ld(%%%s):%s", offset, name, type) < USDT_FETCH;
	}
	operand = at + 1 + (at[1] == '%');
	left = length - (size_t)(operand - text);
	if (!register_name(operand, left, name))
		return false;
	return snprintf(out, USDT_FETCH, "%%%s:%s", name, type) < USDT_FETCH;
}

bool usdt_argument(const char *arguments, unsigned number, char out[USDT_FETCH])
{
	size_t length;

	for (const char *at = arguments; *(at += strspn(at, " ")); at += length) {
		length = strcspn(at, " ");
		/* "[sp, 12]" has a blank. */
		if (at[length - 1] == ',' && at[length])
			length += 1 + strcspn(at + length + 1, " ");
		if (number-- == 1)
			return operand_as_fetched(at, length, out);
	}
	return false;
}
