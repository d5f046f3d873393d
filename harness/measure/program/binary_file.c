#include "measure/program/binary_parts.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"

Elf_Scn *binary_section(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	size_t names;

	for (Elf_Scn *section = NULL; !elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section));) {
		const char *name = gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return section;
	}
	return NULL;
}

void binary_build_id(Elf *elf, char out[BINARY_ID])
{
	*out = '\0';
	for (Elf_Scn *section = NULL; !*out && (section = elf_nextscn(elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Nhdr note;
		size_t name, text;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE || !data)
			continue;
		for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &text)) > 0;)
			if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= 2 && note.n_descsz <= 20)
				for (size_t i = 0; i < note.n_descsz; i++)
					snprintf(out + 2 * i, 3, "%02x", ((const uint8_t *)data->d_buf)[text + i]);
	}
}

/* --- files of debug symbols --- */

static int open_debug(char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	free(path);
	return fd;
}

/* Does the file have this checksum, as the binary says that its symbols have? */
static bool has_checksum(int fd, uint32_t wanted)
{
	uint8_t block[1 << 16];
	uLong sum = crc32(0, NULL, 0);
	ssize_t got;

	for (off_t at = 0; (got = pread(fd, block, sizeof(block), at)) > 0; at += got)
		sum = crc32(sum, block, (uInt)got);
	return !got && (uint32_t)sum == wanted;
}

/* By the name that is in .gnu_debuglink, beside the binary or below /usr/lib/debug; after the name, at a multiple of 4, is
 * the file's checksum. */
static int open_linked_debug(const struct binary *b, const char *root)
{
	static const char *const places[] = {"%s%.*s/%s", "%s%.*s/.debug/%s", "%s/usr/lib/debug%.*s/%s"};
	GElf_Shdr header;
	Elf_Scn *section = binary_section(b->elf, ".gnu_debuglink", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	const char *name = data ? data->d_buf : NULL, *slash = strrchr(b->path, '/');
	const size_t length = name ? strnlen(name, data->d_size) : 0, at = (length + 4) & ~(size_t)3;
	uint32_t sum;
	int fd = -1;

	if (!length || !slash || at + sizeof(sum) > data->d_size || strchr(name, '/'))
		return -1;
	memcpy(&sum, name + at, sizeof(sum));
	for (size_t i = 0; fd < 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		fd = open_debug(fs_path(places[i], root, (int)(slash - b->path), b->path, name));
		if (fd >= 0 && !has_checksum(fd, sum)) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

/* Where a client of debuginfod (gdb, `debuginfod-find debuginfo`) keeps what it has fetched. */
static char *fetched_debug(const char *id)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache)
		return fs_path("%s/%s/debuginfo", cache, id);
	if (base && *base)
		return fs_path("%s/debuginfod_client/%s/debuginfo", base, id);
	return fs_path("%s/.cache/debuginfod_client/%s/debuginfo", home ? home : "", id);
}

/* By the build's ID, as Debian's packages of debug symbols have them, or as they were fetched; or by the name that the
 * binary tells. */
static int open_debug_of(const struct binary *b, const char *root)
{
	char id[BINARY_ID];
	int fd = -1;

	binary_build_id(b->elf, id);
	if (*id)
		fd = open_debug(fs_path("%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, id, id + 2));
	if (*id && *root && fd < 0)
		fd = open_debug(fs_path("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2));
	if (*id && fd < 0)
		fd = open_debug(fetched_debug(id));
	return fd >= 0 ? fd : open_linked_debug(b, root);
}

/* Symbols that the binary itself has, compressed (.gnu_debugdata), as those of Fedora and RHEL: less than its debug
 * symbols, but always there. */
static int open_inner_debug(const struct binary *b)
{
	GElf_Shdr header;
	Elf_Scn *section = binary_section(b->elf, ".gnu_debugdata", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	int fd = data && data->d_buf ? memfd_create("symbols", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, data->d_buf, data->d_size) != (ssize_t)data->d_size) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void look_at_machine(struct binary *b)
{
	GElf_Ehdr header;
	GElf_Shdr section;

	b->machine = CODE_UNKNOWN;
	b->word = 8;
	if (!gelf_getehdr(b->elf, &header))
		return;
	if (header.e_machine == EM_X86_64)
		b->machine = CODE_X86_64;
	else if (header.e_machine == EM_386)
		b->machine = CODE_I386, b->word = 4;
	else if (header.e_machine == EM_AARCH64)
		b->machine = CODE_AARCH64;
	b->is_go =
	    binary_section(b->elf, ".go.buildinfo", &section) || binary_section(b->elf, ".note.go.buildid", &section);
	b->is_symbols = binary_section(b->elf, ".text", &section) && section.sh_type == SHT_NOBITS;
}

void binary_close(struct binary *b)
{
	for (size_t i = 0; i < 2; i++) {
		if (i == 0 && b->frames[0])
			dwarf_cfi_end(b->frames[0]);
		dwarf_end(b->dwarf[i]);
	}
	elf_end(b->debug);
	elf_end(b->elf);
	if (b->debug_fd >= 0)
		close(b->debug_fd);
}

static int complain_of_kind(int fd, const char *path, struct err *e)
{
	char first[256] = "";
	const ssize_t got = pread(fd, first, sizeof(first) - 1, 0);
	const char *interpreter = got > 2 && !strncmp(first, "#!", 2) ? first + 2 + strspn(first + 2, " ") : "";

	if (!*interpreter)
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "is not a program or library (ELF)");
	return err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
		       "is a script, in which there are no functions that can be probed; what runs it is %.*s",
		       (int)strcspn(interpreter, " \n"), interpreter);
}

int binary_open(int fd, const char *path, const char *root, struct binary *b, struct err *e)
{
	*b = (struct binary){.path = path, .fd = fd, .debug_fd = -1};
	elf_version(EV_CURRENT);
	b->elf = elf_begin(b->fd, ELF_C_READ, NULL);
	if (!b->elf || elf_kind(b->elf) != ELF_K_ELF)
		return complain_of_kind(fd, path, e);
	look_at_machine(b);
	b->debug_fd = open_debug_of(b, root);
	if (b->debug_fd < 0)
		b->debug_fd = open_inner_debug(b);
	b->debug = b->debug_fd < 0 ? NULL : dwelf_elf_begin(b->debug_fd);
	return 0;
}

Dwarf *binary_dwarf(struct binary *b, unsigned which)
{
	if (!b->has_dwarf) {
		b->has_dwarf = true;
		b->dwarf[0] = dwarf_begin_elf(b->elf, DWARF_C_READ, NULL);
		b->dwarf[1] = b->debug ? dwarf_begin_elf(b->debug, DWARF_C_READ, NULL) : NULL;
	}
	return b->dwarf[which];
}

/* --- bytes --- */

static bool segment_of(const struct binary *b, uint64_t address, uint32_t rights, GElf_Phdr *segment)
{
	size_t count = 0;

	elf_getphdrnum(b->elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(b->elf, (int)i, segment) && segment->p_type == PT_LOAD && segment->p_flags & rights &&
		    address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_filesz)
			return true;
	return false;
}

bool binary_offset(const struct binary *b, uint64_t address, uint32_t rights, uint64_t *offset)
{
	GElf_Phdr segment;

	if (!segment_of(b, address, rights, &segment))
		return false;
	*offset = address - segment.p_vaddr + segment.p_offset;
	return true;
}

uint8_t *binary_bytes(const struct binary *b, uint64_t address, size_t size)
{
	GElf_Phdr segment;
	uint8_t *bytes;

	if (!size || !segment_of(b, address, UINT32_MAX, &segment) ||
	    size > segment.p_filesz - (address - segment.p_vaddr))
		return NULL;
	bytes = large_alloc(size, 1);
	if (bytes &&
	    pread(b->fd, bytes, size, (off_t)(address - segment.p_vaddr + segment.p_offset)) != (ssize_t)size) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

bool binary_is_patched(const struct binary *b)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(b->elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Dyn entry;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC || !data || !header.sh_entsize)
			continue;
		for (size_t i = 0; i < header.sh_size / header.sh_entsize && gelf_getdyn(data, (int)i, &entry); i++)
			if (entry.d_tag == DT_TEXTREL || (entry.d_tag == DT_FLAGS && entry.d_un.d_val & DF_TEXTREL))
				return true;
	}
	return false;
}

/* --- the table of unwinding --- */

/* .eh_frame_hdr, as linkers write it: after four bytes that say how (DW_EH_PE_*), where .eh_frame is, how many functions
 * there are, and for each its beginning and where its description is, relative to this section, in order. */
struct unwind_table {
	const uint8_t *data;
	size_t count;
	uint64_t address;
};

#define TABLE_HEADER 12

static int32_t unwind_number(const uint8_t *data)
{
	int32_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

static bool unwind_table_find(const struct binary *b, struct unwind_table *out)
{
	static const uint8_t usual[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					DW_EH_PE_datarel | DW_EH_PE_sdata4};
	GElf_Shdr header;
	Elf_Scn *section = binary_section(b->elf, ".eh_frame_hdr", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf || data->d_size < TABLE_HEADER || memcmp(data->d_buf, usual, sizeof(usual)) != 0)
		return false;
	out->data = data->d_buf;
	out->address = header.sh_addr;
	out->count = (uint32_t)unwind_number(out->data + 8);
	return out->count <= (data->d_size - TABLE_HEADER) / 8;
}

static uint64_t unwind_entry(const struct unwind_table *t, size_t i, size_t which)
{
	return t->address + (uint64_t)(int64_t)unwind_number(t->data + TABLE_HEADER + 8 * i + 4 * which);
}

/* How long the function of a description is: after its length, the distance to what it shares with others, and the
 * function's beginning, 4 bytes each in the usual encoding, which the beginning must confirm. 0: not known. */
static uint64_t unwind_length(const struct binary *b, uint64_t description, uint64_t begin)
{
	enum { BEGIN = 8, LENGTH = 12, SIZE = 16 };
	uint8_t *bytes = binary_bytes(b, description, SIZE);
	uint64_t length = 0;

	if (bytes && description + BEGIN + (uint64_t)(int64_t)unwind_number(bytes + BEGIN) == begin)
		length = (uint32_t)unwind_number(bytes + LENGTH);
	free(bytes);
	return length;
}

bool binary_unwound(const struct binary *b, uint64_t address, struct binary_range *out)
{
	struct unwind_table t;
	size_t low = 0, high;

	if (!unwind_table_find(b, &t))
		return false;
	high = t.count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (unwind_entry(&t, middle, 0) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	out->begin = unwind_entry(&t, low - 1, 0);
	out->end = out->begin + unwind_length(b, unwind_entry(&t, low - 1, 1), out->begin);
	return address < out->end;
}

static void read_frames(struct binary *b)
{
	if (b->has_frames)
		return;
	b->has_frames = true;
	b->frames[0] = dwarf_getcfi_elf(b->elf);
	for (unsigned i = 0; i < 2 && !b->frames[1]; i++)
		b->frames[1] = binary_dwarf(b, i) ? dwarf_getcfi(binary_dwarf(b, i)) : NULL;
}

bool binary_frame(struct binary *b, uint64_t address, unsigned *reg, int64_t *offset)
{
	read_frames(b);
	for (size_t i = 0; i < 2; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t count = 0;
		bool is_known = false;

		if (!b->frames[i] || dwarf_cfi_addrframe(b->frames[i], address, &frame))
			continue;
		if (!dwarf_frame_cfa(frame, &ops, &count) && count == 1) {
			is_known =
			    ops[0].atom == DW_OP_bregx || (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31);
			*reg = ops[0].atom == DW_OP_bregx ? (unsigned)ops[0].number
							  : (unsigned)(ops[0].atom - DW_OP_breg0);
			*offset = (int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
		}
		free(frame);
		if (is_known)
			return true;
	}
	return false;
}
