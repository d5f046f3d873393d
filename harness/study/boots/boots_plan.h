/*
 * What is booted in which order, how far that has come, and both as JSON. Only this module knows the keys:
 *
 * "plan": {"arms": [{"kernel", "entry"}, likewise], "loader", "home": the kernel that is booted by default, "boots": of
 * each kernel, "runs": of each boot, "settle_s", "tries", "expected_s": of a run, "metric", "quantities": [], "margins":
 * [], "judge": [], "at": {"boot": number, "asked": boot ID in which it was asked for, or null, "asked_s": when, "here":
 * boot ID in which it is measured, or null, "failed": tries in a row}, "events": [{"utc", "boot", "what": booted|
 * measured|failed|stopped, "kernel", "took_s", "why"}]}
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
#define BOOTS_KERNELS	  ARMS
#define BOOTS_EACH	  8
#define BOOTS_MOST_EACH	  128
#define BOOTS_RUNS	  3
#define BOOTS_SETTLE_S	  120
#define BOOTS_TRIES	  3
#define BOOTS_TRIES_MOST  1000
#define BOOTS_REBOOT_S	  60 /* assumed, until one has been measured */
#define BOOTS_KERNEL_MOST 65

enum boots_what { BOOTS_BOOTED, BOOTS_MEASURED, BOOTS_FAILED, BOOTS_STOPPED, BOOTS_WHATS };

struct boots_event {
	char *utc, *kernel, *why;
	size_t boot;
	enum boots_what what;
	double took_s; /* NaN: it is none of those that take time */
};

struct boots_at {
	size_t boot;
	char *asked, *here; /* boot IDs, or NULL */
	double asked_s;	    /* of the system's clock */
	size_t failed;
};

struct boots_kernel {
	char *kernel, *entry;
};

struct boots_plan {
	struct boots_kernel arm[BOOTS_KERNELS];
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
struct boots_options {
	const char *kernel[BOOTS_KERNELS], *entry[BOOTS_KERNELS];
	const char *loader, *settle, *metric;
	long boots, runs, tries;
	struct cli_list quantities, margins, judge;
	bool after_boot; /* the unit has started it, not the user */
};

struct boots_plan *boots_plan_of(const struct study *s);
void boots_plan_free(void *plan);
enum status boots_plan_make(struct study *s, const struct study_request *r, struct err *e);

/* Old, new, new, old, …: a drift over time does not look like a difference between the kernels. */
enum compare_arm boots_arm_of(size_t boot);

/* A cell for each run: its block is its boot. */
void boots_plan_cells(struct study *s);

/* Have all runs of a boot been made? */
bool boots_is_done(const struct study *s, size_t boot);

/* How many boots are done, from the first on. */
size_t boots_done(const struct study *s);

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
json_t *boots_answer_to_json(const struct comparison *c, const char *page);

/* --- the answer: a comparison of the runs of all boots that are complete, old and new in equal numbers --- */

/* Are the options of the comparison right? */
int boots_check_choice(const struct boots_plan *p, struct err *e);

/* comparison_free() it. `page`: a new directory in which its page is made; NULL: none. There must be a boot of each. */
int boots_compare(const struct study *s, const char *page, struct comparison *c, struct err *e);

#endif
