/*
 * Functions of a program in Go, by the table that its runtime needs for stack traces (.gopclntab), so that a stripped one
 * has it, too. Its layout: src/internal/abi and src/debug/gosym/pclntab.go of Go; since 1.16.
 */
#include <stdlib.h>
#include <string.h>

#include "measure/program/binary_parts.h"

#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define HEADER	   8 /* before its words: the magic number, two zeros, the size of an instruction, that of a word */

struct go_table {
	const uint8_t *data;
	size_t size;
	unsigned word;
	bool is_relative; /* addresses are distances of 4 bytes from `text` (1.18) */
	uint64_t count, text, names, functions;
};

/* A number of so many bytes, in the machine's order; 0 beyond the end. */
static uint64_t go_number(const struct go_table *t, uint64_t at, unsigned bytes)
{
	uint64_t value = 0;

	if (at <= t->size && bytes <= t->size - at)
		memcpy(&value, t->data + at, bytes);
	return value;
}

static uint64_t go_word(const struct go_table *t, unsigned which)
{
	return go_number(t, HEADER + (uint64_t)which * t->word, t->word);
}

/* What the loader will write there. */
static uint64_t relocated(Elf *elf, uint64_t address)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Rela rela;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !data)
			continue;
		for (int i = 0; gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == address)
				return (uint64_t)rela.r_addend;
	}
	return 0;
}

/* Where distances begin: as the table says, or will say, or (from 1.26 on, if the program has nothing of C) where code does.
 * 0: not known. */
static uint64_t go_text(const struct binary *b, const struct go_table *t, const GElf_Shdr *table)
{
	const uint64_t told = go_word(t, 2);
	GElf_Shdr section;

	if (told)
		return told;
	if (binary_section(b->elf, ".interp", &section))
		return relocated(b->elf, table->sh_addr + HEADER + 2ull * t->word);
	return binary_section(b->elf, ".text", &section) ? section.sh_addr : 0;
}

static bool go_table_read(const struct binary *b, struct go_table *t)
{
	GElf_Shdr header;
	Elf_Scn *section = binary_section(b->elf, ".gopclntab", &header);
	Elf_Data *data;
	uint64_t magic;

	section = section ? section : binary_section(b->elf, ".data.rel.ro.gopclntab", &header);
	data = section ? elf_rawdata(section, NULL) : NULL;
	if (!data || !data->d_buf || data->d_size < HEADER)
		return false;
	*t = (struct go_table){.data = data->d_buf, .size = data->d_size, .word = ((uint8_t *)data->d_buf)[7]};
	magic = go_number(t, 0, 4);
	t->is_relative = magic != MAGIC_1_16;
	if ((magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20) || (t->word != 8 && t->word != 4))
		return false;
	t->count = go_word(t, 0);
	t->text = t->is_relative ? go_text(b, t, &header) : 0;
	t->names = go_word(t, t->is_relative ? 3 : 2);
	t->functions = go_word(t, t->is_relative ? 7 : 6);
	return (!t->is_relative || t->text) && t->names < t->size && t->functions < t->size &&
	       t->count < t->size / (t->is_relative ? 8 : 2 * t->word);
}

void binary_go_functions(const struct binary *b, binary_go_taker *take, void *context)
{
	struct go_table t;

	if (!b->is_go || !go_table_read(b, &t))
		return;
	for (uint64_t i = 0; i < t.count; i++) {
		const unsigned size = t.is_relative ? 4 : t.word;
		const uint64_t entry = t.functions + 2 * i * size, about = go_number(&t, entry + size, size),
			       name = t.names + go_number(&t, t.functions + about + size, 4);

		if (name < t.size && memchr(t.data + name, '\0', t.size - name))
			take(context, (const char *)t.data + name,
			     (struct binary_range){t.text + go_number(&t, entry, size),
						   t.text + go_number(&t, entry + 2ull * size, size)});
	}
}
