#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/or_abort.h"
#include "measure/program/binary_parts.h"

void binary_names_add(struct binary_names *n, const char *name)
{
	for (size_t i = 0; i < n->count; i++)
		if (!strcmp(n->list[i], name))
			return;
	n->list = grow_or_abort(n->list, n->count + 1, sizeof(*n->list));
	n->list[n->count++] = or_abort(strdup(name));
	n->list[n->count] = NULL;
}

void binary_names_free(struct binary_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free((char *)(uintptr_t)n->list[i]);
	free(n->list);
}

/* --- names as they are written --- */

/* The rest of `text` behind `name`, of which blanks do not count; NULL: it begins otherwise. */
static const char *behind_name(const char *text, const char *name)
{
	for (; *name; name++) {
		if (*name == ' ')
			continue;
		text += strspn(text, " ");
		if (*text++ != *name)
			return NULL;
	}
	return text + strspn(text, " ");
}

/* Behind "<int, std::less<int>>", "::<i64>" and "[abi:cxx11]". */
static const char *behind_arguments(const char *text)
{
	int depth = 0;

	text += !strncmp(text, "::<", 3) ? 2 : 0;
	if (*text != '<' && *text != '[')
		return text;
	do {
		const bool is_arrow = *text == '-' && text[1] == '>';

		depth += !is_arrow && strchr("<[", *text) ? 1 : strchr(">]", *text) ? -1 : 0;
		text += is_arrow ? 2 : 1;
	} while (*text && depth);
	return depth ? ">" : behind_arguments(text); /* operator< */
}

bool binary_is_named(const char *symbol, const char *name)
{
	const size_t length = strlen(name);
	const char *rest;
	char *written;
	bool same;

	if (!strcmp(symbol, name))
		return true;
	written = binary_demangled(symbol);
	rest = written ? behind_name(written, name) : NULL;
	/* What a compiler makes of a function is not that function: "serve(int) [clone .actor]". */
	same = rest && (strstr(name, "[clone") || !strstr(rest, "[clone"));
	if (same && length && name[length - 1] == ')' && *rest != '(')
		same = !rest[strcspn(rest, ":({<[")]; /* const, && */
	else if (same)
		same = strchr("(", *behind_arguments(rest));
	free(written);
	return same;
}

/* --- names that compilers make --- */

#define PRIVATISED ".lto_priv."

/* What a symbol's name says: serve.constprop.0.cold@V1 is a part of serve. */
struct parsed_name {
	char *function;	     /* without what follows */
	char *suffix;	     /* ".lto_priv.0", which tells functions of one name apart; "": none */
	const char *version; /* "@V1", "@@V1"; "": none */
	enum binary_part part;
	bool is_copy, is_clone; /* is_clone: there is anything else behind the name */
};

static bool is_word_of(const char *word, size_t length, const char *const known[])
{
	for (size_t i = 0; known[i]; i++)
		if (strlen(known[i]) == length && !strncmp(word, known[i], length))
			return true;
	return false;
}

/* The length of what a compiler appended to a name, at its first point; 0: that is not it. */
static size_t read_clone(const char *at, struct parsed_name *out)
{
	static const char *const copies[] = {"constprop", "isra", "specialized", "constp", NULL},
				 *const others[] = {"lto_priv", "localalias", "llvm", "__uniq", NULL},
				 *const rest[] = {"part", NULL}, *const cold[] = {"cold", "__part", NULL};
	const char *word = at + 1;
	const size_t length = strcspn(word, ".@"), number = strspn(word, "0123456789");

	if (is_word_of(word, length, copies))
		out->is_copy = true;
	else if (is_word_of(word, length, rest))
		out->part = out->part == PART_COLD ? PART_COLD : PART_REST;
	else if (is_word_of(word, length, cold))
		out->part = PART_COLD;
	else if (!is_word_of(word, length, others) && (!out->is_clone || !number || number != length))
		return 0;
	out->is_clone = true;
	return 1 + length;
}

static void parse_name(const char *name, struct parsed_name *out)
{
	const char *at = strchr(name, '@'), *point = name;
	const size_t whole = at && at > name ? (size_t)(at - name) : strlen(name);

	*out = (struct parsed_name){.version = name + whole, .part = PART_WHOLE};
	while (!out->function && *point && (point = strchr(point + 1, '.')) && point < name + whole) {
		struct parsed_name tried = *out;
		const char *end = point, *privatised = strstr(point, PRIVATISED);

		for (size_t length; *end == '.' && (length = read_clone(end, &tried));)
			end += length;
		if (end != name + whole)
			continue;
		*out = tried;
		out->function = or_abort(strndup(name, (size_t)(point - name)));
		if (privatised)
			out->suffix = or_abort(strndup(
			    privatised, strlen(PRIVATISED) + strspn(privatised + strlen(PRIVATISED), "0123456789")));
	}
	if (!out->function)
		out->function = or_abort(strndup(name, whole));
	if (!out->suffix)
		out->suffix = or_abort(strdup(""));
}

static void parsed_free(struct parsed_name *p)
{
	free(p->function);
	free(p->suffix);
}

/* --- symbols --- */

struct symbol {
	char *name; /* of dynamic ones with their version */
	struct binary_range range;
	size_t file; /* of a symbol that only its source file sees: which; 0: another */
	bool is_chosen;
	bool is_elsewhere; /* it is that of a library, which is called here */
};

struct symbol_table {
	Elf *elf;
	Elf_Data *data, *versions; /* versions: NULL if there are none */
	size_t count, names;
};

typedef void symbol_taker(void *context, const struct symbol *symbol);

/* The version of a dynamic symbol: "@V1", or "@@V1" of the one that programs get which ask for none. */
static void add_version(const struct symbol_table *t, size_t i, char *name, size_t size)
{
	GElf_Versym number;

	if (!t->versions || !gelf_getversym(t->versions, (int)i, &number) || (number & 0x7fff) < 2)
		return;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(t->elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Verdef definition;
		GElf_Verdaux text;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_GNU_verdef || !data)
			continue;
		for (int at = 0; gelf_getverdef(data, at, &definition); at += (int)definition.vd_next) {
			const char *version = (definition.vd_ndx & 0x7fff) == (number & 0x7fff) &&
						      gelf_getverdaux(data, at + (int)definition.vd_aux, &text)
						  ? elf_strptr(t->elf, header.sh_link, text.vda_name)
						  : NULL;
			const size_t length = strlen(name);

			if (version)
				snprintf(name + length, size - length, "%s%s", number & 0x8000 ? "@" : "@@", version);
			if (version || !definition.vd_next || (int)definition.vd_next < 0)
				return;
		}
	}
}

static void take_table(const struct symbol_table *t, symbol_taker *take, void *context)
{
	char name[4096];
	size_t file = 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < t->count && gelf_getsym(t->data, (int)i, &symbol); i++) {
		const char *text = elf_strptr(t->elf, t->names, symbol.st_name);
		const int type = GELF_ST_TYPE(symbol.st_info);

		file += type == STT_FILE;
		if (!text || !*text || (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		snprintf(name, sizeof(name), "%s", text);
		add_version(t, i, name, sizeof(name));
		take(context, &(struct symbol){name,
					       {symbol.st_value, symbol.st_value + symbol.st_size},
					       GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? file : 0,
					       type == STT_GNU_IFUNC,
					       symbol.st_shndx == SHN_UNDEF});
	}
}

static Elf_Data *versions_of(Elf *elf)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_versym)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static void take_symbols(Elf *elf, symbol_taker *take, void *context)
{
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || !data || !header.sh_entsize ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		take_table(&(struct symbol_table){elf, data, header.sh_type == SHT_DYNSYM ? versions_of(elf) : NULL,
						  header.sh_size / header.sh_entsize, header.sh_link},
			   take, context);
	}
}

struct go_symbols {
	symbol_taker *take;
	void *context;
};

static void take_go_function(void *context, const char *name, struct binary_range range)
{
	const struct go_symbols *g = context;

	g->take(g->context, &(struct symbol){.name = (char *)(uintptr_t)name, .range = range});
}

/* Of the binary, of its debug symbols, and if neither has any, of Go. */
static void take_all_symbols(const struct binary *b, symbol_taker *take, void *context)
{
	GElf_Shdr header;

	take_symbols(b->elf, take, context);
	take_symbols(b->debug, take, context);
	if (!b->debug && !binary_section(b->elf, ".symtab", &header))
		binary_go_functions(b, take_go_function, &(struct go_symbols){take, context});
}

/* --- the function of a name --- */

struct found_symbol {
	struct symbol symbol; /* with a name of its own */
	struct parsed_name parsed;
};

struct symbol_search {
	const char *wanted;
	struct found_symbol *list;
	size_t count;
	bool is_exact;	   /* one is called exactly so, with what was appended to its name */
	bool has_default;  /* one that is of no older version */
	bool is_elsewhere; /* a library has it */
	bool is_coroutine;
	const char **all; /* for "did you mean"; NULL ends */
	size_t all_count;
};

static void search_free(struct symbol_search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->list[i].symbol.name);
		parsed_free(&s->list[i].parsed);
	}
	for (size_t i = 0; i < s->all_count; i++)
		free((char *)(uintptr_t)s->all[i]);
	free(s->list);
	free(s->all);
}

/* A place that has several names is listed once, by the plainest. */
static struct found_symbol *found_at(struct symbol_search *s, uint64_t address)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].symbol.range.begin == address)
			return &s->list[i];
	return NULL;
}

static bool is_plainer(const struct parsed_name *a, const struct parsed_name *b)
{
	return a->is_clone != b->is_clone ? b->is_clone
					  : !strncmp(a->version, "@@", 2) && strncmp(b->version, "@@", 2) != 0;
}

/* Of a coroutine, compilers make these beside the function, which is called and returns when it first waits. */
static bool is_rest_of_coroutine(const char *name, const char *wanted)
{
	const char *point = strrchr(name, '.');
	char *function;
	bool is;

	if (!point || (strcmp(point, ".actor") != 0 && strcmp(point, ".resume") != 0))
		return false;
	function = or_abort(strndup(name, (size_t)(point - name)));
	is = binary_is_named(function, wanted);
	free(function);
	return is;
}

static void take_named(void *context, const struct symbol *symbol)
{
	struct symbol_search *s = context;
	struct parsed_name parsed;
	struct found_symbol *same;

	parse_name(symbol->name, &parsed);
	s->is_coroutine |= is_rest_of_coroutine(symbol->name, s->wanted);
	if (symbol->is_elsewhere) {
		s->is_elsewhere |= binary_is_named(parsed.function, s->wanted);
		parsed_free(&parsed);
		return;
	}
	s->all = grow_or_abort(s->all, s->all_count, sizeof(*s->all));
	s->all[s->all_count++] = or_abort(strdup(parsed.function));
	if (strcmp(symbol->name, s->wanted) != 0 && !binary_is_named(parsed.function, s->wanted)) {
		parsed_free(&parsed);
		return;
	}
	same = found_at(s, symbol->range.begin);
	if (same && !is_plainer(&parsed, &same->parsed)) {
		parsed_free(&parsed);
		return;
	}
	if (same) {
		free(same->symbol.name);
		parsed_free(&same->parsed);
	} else {
		s->list = grow_or_abort(s->list, s->count, sizeof(*s->list));
		same = &s->list[s->count++];
	}
	*same = (struct found_symbol){*symbol, parsed};
	same->symbol.name = or_abort(strdup(symbol->name));
	same->parsed.version = same->symbol.name + (parsed.version - symbol->name);
}

static bool is_old_version(const struct parsed_name *p)
{
	return *p->version && p->version[1] != '@';
}

/* What is asked for by its whole name is that alone, with its part that is seldom come to; programs that ask for no version
 * get the default one. */
static bool is_meant(const struct symbol_search *s, const struct found_symbol *f)
{
	const size_t length = strlen(s->wanted);

	if (s->is_exact)
		return !strncmp(f->symbol.name, s->wanted, length) &&
		       (!f->symbol.name[length] || f->parsed.part == PART_COLD);
	return !s->has_default || !is_old_version(&f->parsed);
}

static void keep_meant(struct symbol_search *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct found_symbol *f = &s->list[i];

		s->is_exact |= !strcmp(f->symbol.name, s->wanted) && (f->parsed.is_clone || *f->parsed.version);
		s->has_default |= !is_old_version(&f->parsed);
	}
	for (size_t i = 0; i < s->count; i++) {
		if (is_meant(s, &s->list[i])) {
			s->list[kept++] = s->list[i];
			continue;
		}
		free(s->list[i].symbol.name);
		parsed_free(&s->list[i].parsed);
	}
	s->count = kept;
}

/* Are both of one function? A copy belongs to the function of its source file, or to the one that all files see. */
static bool is_same_function(const struct found_symbol *a, const struct found_symbol *b)
{
	return !strcmp(a->parsed.function, b->parsed.function) && !strcmp(a->parsed.suffix, b->parsed.suffix) &&
	       (a->symbol.file == b->symbol.file || (!a->symbol.file && b->parsed.is_clone) ||
		(!b->symbol.file && a->parsed.is_clone)) &&
	       !strcmp(a->parsed.version, b->parsed.version);
}

static int complain_of_several(const struct binary *b, const struct symbol_search *s, struct err *e)
{
	char list[512] = "";
	size_t length = 0;

	for (size_t i = 0; i < s->count && length < sizeof(list); i++) {
		const struct found_symbol *f = &s->list[i];
		char *written = binary_demangled(f->symbol.name);

		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s%s at 0x%" PRIx64, i ? ", " : "",
					   written ? written : f->symbol.name,
					   !strncmp(f->parsed.version, "@@", 2) ? " (the default)" : "",
					   f->symbol.range.begin);
		free(written);
	}
	return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
		       "has %zu functions '%.80s': give the address of one (BINARY:0xADDRESS) or its parameters: %s",
		       s->count, s->wanted, list);
}

static int complain_of_none(const struct binary *b, struct symbol_search *s, struct err *e)
{
	char hint[SUGGESTION_MAX];

	s->all = grow_or_abort(s->all, s->all_count, sizeof(*s->all));
	s->all[s->all_count] = NULL;
	if (s->is_elsewhere)
		return err_set(e, -ENOENT, STATUS_USAGE, b->path, NULL,
			       "has no function '%.80s' of its own: it calls that of a library (`ldd %s` lists them): "
			       "give LIBRARY:%.80s",
			       s->wanted, b->path, s->wanted);
	return err_set(
	    e, -ENOENT, STATUS_USAGE, b->path, NULL,
	    "has no function '%.80s'%s (an inlined function has none; of a stripped binary, install the debug "
	    "symbols, or give BINARY:0xADDRESS)",
	    s->wanted, suggestion(suggest(s->wanted, s->all), hint, sizeof(hint)));
}

/* A symbol without a size is one that was written in assembly; the table of unwinding may know it. */
static struct binary_range symbol_range(const struct binary *b, const struct symbol *symbol)
{
	struct binary_range range = symbol->range, unwound;

	if (range.end == range.begin && binary_unwound(b, range.begin, &unwound) && unwound.begin == range.begin)
		range = unwound;
	return range;
}

static int take_function(const struct binary *b, const struct symbol_search *s, struct binary_function *out,
			 struct err *e)
{
	const struct found_symbol *first = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct found_symbol *f = &s->list[i];

		/* What is global, and what is whole, says best which function it is. */
		if (f->parsed.part != PART_COLD && (!first || (!f->parsed.is_clone && first->parsed.is_clone) ||
						    (!f->symbol.file && first->symbol.file)))
			first = f;
	}
	if (!first)
		return err_set(e, -EINVAL, STATUS_USAGE, b->path, NULL,
			       "'%.80s' is a part of a function, which is never called: name the function", s->wanted);
	for (size_t i = 0; i < s->count; i++)
		if (!is_same_function(first, &s->list[i]))
			return complain_of_several(b, s, e);
	for (size_t i = 0; i < s->count; i++) {
		const struct found_symbol *f = &s->list[i];

		binary_function_add(out, f->symbol.name, symbol_range(b, &f->symbol), f->parsed.part);
		out->list[out->count - 1].is_copy = f->parsed.is_copy || f->parsed.part == PART_REST;
		out->is_chosen |= f->symbol.is_chosen;
	}
	return 0;
}

/* Linkers fold functions that do the same into one (ICF). An alias, whose name has that of the function in it, is none. */
static void take_folded(void *context, const struct symbol *symbol)
{
	struct binary_function *f = context;
	char *names[2];
	const char *own, *other;

	if (f->folded || symbol->is_elsewhere || symbol->range.begin != f->list[0].range.begin)
		return;
	names[0] = binary_demangled(f->list[0].name);
	names[1] = binary_demangled(symbol->name);
	own = names[0] ?: f->list[0].name;
	other = names[1] ?: symbol->name;
	if (!strstr(own, other) && !strstr(other, own))
		f->folded = or_abort(strdup(other));
	free(names[0]);
	free(names[1]);
}

int binary_function_find(const struct binary *b, const char *name, struct binary_function *out, struct err *e)
{
	struct symbol_search s = {.wanted = name};
	int rc;

	take_all_symbols(b, take_named, &s);
	keep_meant(&s);
	rc = s.count ? take_function(b, &s, out, e) : complain_of_none(b, &s, e);
	if (!rc)
		take_all_symbols(b, take_folded, out);
	out->is_coroutine = s.is_coroutine;
	search_free(&s);
	return rc;
}

void binary_function_add(struct binary_function *f, const char *name, struct binary_range range, enum binary_part part)
{
	f->list = grow_or_abort(f->list, f->count, sizeof(*f->list));
	f->list[f->count++] = (struct binary_body){.name = or_abort(strdup(name)), .range = range, .part = part};
}

void binary_function_free(struct binary_function *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->list[i].name);
	free(f->list);
	free(f->folded);
}

/* --- the function around an address --- */

struct around {
	uint64_t address;
	struct binary_range range;
	char *name;
};

/* Of several, one that begins there, or else the shortest. */
static void take_around(void *context, const struct symbol *symbol)
{
	struct around *a = context;
	const struct binary_range r = symbol->range;

	if (symbol->is_elsewhere || a->address < r.begin || a->address >= r.end ||
	    (a->name && (a->range.begin == a->address || r.end - r.begin >= a->range.end - a->range.begin) &&
	     !(r.begin == a->address && a->range.begin != a->address)))
		return;
	free(a->name);
	a->name = or_abort(strdup(symbol->name));
	a->range = r;
}

bool binary_function_around(const struct binary *b, uint64_t address, struct binary_body *out)
{
	struct around a = {.address = address};
	struct parsed_name parsed;

	take_all_symbols(b, take_around, &a);
	if (!a.name && !binary_unwound(b, address, &a.range))
		return false;
	a.name = a.name ? a.name : or_abort(strdup(""));
	parse_name(a.name, &parsed);
	*out = (struct binary_body){.name = a.name, .range = a.range, .part = parsed.part};
	parsed_free(&parsed);
	return true;
}
