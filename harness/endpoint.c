#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/npy.h"
#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "endpoint.h"
#include "instrument/device_clock.h"
#include "instrument/nudge.h"
#include "instrument/recorder.h"
#include "instrument/sample_file.h"
#include "placement.h"
#include "settings.h"
#include "version.h"
#include "wire.h"

#define STACK_BYTES	    (256 * 1024)
#define STACK_TOUCHED	    (64 * 1024)
#define MAX_KERNEL_SETTINGS 512
#define MAX_RUNNERS	    3 /* completions, restamp, the loop itself */

struct endpoint;

/* One measuring thread. */
struct runner {
	struct endpoint *owner;
	int (*loop)(struct worker *w);
	int cpu; /* -1: unpinned */
	pthread_t thread;
	atomic_bool started, ended;
	bool created;
	int rc;
	struct counters usage;
};

struct endpoint {
	int out;
	int ended_fd; /* eventfd: a measuring thread has ended */
	struct wire in;
	bool quit;

	enum role role;
	const struct kernel_ops *kernel;
	const struct transport_ops *ops;
	const struct kernel_loops *loops;
	struct transport *transport;
	struct common_settings common;
	_Alignas(64) char settings[MAX_KERNEL_SETTINGS]; /* the kernel's own struct */
	struct placement placement;
	struct recorder recorder;
	struct clock_conversion conversion;
	uint64_t capacity;
	uint32_t signal_every;
	bool restamps, lossy, stamped, stores;
	bool undisturbed;		  /* this repetition is without the restamping thread */
	int restamp_cpu;		  /* where the source's restamping thread spins; -1: it has none */
	struct device_clock device_clock; /* where stamped: around the repetition */
	struct sample_file store;	  /* stores: of the sink */
	char store_name[32];
	const struct kernel_column *column[KERNEL_COLUMNS]; /* this side's, in the recorder's order */
	char *salvage; /* where to keep the columns if the coordinator is gone; NULL: nowhere */

	struct worker worker;
	struct runner runner[MAX_RUNNERS];
	unsigned runners;
	bool running;
	unsigned rep;
	json_t *device_before;
};

static void on_kick(int signal_number)
{
	(void)signal_number; /* exists to make a blocking read or futex return EINTR */
}

/* Frames below this one are touched now, not in the timed loop. */
static __attribute__((noinline)) void prefault_stack(void)
{
	volatile char frames[STACK_TOUCHED];

	for (size_t i = 0; i < sizeof(frames); i += 1024)
		frames[i] = 0;
}

/* A thread that sleeps may run anywhere but where the restamping one spins. */
static void keep_off(int cpu)
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

static atomic_int *stop_flag;	 /* what the handler of SIGXCPU sets */
static atomic_bool ran_too_long; /* and that it did */

static void on_limit(int signal_number)
{
	(void)signal_number;
	atomic_store(&ran_too_long, true);
	if (stop_flag)
		atomic_store(stop_flag, 1);
}

/*
 * A spinning thread of a real-time class keeps all others from its CPU. Two things bound that: the kernel's throttling
 * (kernel.sched_rt_runtime_us), where it is not switched off; and this limit on how long such a thread may run without
 * sleeping, at which it is told to stop, and killed with its process where it does not (setrlimit(2), RLIMIT_RTTIME).
 */
static int bound_priority(struct endpoint *ep, struct err *e)
{
	const rlim_t grace_us = 5000000;
	rlim_t limit_us = (rlim_t)ep->common.priority_limit / 1000;
	struct sigaction stop = {.sa_handler = on_limit};

	stop_flag = &ep->worker.stop;
	sigaction(SIGXCPU, &stop, NULL);
	if (setrlimit(RLIMIT_RTTIME, &(struct rlimit){limit_us, limit_us + grace_us}))
		return err_set(e, -errno, STATUS_IMPOSSIBLE, "priority_limit", NULL,
			       "the limit of real-time CPU time (RLIMIT_RTTIME) cannot be set: %s", strerror(errno));
	return 0;
}

static void raise_priority(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	sched_setscheduler(0, SCHED_FIFO, &param);
}

/*
 * A system call then costs a thread what it would cost a process without threads, as the programs have that people compare with: a table of open
 * files of its own spares the kernel a reference counted on the file (fs/file.c, __fget_light), and a thread that nobody cancels spares glibc saying
 * twice a call that it might be. What cannot be had is done without.
 */
static void lighten_system_calls(void)
{
	unshare(CLONE_FILES);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

static void *run_thread(void *arg)
{
	struct runner *r = arg;
	struct endpoint *ep = r->owner;
	struct usage_mark mark;
	uint64_t one = 1;

	if (r->cpu >= 0)
		pin(r->cpu);
	else if (ep->restamp_cpu >= 0)
		keep_off(ep->restamp_cpu);
	if (ep->common.priority)
		raise_priority((int)ep->common.priority);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	lighten_system_calls();
	prefault_stack();
	atomic_store(&r->started, true);
	usage_begin(&mark);
	r->rc = r->loop(&ep->worker);
	usage_end(&mark, &r->usage);
	atomic_store(&r->ended, true);
	if (write(ep->ended_fd, &one, sizeof(one)) < 0)
		abort(); /* an eventfd of our own can't fail */
	return NULL;
}

static void nap(void)
{
	struct timespec ts = {0, 1000000};

	nanosleep(&ts, NULL);
}

static int start_runner(struct endpoint *ep, int (*loop)(struct worker *w), int cpu, struct err *e)
{
	struct runner *r = &ep->runner[ep->runners];
	pthread_attr_t attr;

	memset(r, 0, sizeof(*r));
	r->owner = ep;
	r->loop = loop;
	r->cpu = cpu;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	int rc = -pthread_create(&r->thread, &attr, run_thread, r);

	pthread_attr_destroy(&attr);
	if (rc)
		return err_sys(e, rc, "measuring thread", "start");
	r->created = true;
	ep->runners++;
	while (!atomic_load(&r->started))
		nap();
	return 0;
}

/* Make every thread look at the stop flag, wherever it sleeps. A signal can come just before a blocking call, so it is
 * repeated. */
static bool stop_runners(struct endpoint *ep, int tries)
{
	bool all = false;

	atomic_store(&ep->worker.stop, 1);
	for (int i = 0; i < tries && !all; i++) {
		all = true;
		for (unsigned k = 0; k < ep->runners; k++)
			if (!atomic_load(&ep->runner[k].ended)) {
				pthread_kill(ep->runner[k].thread, NUDGE_SIGNAL);
				all = false;
			}
		if (!all)
			nap();
	}
	return all;
}

static bool all_ended(const struct endpoint *ep)
{
	for (unsigned k = 0; k < ep->runners; k++)
		if (!atomic_load(&ep->runner[k].ended))
			return false;
	return true;
}

static int reply(struct endpoint *ep, json_t *message)
{
	int rc = wire_send(ep->out, message);

	json_decref(message);
	return rc;
}

static int reply_error(struct endpoint *ep, const struct err *e)
{
	return reply(ep, json_pack("{s:s, s:s, s:i}", "type", "error", "text", e->text, "status", (int)e->status));
}

/* With no limit on locked memory, code and stacks are locked too; with one, locking everything could make later
 * allocations fail. */
static void lock_everything(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
		mlockall(MCL_CURRENT | MCL_FUTURE);
	else
		mlockall(MCL_CURRENT);
}

static int read_open(struct endpoint *ep, const json_t *order, const json_t **params, struct err *e)
{
	const char *role = json_string_value(json_object_get(order, "role"));
	const char *kernel = json_string_value(json_object_get(order, "kernel"));
	const char *transport = json_string_value(json_object_get(order, "transport"));
	const char *salvage = json_string_value(json_object_get(order, "salvage"));
	json_int_t origin, numerator, shift;

	*params = json_object_get(order, "params");
	if (!role || !kernel || !transport || !json_is_object(*params) ||
	    json_unpack((json_t *)order, "{s:{s:I, s:I, s:I}}", "conversion", "origin", &origin, "numerator",
			&numerator, "shift", &shift) ||
	    numerator <= 0 || shift < 0 || shift > 63)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "the order is not complete");
	ep->role = strcmp(role, "sink") ? ROLE_SOURCE : ROLE_SINK;
	ep->kernel = kernel_find(kernel);
	ep->ops = transport_find(transport);
	ep->loops = ep->kernel && ep->ops ? kernel_loops_find(ep->kernel, transport) : NULL;
	if (!ep->loops || ep->kernel->settings_size > sizeof(ep->settings))
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "this kblat has no kernel %s over %s", kernel,
			       transport);
	ep->conversion = (struct clock_conversion){origin, (uint64_t)numerator, (unsigned)shift};
	if (ep->ops->has_own_clock)
		ep->conversion = (struct clock_conversion){0, 1, 0};
	ep->signal_every = (uint32_t)json_integer_value(json_object_get(*params, "signal_every"));
	if (!ep->signal_every)
		ep->signal_every = 1;
	ep->stamped = json_is_true(json_object_get(*params, KERNEL_BY_DEVICE)) && ep->ops->read_clock;
	ep->lossy = !ep->ops->is_reliable(*params);
	ep->salvage = salvage ? strdup(salvage) : NULL;

	int rc = opt_load(common_options, *params, &ep->common, e);

	return rc ? rc : opt_load(ep->kernel->options, *params, ep->settings, e);
}

static int open_recorder(struct endpoint *ep, const json_t *params, struct err *e)
{
	const char *names[KERNEL_COLUMNS];
	unsigned count = 0;
	json_int_t messages = json_integer_value(json_object_get(params, "messages"));

	for (const struct kernel_column *c = ep->kernel->columns; c->name; c++)
		if (c->side == ep->role && kernel_has(params, c->with)) {
			ep->column[count] = c;
			names[count++] = c->name;
		}
	if (messages < 1 || messages > UINT32_MAX)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "has no valid number of messages");
	ep->capacity = (uint64_t)messages;
	return recorder_open(&ep->recorder, names, count, ep->capacity, ep->common.touch, ep->placement.numa_node, e);
}

/* A kernel without a thread for them polls its send completions busily; likewise where they are there at once. */
static enum poll_mode poll_send_of(const struct endpoint *ep)
{
	return ep->loops->completions && !ep->ops->completes_in_post ? settings_poll_send(&ep->common) : POLL_BUSY;
}

static int64_t size_of_message(const struct endpoint *ep, const json_t *params)
{
	if (!ep->kernel->size)
		return json_integer_value(json_object_get(params, "size_bytes"));
	return ep->kernel->size(params) + (ep->ops->overhead ? (int64_t)ep->ops->overhead(params) : 0);
}

/* Where samples are to be written to a file. Without a directory of its own, the file is beside what the run keeps of the point. */
static int open_store(struct endpoint *ep, const json_t *order, const json_t *params, struct err *e)
{
	const char *sink = json_string_value(json_object_get(params, "sink"));
	const char *dir = json_string_value(json_object_get(params, "sink_dir"));
	const char *name = json_string_value(json_object_get(order, "name"));
	int rc;

	if (ep->role != ROLE_SINK || !sink || strcmp(sink, "file"))
		return 0;
	if ((!dir || !*dir) && !ep->salvage)
		return err_set(e, -EINVAL, STATUS_USAGE, "sink file", NULL,
			       "the run directory is on another machine; name a place on this one with sink_dir");
	snprintf(ep->store_name, sizeof(ep->store_name), "samples%s%.16s", dir && *dir ? "-" : "",
		 dir && *dir && name ? name : "");
	rc = sample_file_open(&ep->store, dir && *dir ? dir : ep->salvage, ep->store_name,
			      json_is_true(json_object_get(params, "sink_keep")), ep->placement.spare_cpu,
			      ep->placement.numa_node, &ep->worker.stop, e);
	ep->stores = !rc;
	return rc;
}

static int open_transport(struct endpoint *ep, const json_t *order, const json_t *params, json_t **address,
			  struct err *e)
{
	const char *name = json_string_value(json_object_get(order, "name"));
	struct transport_config config = {
	    .role = ep->role,
	    .poll_send = poll_send_of(ep),
	    .poll_recv = (enum poll_mode)ep->common.poll,
	    .duplex = ep->kernel->duplex,
	    .size = size_of_message(ep, params),
	    .depth = ep->common.depth,
	    .numa_node = ep->placement.numa_node,
	    .stop = &ep->worker.stop,
	    .device_stamps = ep->stamped,
	    .name = name ? name : "",
	};

	return ep->ops->open(&config, params, &ep->transport, address, e);
}

static int check_restamp_cpu(const struct endpoint *ep, struct err *e)
{
	struct cpulist allowed;
	int rc = cpulist_allowed(&allowed);

	if (rc)
		return err_sys(e, rc, "this process", "read the CPU mask of");
	if (ep->restamp_cpu < 0)
		return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, "t_send", NULL,
			       "wants a CPU of its own beside source and sink, and there is none");
	if (ep->placement.cpu < 0 && cpulist_count(&allowed) < 2)
		return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, "t_send", NULL,
			       "with poll event the source would share CPU %d, the only one, with the thread that "
			       "keeps writing the time",
			       ep->restamp_cpu);
	return 0;
}

static int choose_cpus(struct endpoint *ep, const json_t *params, struct err *e)
{
	int rc = placement_choose(ep->role, &ep->common, params, &ep->placement, e);

	if (!rc)
		memory_prefer(ep->placement.numa_node);
	ep->restamp_cpu = ep->loops->restamp && kernel_has(params, "t_send") ? ep->placement.spare_cpu : -1;
	ep->restamps = ep->role == ROLE_SOURCE && ep->loops->restamp && kernel_has(params, "t_send");
	return rc || !ep->restamps ? rc : check_restamp_cpu(ep, e);
}

/* Asked for and not granted is not to be passed over: the numbers would be another experiment's. */
static int check_priority(struct endpoint *ep, struct err *e)
{
	struct sched_param none = {0}, wanted = {.sched_priority = (int)ep->common.priority};
	int rc = 0;

	if (!ep->common.priority)
		return 0;
	if (sched_setscheduler(0, SCHED_FIFO, &wanted))
		rc = err_set(e, -errno, STATUS_IMPOSSIBLE, "priority", NULL,
			     "SCHED_FIFO %d is refused: %s; it needs CAP_SYS_NICE or a higher `ulimit -r`",
			     wanted.sched_priority, strerror(errno));
	sched_setscheduler(0, SCHED_OTHER, &none);
	return rc ? rc : bound_priority(ep, e);
}

static int do_open(struct endpoint *ep, const json_t *order, struct err *e)
{
	const json_t *params;
	json_t *address = NULL;

	if (ep->transport)
		return err_set(e, -EPROTO, STATUS_FAILED, "open", NULL, "came twice");

	int rc = read_open(ep, order, &params, e);

	if (!rc)
		rc = choose_cpus(ep, params, e);
	if (!rc)
		rc = check_priority(ep, e);
	if (!rc)
		rc = open_recorder(ep, params, e);
	if (!rc)
		rc = open_store(ep, order, params, e);
	if (!rc)
		rc = open_transport(ep, order, params, &address, e);
	if (rc)
		return rc;
	if (ep->common.touch)
		lock_everything();
	return reply(ep, json_pack("{s:s, s:o, s:s, s:o}", "type", "opened", "address", address, "scratch",
				   ep->recorder.dir, "placement", placement_json(&ep->placement)));
}

static int do_connect(struct endpoint *ep, const json_t *order, struct err *e)
{
	if (!ep->transport)
		return err_set(e, -EPROTO, STATUS_FAILED, "connect", NULL, "came before open");

	int rc = ep->ops->connect(ep->transport, json_object_get(order, "peer"), e);

	if (rc)
		return rc;
	return reply(ep, json_pack("{s:s, s:o}", "type", "connected", "granted", ep->ops->granted(ep->transport)));
}

static void prepare_worker(struct endpoint *ep, uint32_t messages)
{
	struct worker *w = &ep->worker;

	memset(w, 0, sizeof(*w));
	w->transport = ep->transport;
	w->settings = ep->settings;
	w->poll_send = poll_send_of(ep);
	w->poll_recv = (enum poll_mode)ep->common.poll;
	w->messages = messages;
	w->depth = (uint32_t)ep->common.depth;
	w->clock = ep->conversion;
	w->signal_every = ep->signal_every;
	w->lossy = ep->lossy;
	w->rests_asleep = settings_poll_send(&ep->common) != POLL_BUSY;
	w->store = ep->stores ? &ep->store : NULL;
	w->blank = recorder_blank(&ep->recorder);
	w->spin_ticks = clock_from_ns(&w->clock, ep->common.spin);
	for (unsigned i = 0; i < ep->recorder.columns; i++)
		w->column[ep->column[i] - ep->kernel->columns] = ep->recorder.column[i].data;
}

/* The sink's loop starts here; the source's waits for "run", when the sink is known to listen. */
static int do_arm(struct endpoint *ep, const json_t *order, struct err *e)
{
	json_int_t messages = json_integer_value(json_object_get(order, "messages"));
	int rc;

	if (!ep->transport || ep->running || messages < 1 || (uint64_t)messages > ep->capacity)
		return err_set(e, -EPROTO, STATUS_FAILED, "arm", NULL, "came out of turn or asks for too much");
	ep->rep = (unsigned)json_integer_value(json_object_get(order, "rep"));
	ep->undisturbed = json_is_false(json_object_get(order, "restamp"));
	recorder_reset(&ep->recorder);
	rc = ep->ops->prepare(ep->transport, e);
	if (rc)
		return rc;
	if (ep->stamped)
		rc = ep->ops->read_clock(ep->transport, &ep->device_clock.first, &ep->device_clock.mask, e);
	if (rc)
		return rc;
	json_decref(ep->device_before);
	ep->device_before = ep->ops->device_counters(ep->transport);
	prepare_worker(ep, (uint32_t)messages);
	ep->runners = 0;
	ep->running = true;
	if (ep->stores)
		rc = sample_file_start(&ep->store, ep->rep, e);
	if (!rc && ep->role == ROLE_SINK)
		rc = start_runner(ep, ep->loops->sink, ep->placement.cpu, e);
	return rc ? rc : reply(ep, json_pack("{s:s}", "type", "armed"));
}

static int do_run(struct endpoint *ep, struct err *e)
{
	if (ep->role != ROLE_SOURCE || !ep->running || ep->runners)
		return err_set(e, -EPROTO, STATUS_FAILED, "run", NULL, "came out of turn");

	int cpu = ep->placement.cpu;
	int rc = poll_send_of(ep) != POLL_BUSY ? start_runner(ep, ep->loops->completions, cpu, e) : 0;

	if (!rc && ep->restamps && !ep->undisturbed)
		rc = start_runner(ep, ep->loops->restamp, ep->placement.spare_cpu, e);
	return rc ? rc : start_runner(ep, ep->loops->source, cpu, e);
}

static int64_t count_reordered(const int64_t *column, uint64_t count, int64_t blank)
{
	int64_t latest = NEVER, reordered = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (column[i] == blank)
			continue;
		if (column[i] < latest)
			reordered++;
		else
			latest = column[i];
	}
	return reordered;
}

static bool all_locked(const struct recorder *r)
{
	for (unsigned i = 0; i < r->columns; i++)
		if (!r->column[i].memory.locked)
			return false;
	return true;
}

static int64_t ticks_to_ns(const struct endpoint *ep, int64_t ticks)
{
	struct clock_conversion from_zero = ep->conversion;

	from_zero.origin = 0;
	return clock_to_ns(&from_zero, ticks);
}

/* What was recorded `with` a setting never happened. */
static void forget_columns(struct endpoint *ep, const char *with)
{
	for (unsigned i = 0; i < ep->recorder.columns; i++)
		for (uint32_t k = 0;
		     ep->column[i]->with && !strcmp(ep->column[i]->with, with) && k < ep->worker.messages; k++)
			ep->recorder.column[i].data[k] = ep->worker.blank;
}

/* The device's stamps, from its clock to the tick counter. Where that cannot be said, there are none. */
static void convert_device_stamps(struct endpoint *ep)
{
	struct device_clock *c = &ep->device_clock;
	bool good;

	if (!ep->stamped)
		return;
	good = ep->ops->read_clock(ep->transport, &c->last, &c->mask, NULL) == 0;
	for (unsigned i = 0; good && i < ep->recorder.columns; i++)
		if (ep->column[i]->with && !strcmp(ep->column[i]->with, KERNEL_BY_DEVICE))
			good = !device_clock_convert(c, ep->recorder.column[i].data, ep->worker.messages,
						     ep->worker.blank);
	if (!good)
		forget_columns(ep, KERNEL_BY_DEVICE);
	ep->worker.counters.device_clock_error_ns = ticks_to_ns(ep, device_clock_error(c));
}

static json_t *final_counters(struct endpoint *ep)
{
	struct counters *c = &ep->worker.counters;
	struct counters sum = ep->runner[0].usage;

	for (unsigned k = 1; k < ep->runners; k++)
		counters_add(&sum, &ep->runner[k].usage);
	counters_add(&sum, c);
	sum.duration_ns = ep->ops->has_own_clock ? 0 : ticks_to_ns(ep, sum.duration_ns);
	sum.stored_bytes = ep->stores ? (int64_t)ep->store.put : 0;
	sum.store_ns = ep->store.store_ns;
	sum.store_write_ns = ep->store.write_ns;
	sum.store_waits = (int64_t)ep->store.waits;
	sum.pinned = ep->placement.cpu >= 0;
	sum.locked = all_locked(&ep->recorder);
	if (ep->role == ROLE_SINK && ep->recorder.columns)
		sum.reordered = count_reordered(ep->recorder.column[0].data, ep->worker.messages, ep->worker.blank);
	return counters_json(&sum);
}

static int first_failure(const struct endpoint *ep)
{
	for (unsigned k = 0; k < ep->runners; k++) {
		const struct runner *r = &ep->runner[k];

		if (atomic_load(&r->ended) && r->rc && r->rc != -EINTR)
			return r->rc;
	}
	return 0;
}

static int send_columns(struct endpoint *ep)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < ep->recorder.columns; i++)
		rc = wire_send_raw(ep->out, ep->recorder.column[i].data, ep->worker.messages * sizeof(int64_t));
	return rc;
}

/* The measuring threads have ended: tell what happened, then the columns. */
static int report_done(struct endpoint *ep)
{
	struct err failure = ERR_INIT;
	json_t *columns = json_array();

	for (unsigned k = 0; k < ep->runners; k++)
		pthread_join(ep->runner[k].thread, NULL);
	bool stored = !ep->stores || sample_file_finish(&ep->store, &failure) == 0;

	if (atomic_exchange(&ran_too_long, false))
		err_set(&failure, -EDQUOT, STATUS_FAILED, "priority_limit", NULL,
			"a measuring thread ran for %lld ms at SCHED_FIFO %lld without sleeping, and was stopped; "
			"raise the limit where that is what you want",
			(long long)ep->common.priority_limit / 1000000, (long long)ep->common.priority);
	else if (stored && first_failure(ep) && ep->ops->failure(ep->transport, &failure) == 0)
		err_sys(&failure, first_failure(ep), ep->ops->name, "move messages");
	if (stored && first_failure(ep))
		ep->worker.counters.bad_completions++;

	convert_device_stamps(ep);
	if (ep->undisturbed)
		forget_columns(ep, "t_send");

	json_t *counters = final_counters(ep);

	recorder_convert(&ep->recorder, &ep->conversion, ep->worker.messages);
	for (unsigned i = 0; i < ep->recorder.columns; i++)
		json_array_append_new(columns, json_string(ep->recorder.column[i].name));

	int rc = reply(ep, json_pack("{s:s, s:s, s:o, s:{s:O, s:o}, s:o, s:I}", "type", "done", "failure", failure.text,
				     "counters", counters, "device", "before", ep->device_before, "after",
				     ep->ops->device_counters(ep->transport), "columns", columns, "messages",
				     (json_int_t)ep->worker.messages));

	if (!rc)
		rc = send_columns(ep);
	ep->running = false;
	ep->runners = 0;
	return rc;
}

/* The source has ended: wait until nothing more arrives for `drain`, then stop. Where nothing gets lost, until all arrived that it posted. */
static int do_finish(struct endpoint *ep, const json_t *order)
{
	const json_t *posted = json_object_get(order, "posted");
	const bool all_come = !ep->lossy && json_is_integer(posted);
	uint64_t last = UINT64_MAX;
	int64_t waited_ms = 0, drain_ms = ep->common.drain / 1000000;

	if (!ep->running)
		return 0; /* all messages came and "done" was sent: the two crossed */
	while (!all_ended(ep) && waited_ms < drain_ms && !(all_come && last == (uint64_t)json_integer_value(posted))) {
		uint64_t now = atomic_load(&ep->worker.progress);

		waited_ms = now == last ? waited_ms + 1 : 0;
		last = now;
		nap();
	}
	stop_runners(ep, 10000);
	return 0;
}

static int do_status(struct endpoint *ep)
{
	return reply(ep, json_pack("{s:s, s:I, s:b}", "type", "status", "progress",
				   (json_int_t)atomic_load(&ep->worker.progress), "running", ep->running));
}

static int obey(struct endpoint *ep, const json_t *order, struct err *e)
{
	const char *type = json_string_value(json_object_get(order, "type"));

	if (!type)
		return err_set(e, -EPROTO, STATUS_FAILED, "order", NULL, "has no type");
	if (!strcmp(type, "open"))
		return do_open(ep, order, e);
	if (!strcmp(type, "connect"))
		return do_connect(ep, order, e);
	if (!strcmp(type, "arm"))
		return do_arm(ep, order, e);
	if (!strcmp(type, "run"))
		return do_run(ep, e);
	if (!strcmp(type, "finish"))
		return do_finish(ep, order);
	if (!strcmp(type, "status"))
		return do_status(ep);
	if (!strcmp(type, "stop")) {
		stop_runners(ep, 10000);
		return 0;
	}
	return err_set(e, -EPROTO, STATUS_FAILED, "order", NULL, "unknown type '%.40s'", type);
}

/* One of two threads that failed leaves the other waiting for what will not come. */
static int on_thread_ended(struct endpoint *ep)
{
	uint64_t ended;

	if (read(ep->ended_fd, &ended, sizeof(ended)) < 0 || !ep->running)
		return 0;
	if (first_failure(ep))
		stop_runners(ep, 10000);
	return all_ended(ep) ? report_done(ep) : 0;
}

static int take_orders(struct endpoint *ep, struct err *e)
{
	char *line;
	int rc = wire_fill(&ep->in);

	while (!rc && !ep->quit && (rc = wire_take_line(&ep->in, &line)) > 0) {
		json_error_t why;
		json_t *order = json_loads(line, JSON_REJECT_DUPLICATES, &why);

		rc = order ? obey(ep, order, e) : err_set(e, -EPROTO, STATUS_FAILED, "order", "read", "%s", why.text);
		json_decref(order);
		free(line);
		if (rc && e->status) { /* told, not the end of the conversation: the coordinator decides */
			rc = reply_error(ep, e);
			err_clear(e);
		}
	}
	if (ep->in.eof)
		ep->quit = true;
	return rc;
}

/* The coordinator died in the middle of a repetition: keep what was measured where the run directory is. */
static void keep_columns(struct endpoint *ep)
{
	char *dir = fs_path("%s/rep-%02u", ep->salvage, ep->rep);

	recorder_convert(&ep->recorder, &ep->conversion, ep->worker.messages);
	if (fs_mkdirs(dir, NULL) == 0)
		for (unsigned i = 0; i < ep->recorder.columns; i++) {
			char *path = fs_path("%s/%s.npy", dir, ep->recorder.column[i].name);

			npy_write(path, ep->recorder.column[i].data, ep->worker.messages, NULL);
			free(path);
		}
	free(dir);
}

static void clean_up(struct endpoint *ep)
{
	bool stopped = ep->runners == 0 || stop_runners(ep, 1000);

	if (ep->running && ep->salvage && ep->transport)
		keep_columns(ep);
	if (stopped) {
		if (ep->transport)
			ep->ops->close(ep->transport);
		if (ep->stores)
			sample_file_close(&ep->store);
		recorder_close(&ep->recorder);
	} else {
		fs_remove_tree(ep->recorder.dir, NULL); /* a thread still uses the memory: only the names go */
	}
	json_decref(ep->device_before);
	free(ep->salvage);
	wire_free(&ep->in);
	close(ep->ended_fd);
}

static json_t *hello(void)
{
	char host[256] = "", boot_id[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	gethostname(host, sizeof(host) - 1);
	if (f) {
		if (fgets(boot_id, sizeof(boot_id), f))
			boot_id[strcspn(boot_id, "\n")] = '\0';
		fclose(f);
	}
	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:i}", "type", "hello", "protocol", WIRE_PROTOCOL, "version",
			 kblat_version, "host", host, "boot_id", boot_id, "pid", (int)getpid());
}

static int serve(struct endpoint *ep, struct err *e)
{
	struct pollfd fds[2] = {{ep->in.fd, POLLIN, 0}, {ep->ended_fd, POLLIN, 0}};
	int rc = reply(ep, hello());

	while (!rc && !ep->quit) {
		if (poll(fds, 2, -1) < 0) {
			rc = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (fds[1].revents)
			rc = on_thread_ended(ep);
		if (!rc && fds[0].revents)
			rc = take_orders(ep, e);
	}
	return rc == -EPIPE ? 0 : rc;
}

int endpoint_serve(int in, int out, struct err *e)
{
	struct endpoint *ep = aligned_alloc(64, (sizeof(*ep) + 63) / 64 * 64);
	struct sigaction kick = {.sa_handler = on_kick};

	if (!ep)
		return err_sys(e, -ENOMEM, "endpoint", "allocate");
	memset(ep, 0, sizeof(*ep));
	ep->out = out;
	wire_init(&ep->in, in);
	ep->ended_fd = eventfd(0, EFD_CLOEXEC);
	sigaction(NUDGE_SIGNAL, &kick, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* the coordinator hears it and tells us */

	int rc = ep->ended_fd < 0 ? err_sys(e, -errno, "eventfd", "make") : serve(ep, e);

	clean_up(ep);
	free(ep);
	return rc;
}
