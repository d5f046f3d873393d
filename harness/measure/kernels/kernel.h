/*
 * A latency kernel determines what is sent when, which moments are stamped, and what is computed from the stamps. It is
 * written once (kernels/<kernel>.c for the tables, kernels/<kernel>_loop.c for the loops). Its loops are compiled once for
 * each transport that is inlined, as fast as if they had been written by hand, and once for all that are called
 * (measure/transports/transport_list.h).
 *
 * Adding a kernel: its files, and its row in measure/kernels/kernel_list.h.
 */
#ifndef KBLAT_KERNELS_KERNEL_H
#define KBLAT_KERNELS_KERNEL_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/opt.h"
#include "measure/instrument/clock.h"
#include "measure/instrument/counters.h"
#include "measure/instrument/gap_log.h"
#include "measure/instrument/recorder.h"
#include "measure/transports/transport.h"

#define KERNEL_COLUMNS 10 /* of both sides together, at most */
#define KERNEL_THREADS 4  /* of both sides together, at most */

/* Checks both maxima at compile time; to be used next to a kernel's tables. */
#define KERNEL_FITS(columns, threads)                                                                                  \
	_Static_assert(sizeof(columns) / sizeof((columns)[0]) - 1 <= KERNEL_COLUMNS,                                   \
		       "more columns than there is room");                                                             \
	_Static_assert(sizeof(threads) / sizeof((threads)[0]) - 1 <= KERNEL_THREADS, "more threads than there is "     \
										     "room")
_Static_assert(KERNEL_COLUMNS <= RECORDER_COLUMNS, "one side may have all of a kernel's columns");

/* Columns and series `with` this setting contain the device's own stamps, which are ticks of the device's clock until
 * the repetition has ended (measure/instrument/device_clock.h). */
#define KERNEL_BY_DEVICE "t_hw"

/* Likewise those of the operating system's kernel, by its clock (measure/transports/stages.h). */
#define KERNEL_STAGES "stages"

struct kernel_column {
	const char *name; /* "t_subm" */
	enum role side;	  /* who records it */
	const char *with; /* recorded only where this setting (OPT_BOOL) is yes; NULL: always */
	bool from_source; /* the sink records a stamp taken by the source */
};

/* A series: column - minus, message by message. */
struct kernel_series {
	const char *name;  /* "lat_ns": key in the summary's metrics */
	const char *label; /* "t_lat": in figures and tables */
	const char *column;
	const char *minus;
	/* A column: messages for which it is NEVER have no entry and are not lost; NULL: every message has one. */
	const char *among;
	int divide;	  /* 2: half of it; 0 or 1: as it is */
	bool lag;	  /* subtract the column's own previous entry instead of another column */
	bool sparse;	  /* has entries only where they were requested; the others are not lost */
	const char *with; /* as for columns */
};

/* The row of a setting of all kernels that measure a rate. */
#define KERNEL_LINK_RATE(field)                                                                                        \
	{                                                                                                              \
		"link_rate", OPT_INT, field, "0", 0, 0x7fffffffffffffff, NULL,                                         \
		    "bits per second of the link, of which the rate is shown as a share; 0: as the device reports"     \
	}

/* What the threads of one endpoint share during a repetition. Each counter has one writer. */
struct worker {
	struct transport *transport;
	const void *settings; /* the kernel's own struct */
	void *side;	      /* what the kernel's open_side() made; NULL: nothing */
	enum poll_mode poll_send, poll_recv;
	uint32_t messages; /* of this repetition */
	uint32_t entries;  /* of each column: = messages, unless several messages share one (schedule.block) */
	uint32_t depth;
	uint32_t signal_every;		 /* of the transport's settings; 1 if it has no such setting */
	bool lossy;			 /* a message may be lost: transport_traits.is_reliable */
	bool is_warm_up;		 /* without pauses */
	bool rests_asleep;		 /* the source sleeps in its pauses, as it would for send completions */
	int64_t blank;			 /* the value of an entry that has not been written */
	int64_t spin_ticks;		 /* adaptive polling: how long to spin before sleeping */
	int64_t drain_ticks;		 /* how long to wait for stragglers */
	bool is_passive;		 /* the sink does nothing: transport_config.is_passive */
	int64_t *column[KERNEL_COLUMNS]; /* by index in kernel->columns; NULL if the other side's */
	struct clock_conversion clock;
	bool has_two_clocks; /* the other side has another tick counter, so ticks of both must not be compared */

	_Alignas(64) atomic_int stop;		/* set by the control thread; checked only when idle */
	_Alignas(64) _Atomic uint64_t progress; /* posted or received so far; published when idle and at the end */
	_Alignas(
	    64) _Atomic uint32_t completed;   /* source, event mode: messages seen completed by the completion thread */
	_Alignas(64) atomic_int restamp_stop; /* the source's loop has ended */
	_Alignas(64) struct counters counters;
	struct gap_log gap_log; /* of the loops of kernel_list.h */
};

/* 0, or a negative errno (transport->ops->failure tells). */
typedef int kernel_loop(struct worker *w);

/* Where a thread runs. */
enum thread_cpu {
	THREAD_OF_SIDE,	  /* the CPU assigned to its side of the flow */
	THREAD_SPARE,	  /* a CPU that is not assigned to any side of any flow */
	THREAD_ELSEWHERE, /* any CPU except that of its side, where another thread spins */
	THREAD_NONE,	  /* it does not run */
};

/*
 * A thread of a kernel. Threads of the source start when all flows are armed. Those of the sink start when the sink is
 * armed, because it must listen before the first message. Threads of a side start in the order of the table; the last
 * one posts.
 */
struct kernel_thread {
	const char *name; /* "completions" */
	enum role side;
	enum thread_cpu cpu;
	/* It runs only if this setting (OPT_BOOL) is yes; NULL: always. If it is yes, the point has a control
	 * repetition, in which the thread does not run and nothing is recorded `with` that setting. */
	const char *with;
	/* Where it runs, or that it does not, depending on the settings; NULL: `cpu`. */
	enum thread_cpu (*place)(const void *settings);
	const char *setting; /* with `place`: the setting that requires a spare CPU, "hand spin" */
	bool sleeps; /* it sleeps until a send completes, so it runs only if completions are not polled busily */
};

/* The loops of a kernel, with the indices of kernel->threads. */
struct kernel_loops {
	kernel_loop *loop[KERNEL_THREADS];
};

/* Where an endpoint runs; for what a kernel creates in addition to its columns. */
struct kernel_place {
	enum role role;
	const char *dir;   /* the point's folder in the run directory; NULL: it is on another machine */
	const char *flow;  /* "": the only one */
	const char *name;  /* unique: transport_config.name */
	const char *point; /* the same for all flows of the point; NULL: they share nothing */
	int spare_cpu, numa_node;
	const atomic_int *stop;
};

/* What a kernel has on one side in addition to loops and columns, such as a file to which samples are written. */
struct kernel_side_ops {
	/* Sets `*side` to NULL if nothing is needed. */
	int (*open)(const void *settings, const struct kernel_place *place, void **side, struct err *e);
	int (*start)(void *side, unsigned repetition, struct err *e);
	int (*finish)(void *side, struct counters *c, struct err *e);
	void (*close)(void *side);
};

/* What a repetition spends its time on, as far as the settings determine it. */
struct kernel_demand {
	int64_t paced_ns; /* prescribed by settings: pauses, gaps, steps of a pacer */
	int64_t posts;	  /* posts that follow each other immediately */
	int64_t ways;	  /* one-way trips that are waited for, one after the other */
	int64_t limit_ns; /* the repetition ends after this time in any case; 0: no limit */
};

/* What settings mean for judging what was measured (judge/analysis/validity.c). */
struct kernel_rules {
	bool restamps;		  /* a stamp may be overwritten before it is read, which makes it wrong */
	bool stores;		  /* samples are written to a file, for which they may have to wait */
	bool yields;		  /* polling threads yield their CPU, and that counts as an involuntary switch */
	bool expects_page_faults; /* new pages are a part of what is measured */
	int64_t missed_limit_ppm; /* steps that a pacer may miss; negative: there is no pacer */
};

struct kernel_ops {
	const char *name;
	const char *summary;
	const struct opt *options;
	size_t settings_size;
	bool duplex; /* both sides post and receive; if this depends on a setting, plan() sets it */
	/* The posting thread itself sleeps until sends complete, if completions are not polled busily. */
	bool source_sleeps;
	bool (*spins)(const void *settings); /* the thread spins whatever its way of polling; NULL: it does not */
	bool counts_loss;		     /* columns do not show what was received; the counters of both sides do */
	bool backs_up;			     /* a flow with `backups` needs it, and it needs such a flow */
	bool adds_overhead; /* the transport's own bytes are added to plan()'s size instead of being part of it */
	const struct kernel_column *columns; /* name NULL ends */
	const struct kernel_series *series;  /* name NULL ends */
	const struct kernel_thread *threads; /* name NULL ends */
	/* Fill in what the settings require of a transport: size, schedule, rewrites, batch, … */
	void (*plan)(const void *settings, struct transport_config *config);
	/* What a repetition of `messages` messages, or a warm-up, will spend its time on. */
	struct kernel_demand (*demand)(const void *settings, int64_t messages, bool warm_up);
	/* Checks for contradictions between its settings, and between them and those of the transport (config->ops,
	 * traits). NULL: nothing to check. */
	int (*check)(const void *settings, const struct transport_config *config, const struct transport_traits *traits,
		     char *why, size_t why_size);
	void (*rules)(const void *settings, struct kernel_rules *out); /* NULL: none of them applies */
	/* How many flows with a kernel that backs another one up the sink waits for; NULL: none. */
	int64_t (*backups)(const void *settings);
	const struct kernel_side_ops *side; /* NULL: nothing */
	const char *const *transports;	    /* over which it runs, NULL ends; NULL: over all that carry messages */
	const struct kernel_loops *loops;   /* of a kernel without messages; NULL: those of kernel_list.h */
};

extern const struct kernel_ops *const kernels[]; /* NULL-terminated; harness/measure/point/registry.c */
const struct kernel_ops *kernel_find(const char *name);

/* The loops of a kernel over a transport, or NULL if it does not run over it. */
const struct kernel_loops *kernel_loops_find(const struct kernel_ops *k, const char *transport);

/* The loops of a kernel over a transport that record gaps in worker->gap_log, or NULL if there are none. */
const struct kernel_loops *gap_loops_find(const char *kernel, const char *transport);

/* With `check`: a payload must not change before the device has read it. 0, or -EINVAL and why. */
int kernel_check_payloads(const struct transport_config *config, const struct transport_traits *traits, char *why,
			  size_t why_size);

/* Does a point with these settings of the kernel have something that is `with` a setting? Yes if `with` is NULL. */
bool kernel_has(const struct kernel_ops *k, const void *settings, const char *with);

/* Does the kernel have a thread that runs only `with` a setting that is yes, so that a repetition without it shows its
 * cost? */
bool kernel_has_control(const struct kernel_ops *k, const void *settings);

#endif
