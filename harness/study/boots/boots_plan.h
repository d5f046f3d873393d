/*
 * What is booted in which order, how far that has come, and both as JSON. Only this module knows the keys:
 *
 * "plan": {"way": pair|series|bisect, "arms": [{"kernel", "entry", "append", "beside"}, …], "loader", "guest": [options],
 * "home": the kernel that is booted by default, "boots": of each kernel, "runs": of each boot, "settle_s", "tries",
 * "expected_s": of a run, "metric", "quantities": [], "margins": [], "judge": [], "at": {"boot": number, "asked": boot ID
 * in which it was asked for, or null, "asked_s": when, "here": boot ID in which it is measured, or null, "failed": tries in
 * a row, "first": boot of the comparison, "low", "high", "with": numbers of kernels}, "events": [{"utc", "boot", "what": booted|
 * measured|failed|stopped, "kernel", "took_s", "others_percent", "why"}]}
 *
 * "answer": {"verdict", "answer", "boots": [of each kernel that count], "page"}
 */
#ifndef KBLAT_BOOTS_PLAN_H
#define KBLAT_BOOTS_PLAN_H

#include "common/cli.h"
#include "common/guard.h"
#include "judge/compare/compare_runs.h"
#include "study/boots/boots_loader.h"
#include "study/study.h"

struct comparison;

#define BOOTS_PER_LOOK	  4 /* of each kernel, before there can be a verdict */
#define BOOTS_ARMS_MOST	  128
#define BOOTS_EACH	  8
#define BOOTS_EACH_SERIES BOOTS_PER_LOOK
#define BOOTS_MOST_EACH	  128
#define BOOTS_RUNS	  3
#define BOOTS_RUNS_ALL	  65536
#define BOOTS_SETTLE_S	  120
#define BOOTS_TRIES	  3
#define BOOTS_TRIES_MOST  1000
#define BOOTS_REBOOT_S	  60 /* assumed, until one has been measured */
#define BOOTS_KERNEL_MOST 65
#define GUEST_BOOT_S	  30		 /* to start and to end, assumed */
#define GUEST_COUNTS	  "--count-time" /* the last of the guest's options */

enum boots_what { BOOTS_BOOTED, BOOTS_MEASURED, BOOTS_FAILED, BOOTS_STOPPED, BOOTS_WHATS };

struct boots_event {
	char *utc, *kernel, *why;
	size_t boot;
	enum boots_what what;
	double took_s;	       /* NaN: it is none of those that take time */
	double others_percent; /* of this machine's CPUs were used by other programs; NaN: not known */
};

/* Two kernels; or several, from old to new: each compared with the one before, or which is the first that is slower? */
enum boots_way { BOOTS_PAIR, BOOTS_SERIES, BOOTS_BISECT, BOOTS_WAYS };

struct boots_arm {
	char *kernel, *entry;
	char *append, *beside; /* of a guest: words for its command line, a shell command; NULL: none */
};

struct boots_at {
	size_t boot;
	char *asked, *here; /* boot IDs, or NULL */
	double asked_s;	    /* of the system's clock */
	size_t failed;
	/* Of BOOTS_BISECT: the first boot of the comparison of the first kernel with `with`; `low` is not slower, `high` is. */
	size_t first, low, high, with;
};

struct boots_plan {
	enum boots_way way;
	struct boots_arm *arm;
	size_t arms;
	bool in_guest;
	struct words guest; /* options of kblat-guest */
	char *loader, *home, *metric;
	size_t boots, runs, tries;
	double settle_s, expected_s;
	struct words quantities, margins, judge;
	struct boots_at at;
	struct boots_event *event;
	size_t events;
	struct guard guard; /* of what is armed, while a user's command runs; not in the record */
};

/* What the user asks for. */
enum pair_option { PAIR_KERNEL, PAIR_ENTRY, PAIR_APPEND, PAIR_BESIDE, PAIR_OPTIONS };
enum guest_option { GUEST_CPUS, GUEST_NODES, GUEST_MEMORY, GUEST_TIMEOUT, GUEST_OPTIONS };

struct boots_options {
	const char *pair[ARMS][PAIR_OPTIONS];
	struct cli_list kernels; /* instead of two */
	bool bisect;
	const char *guest[GUEST_OPTIONS]; /* of kblat-guest */
	bool no_rdma, count_time;
	const char *loader, *settle, *metric;
	long boots, runs, tries;
	struct cli_list quantities, margins, judge;
	bool after_boot; /* the unit has started it, not the user */
};

struct boots_plan *boots_plan_of(const struct study *s);
void boots_plan_free(void *plan);
enum status boots_plan_make(struct study *s, const struct study_request *r, struct err *e);

/* Old, new, new, old, …: a drift over time does not look like a difference between the kernels. Of a series, one after the
 * other. And the kernel's number. */
enum compare_arm boots_role_of(const struct boots_plan *p, size_t boot);
size_t boots_arm_of(const struct boots_plan *p, size_t boot);

/* The boots of a comparison, how many comparisons there are at most, and all boots. */
size_t boots_each(const struct boots_plan *p);
size_t boots_comparisons(const struct boots_plan *p);
size_t boots_all(const struct boots_plan *p);

/* A cell for each run: its block is its boot. */
void boots_plan_cells(struct study *s);

/* Have all runs of a boot been made? */
bool boots_is_done(const struct study *s, size_t boot);

/* How many boots of the comparison are done, from its first on; and of all. */
size_t boots_done(const struct study *s);
size_t boots_measured(const struct study *s);

/* The kernel that is running, of BOOTS_KERNEL_MOST bytes. Returns `buf`. */
char *boots_running_kernel(char *buf);

/* What happened, now; `took_s` NaN: nothing that takes time. */
void boots_plan_note(struct study *s, enum boots_what what, double took_s, const char *why);

/* --dry-run: how long it takes, with boots and runs as long as those that were measured. */
void boots_plan_show(const struct study *s, const struct study_request *r);

/* What has happened so far. */
void boots_plan_print_events(const struct study *s);

json_t *boots_plan_to_json(const void *plan);
int boots_plan_from_json(struct study *s, const json_t *j, const char *file, struct err *e);
json_t *boots_answer_to_json(const struct study *s, const struct comparison *c);

/* The directory of the page, below that of the study. The caller frees. */
char *boots_page(const struct study *s);

/* --- the answer: a comparison of the runs of all boots that are complete, old and new in equal numbers --- */

/* Are the options of the comparison right? */
int boots_check_choice(const struct boots_plan *p, struct err *e);

/* comparison_free() it. `page`: make its page, in a new directory. There must be a boot of each. */
int boots_compare(const struct study *s, bool page, struct comparison *c, struct err *e);

#endif
