#include "measure/program/binary.h"

#include <ctype.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

#define DEEPEST	   64 /* blocks within blocks, where inlined functions are looked for */
#define NAMED_MOST 8  /* functions that a message lists */

struct binary {
	const char *path;
	Elf *elf, *debug; /* its file of debug symbols, or NULL */
	int fd, debug_fd;
};

/* A list of names, without doubles. */
struct binary_names {
	const char **list; /* NULL ends */
	size_t count;
};

static void add_once(struct binary_names *n, const char *name)
{
	for (size_t i = 0; i < n->count; i++)
		if (!strcmp(n->list[i], name))
			return;
	n->list = grow_or_abort(n->list, n->count + 1, sizeof(*n->list));
	n->list[n->count++] = or_abort(strdup(name));
	n->list[n->count] = NULL;
}

static void free_listed(struct binary_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free((char *)(uintptr_t)n->list[i]);
	free(n->list);
}

/* --- names of C++ --- */

/* "std::sort(int*)" of "_ZSt4sort…", or NULL; the caller frees. libstdc++ is there wherever a program in C++ runs. */
static char *demangled(const char *name)
{
	typedef char *demangler(const char *, char *, size_t *, int *);
	static demangler *demangle;
	static bool is_loaded;
	int status;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	if (!is_loaded) {
		void *library = dlopen("libstdc++.so.6", RTLD_NOW);

		demangle = library ? (demangler *)(uintptr_t)dlsym(library, "__cxa_demangle") : NULL;
		is_loaded = true;
	}
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

/* Is it the function's name, as it is linked or as it is written, with or without its parameters? */
static bool function_is_named(const char *symbol, const char *name)
{
	const size_t length = strlen(name);
	char *written;
	bool same;

	if (!strcmp(symbol, name))
		return true;
	written = demangled(symbol);
	same = written && !strncmp(written, name, length) && (!written[length] || written[length] == '(');
	free(written);
	return same;
}

/* --- files --- */

/* Of a stripped binary, Debian's packages of debug symbols have them below this path, by the build's ID. */
static char *debug_file(Elf *elf)
{
	char id[64] = "";

	for (Elf_Scn *section = NULL; !*id && (section = elf_nextscn(elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Nhdr note;
		size_t name, text;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE || !data)
			continue;
		for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &text)) > 0;)
			if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= 2 && note.n_descsz <= 20)
				for (size_t i = 0; i < note.n_descsz; i++)
					snprintf(id + 2 * i, 3, "%02x", ((const uint8_t *)data->d_buf)[text + i]);
	}
	return *id ? fs_path("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2) : NULL;
}

static void binary_close(struct binary *b)
{
	elf_end(b->debug);
	elf_end(b->elf);
	if (b->debug_fd >= 0)
		close(b->debug_fd);
	if (b->fd >= 0)
		close(b->fd);
}

static int binary_open(const char *path, struct binary *b, struct err *e)
{
	char *debug;

	*b = (struct binary){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC), .debug_fd = -1};
	if (b->fd < 0)
		return err_sys(e, -errno, path, "open");
	elf_version(EV_CURRENT);
	b->elf = elf_begin(b->fd, ELF_C_READ, NULL);
	if (!b->elf || elf_kind(b->elf) != ELF_K_ELF)
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "is not a program or library (ELF)");
	debug = debug_file(b->elf);
	b->debug_fd = debug ? open(debug, O_RDONLY | O_CLOEXEC) : -1;
	b->debug = b->debug_fd < 0 ? NULL : elf_begin(b->debug_fd, ELF_C_READ, NULL);
	free(debug);
	return 0;
}

/* Where an address is in the file, in a segment with these rights (PF_X: only what is executed can be probed). */
static bool offset_of(const struct binary *b, uint64_t address, uint32_t rights, uint64_t *offset)
{
	size_t count = 0;

	elf_getphdrnum(b->elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(b->elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & rights &&
		    address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
			*offset = address - segment.p_vaddr + segment.p_offset;
			return true;
		}
	}
	return false;
}

static int sites_add(const struct binary *b, uint64_t address, struct binary_sites *out, struct err *e)
{
	struct binary_site site = {.arguments = NULL};

	if (!offset_of(b, address, PF_X, &site.offset))
		return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL, "has no code at address 0x%" PRIx64, address);
	out->list = grow_or_abort(out->list, out->count, sizeof(*out->list));
	out->list[out->count++] = site;
	return 0;
}

void binary_sites_free(struct binary_sites *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i].arguments);
	free(s->list);
	*s = (struct binary_sites){.list = NULL};
}

/* --- functions that were inlined --- */

struct inlined {
	const char *wanted;
	struct binary_names into; /* functions that are not inlined */
};

static const char *linkage_name(Dwarf_Die *die)
{
	static const unsigned kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (dwarf_attr_integrate(die, kinds[i], &attribute))
			return dwarf_formstring(&attribute);
	return NULL;
}

/* Functions that only their file sees may have no linkage name: then what follows the last "::" has to do. */
static bool die_is_named(Dwarf_Die *die, const char *name)
{
	const char *linked = linkage_name(die), *plain = dwarf_diename(die), *last = name;
	const size_t length = strcspn(name, "(");

	if (linked)
		return function_is_named(linked, name);
	for (const char *at = name; (at = strstr(at, "::")) && at < name + length; at += 2)
		last = at + 2;
	return plain && strlen(plain) == (size_t)(name + length - last) && !strncmp(plain, last, strlen(plain));
}

/* `function`: the innermost one around the block that is not inlined, or NULL. */
static void look_for_inlined(Dwarf_Die *block, Dwarf_Die *function, unsigned depth, struct inlined *f)
{
	Dwarf_Die die;
	int rc = dwarf_child(block, &die);

	for (; !rc && depth < DEEPEST && f->into.count < NAMED_MOST; rc = dwarf_siblingof(&die, &die)) {
		const int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine && function && die_is_named(&die, f->wanted)) {
			const char *name = linkage_name(function) ?: dwarf_diename(function);
			char *written = name ? demangled(name) : NULL;

			if (name)
				add_once(&f->into, written ? written : name);
			free(written);
		}
		if (dwarf_haschildren(&die) > 0)
			look_for_inlined(&die, tag == DW_TAG_subprogram ? &die : function, depth + 1, f);
	}
}

/* With debugging information, of the binary or installed separately. */
static void find_inlined(const struct binary *b, struct inlined *f)
{
	Elf *const elves[] = {b->elf, b->debug};

	for (size_t i = 0; i < sizeof(elves) / sizeof(elves[0]) && !f->into.count; i++) {
		Dwarf *dwarf = elves[i] ? dwarf_begin_elf(elves[i], DWARF_C_READ, NULL) : NULL;
		Dwarf_CU *unit = NULL;
		Dwarf_Die die;

		while (dwarf && f->into.count < NAMED_MOST &&
		       !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
			look_for_inlined(&die, NULL, 0, f);
		dwarf_end(dwarf);
	}
}

/* --- functions --- */

struct found_function {
	char *name;
	uint64_t address;
};

struct functions {
	const char *wanted;
	struct found_function *list;
	size_t count;
	const char **all; /* for "did you mean"; NULL ends */
	size_t all_count;
};

static void functions_free(struct functions *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->list[i].name);
	for (size_t i = 0; i < f->all_count; i++)
		free((char *)(uintptr_t)f->all[i]);
	free(f->list);
	free(f->all);
}

static void functions_take(struct functions *f, const char *name, uint64_t address)
{
	f->all = grow_or_abort(f->all, f->all_count, sizeof(*f->all));
	f->all[f->all_count++] = or_abort(strdup(name));
	if (!function_is_named(name, f->wanted))
		return;
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].address == address)
			return;
	f->list = grow_or_abort(f->list, f->count, sizeof(*f->list));
	f->list[f->count++] = (struct found_function){or_abort(strdup(name)), address};
}

static void read_symbols(Elf *elf, struct functions *f)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || !data || !header.sh_entsize ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		for (size_t i = 0; i < header.sh_size / header.sh_entsize && gelf_getsym(data, (int)i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
			const int type = GELF_ST_TYPE(symbol.st_info);

			if (name && *name && symbol.st_shndx != SHN_UNDEF &&
			    (type == STT_FUNC || type == STT_GNU_IFUNC))
				functions_take(f, name, symbol.st_value);
		}
	}
}

static int complain_of_inlined(const struct binary *b, const struct inlined *f, struct err *e)
{
	char list[512] = "";
	size_t length = 0;

	for (size_t i = 0; i < f->into.count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s'%.80s'",
					   !i			   ? ""
					   : i + 1 < f->into.count ? ", "
								   : " and ",
					   f->into.list[i]);
	return err_set(e, -ENOENT, STATUS_USAGE, b->path, NULL,
		       "the function '%.80s' was inlined into %s, so it has no place of its own: choose one that was "
		       "not, or forbid it (noinline)",
		       f->wanted, list);
}

static int complain_of_none(const struct binary *b, struct functions *f, struct err *e)
{
	struct inlined inlined = {.wanted = f->wanted};
	char hint[SUGGESTION_MAX];
	int rc;

	find_inlined(b, &inlined);
	if (inlined.into.count) {
		rc = complain_of_inlined(b, &inlined, e);
	} else {
		f->all = grow_or_abort(f->all, f->all_count, sizeof(*f->all));
		f->all[f->all_count] = NULL;
		rc = err_set(e, -ENOENT, STATUS_USAGE, b->path, NULL,
			     "has no function '%.80s'%s (an inlined function has none; of a stripped binary, install "
			     "the debug symbols, or give BINARY:0xADDRESS)",
			     f->wanted, suggestion(suggest(f->wanted, f->all), hint, sizeof(hint)));
	}
	free_listed(&inlined.into);
	return rc;
}

static int complain_of_several(const struct binary *b, const struct functions *f, struct err *e)
{
	char list[512] = "";
	size_t length = 0;

	for (size_t i = 0; i < f->count && length < sizeof(list); i++) {
		char *written = demangled(f->list[i].name);

		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s at 0x%" PRIx64, i ? ", " : "",
					   written ? written : f->list[i].name, f->list[i].address);
		free(written);
	}
	return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
		       "has %zu functions '%.80s': give the address of one (BINARY:0xADDRESS) or its parameters: %s",
		       f->count, f->wanted, list);
}

static int find_function(const struct binary *b, const char *name, struct binary_sites *out, struct err *e)
{
	struct functions f = {.wanted = name};
	int rc;

	read_symbols(b->elf, &f);
	if (!f.count && b->debug)
		read_symbols(b->debug, &f);
	rc = f.count == 1  ? sites_add(b, f.list[0].address, out, e)
	     : f.count > 1 ? complain_of_several(b, &f, e)
			   : complain_of_none(b, &f, e);
	functions_free(&f);
	return rc;
}

/* --- USDT probes --- */

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
	const struct binary *binary;
	const char *wanted;
	uint64_t base; /* of the section .stapsdt.base, which tells by how much addresses were moved since; 0: none */
	struct binary_names all;
	struct binary_sites *out;
};

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
	add_once(&u->all, name);
	if (strcmp(name, u->wanted) != 0)
		return 0;
	moved = u->base ? u->base - note.base : 0;
	if (sites_add(u->binary, note.address + moved, u->out, e))
		return -EINVAL;
	site = &u->out->list[u->out->count - 1];
	site->arguments = or_abort(strdup(note.arguments));
	if (note.semaphore && !offset_of(u->binary, note.semaphore + moved, PF_W, &site->semaphore))
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

static int find_usdt(const struct binary *b, const char *name, struct binary_sites *out, struct err *e)
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
	free_listed(&u.all);
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

/* --- any --- */

int binary_find(const char *path, const char *name, struct binary_sites *out, struct err *e)
{
	struct binary b;
	char *end;
	int rc = binary_open(path, &b, e);

	*out = (struct binary_sites){.list = NULL};
	if (!rc && !strncmp(name, "0x", 2)) {
		const uint64_t address = strtoull(name, &end, 16);

		rc = *end ? err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "'%.40s' is not an address", name)
			  : sites_add(&b, address, out, e);
	} else if (!rc) {
		rc = binary_is_usdt(name) ? find_usdt(&b, name, out, e) : find_function(&b, name, out, e);
	}
	binary_close(&b);
	return rc;
}
