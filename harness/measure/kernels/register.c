#include "measure/kernels/register.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/err.h"
#include "common/or_abort.h"

#define FIELD(f) offsetof(struct register_settings, f)

static const char *const register_pins[] = {
    [REGISTER_WITH_KERNEL] = "kernel", [REGISTER_WITH_DEVICE] = "device", [REGISTER_CONNECTION] = "connection", NULL};
static const char *const register_memories[] = {
    [REGISTER_SAME] = "same", [REGISTER_FRESH] = "fresh", [REGISTER_UNTOUCHED] = "untouched", NULL};

static const struct opt register_options[] = {
    {"messages", OPT_INT, FIELD(messages), "1000", 1, 1000000000, NULL, "number of registrations in one repetition",
     OPT_BOOKKEEPING},
    {"size", OPT_BYTES, FIELD(size), "4KiB", 1, INT64_C(1) << 36, NULL, "number of bytes to register"},
    {"pin", OPT_ENUM, FIELD(pin), "kernel", 0, 0, register_pins,
     "what pins the memory: the kernel (mlock), or the device (memory registration; verbs); or instead of memory a "
     "connection, a reliable queue pair, is set up and torn down (verbs)"},
    {"memory", OPT_ENUM, FIELD(memory), "same", 0, 0, register_memories,
     "what is registered: the same pages each time, fresh pages that have been written to, or untouched addresses, for "
     "which the registration has to allocate pages"},
    {"pages", OPT_ENUM, FIELD(pages), "small", 0, 0, memory_pages_names,
     "pages of the smallest size, transparent huge pages, or reserved huge pages (vm.nr_hugepages)"},
    {.name = NULL},
};

static const struct kernel_column register_columns[] = {
    [REGISTER_T_BEGIN] = {"t_begin", ROLE_SOURCE, NULL},
    [REGISTER_T_HELD] = {"t_held", ROLE_SOURCE, NULL},
    [REGISTER_T_DROP] = {"t_drop", ROLE_SOURCE, NULL},
    [REGISTER_T_GONE] = {"t_gone", ROLE_SOURCE, NULL},
    {.name = NULL},
};

static const struct kernel_series register_series[] = {
    {.name = "reg_ns", .label = "t_reg", .column = "t_held", .minus = "t_begin"},
    {.name = "dereg_ns", .label = "t_dereg", .column = "t_gone", .minus = "t_drop"},
    {.name = NULL},
};

static const char *const register_transports[] = {"verbs", "shmem", NULL};

static const struct kernel_thread register_threads[] = {
    [REGISTER_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [REGISTER_SINK] = {.name = "sink", .side = ROLE_SINK},
    {.name = NULL},
};

KERNEL_FITS(register_columns, register_threads);

#define REGISTER_MESSAGE 64 /* bytes of the transport's messages, none of which is sent */

static void register_plan(const void *settings, struct transport_config *config)
{
	const struct register_settings *s = settings;

	config->size = REGISTER_MESSAGE;
	config->is_idle = config->any_payload = true;
	config->schedule = (struct schedule){.messages = s->messages};
}

/* Nothing is posted, but forecasts are in units of posts: these numbers take about as long as
 * registering one page, and each further page. */
#define REGISTER_POSTS	      30
#define REGISTER_POSTS_A_PAGE 1 /* 4 if the pages are new */

static struct kernel_demand register_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct register_settings *s = settings;
	const int64_t a_page = s->memory == REGISTER_SAME ? REGISTER_POSTS_A_PAGE : 4 * REGISTER_POSTS_A_PAGE;

	(void)warm_up;
	return (struct kernel_demand){.posts = messages * (REGISTER_POSTS + s->size / 4096 * a_page)};
}

static int register_check(const void *settings, const struct transport_config *config,
			  const struct transport_traits *traits, char *why, size_t why_size)
{
	const struct register_settings *s = settings;

	(void)traits;
	if (s->pin == REGISTER_WITH_KERNEL || config->ops->registers_memory)
		return 0;
	snprintf(why, why_size,
		 "pin %s and transport %s: it has no device with which %s; use pin kernel, or transport verbs",
		 register_pins[s->pin], config->ops->name,
		 s->pin == REGISTER_WITH_DEVICE ? "memory could be registered" : "a connection could be set up");
	return -EINVAL;
}

/* --- the source's memory --- */

static void touch(const struct memory *m)
{
	memset(m->data, 1, m->size);
}

int register_renew(struct register_side *side)
{
	if (side->settings->memory == REGISTER_SAME)
		return 0;
	if (madvise(side->memory.data, side->memory.size, MADV_DONTNEED))
		return register_note(side, "give back the pages of", -errno);
	if (side->settings->memory == REGISTER_FRESH)
		touch(&side->memory);
	return 0;
}

int register_note(struct register_side *side, const char *what, int rc)
{
	side->failed = what;
	side->rc = rc;
	return rc;
}

static const char *limit_text(char *buf, size_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		snprintf(buf, size, "there is no limit on locked memory (ulimit -l)");
	else
		snprintf(buf, size, "the limit on locked memory is %llu KiB; raise it (ulimit -l), or register less",
			 (unsigned long long)limit.rlim_cur / 1024);
	return buf;
}

/* Memory that cannot be locked could not be registered, either: the same limit of the kernel
 * applies to both. */
static int try_to_lock(const struct memory *m, int64_t size, struct err *e)
{
	char limit[128];
	const int rc = register_lock(m->data, (size_t)size);

	if (!rc) {
		register_unlock(m->data, m->size);
		return 0;
	}
	return err_set(e, rc, STATUS_IMPOSSIBLE, "size", NULL, "%lld bytes cannot be locked: %s; %s", (long long)size,
		       strerror(-rc), limit_text(limit, sizeof(limit)));
}

static void register_close(void *arg)
{
	struct register_side *side = arg;

	memory_free(&side->memory);
	free(side);
}

static int register_open(const void *settings, const struct kernel_place *place, void **out, struct err *e)
{
	const struct register_settings *s = settings;
	struct register_side *side;
	int rc;

	if (place->role == ROLE_SINK)
		return 0;
	side = or_abort(calloc(1, sizeof(*side)));
	side->settings = s;
	rc = memory_reserve(&side->memory, (size_t)s->size, (enum memory_pages)s->pages, place->numa_node, e);
	if (!rc)
		rc = try_to_lock(&side->memory, s->size, e);
	if (rc) {
		register_close(side);
		return rc;
	}
	*out = side;
	return 0;
}

/* The endpoint has locked all of its memory, including this. */
static int register_start(void *arg, unsigned repetition, struct err *e)
{
	struct register_side *side = arg;

	(void)repetition, (void)e;
	side->failed = NULL;
	register_unlock(side->memory.data, side->memory.size);
	touch(&side->memory);
	return 0;
}

static int register_finish(void *arg, struct counters *c, struct err *e)
{
	const struct register_side *side = arg;
	char what[64], limit[128];

	(void)c;
	if (!side->failed)
		return 0;
	if (side->settings->pin == REGISTER_CONNECTION)
		return err_set(e, side->rc, STATUS_FAILED, "register", side->failed, "a connection: %s",
			       strerror(-side->rc));
	snprintf(what, sizeof(what), "%s memory", side->failed);
	return err_set(e, side->rc, STATUS_FAILED, "register", what, "%lld bytes: %s; %s",
		       (long long)side->settings->size, strerror(-side->rc), limit_text(limit, sizeof(limit)));
}

static const struct kernel_side_ops register_side_ops = {
    .open = register_open, .start = register_start, .finish = register_finish, .close = register_close};

static void register_rules(const void *settings, struct kernel_rules *out)
{
	const struct register_settings *s = settings;

	out->expects_page_faults = s->memory != REGISTER_SAME || s->pin == REGISTER_CONNECTION; /* its queues */
}

const struct kernel_ops register_kernel = {
    .name = "register",
    .summary = "registering memory with a device, locking it, or setting up a connection, and undoing that",
    .options = register_options,
    .settings_size = sizeof(struct register_settings),
    .columns = register_columns,
    .series = register_series,
    .threads = register_threads,
    .plan = register_plan,
    .demand = register_demand,
    .check = register_check,
    .rules = register_rules,
    .side = &register_side_ops,
    .transports = register_transports,
};
