/*
 * The late messages of a flow and their causes, found by comparing the flow's columns with the
 * kernel events that its repetitions recorded (files/rundir/trace_file.h).
 */
#ifndef KBLAT_ANALYSIS_EXPLAINED_H
#define KBLAT_ANALYSIS_EXPLAINED_H

#include "files/rundir/reader.h"
#include "files/rundir/rep.h"
#include "judge/analysis/attribution.h"

#define EXPLAINED_THREAD "thread" /* the column with the number of the thread that a request was in */

struct explained_rep {
	const struct rep *rep;
	bool has[2];			 /* by side: are there events? */
	struct timeline side[2];	 /* empty if there are none */
	struct timeline_threads threads; /* instead: of a program, whose requests have a column of threads */
	size_t first, count;		 /* its late messages in `late` */
};

struct explained {
	/* the series whose late messages these are: the flow's first; NULL: the flow has no
	 * suitable one */
	const struct layout_series *series;
	bool has_median;
	int64_t median; /* of all repetitions: ns from stamp to stamp */
	struct cause_table causes;
	struct attribution late;
	size_t count;
	struct explained_rep *reps;
	int thread;	/* the column of the threads' numbers; -1: there is none */
	char why[256];	/* the first reason why there are no events; "" if there are */
	long long lost; /* events lost because buffers were full */
	/* The cost of recording events: quantiles with recording, divided by those of a control
	 * repetition without it; 0: not known. */
	double p50_ratio, p99_ratio;
};

/* 1: an explanation of the flow was asked for; 0: it was not; otherwise a negative errno. Free in any case. */
int explained_make(const struct layout_flow *f, const struct rep *reps, size_t count, struct explained *out,
		   struct err *e);
void explained_free(struct explained *x);

/* The same, together with the flow's repetitions, which are read from a run directory; their columns are closed again. */
struct explained_flow {
	struct explained found;
	struct rep *reps;
	size_t count;
};

/* Returns what explained_make() returns. Close in any case. */
int explained_open(const char *run, const struct layout_flow *f, struct explained_flow *out, struct err *e);
void explained_close(struct explained_flow *x);

/* Calls `visit` for each flow that was to be explained, of the point with that number (negative: of all). Returns 0 or a
 * negative errno; -ENOENT and STATUS_USAGE if there is no such point. */
typedef void explained_visit(void *arg, const struct layout_flow *f, const struct explained *x);
int explained_each(const struct run *run, long long point, explained_visit *visit, void *arg, struct err *e);

/* A cause and the messages that it explains. */
struct explained_cause {
	unsigned cause;
	size_t messages;
	int64_t time_p50, time_max; /* taken by it, per message */
};

/* All causes that explain at least one message, most frequent first; the caller frees. */
struct explained_cause *explained_causes(const struct explained *x, size_t *count);

/* All late messages, worst first; the caller frees. */
const struct late_message **explained_worst(const struct explained *x);
const struct explained_rep *explained_rep_of(const struct explained *x, const struct late_message *m);

/* What a late message is explained by: a side's timeline, or that of its thread as side 0; NULL: there is none. */
const struct timeline *explained_line(const struct explained *x, const struct late_message *m, unsigned side);

/* The program's thread that a late request was in; NULL: it is a message, or nothing is known of its thread. */
const struct timeline_thread *explained_thread(const struct explained *x, const struct late_message *m);

/* The number of late messages that are explained, and of those during which events were lost. */
size_t explained_known(const struct explained *x);
size_t explained_not_known(const struct explained *x);

#endif
