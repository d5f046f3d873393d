#include "measure/endpoint/endpoint_state.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "measure/instrument/waker.h"

#define STACK_BYTES   (256 * 1024)
#define STACK_TOUCHED (64 * 1024)
#define START_SPIN_NS 200000

static void on_wake(int signal_number)
{
	(void)signal_number; /* only needed to interrupt a blocking read or futex with EINTR */
}

void runners_init(struct runners *r, struct worker *worker, int ended_fd)
{
	struct sigaction wake = {.sa_handler = on_wake};

	*r = (struct runners){.worker = worker, .ended_fd = ended_fd, .reserved_cpu = -1};
	sigaction(WAKER_SIGNAL, &wake, NULL);
}

/* Touches the stack below this frame now rather than in the timed loop. */
static __attribute__((noinline)) void prefault_stack(void)
{
	volatile char frames[STACK_TOUCHED];

	for (size_t i = 0; i < sizeof(frames); i += 1024)
		frames[i] = 0;
}

/* A thread that sleeps may run on any CPU except for one on which another thread spins. */
static void exclude_cpu(int cpu)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || cpu >= CPU_SETSIZE)
		return;
	CPU_CLR((unsigned)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void pin(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);

	if (!set)
		return;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	sched_setaffinity(0, size, set);
	CPU_FREE(set);
}

static atomic_int *stop_flag;	 /* set by the handler of SIGXCPU */
static atomic_bool ran_too_long; /* the handler has set it */

static void on_limit(int signal_number)
{
	(void)signal_number;
	atomic_store(&ran_too_long, true);
	if (stop_flag)
		atomic_store(stop_flag, 1);
}

/*
 * A spinning real-time thread keeps all others off its CPU. Two things limit that: the kernel's
 * throttling (kernel.sched_rt_runtime_us), unless it is switched off; and this limit on how long
 * such a thread may run without sleeping. At the limit, the thread is asked to stop, and if it does
 * not, it is killed with its process (setrlimit(2), RLIMIT_RTTIME).
 */
static int bound_priority(struct runners *r, int64_t limit_ns, struct err *e)
{
	const rlim_t grace_us = 5000000;
	rlim_t limit_us = (rlim_t)limit_ns / 1000;
	struct sigaction stop = {.sa_handler = on_limit};

	stop_flag = &r->worker->stop;
	sigaction(SIGXCPU, &stop, NULL);
	if (setrlimit(RLIMIT_RTTIME, &(struct rlimit){limit_us, limit_us + grace_us}))
		return err_set(e, -errno, STATUS_IMPOSSIBLE, "priority_limit", NULL,
			       "the limit of real-time CPU time (RLIMIT_RTTIME) cannot be set: %s", strerror(errno));
	return 0;
}

/* It is an error if the priority is not granted, because the numbers would be those of a different
 * experiment. */
int runners_prioritise(struct runners *r, int priority, int64_t limit_ns, struct err *e)
{
	struct sched_param none = {0}, wanted = {.sched_priority = priority};
	int rc = 0;

	r->priority = priority;
	if (!priority)
		return 0;
	if (sched_setscheduler(0, SCHED_FIFO, &wanted))
		rc = err_set(e, -errno, STATUS_IMPOSSIBLE, "priority", NULL,
			     "SCHED_FIFO %d was denied: %s; it needs CAP_SYS_NICE or a higher `ulimit -r`", priority,
			     strerror(errno));
	sched_setscheduler(0, SCHED_OTHER, &none);
	return rc ? rc : bound_priority(r, limit_ns, e);
}

bool runners_overran(void)
{
	return atomic_exchange(&ran_too_long, false);
}

/* When a CPU goes offline, the kernel moves its threads to others, and lets them run there. */
static bool has_lost(int cpu)
{
	cpu_set_t set;

	return sched_getcpu() != cpu || (cpu < CPU_SETSIZE && !sched_getaffinity(0, sizeof(set), &set) &&
					 (CPU_COUNT(&set) != 1 || !CPU_ISSET((unsigned)cpu, &set)));
}

static void raise_priority(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	sched_setscheduler(0, SCHED_FIFO, &param);
}

/*
 * Makes system calls as cheap as in a process without threads, because the programs to compare with
 * do not have any. With its own table of open files, the kernel need not count a reference on each
 * file (fs/file.c, __fget_light). Without cancellation, glibc need not switch its type twice per
 * call. Neither is required, so errors are ignored.
 */
static void lighten_system_calls(const struct transport_ops *ops)
{
	if (!ops->shares_files)
		unshare(CLONE_FILES);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

/* All flows of a repetition begin at the same time: sleep until shortly before it, then spin. */
static void await_start(const struct runners *all)
{
	const int64_t early_ns = all->start_ns - START_SPIN_NS;
	const struct timespec early = {early_ns / 1000000000, early_ns % 1000000000};
	struct timespec now;

	while (atomic_load(&all->wait) && !atomic_load_explicit(&all->worker->stop, memory_order_relaxed))
		runners_nap();
	if (!all->start_ns)
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &early, NULL) == EINTR &&
	       !atomic_load_explicit(&all->worker->stop, memory_order_relaxed))
		;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < all->start_ns &&
	       !atomic_load_explicit(&all->worker->stop, memory_order_relaxed));
}

static void *run_thread(void *arg)
{
	struct runner *r = arg;
	const struct runners *all = r->all;
	struct transport *transport = all->worker->transport;
	struct usage_mark mark;
	uint64_t one = 1;

	r->tid = gettid();
	if (r->cpu >= 0)
		pin(r->cpu);
	else if (all->reserved_cpu >= 0)
		exclude_cpu(all->reserved_cpu);
	if (all->priority)
		raise_priority(all->priority);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	lighten_system_calls(transport->ops);
	if (transport->ops->enter)
		transport->ops->enter(transport);
	prefault_stack();
	atomic_store(&r->started, true);
	await_start(all);
	usage_begin(&mark, all->counts_cycles);
	r->rc = r->loop(all->worker);
	usage_end(&mark, &r->usage);
	if (transport->ops->leave)
		transport->ops->leave(transport);
	r->usage.cpu_lost = r->cpu >= 0 && has_lost(r->cpu);
	atomic_store(&r->ended, true);
	if (write(all->ended_fd, &one, sizeof(one)) < 0)
		abort(); /* writing to this eventfd cannot fail */
	return NULL;
}

void runners_nap(void)
{
	struct timespec ts = {0, 1000000};

	nanosleep(&ts, NULL);
}

void runners_clear(struct runners *r, int64_t start_ns)
{
	r->count = 0;
	r->start_ns = start_ns;
}

int runners_start(struct runners *all, kernel_loop *loop, int cpu, struct err *e)
{
	struct runner *r = &all->runner[all->count];
	pthread_attr_t attr;

	memset(r, 0, sizeof(*r));
	r->all = all;
	r->loop = loop;
	r->cpu = cpu;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	int rc = -pthread_create(&r->thread, &attr, run_thread, r);

	pthread_attr_destroy(&attr);
	if (rc)
		return err_sys(e, rc, "measuring thread", "start");
	all->count++;
	while (!atomic_load(&r->started))
		runners_nap();
	return 0;
}

void runners_begin(struct runners *r)
{
	atomic_store(&r->wait, false);
}

bool runners_stop(struct runners *r, int tries)
{
	bool all = false;

	atomic_store(&r->worker->stop, 1);
	for (int i = 0; i < tries && !all; i++) {
		all = true;
		for (unsigned k = 0; k < r->count; k++)
			if (!atomic_load(&r->runner[k].ended)) {
				pthread_kill(r->runner[k].thread, WAKER_SIGNAL);
				all = false;
			}
		if (!all)
			runners_nap();
	}
	return all;
}

bool runners_have_ended(const struct runners *r)
{
	for (unsigned k = 0; k < r->count; k++)
		if (!atomic_load(&r->runner[k].ended))
			return false;
	return true;
}

int runners_failure(const struct runners *r)
{
	for (unsigned k = 0; k < r->count; k++) {
		const struct runner *one = &r->runner[k];

		if (atomic_load(&one->ended) && one->rc && one->rc != -EINTR)
			return one->rc;
	}
	return 0;
}

void runners_join(struct runners *r)
{
	for (unsigned k = 0; k < r->count; k++)
		pthread_join(r->runner[k].thread, NULL);
}

struct counters runners_usage(const struct runners *r)
{
	struct counters sum = r->runner[0].usage;

	for (unsigned k = 1; k < r->count; k++)
		counters_add(&sum, &r->runner[k].usage);
	return sum;
}
