#include "measure/program/probes.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "measure/instrument/clock.h"
#include "measure/program/requests.h"
#include "measure/trace/trace.h"

#define CALLS	      301
#define BUFFER_BYTES  (256 << 10) /* their events */
#define UPROBE_EVENTS "uprobe_events"
#define RETURN	      "%return"

const char *const probe_events[PROBE_ENDS] = {"from", "to"};

/* --- places --- */

void probe_place_free(struct probe_place *p)
{
	if (!p->name)
		return;
	probed_file_close(&p->file);
	free(p->name);
	binary_sites_free(&p->sites);
	p->name = NULL;
}

/* The colon behind the longest path of a file that the text begins with; those of a C++ name are doubled. Of no file, the
 * first. NULL: there is none. */
static int split_place(const char *text, const pid_t *tasks, size_t count, struct probed_file *file, size_t *length,
		       struct err *e)
{
	size_t first = 0;
	char *name;
	int rc;

	*length = 0;
	for (const char *colon = text + strlen(text); colon > text + 1; colon--) {
		char *path;

		if (*colon != ':' || !colon[1] || colon[1] == ':' || colon[-1] == ':')
			continue;
		path = or_abort(strndup(text, (size_t)(colon - text)));
		first = *length = (size_t)(colon - text);
		rc = probed_file_open(path, tasks, count, file, e);
		free(path);
		if (rc != -ENOENT || e->status)
			return rc;
		probed_file_close(file);
	}
	if (!first)
		return err_set(e, -EINVAL, STATUS_USAGE, text, NULL, "is not BINARY:FUNCTION");
	name = or_abort(strndup(text, first));
	rc = err_set(e, -ENOENT, STATUS_USAGE, name, NULL, "there is no such program or library%s",
		     strstr(name, ".so") && !strchr(name, '/')
			 ? ": a library is given by its path, which `ldd` shows for a program"
			 : "");
	free(name);
	return rc;
}

int probe_place_find(const char *text, const pid_t *tasks, size_t count, struct probe_place *out, struct err *e)
{
	size_t length;
	char *end;
	int rc;

	*out = (struct probe_place){.file = {.fd = -1}};
	rc = split_place(text, tasks, count, &out->file, &length, e);
	if (rc) {
		probed_file_close(&out->file);
		return rc;
	}
	out->name = or_abort(strdup(text + length + 1));
	end = out->name + strlen(out->name) - strlen(RETURN);
	out->at_return = end > out->name && !strcmp(end, RETURN);
	if (out->at_return)
		*end = '\0';
	out->is_usdt = binary_is_usdt(out->name);
	rc = out->is_usdt && out->at_return
		 ? err_set(e, -EINVAL, STATUS_USAGE, text, NULL, "a USDT probe has no return; leave out %s", RETURN)
		 : binary_find(&out->file, out->name, out->at_return, &out->sites, e);
	if (rc)
		probe_place_free(out);
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

/* How uprobe_events has what `id` names, of a place: "%di:u64"; "" of a return, which has none. */
static int fetch_of(const struct probe_place *place, const struct binary_site *site, const char *id,
		    char out[USDT_FETCH], struct err *e)
{
	const char *name;

	*out = '\0';
	if (!id || place->at_return)
		return 0;
	if (site->arguments && isdigit((unsigned char)*id)) {
		if (usdt_argument(site->arguments, (unsigned)strtoul(id, NULL, 10), out))
			return 0;
		return err_set(
		    e, -EINVAL, STATUS_USAGE, "--id", NULL,
		    "the USDT probe has no argument '%.20s' that the kernel can record: its arguments are '%.80s'", id,
		    site->arguments);
	}
	if (place->sites.has_copies && isdigit((unsigned char)*id))
		return err_set(
		    e, -EINVAL, STATUS_USAGE, "--id", NULL,
		    "the compiler has copied, split or inlined the function '%.80s', and argument %.20s may be "
		    "elsewhere in each: give a register, or forbid it (noipa)",
		    place->name, id);
	name = register_of(id, e);
	if (name)
		snprintf(out, USDT_FETCH, "%%%s:u64", name);
	return name ? 0 : -EINVAL;
}

/* How the kernel calls a register, by its number in DWARF. */
static const char *frame_register(const struct binary_sites *s, unsigned number, char buf[8])
{
	static const char *const wide[] = {"ax", "dx", "cx", "bx", "si", "di", "bp", "sp"}, *const narrow[] = {
												"ax", "cx", "dx", "bx",
												"sp", "bp", "si", "di"};

	if (s->machine == CODE_AARCH64)
		snprintf(buf, 8, number == 31 ? "sp" : "x%u", number % 31);
	else if (number < 8)
		return s->machine == CODE_I386 ? narrow[number] : wide[number];
	else
		snprintf(buf, 8, "r%u", number % 16);
	return buf;
}

/* What each probe records: which site it is, the frame of its function, the site's clue, and which goroutine runs, of which
 * Go keeps the address in a register, and the end of the stack behind it. */
static char *describe_fetches(const struct binary_sites *s, size_t number)
{
	const struct binary_site *site = &s->list[number];
	const char *go = !s->is_go		      ? ""
			 : s->machine == CODE_AARCH64 ? " task=%x28:u64 top=+8(%x28):u64"
						      : " task=%r14:u64 top=+8(%r14):u64";
	const char *type = s->machine == CODE_I386 ? "u32" : "u64";
	char none[16], reg[8];

	snprintf(none, sizeof(none), "\\0:%s", type);
	return fs_path("site=\\%zu:u32 frame=%%%s:u64 clue=%s%s", number, frame_register(s, site->frame, reg),
		       *site->fetch ? site->fetch : none, go);
}

/* All sites of a place are of one event. */
static int add_probe(const struct probes *p, enum probe_end end, const struct probe_place *place, size_t number,
		     const char *id, struct err *e)
{
	const struct binary_site *site = &place->sites.list[number];
	char fetch[USDT_FETCH], semaphore[24] = "", *line, *fetches;
	int rc = fetch_of(place, site, id, fetch, e);

	if (rc)
		return rc;
	if (site->semaphore)
		snprintf(semaphore, sizeof(semaphore), "(0x%" PRIx64 ")", site->semaphore);
	/* Never a return probe (r): that replaces the return address, of which a program dies that looks at its stack. */
	fetches = describe_fetches(&place->sites, number);
	/* By its descriptor, as the file may have no path here, or one that uprobe_events has no way to quote. */
	line = fs_path("p:%s/%s /proc/self/fd/%d:0x%" PRIx64 "%s %s%s%s", p->system, probe_events[end], place->file.fd,
		       site->offset, semaphore, fetches, *fetch ? " id=" : "", fetch);
	free(fetches);
	errno = 0;
	if (tracefs_instance_file_append(NULL, UPROBE_EVENTS, line) < 0) {
		rc = errno ? -errno : -EIO;
		if (rc == -EINVAL || rc == -EILSEQ)
			err_set(e, rc, STATUS_USAGE, place->file.path, NULL,
				"the kernel cannot probe it at 0x%" PRIx64 ": it does not know the instruction there, "
				"or has no such register",
				site->address);
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
		for (size_t i = 0; !rc && i < places[end].sites.count; i++)
			rc = add_probe(out, end, &places[end], i, id, e);
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

/* --- what a hit says --- */

bool probes_share_frames(const struct probe_place places[PROBE_ENDS])
{
	const struct probe_place *from = &places[PROBE_FROM], *to = &places[PROBE_TO];

	return from->sites.has_frames && to->sites.has_frames && !from->at_return && to->at_return &&
	       !strcmp(from->file.path, to->file.path) && !strcmp(from->name, to->name);
}

bool probe_hit_read(const struct probe_place *place, const struct trace_probe_hit *hit, struct request_stamp *out)
{
	const struct binary_sites *s = &place->sites;
	const struct binary_site *site = (uint64_t)hit->site < s->count ? &s->list[hit->site] : NULL;
	const uint64_t moved = site ? (uint64_t)hit->ip - site->address : 0, clue = (uint64_t)hit->clue - moved;

	if (!site || (site->clue == CLUE_FLAGS && !code_is_taken(site->condition, (uint64_t)hit->clue)) ||
	    (site->clue == CLUE_TARGET && binary_sites_have(s, clue)))
		return false;
	*out = (struct request_stamp){.time = hit->time,
				      .id = (uint64_t)hit->id,
				      .tid = hit->tid,
				      .is_again = site->is_again,
				      .is_inner = site->clue == CLUE_CALLER && binary_sites_have(s, clue - 1),
				      .is_joint = site->is_joint,
				      .task = (uint32_t)hit->tid,
				      .frame = (uint64_t)(hit->frame + site->frame_offset)};
	/* A goroutine's stack may move meanwhile, but not within itself. */
	if (s->is_go) {
		out->task = (uint64_t)hit->task;
		out->frame = (uint64_t)hit->top - out->frame;
	}
	return true;
}

/* --- what probes cost --- */

/* What is probed: a function for each end, as two probes at one place would share their trap. */
__attribute__((noinline)) static void probed_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void probed_end(void)
{
	__asm__ volatile("nop" ::: "memory");
}

/* How long a request that does nothing takes, in ticks: the median. */
static int64_t call_probed(void)
{
	int64_t took[CALLS];

	for (size_t i = 0; i < CALLS; i++) {
		const int64_t begin = clock_ticks_begin();

		probed_begin();
		probed_end();
		took[i] = clock_ticks_end() - begin;
	}
	sort_integers(took, CALLS);
	return took[CALLS / 2];
}

static int find_probed(void (*function)(void), const struct probe_place *like, struct probe_place *out, struct err *e)
{
	struct link_map *map = NULL;
	Dl_info here;
	char *text;
	int rc;

	*out = (struct probe_place){.name = NULL};
	if (!dladdr1((void *)(uintptr_t)function, &here, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return -ENOENT;
	text = fs_path("/proc/self/exe:0x%" PRIxPTR "%s", (uintptr_t)function - map->l_addr,
		       like->at_return ? "%return" : "");
	rc = probe_place_find(text, NULL, 0, out, e);
	free(text);
	return rc;
}

/* With the events that are enabled when the program runs: probes are traps of a thread whose calls are traced. */
static int64_t call_with_probes(const struct probes *probes, struct err *e)
{
	const pid_t self = getpid();
	struct trace *trace = NULL;
	struct cpulist cpus;
	int64_t took = 0;

	if (!trace_online_cpus(&cpus) && !trace_open(&trace, &cpus, BUFFER_BYTES, TRACE_SET_PROGRAM, e) &&
	    !trace_follow_program(trace, &self, 1, probes->system, e) && !trace_start(trace, e))
		took = call_probed();
	trace_close(trace);
	return took;
}

int64_t probe_cost_ns(const struct probe_place places[PROBE_ENDS], const struct clock_conversion *c)
{
	static void (*const probed[PROBE_ENDS])(void) = {[PROBE_FROM] = probed_begin, [PROBE_TO] = probed_end};
	struct probe_place own[PROBE_ENDS] = {{.name = NULL}};
	struct err e = ERR_INIT; /* what it says would be said of the program's probes, too */
	struct probes probes = {.system = ""};
	int64_t without, with = 0;
	int rc = 0;

	for (enum probe_end end = PROBE_FROM; !rc && end < PROBE_ENDS; end++)
		rc = find_probed(probed[end], &places[end], &own[end], &e);
	call_probed();
	without = call_probed();
	if (!rc && !probes_add(own, NULL, &probes, &e)) {
		with = call_with_probes(&probes, &e);
		probes_remove(&probes);
	}
	for (enum probe_end end = PROBE_FROM; end < PROBE_ENDS; end++)
		probe_place_free(&own[end]);
	return with > without ? clock_to_ns(c, with) - clock_to_ns(c, without) : 0;
}
