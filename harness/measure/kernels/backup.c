#include "measure/kernels/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "common/or_abort.h"

#define FIELD(f) offsetof(struct backup_settings, f)

static const struct opt backup_options[] = {
    {"messages", OPT_INT, FIELD(messages), "1000", 1, 1000000000, NULL,
     "number of writes in one repetition, as in the flow with `backups`", OPT_BOOKKEEPING},
    {"size", OPT_BYTES, FIELD(size), "32B", 1, 1 << 30, NULL, "payload of a write, from the sink to the source"},
    {"answer", OPT_BYTES, FIELD(answer), "0B", 0, 1 << 30, NULL,
     "payload of a confirmation, from the source; 0: as large as the write"},
    {.name = NULL},
};

static const struct kernel_column backup_columns[] = {
    [BACKUP_T_SUBM] = {"t_subm", ROLE_SINK, NULL},
    [BACKUP_T_BACK] = {"t_back", ROLE_SINK, NULL},
    {.name = NULL},
};

static const struct kernel_series backup_series[] = {
    {.name = "rtt_ns", .label = "t_rtt", .column = "t_back", .minus = "t_subm"},
    {.name = NULL},
};

static const struct kernel_thread backup_threads[] = {
    [BACKUP_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [BACKUP_SINK] = {.name = "sink", .side = ROLE_SINK},
    {.name = NULL},
};

KERNEL_FITS(backup_columns, backup_threads);

static void backup_plan(const void *settings, struct transport_config *config)
{
	const struct backup_settings *s = settings;

	config->size = s->answer ? s->answer : s->size;
	config->answer = config->size == s->size ? 0 : s->size;
	config->schedule = (struct schedule){.messages = s->messages};
}

static struct kernel_demand backup_demand(const void *settings, int64_t messages, bool warm_up)
{
	(void)settings, (void)warm_up;
	return (struct kernel_demand){.ways = 2 * messages};
}

static int backup_check(const void *settings, const struct transport_config *config,
			const struct transport_traits *traits, char *why, size_t why_size)
{
	const struct backup_settings *s = settings;

	if (!traits->is_reliable)
		snprintf(why, why_size,
			 "the kernel backup needs a reliable transport: a write that is lost is never "
			 "confirmed");
	else if (config->ops->has_own_clock)
		snprintf(why, why_size,
			 "the kernel backup waits for another flow in real time, which the transport %s "
			 "does not have",
			 config->ops->name);
	else if (config->answer && !config->ops->answers_differ)
		snprintf(why, why_size, "answer %lld and transport %s: all its messages have the size %lld",
			 (long long)s->answer, config->ops->name, (long long)s->size);
	else
		return 0;
	return -EINVAL;
}

/* --- shared counters --- */

int shared_counters_open(struct shared_counters_view *v, const struct kernel_place *place, struct err *e)
{
	struct stat st;
	void *data = MAP_FAILED;
	int fd, rc = 0;

	if (!place->point)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "a flow with backups needs the point's name");
	snprintf(v->name, sizeof(v->name), "/kblat-%u-%.16s-board", (unsigned)getuid(), place->point);
	fd = shm_open(v->name, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return err_sys(e, -errno, v->name, "create shared memory");
	if (fstat(fd, &st) || st.st_uid != getuid() || st.st_mode & 077)
		rc = err_set(e, -EPERM, STATUS_FAILED, v->name, "use shared memory", "it is not ours alone");
	else if ((rc = -posix_fallocate(fd, 0, sizeof(*v->counters))))
		rc = err_sys(e, rc, v->name, "reserve shared memory");
	else if ((data = mmap(NULL, sizeof(*v->counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
		rc = err_sys(e, -errno, v->name, "map shared memory");
	close(fd);
	v->counters = data == MAP_FAILED ? NULL : data;
	return rc;
}

/* All have opened it by now, so nobody needs its name any more. */
void shared_counters_start(struct shared_counters_view *v)
{
	if (*v->name)
		shm_unlink(v->name);
	*v->name = '\0';
	v->asked = atomic_load(&v->counters->asked.count);
	v->stored = atomic_load(&v->counters->stored.count);
}

void shared_counters_close(struct shared_counters_view *v)
{
	if (v->counters)
		munmap(v->counters, sizeof(*v->counters));
	if (*v->name)
		shm_unlink(v->name);
}

/* What is counted and those who sleep are read and written sequentially consistently, so either the sleeper sees the
 * new count, or who counts sees the sleeper. */
void shared_counter_sleep(struct shared_counter *c, uint32_t seen)
{
	atomic_fetch_add(&c->sleepers, 1);
	syscall(SYS_futex, &c->count, FUTEX_WAIT, seen, NULL, NULL, 0);
	atomic_fetch_sub(&c->sleepers, 1);
}

void shared_counter_wake(struct shared_counter *c)
{
	syscall(SYS_futex, &c->count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static int backup_open(const void *settings, const struct kernel_place *place, void **side, struct err *e)
{
	struct shared_counters_view *v;
	int rc;

	(void)settings;
	if (place->role == ROLE_SOURCE)
		return 0;
	v = or_abort(calloc(1, sizeof(*v)));
	rc = shared_counters_open(v, place, e);
	if (rc)
		free(v);
	else
		*side = v;
	return rc;
}

static int backup_start(void *side, unsigned repetition, struct err *e)
{
	(void)repetition, (void)e;
	shared_counters_start(side);
	return 0;
}

static int backup_finish(void *side, struct counters *c, struct err *e)
{
	(void)side, (void)c, (void)e;
	return 0;
}

static void backup_close(void *side)
{
	shared_counters_close(side);
	free(side);
}

static const struct kernel_side_ops backup_side_ops = {
    .open = backup_open, .start = backup_start, .finish = backup_finish, .close = backup_close};

const struct kernel_ops backup_kernel = {
    .name = "backup",
    .summary = "what a server with `backups` sends to one of them, and its confirmation",
    .options = backup_options,
    .settings_size = sizeof(struct backup_settings),
    .duplex = true,
    .backs_up = true,
    .columns = backup_columns,
    .series = backup_series,
    .threads = backup_threads,
    .plan = backup_plan,
    .demand = backup_demand,
    .check = backup_check,
    .side = &backup_side_ops,
};
