#include "measure/program/probes.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

#define UPROBE_EVENTS "uprobe_events"
#define RETURN	      "%return"

const char *const probe_events[PROBE_ENDS] = {"from", "to"};

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

/* --- functions of a binary --- */

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

static void read_debug_symbols(Elf *elf, struct functions *f)
{
	char *path = debug_file(elf);
	const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	Elf *debug = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);

	if (debug)
		read_symbols(debug, f);
	elf_end(debug);
	if (fd >= 0)
		close(fd);
	free(path);
}

/* Where an address of the binary is in its file: only what is executed can be probed. */
static bool offset_of(Elf *elf, uint64_t address, uint64_t *offset)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
		    address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
			*offset = address - segment.p_vaddr + segment.p_offset;
			return true;
		}
	}
	return false;
}

static int complain_of_name(const char *binary, struct functions *f, struct err *e)
{
	char hint[SUGGESTION_MAX], list[512] = "";
	size_t length = 0;

	f->all = grow_or_abort(f->all, f->all_count, sizeof(*f->all));
	f->all[f->all_count] = NULL;
	if (!f->count)
		return err_set(e, -ENOENT, STATUS_USAGE, binary, NULL,
			       "has no function '%.80s'%s (an inlined function has none; of a stripped binary, install "
			       "the debug symbols, or give BINARY:0xADDRESS)",
			       f->wanted, suggestion(suggest(f->wanted, f->all), hint, sizeof(hint)));
	for (size_t i = 0; i < f->count && length < sizeof(list); i++) {
		char *written = demangled(f->list[i].name);

		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s at 0x%" PRIx64, i ? ", " : "",
					   written ? written : f->list[i].name, f->list[i].address);
		free(written);
	}
	return err_set(e, -EINVAL, STATUS_USAGE, binary, NULL,
		       "has %zu functions '%.80s': give the address of one (BINARY:0xADDRESS) or its parameters: %s",
		       f->count, f->wanted, list);
}

static int find_address(Elf *elf, const char *binary, const char *name, uint64_t *address, struct err *e)
{
	struct functions f = {.wanted = name};
	char *end;
	int rc = 0;

	if (!strncmp(name, "0x", 2)) {
		*address = strtoull(name, &end, 16);
		return *end ? err_set(e, -EINVAL, STATUS_USAGE, binary, NULL, "'%.40s' is not an address", name) : 0;
	}
	read_symbols(elf, &f);
	if (!f.count)
		read_debug_symbols(elf, &f);
	if (f.count == 1)
		*address = f.list[0].address;
	else
		rc = complain_of_name(binary, &f, e);
	functions_free(&f);
	return rc;
}

static int find_in_binary(struct probe_place *p, const char *name, struct err *e)
{
	const int fd = open(p->binary, O_RDONLY | O_CLOEXEC);
	uint64_t address = 0;
	Elf *elf;
	int rc;

	if (fd < 0)
		return err_sys(e, -errno, p->binary, "open");
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = !elf || elf_kind(elf) != ELF_K_ELF
		 ? err_set(e, -EINVAL, STATUS_USAGE, p->binary, NULL, "is not a program or library (ELF)")
		 : find_address(elf, p->binary, name, &address, e);
	if (!rc && !offset_of(elf, address, &p->offset))
		rc = err_set(e, -EINVAL, STATUS_USAGE, p->binary, NULL, "has no code at address 0x%" PRIx64, address);
	elf_end(elf);
	close(fd);
	return rc;
}

/* --- places --- */

char *probe_binary_find(const char *name)
{
	const char *path = getenv("PATH");
	char *copy = strchr(name, '/') || !path ? NULL : or_abort(strdup(path)), *rest = copy, *found = NULL;

	if (!copy)
		return realpath(name, NULL);
	for (const char *dir; !found && (dir = strsep(&rest, ":"));) {
		char *candidate = fs_path("%s/%s", *dir ? dir : ".", name);

		if (!access(candidate, X_OK))
			found = realpath(candidate, NULL);
		free(candidate);
	}
	free(copy);
	return found;
}

int probe_place_find(const char *text, struct probe_place *out, struct err *e)
{
	char *copy = or_abort(strdup(text)), *colon = strchr(copy, ':'), *end;
	int rc = 0;

	*out = (struct probe_place){.binary = NULL};
	if (!colon || colon == copy || !colon[1])
		rc = err_set(e, -EINVAL, STATUS_USAGE, text, NULL, "is not BINARY:FUNCTION");
	if (!rc) {
		*colon = '\0';
		end = colon + strlen(colon + 1) + 1 - strlen(RETURN);
		out->at_return = end > colon + 1 && !strcmp(end, RETURN);
		if (out->at_return)
			*end = '\0';
		out->binary = probe_binary_find(copy);
		rc = out->binary ? find_in_binary(out, colon + 1, e)
				 : err_set(e, -ENOENT, STATUS_USAGE, copy, NULL, "there is no such program or library");
	}
	/* uprobe_events has no way to quote them. */
	if (!rc && out->binary[strcspn(out->binary, " \t\n:")])
		rc = err_set(e, -EINVAL, STATUS_USAGE, out->binary, NULL,
			     "the kernel cannot probe a file whose path has a blank or a colon");
	if (rc) {
		free(out->binary);
		out->binary = NULL;
	}
	free(copy);
	return rc;
}

/* --- events --- */

/* Of the number of an argument, or of a register: how uprobe_events names it. */
static const char *register_of(const char *id, struct err *e)
{
#if defined(__x86_64__)
	static const char *const arguments[] = {"di", "si", "dx", "cx", "r8", "r9"};
#elif defined(__aarch64__)
	static const char *const arguments[] = {"x0", "x1", "x2", "x3", "x4", "x5"};
#else
	static const char *const arguments[] = {""};
#endif
	const size_t count = sizeof(arguments) / sizeof(arguments[0]);
	const long number = isdigit((unsigned char)*id) ? strtol(id, NULL, 10) : 0;

	if (number >= 1 && (size_t)number <= count)
		return arguments[number - 1];
	if (!number && strlen(id) <= 4 && isalpha((unsigned char)*id) &&
	    !id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789")])
		return id;
	err_set(e, -EINVAL, STATUS_USAGE, "--id", NULL,
		"'%.20s' is neither the number of an argument (1 to %zu) nor a register", id, count);
	return NULL;
}

static int add_probe(const struct probes *p, enum probe_end end, const struct probe_place *place, const char *id,
		     struct err *e)
{
	const char *from = id && !place->at_return ? register_of(id, e) : "";
	char *line;
	int rc = 0;

	if (!from)
		return -EINVAL;
	line = fs_path("%c:%s/%s %s:0x%" PRIx64 "%s%s%s", place->at_return ? 'r' : 'p', p->system, probe_events[end],
		       place->binary, place->offset, *from ? " id=%" : "", from, *from ? ":u64" : "");
	errno = 0;
	if (tracefs_instance_file_append(NULL, UPROBE_EVENTS, line) < 0) {
		rc = errno ? -errno : -EIO;
		if (rc == -EINVAL || rc == -EILSEQ)
			err_set(e, rc, STATUS_USAGE, place->binary, NULL,
				"the kernel cannot probe it at 0x%" PRIx64 ": that is not the beginning of an "
				"instruction, or it has no such register",
				place->offset);
		else
			err_sys(e, rc, UPROBE_EVENTS, "write");
	}
	free(line);
	return rc;
}

int probes_add(const struct probe_place places[PROBE_ENDS], const char *id, struct probes *out, struct err *e)
{
	const char *place = trace_place(e);
	char *file = place ? fs_path("%s/" UPROBE_EVENTS, place) : NULL;
	int rc = place ? 0 : -ENOENT;

	*out->system = '\0';
	if (!rc && access(file, W_OK))
		rc = errno != ENOENT ? trace_place_refuse(errno, e)
				     : err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "tracefs", NULL,
					       "this kernel has no probes in programs (CONFIG_UPROBE_EVENTS)");
	free(file);
	if (rc)
		return rc;
	trace_place_probes(out->system);
	for (enum probe_end end = PROBE_FROM; !rc && end < PROBE_ENDS; end++)
		rc = add_probe(out, end, &places[end], id, e);
	if (rc)
		probes_remove(out);
	return rc;
}

void probes_remove(const struct probes *p)
{
	for (enum probe_end end = PROBE_FROM; *p->system && end < PROBE_ENDS; end++) {
		char *line = fs_path("-:%s/%s", p->system, probe_events[end]);

		tracefs_instance_file_append(NULL, UPROBE_EVENTS, line);
		free(line);
	}
}
