#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/program/binary_parts.h"

#define DEEPEST	   64 /* blocks within blocks, where inlined functions are looked for */
#define NAMED_MOST 8  /* functions that a message lists */

/* --- debugging information --- */

/* A place where a function was inlined, or (`is_body`) a body of its own. */
struct inlined_place {
	Dwarf_Die die, function; /* function: the one into which it was inlined */
	Dwarf_Off origin;	 /* the description that all places of one function share */
	bool is_external;	 /* other files see it: its name is its own */
	bool is_body;
};

struct inlined_search {
	const char *wanted;
	struct inlined_place *list;
	size_t count;
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

/* Is `plain` what follows the last "::" of a name, but for parameters and template arguments? */
static bool is_last_part(const char *name, const char *plain)
{
	const char *last = name;
	size_t length;
	int depth = 0;

	for (const char *at = name; *at && (depth || *at != '(' || !strncmp(at, "(anonymous", 10)); at++) {
		depth += (*at == '<') - (*at == '>' && at > name && at[-1] != '-');
		if (!depth && !strncmp(at, "::", 2))
			last = at + 2;
	}
	length = strcspn(last, "<(");
	return !strncmp(plain, last, length) && (!plain[length] || plain[length] == '<');
}

/* Functions that only their file sees may have no linkage name: then what follows the last "::" has to do. */
static bool die_is_named(Dwarf_Die *die, const char *name)
{
	const char *linked = linkage_name(die), *plain = dwarf_diename(die);

	/* Most have another name: that is cheaper to see than what a linkage name says. */
	if (plain && strncmp(name, "_Z", 2) != 0 && !is_last_part(name, plain))
		return false;
	if (linked)
		return binary_is_named(linked, name);
	return plain != NULL;
}

static void places_add(struct inlined_search *s, Dwarf_Die *die, Dwarf_Die *function, bool is_body)
{
	struct inlined_place place = {.die = *die, .is_body = is_body};
	Dwarf_Attribute attribute;
	Dwarf_Die origin = *die;
	bool flag;

	if (function)
		place.function = *function;
	if (dwarf_attr(die, DW_AT_abstract_origin, &attribute))
		dwarf_formref_die(&attribute, &origin);
	place.origin = dwarf_dieoffset(&origin);
	place.is_external =
	    dwarf_attr_integrate(die, DW_AT_external, &attribute) && !dwarf_formflag(&attribute, &flag) && flag;
	s->list = grow_or_abort(s->list, s->count, sizeof(*s->list));
	s->list[s->count++] = place;
}

/* `function`: the innermost one around the block that is not inlined, or NULL. */
static void look_for_places(Dwarf_Die *block, Dwarf_Die *function, unsigned depth, struct inlined_search *s)
{
	Dwarf_Die die;
	int rc = dwarf_child(block, &die);

	for (; !rc && depth < DEEPEST; rc = dwarf_siblingof(&die, &die)) {
		const int tag = dwarf_tag(&die);
		Dwarf_Addr address;

		if (((tag == DW_TAG_inlined_subroutine && function) ||
		     (tag == DW_TAG_subprogram && !dwarf_entrypc(&die, &address))) &&
		    die_is_named(&die, s->wanted))
			places_add(s, &die, function, tag == DW_TAG_subprogram);
		if (dwarf_haschildren(&die) > 0)
			look_for_places(&die, tag == DW_TAG_subprogram ? &die : function, depth + 1, s);
	}
}

/* In debugging information of the binary, or else of its separate file. */
static void find_places(struct binary *b, struct inlined_search *s)
{
	for (unsigned i = 0; i < 2 && !s->count; i++) {
		Dwarf *dwarf = binary_dwarf(b, i);
		Dwarf_CU *unit = NULL;
		Dwarf_Die die;

		while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
			look_for_places(&die, NULL, 0, s);
	}
}

static const char *function_name(Dwarf_Die *function)
{
	return linkage_name(function) ?: dwarf_diename(function);
}

void binary_inlined_into(struct binary *b, const char *name, struct binary_names *out)
{
	struct inlined_search s = {.wanted = name};

	find_places(b, &s);
	for (size_t i = 0; i < s.count && out->count < NAMED_MOST; i++) {
		const char *into = s.list[i].is_body ? NULL : function_name(&s.list[i].function);
		char *written = into ? binary_demangled(into) : NULL;

		if (into)
			binary_names_add(out, written ? written : into);
		free(written);
	}
	free(s.list);
}

/* --- the instructions around a place --- */

#define CODES_MOST 8 /* parts of the function around */

struct node {
	const struct code_instruction *in;
	long next[2];	  /* other nodes; -1: none, or it leaves the function */
	bool is_of_place; /* the debugging information says so */
	bool is_after;	  /* comes after the beginning of the place */
	bool is_before;	  /* comes before one of the place, not by its beginning */
	bool is_inside;	  /* both, or the beginning */
	bool is_lost;	  /* it may jump to anywhere within the function */
	bool is_target;	  /* something jumps to it */
	bool is_filler;	  /* between two blocks: nothing comes to it */
};

struct graph {
	struct binary *binary;
	struct code code[CODES_MOST];
	size_t codes, count;
	struct node *nodes;
	long *queue;
	long beginning;
};

static long node_at(const struct graph *g, uint64_t address)
{
	size_t first = 0;

	for (size_t i = 0; i < g->codes; first += g->code[i++].count) {
		const struct code_instruction *in = code_at(&g->code[i], address);

		if (in)
			return (long)(first + (size_t)(in - g->code[i].list));
	}
	return -1;
}

static void connect(struct graph *g, struct node *n)
{
	const struct code_instruction *in = n->in;
	uint64_t target = 0;
	unsigned reg;
	int64_t offset;

	n->next[0] = n->next[1] = -1;
	if (in->flow == CODE_NEXT || in->flow == CODE_BRANCH)
		n->next[0] = node_at(g, in->address + in->size);
	if (in->flow == CODE_JUMP || in->flow == CODE_BRANCH)
		target = in->target;
	if (target)
		n->next[1] = node_at(g, target);
	n->is_lost = in->flow == CODE_INDIRECT && !in->is_leaving;
	/* Where the frame is known, a site can be told from the same one in another call. */
	n->is_lost |= !binary_frame(g->binary, in->address, &reg, &offset);
}

static bool read_graph(struct graph *g, Dwarf_Die *function)
{
	Dwarf_Addr base, begin, end;
	bool is_whole = true;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &begin, &end)) > 0;) {
		uint8_t *bytes = g->codes < CODES_MOST ? binary_bytes(g->binary, begin, end - begin) : NULL;
		uint64_t undecoded;

		is_whole &= bytes &&
			    !code_decode(g->binary->machine, bytes, end - begin, begin, &g->code[g->codes], &undecoded);
		g->count += bytes ? g->code[g->codes++].count : 0;
		free(bytes);
	}
	g->nodes = or_abort(calloc(g->count + 1, sizeof(*g->nodes)));
	g->queue = or_abort(calloc(g->count + 1, sizeof(*g->queue)));
	for (size_t i = 0, n = 0; i < g->codes; i++)
		for (size_t k = 0; k < g->code[i].count; k++)
			g->nodes[n++].in = &g->code[i].list[k];
	return is_whole && g->count;
}

static void graph_free(struct graph *g)
{
	for (size_t i = 0; i < g->codes; i++)
		code_free(&g->code[i]);
	free(g->nodes);
	free(g->queue);
}

/* Mark all that come after `from` without passing the beginning again; within the place only, if `inside`. */
static void graph_walk(struct graph *g, long from, bool inside, bool *marks)
{
	size_t count = 0;

	g->queue[count++] = from;
	while (count) {
		const struct node *n = &g->nodes[g->queue[--count]];

		for (size_t i = 0; i < 2; i++)
			if (n->next[i] >= 0 && n->next[i] != g->beginning && !marks[n->next[i]] &&
			    (!inside || g->nodes[n->next[i]].is_inside)) {
				marks[n->next[i]] = true;
				g->queue[count++] = n->next[i];
			}
	}
}

/* Which instructions come before one of the place: as often as there are news. */
static void mark_before(struct graph *g)
{
	for (bool has_news = true; has_news;) {
		has_news = false;
		for (size_t k = g->count; k-- > 0;) {
			struct node *n = &g->nodes[k];

			for (size_t i = 0; !n->is_before && i < 2; i++)
				if (n->next[i] >= 0 && n->next[i] != g->beginning &&
				    (g->nodes[n->next[i]].is_of_place || g->nodes[n->next[i]].is_before))
					n->is_before = has_news = true;
		}
	}
}

static void mark_fillers(struct graph *g)
{
	for (size_t k = 0; k < g->count; k++)
		if (g->nodes[k].next[1] >= 0)
			g->nodes[g->nodes[k].next[1]].is_target = true;
	for (size_t k = 1; k < g->count; k++) {
		const struct node *last = &g->nodes[k - 1];
		struct node *n = &g->nodes[k];

		n->is_filler = n->in->is_filler && !n->is_target && (last->is_filler || last->next[0] < 0);
		if (n->is_filler)
			n->next[0] = -1;
	}
}

static void mark_inside(struct graph *g, Dwarf_Die *die)
{
	bool *after = or_abort(calloc(g->count + 1, sizeof(*after)));

	for (size_t k = 0; k < g->count; k++) {
		connect(g, &g->nodes[k]);
		g->nodes[k].is_of_place = dwarf_haspc(die, g->nodes[k].in->address) > 0;
	}
	mark_fillers(g);
	graph_walk(g, g->beginning, false, after);
	mark_before(g);
	for (size_t k = 0; k < g->count; k++) {
		struct node *n = &g->nodes[k];

		n->is_after = after[k];
		n->is_inside = (long)k == g->beginning || (after[k] && (n->is_of_place || n->is_before));
	}
	free(after);
}

/* Why the place cannot be told from the code around; NULL: it can. */
static const char *why_mixed(struct graph *g)
{
	bool *marks = or_abort(calloc(g->count + 1, sizeof(*marks)));
	const char *why = NULL;

	for (size_t k = 0; !why && k < g->count; k++) {
		const struct node *n = &g->nodes[k];

		if (n->is_inside && n->is_lost)
			why = "it jumps by a table, or its frame is not known";
		for (size_t i = 0; !why && i < 2; i++)
			if (!n->is_inside && n->next[i] >= 0 && n->next[i] != g->beginning &&
			    g->nodes[n->next[i]].is_inside)
				why = "it is entered at several places";
		/* A loop of the function around, of which the compiler has moved a part of this one out. */
		if (!why && n->is_inside && !n->is_of_place) {
			memset(marks, 0, g->count * sizeof(*marks));
			graph_walk(g, (long)k, true, marks);
			if (marks[k])
				why = "it is mixed with a loop of the function around it";
		}
	}
	free(marks);
	return why;
}

/* --- sites --- */

struct inlined_sites {
	struct graph *graph;
	struct binary_sites *out;
	const struct binary_function *function;
	const char *why; /* something cannot be probed */
};

static struct binary_site *add_inlined(struct inlined_sites *s, const struct code_instruction *in)
{
	struct binary_site *site = in->harm ? NULL : binary_sites_add(s->graph->binary, in->address, s->out);

	if (!site || !binary_frame(s->graph->binary, in->address, &site->frame, &site->frame_offset))
		s->why = in->harm ? in->harm : "its frame is not known";
	return site;
}

static bool is_part_of(const struct binary_function *f, uint64_t address)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].range.begin == address && f->list[i].part != PART_COLD)
			return true;
	return false;
}

/* Where the next instruction is outside: there is the end, which others may come to, too. */
static void add_joint(struct inlined_sites *s, long next)
{
	struct binary_site *site = add_inlined(s, s->graph->nodes[next].in);

	if (site)
		site->is_joint = true;
}

static void add_edge(struct inlined_sites *s, const struct node *n, size_t which, bool at_return)
{
	const struct code_instruction *in = n->in;
	const bool is_branch = in->flow == CODE_BRANCH, is_again = which == 1 && is_part_of(s->function, in->target);
	const long next = n->next[which];
	struct binary_site *site;

	if (!at_return && !is_again)
		return;
	if (at_return && is_again)
		return;
	if (next >= 0 && (in->is_call || in->harm ||
			  (is_branch && (in->condition < 0 || s->graph->binary->machine == CODE_AARCH64)))) {
		add_joint(s, next);
		return;
	}
	site = add_inlined(s, in);
	if (!site)
		return;
	site->is_again = is_again;
	if (is_branch && in->condition < 0)
		s->why = "it is left on a condition that a probe cannot see";
	if (is_branch) {
		site->clue = CLUE_FLAGS;
		site->condition = which ? in->condition : in->condition ^ 1;
		snprintf(site->fetch, sizeof(site->fetch), "%%flags:%s", s->graph->binary->word == 4 ? "u32" : "u64");
	}
}

/* All ways out of the place. */
static void add_ways_out(struct inlined_sites *s, bool at_return)
{
	const struct graph *g = s->graph;

	for (size_t k = 0; !s->why && k < g->count; k++) {
		const struct node *n = &g->nodes[k];
		const enum code_flow flow = n->in->flow;

		if (!n->is_inside)
			continue;
		if ((flow == CODE_RETURN || flow == CODE_INDIRECT) && at_return)
			add_inlined(s, n->in);
		if ((flow == CODE_NEXT || flow == CODE_BRANCH) &&
		    (n->next[0] < 0 || !g->nodes[n->next[0]].is_inside || n->next[0] == g->beginning))
			add_edge(s, n, 0, at_return);
		if ((flow == CODE_JUMP || flow == CODE_BRANCH) &&
		    (n->next[1] < 0 || !g->nodes[n->next[1]].is_inside || n->next[1] == g->beginning))
			add_edge(s, n, 1, at_return);
	}
}

static void own_ranges(struct binary_sites *out, Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;)
		binary_sites_own(out, (struct binary_range){begin, end});
}

static uint64_t beginning_of(Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end, entry;

	if (!dwarf_entrypc(die, &entry))
		return entry;
	return dwarf_ranges(die, 0, &base, &begin, &end) > 0 ? begin : 0;
}

/* What is found of a place that cannot be probed as a whole is left out. Returns why, or NULL. */
static const char *add_place(struct binary *b, const struct binary_function *f, struct inlined_place *p, bool at_return,
			     struct binary_sites *out)
{
	struct graph g = {.binary = b, .beginning = -1};
	struct inlined_sites s = {.graph = &g, .out = out, .function = f, .why = "its code is not known"};
	const size_t before = out->count;

	if (read_graph(&g, &p->function) && (g.beginning = node_at(&g, beginning_of(&p->die))) >= 0) {
		mark_inside(&g, &p->die);
		s.why = why_mixed(&g);
	}
	if (!s.why && !at_return)
		add_inlined(&s, g.nodes[g.beginning].in);
	if (!s.why)
		add_ways_out(&s, at_return);
	if (s.why)
		out->count = before;
	else
		own_ranges(out, &p->die);
	graph_free(&g);
	return s.why;
}

static void note_missing(struct binary_sites *out, const char *where, const char *why)
{
	char *written = where ? binary_demangled(where) : NULL;

	if (!out->missing++)
		snprintf(out->why, sizeof(out->why), "%s%.80s%s%s", where ? "where it was inlined into '" : "",
			 written ? written
			 : where ? where
				 : "",
			 where ? "', " : "", why);
	free(written);
}

/* Is there anything of it but code that was moved away? */
static bool has_code(Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;)
		if (begin < end)
			return true;
	return false;
}

/* Which description is that of the function whose bodies are known. */
static bool find_origin(struct inlined_search *s, const struct binary_function *f, struct inlined_place *out)
{
	Dwarf_Addr address;

	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].is_body && !dwarf_entrypc(&s->list[i].die, &address) && is_part_of(f, address)) {
			*out = s->list[i];
			return true;
		}
	return false;
}

void binary_inlined_add(struct binary *b, const struct binary_function *f, const char *name, bool at_return,
			struct binary_sites *out)
{
	struct inlined_search s = {.wanted = name};
	struct inlined_place body;
	bool is_known;

	find_places(b, &s);
	is_known = find_origin(&s, f, &body);
	for (size_t i = 0; is_known && i < s.count; i++) {
		struct inlined_place *p = &s.list[i];
		const char *why;

		if (p->is_body || (p->origin != body.origin && !(p->is_external && body.is_external)))
			continue;
		why = has_code(&p->die) ? add_place(b, f, p, at_return, out) : "nothing is left of it";
		if (why)
			note_missing(out, function_name(&p->function), why);
		out->has_copies = true;
	}
	for (size_t i = 0; !is_known && i < f->count; i++)
		if (f->list[i].part == PART_REST)
			note_missing(
			    out, NULL,
			    "its beginning was inlined elsewhere, and without debugging information (-g) nobody "
			    "knows where");
	free(s.list);
}
