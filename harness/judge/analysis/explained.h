/*
 * The late messages of a flow and their causes, found by comparing the flow's columns with the
 * kernel events that its repetitions recorded (files/rundir/trace_file.h).
 */
#ifndef KBLAT_ANALYSIS_EXPLAINED_H
#define KBLAT_ANALYSIS_EXPLAINED_H

#include "files/rundir/reader.h"
#include "files/rundir/rep.h"
#include "judge/analysis/cause.h"
#include "judge/analysis/stats.h"
#include "judge/analysis/timeline.h"

/* --- messages (attribution.c) --- */

/*
 * Explains why messages were late. For each message over the limit, looks up what took the CPUs of
 * both sides (timeline.h) between its two stamps. Everything that overlaps is one of its causes,
 * with the time that it took. The message counts as explained if its causes cover at least half of
 * its excess over the median. It is then attributed to the cause that took most time: among those
 * on the message's critical path if they cover as much, otherwise among all. A
 * message that its causes do not explain may have been queued behind a message that was late
 * itself. Pure. Cost: a few nanoseconds per event, fewer than a hundred per message.
 */

/*
 * What delayed a message on the CPU where it was at the time. A message visits the sides one after
 * the other; whatever takes a side's CPU before the message arrives there, or after it has left,
 * does not delay it. When it arrives and leaves is not recorded, but it can only leave a side while
 * the thread there has its CPU, and at its second stamp it has made all visits. Of the paths that
 * these rules allow, the one with the least time without a cause is used. Pure. Cost: some
 * nanoseconds per interval of the timelines.
 */
#define CRITICAL_PATH_VISITS 3

struct critical_path {
	unsigned visits; /* 0: the path of the messages is not known */
	unsigned side[CRITICAL_PATH_VISITS];
	int64_t visit_ns; /* duration of a visit that nothing delays; not negative */
};

/* The messages of a repetition; (a[i] - b[i]) / `divide` is the latency. */
struct attribution_input {
	struct span span;
	int divide;
	int64_t limit;			/* of the latency: messages above it are explained */
	int64_t median;			/* of a - b */
	const struct timeline *side[2]; /* NULL: nothing is known about it */
	struct critical_path path;
	/* Requests of a program instead, each in one thread: their timelines, and the number of each request's thread. What
	 * took longer than it does in typical requests is the cause of a late one, as each is covered by causes. */
	const struct timeline_threads *threads;
	const int64_t *thread;
};

struct late_message {
	size_t message;
	int64_t from, to; /* its stamps: it was under way in between */
	int64_t excess;	  /* over the median */
	int64_t covered;  /* the part of the excess that causes cover; time on both CPUs at once counts once */
	unsigned cause;	  /* the cause that took most time; may be CAUSE_NOT_KNOWN or CAUSE_UNEXPLAINED */
	int64_t time;	  /* taken by this cause */
	long long behind; /* the first message of the queue that it was in; -1: it was not queued */
	int64_t thread;	  /* the number of a request's thread */
};

struct attribution {
	struct late_message *late;
	size_t count;
	/* a sample of messages that are not late: their number, and the number of those during
	 * which anything happened */
	size_t typical, coincidences;
};

/* Adds to `out`. Causes that belong to neither side are added to `causes`. */
void attribution_add(const struct attribution_input *in, struct cause_table *causes, struct attribution *out);
void attribution_free(struct attribution *a);

/* The time that each cause took of an interval on one side, longest first. */
struct cause_shares attribution_shares(const struct timeline *t, int64_t from, int64_t to);

/* Adds to `shares` the causes on the path of a message that was under way in [from, to]. Returns
 * the time that they took in total. A side that is NULL delays nothing. 0: nothing delayed it, or
 * the timelines do not allow any path. */
int64_t critical_path_follow(const struct critical_path *p, const struct timeline *const side[2], int64_t from,
			     int64_t to, struct cause_shares *shares);

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
