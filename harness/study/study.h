/*
 * A study: something that takes many runs and can be continued, such as a campaign, all pairs of hosts, or the knobs of
 * a profile. Each of its runs is a cell. These are the types that all kinds of studies share: study_run.h has the
 * order of things, study_record.h keeps the record, runner.h runs the cells.
 */
#ifndef KBLAT_STUDY_STUDY_H
#define KBLAT_STUDY_STUDY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"
#include "measure/run/forecast.h"
#include "measure/spec/spec.h"

struct err;
struct study_kind;
struct verdict_format;

/* --- the hosts of --hosts (study_hosts.c) --- */

/*
 * The hosts between which is measured: a list ("n1,n2", "n[01-64]", as Slurm writes them) or a file, a
 * host a line: its name, and after a blank, if it has another one on the network under test, its
 * address. '#' begins a comment.
 */

#define HOSTS_MAX 4096

struct study_host {
	char *name, *address; /* without an address of its own, the name */
};

struct study_hosts {
	struct study_host *item;
	size_t count;
};

/* `text`: what --hosts says; the name of a file if there is such a file. -EINVAL and STATUS_USAGE: a name that is none, one
 * that is there twice, fewer than two. Release in either case. */
int study_hosts_read(struct study_hosts *h, const char *text, struct err *e);

/* Another host; the same mistakes. */
int study_hosts_add(struct study_hosts *h, const char *name, const char *address, struct err *e);
void study_hosts_free(struct study_hosts *h);

/*
 * Replaces the placeholders of --source, --sink and --set, which differ between pairs: {source}, {sink},
 * {source_address}, {sink_address}, and {host} and {address} of the launcher's own side (`host`, or NULL). Other words in
 * braces are left unchanged. The caller frees.
 */
char *study_hosts_fill(const char *text, const struct study_host *source, const struct study_host *sink,
		       const struct study_host *host);

/* --- cells --- */

enum cell_state {
	CELL_PENDING,
	CELL_RUNNING, /* or its kblat was killed */
	CELL_COMPLETED,
	CELL_FAILED,
	CELL_INTERRUPTED,
	CELL_IMPOSSIBLE, /* on this machine */
	CELL_SKIPPED,	 /* there is nothing to run */
	CELL_STATES
};

extern const char *const cell_states[CELL_STATES];

/* Options or arguments. Owned; `word` is terminated by NULL once there is one. */
struct words {
	char **word;
	size_t count;
};

/* Takes `word`. */
void words_add(struct words *w, char *word);
void words_copy(struct words *w, const char *const *texts, size_t count);
void words_free(struct words *w);

/* The numbers of a point of the cell's run: of its first series, which represents it. NaN: there is none. */
struct cell_point {
	json_int_t id;
	char *metric, *why; /* why it is not valid, or "" */
	double p50, p99;
	bool valid;
};

struct cell {
	/* What is run. */
	char *name;	   /* an experiment's, an arm's; NULL: the cell has hosts */
	char *spec;	   /* absolute; NULL: the study's */
	char *environment; /* a profile below profiles/ of the study, or "none"; NULL: the spec says */
	struct words set;  /* in addition to the study's */
	size_t source, sink;
	/* Its place: cells of the same stage and block belong together. */
	char *stage; /* or NULL */
	size_t block;
	/* What it takes; 0: not known. */
	size_t points;
	unsigned long long messages;
	struct forecast expected;
	/* What became of it. */
	enum cell_state state;
	char *why;	      /* it failed or was left; "" */
	char *run;	      /* the run directory, below the study's; NULL: there is none */
	struct words earlier; /* those of attempts that failed or were interrupted */
	int exit_status;      /* of kblat run, 128 + N if signal N ended it; -1: it has not ended */
	double took_s;	      /* NaN: it has not ended */
	struct cell_point *point;
	size_t point_count;
};

bool cell_is_left(const struct cell *c); /* neither completed nor skipped */
void cell_set_state(struct cell *c, enum cell_state state, const char *why);
void cell_clear_points(struct cell *c);

/* --- the study --- */

enum study_status {
	STUDY_RUNNING, /* or its kblat was killed */
	STUDY_COMPLETED,
	STUDY_PARTIAL, /* a budget left something */
	STUDY_FAILED,
	STUDY_INTERRUPTED,
	STUDY_STATUSES
};

extern const char *const study_statuses[STUDY_STATUSES];

/* For all of its runs; NULL: not given. */
struct study_options {
	bool quick, mask, no_state;
	struct words set, only;
	char *source, *sink, *profile_path;
	long at_once; /* cells; 0: as the kind likes it */
};

/* What the user asks for. */
struct study_request {
	const char *path;   /* of a spec, or a folder of experiments; with `resume` NULL, or the same again */
	const char *resume; /* a study's directory; NULL: a new one */
	const char *hosts, *out, *source, *sink, *profile_path;
	struct spec_overrides overrides;
	bool mask, state, no_state, dry_run, json, quiet, verbose;
	long at_once;
	double budget_s; /* of time; 0: no limit */
	int argc;	 /* of `kblat`, for the record */
	char **argv;
	const void *own;		     /* options of the kind */
	const struct verdict_format *format; /* in which the answer is printed; NULL: as a table or JSON */
};

struct study {
	const struct study_kind *kind;
	/* The record. */
	char *name;  /* of the spec or the folder */
	char *title; /* of the folder, or "" */
	char *spec;  /* or the folder of experiments: an absolute path */
	enum study_status status;
	char *version, *commit, *started_utc;
	char *ended_utc; /* NULL: it has not ended */
	json_t *argv;
	struct study_options options;
	struct study_hosts hosts;
	struct cell *cell;
	size_t count;
	size_t planned; /* how many of them study.json knew of when it was read */
	void *plan;	/* the kind's own; NULL: it has none */
	json_t *answer; /* the kind's, at the end; NULL: there is none yet */
	char *parent;	/* where the directory of a new study is made */
	char *path;	/* the directory: absolute; NULL: there is none yet */
	int lock;	/* the directory, if it is our own; locked while it is worked on; -1: it is only shown */
	FILE *log;
	/* This process. */
	bool goes_on; /* `measure` has handed over to another process: it is neither judged nor has it ended */
	const struct study_request *request;
	int64_t began_ms; /* monotonic_ms() */
};

struct cell *study_add_cell(struct study *s); /* pending, and otherwise empty */
size_t study_count(const struct study *s, enum cell_state state);
void study_set_answer(struct study *s, json_t *answer); /* which is taken */
void study_free(struct study *s);

/* Of the budget; infinite if there is none, negative if it took longer. */
double study_left_s(const struct study *s);

/*
 * The record as JSON: study.json, and a line of cells.jsonl for a cell, whose last one holds. study.c's tables have the keys, plans
 * and answers those of their kinds. New references.
 */
json_t *study_to_json(const struct study *s);
json_t *study_cell_to_json(const struct study *s, size_t i);

/*
 * What was read from outside becomes part of a study whose `kind` is set and which is empty; a cell is its next one, or
 * takes the place of the one with its number. Everything is checked: types, ranges, that paths are absolute or below
 * the directory, that names are names. `where` is the file, or its line. -EINVAL and STATUS_USAGE.
 */
int study_from_json(struct study *s, const json_t *j, const char *where, struct err *e);
int study_cell_from_json(struct study *s, const json_t *j, const char *where, struct err *e);

/* May this be the name of a folder or a profile? */
bool study_is_name(const char *text);
const char *study_check_name(const char *text); /* for codecs */

/* --- kinds of studies: which cells there are, and what follows from their runs --- */

/*
 * Functions return STATUS_OK to go on; otherwise they have filled in `e`, or have printed what is wrong with a spec.
 * Only `plan` and `judge` must be there.
 */
struct study_kind {
	const char *name;    /* "pairs": in the record */
	const char *suffix;  /* of the directory's name: "-pairs", or "" */
	const char *command; /* that continues it: "kblat run" */
	const char *runs;    /* the folder of its run directories; NULL: the study's directory */
	bool quiet;	     /* its runs print only problems */
	bool by_name;	     /* in `runs`, a folder for each name of cells */
	bool apart;	     /* what a run prints on standard error is not shown, but is the reason if it fails */
	bool numbers;	     /* the record has the numbers of each run's points */

	/* A new study: fill in `name`, `spec`, `parent`, `hosts`, `plan` and cells. */
	enum status (*plan)(struct study *s, const struct study_request *r, struct err *e);

	/* All cells have been run as far as possible: make the answer and print it. STATUS_FAILED: something failed or
	 * is missing. `status` of the study may be set to STUDY_PARTIAL. */
	enum status (*judge)(struct study *s, struct err *e);

	/* --dry-run. NULL: the names and states of the cells. */
	void (*show)(const struct study *s, const struct study_request *r);

	/* Before anything is made or continued: is it possible, and is there time? */
	enum status (*check)(struct study *s, const struct study_request *r, struct err *e);

	/* Run the cells; NULL: one after the other. */
	int (*measure)(struct study *s, struct err *e);

	/* Write the page again, from the runs so far. `html` (free it): its path, or NULL. */
	int (*report)(struct study *s, char **html, struct err *e);

	/* Cells that follow from the rest of the record, and are made before its log is read. NULL: the log has them. */
	void (*cells)(struct study *s);

	/* The plan in the record: it is checked when it is read. NULL: it is not in the record. */
	json_t *(*plan_to_json)(const void *plan);
	int (*plan_from_json)(struct study *s, const json_t *j, const char *file, struct err *e);
	void (*plan_free)(void *plan);

	/* In a directory that has just been made, or is continued: what else the runs need. What a directory that is
	 * continued brings in is shown. */
	int (*prepare)(struct study *s, struct err *e);

	/* It has ended, or was interrupted, and the record says so, unless that could not be written. NULL: nothing else
	 * is to be done. */
	void (*leave)(struct study *s);
};

#endif
