/*
 * How late a thread runs that waits for a moment, or for another thread. It has one side and sends nothing, so it is
 * compiled once. Two stamps belong to a wake-up: when it was due, and the first thing that the thread did.
 *
 * Timers: a step is due on CLOCK_MONOTONIC (pacer.h). A step that became due while the thread was late with an earlier
 * one was as late as it was: none is left out, so that a long delay counts as often as it delayed.
 * Hand-over: a second thread, which spins on another CPU, wakes the first one by a futex; it is due when that call begins.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/instrument/pacer.h"
#include "measure/kernels/kernel.h"

enum wakeup_method { WAKEUP_NANOSLEEP, WAKEUP_TIMERFD, WAKEUP_FUTEX, WAKEUP_BUSY };
enum { WAKEUP_T_DUE, WAKEUP_T_WOKEN };
enum { WAKEUP_WAKER, WAKEUP_SOURCE, WAKEUP_SINK };

struct wakeup_settings {
	int64_t messages, rate, slack;
	int method; /* enum wakeup_method */
};

/* What both threads share. */
struct wakeup_side {
	const struct wakeup_settings *settings;
	_Atomic uint32_t asked; /* how many times the waker has woken the other thread */
	_Atomic uint32_t ready; /* for which of these it waits */
	const char *failed;	/* the operation, or NULL */
	int rc;
};

#define FIELD(f) offsetof(struct wakeup_settings, f)

static const char *const wakeup_methods[] = {[WAKEUP_NANOSLEEP] = "nanosleep",
					     [WAKEUP_TIMERFD] = "timerfd",
					     [WAKEUP_FUTEX] = "futex",
					     [WAKEUP_BUSY] = "busy",
					     NULL};

static const struct opt wakeup_options[] = {
    {"messages", OPT_INT, FIELD(messages), "10000", 1, 1000000000, NULL, "number of wake-ups in one repetition",
     OPT_BOOKKEEPING},
    {"rate", OPT_RATE, FIELD(rate), "1kHz", 1, 1000000, NULL, "wake-ups per second"},
    {"method", OPT_ENUM, FIELD(method), "nanosleep", 0, 0, wakeup_methods,
     "what wakes the thread: clock_nanosleep, a timerfd, another thread by a futex, or itself, as it spins"},
    {"slack", OPT_TIME, FIELD(slack), "50us", 1, 1000000000, NULL,
     "how much later than asked the system may wake a thread without real-time priority, to do it together with others "
     "(PR_SET_TIMERSLACK)"},
    {.name = NULL},
};

static const struct kernel_column wakeup_columns[] = {
    [WAKEUP_T_DUE] = {"t_due", ROLE_SOURCE, NULL},
    [WAKEUP_T_WOKEN] = {"t_woken", ROLE_SOURCE, NULL},
    {.name = NULL},
};

static const struct kernel_series wakeup_series[] = {
    {.name = "wake_ns", .label = "t_wake", .column = "t_woken", .minus = "t_due"},
    {.name = NULL},
};

static enum thread_cpu waker_cpu(const void *settings)
{
	return ((const struct wakeup_settings *)settings)->method == WAKEUP_FUTEX ? THREAD_ELSEWHERE : THREAD_NONE;
}

static const struct kernel_thread wakeup_threads[] = {
    [WAKEUP_WAKER] = {.name = "waker", .side = ROLE_SOURCE, .place = waker_cpu},
    [WAKEUP_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [WAKEUP_SINK] = {.name = "sink", .side = ROLE_SINK, .cpu = THREAD_ELSEWHERE},
    {.name = NULL},
};

KERNEL_FITS(wakeup_columns, wakeup_threads);

static void wakeup_plan(const void *settings, struct transport_config *config)
{
	const struct wakeup_settings *s = settings;

	config->size = 1;
	config->is_idle = config->any_payload = true;
	config->schedule = (struct schedule){.messages = s->messages};
}

static struct kernel_demand wakeup_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct wakeup_settings *s = settings;

	(void)warm_up;
	return (struct kernel_demand){.paced_ns = (int64_t)((__int128)messages * 1000000000 / s->rate)};
}

static bool wakeup_spins(const void *settings)
{
	return ((const struct wakeup_settings *)settings)->method == WAKEUP_BUSY;
}

/* --- sides --- */

static int wakeup_open(const void *settings, const struct kernel_place *place, void **out, struct err *e)
{
	struct wakeup_side *side;

	(void)e;
	if (place->role == ROLE_SINK)
		return 0;
	side = or_abort(calloc(1, sizeof(*side)));
	side->settings = settings;
	*out = side;
	return 0;
}

static int wakeup_start(void *arg, unsigned repetition, struct err *e)
{
	struct wakeup_side *side = arg;

	(void)repetition, (void)e;
	atomic_store(&side->asked, 0);
	atomic_store(&side->ready, 0);
	side->failed = NULL;
	return 0;
}

static int wakeup_finish(void *arg, struct counters *c, struct err *e)
{
	const struct wakeup_side *side = arg;
	char cause[128];

	(void)c;
	if (!side->failed)
		return 0;
	return err_set(e, side->rc, STATUS_FAILED, "wakeup", side->failed, "%s",
		       err_cause(side->rc, cause, sizeof(cause)));
}

static const struct kernel_side_ops wakeup_side_ops = {
    .open = wakeup_open, .start = wakeup_start, .finish = wakeup_finish, .close = free};

static int wakeup_note(struct wakeup_side *side, const char *operation, int rc)
{
	side->failed = operation;
	side->rc = rc;
	return rc;
}

/* --- loops --- */

static bool is_stopped(const struct worker *w)
{
	return atomic_load_explicit(&w->stop, memory_order_relaxed);
}

/* The step `i`, and those before it that became due since the last one, were seen at `woken`. */
static uint32_t wakeup_record(struct worker *w, const struct sleeper *s, uint32_t i, int64_t steps)
{
	for (; steps > 0 && i < w->messages; steps--, i++) {
		w->column[WAKEUP_T_DUE][i] = sleeper_due(s, i);
		w->column[WAKEUP_T_WOKEN][i] = s->ticks;
	}
	return i;
}

static int wakeup_by_timer(struct worker *w, const struct wakeup_settings *s, uint32_t *i)
{
	struct sleeper sleeper;
	int rc =
	    sleeper_open(&sleeper, s->method == WAKEUP_TIMERFD ? PACER_TIMERFD : PACER_NANOSLEEP, s->rate, &w->clock);

	while (!rc && *i < w->messages && !is_stopped(w)) {
		const int64_t steps = sleeper_wait(&sleeper);

		if (steps > 0)
			*i = wakeup_record(w, &sleeper, *i, steps);
		else if (steps != -EINTR)
			rc = (int)steps;
		atomic_store_explicit(&w->progress, *i, memory_order_relaxed);
	}
	sleeper_close(&sleeper);
	return rc;
}

static void wakeup_by_spinning(struct worker *w, const struct wakeup_settings *s, uint32_t *i)
{
	struct grid_of_ticks grid;

	grid_start(&grid, clock_ticks_begin(), s->rate, 0, &w->clock);
	for (; *i < w->messages && !is_stopped(w); ++*i) {
		const int64_t due = grid_take(&grid);
		int64_t now;

		while ((now = clock_ticks_begin()) < due)
			if (is_stopped(w))
				return;
		w->column[WAKEUP_T_DUE][*i] = due;
		w->column[WAKEUP_T_WOKEN][*i] = now;
		atomic_store_explicit(&w->progress, *i, memory_order_relaxed);
	}
}

static void wakeup_by_other(struct worker *w, struct wakeup_side *side, uint32_t *i)
{
	for (; *i < w->messages; ++*i) {
		atomic_store(&side->ready, *i + 1);
		while (atomic_load_explicit(&side->asked, memory_order_acquire) == *i) {
			if (is_stopped(w))
				return;
			syscall(SYS_futex, &side->asked, FUTEX_WAIT_PRIVATE, *i, NULL, NULL, 0);
		}
		w->column[WAKEUP_T_WOKEN][*i] = clock_ticks_begin();
		atomic_store_explicit(&w->progress, *i, memory_order_relaxed);
	}
}

static int wakeup_source(struct worker *w)
{
	struct wakeup_side *side = w->side;
	const struct wakeup_settings *s = side->settings;
	uint32_t i = 0;
	int rc = 0;

	/* Other kernels' threads have the least slack that there is. */
	if (prctl(PR_SET_TIMERSLACK, (unsigned long)s->slack, 0, 0, 0))
		return wakeup_note(side, "set the timer slack", -errno);
	if (s->method == WAKEUP_FUTEX)
		wakeup_by_other(w, side, &i);
	else if (s->method == WAKEUP_BUSY)
		wakeup_by_spinning(w, s, &i);
	else
		rc = wakeup_by_timer(w, s, &i);
	w->counters.posted = i;
	return rc ? wakeup_note(side, "wait for a timer", rc) : 0;
}

/* Wakes the other thread at every step of the grid, once it waits. */
static int wakeup_waker(struct worker *w)
{
	struct wakeup_side *side = w->side;
	struct grid_of_ticks grid;

	grid_start(&grid, clock_ticks_begin(), side->settings->rate, 0, &w->clock);
	for (uint32_t i = 0; i < w->messages; i++) {
		const int64_t due = grid_take(&grid);

		while (clock_ticks_begin() < due || atomic_load(&side->ready) != i + 1)
			if (is_stopped(w))
				return 0;
		w->column[WAKEUP_T_DUE][i] = clock_ticks_begin();
		atomic_store_explicit(&side->asked, i + 1, memory_order_release);
		syscall(SYS_futex, &side->asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return 0;
}

/* The control thread wakes it up with signals until it has ended. */
static int wakeup_sink(struct worker *w)
{
	const struct timespec long_time = {1, 0};

	while (!is_stopped(w))
		nanosleep(&long_time, NULL);
	return 0;
}

static const struct kernel_loops wakeup_loops = {
    .loop = {[WAKEUP_WAKER] = wakeup_waker, [WAKEUP_SOURCE] = wakeup_source, [WAKEUP_SINK] = wakeup_sink}};

static const char *const wakeup_transports[] = {"none", NULL};

extern const struct kernel_ops wakeup_kernel;
const struct kernel_ops wakeup_kernel = {
    .name = "wakeup",
    .summary = "how late a thread runs that waits for a timer or for another thread",
    .options = wakeup_options,
    .settings_size = sizeof(struct wakeup_settings),
    .spins = wakeup_spins,
    .columns = wakeup_columns,
    .series = wakeup_series,
    .threads = wakeup_threads,
    .plan = wakeup_plan,
    .demand = wakeup_demand,
    .side = &wakeup_side_ops,
    .transports = wakeup_transports,
    .loops = &wakeup_loops,
};
