/*
 * The late messages of a flow and their causes: what its repetitions keep of the kernel's events (rundir/trace_file.h),
 * against its columns.
 */
#ifndef KBLAT_ANALYSIS_EXPLAINED_H
#define KBLAT_ANALYSIS_EXPLAINED_H

#include "analysis/attribution.h"
#include "rundir/rep.h"

struct explained_rep {
	const struct rep *rep;
	bool has[2];		 /* by side: there are events */
	struct timeline side[2]; /* empty, where there are none */
	size_t first, count;	 /* its late messages in `late` */
};

struct explained {
	const struct layout_series *series; /* whose messages they are: the flow's first; NULL: it has none such */
	bool has_median;
	int64_t median; /* of all repetitions, in ns from stamp to stamp */
	struct cause_table causes;
	struct attribution late;
	size_t count;
	struct explained_rep *reps;
	char why[256];	/* the first reason why there are no events; "": there are */
	long long lost; /* events that buffers did not take */
	/* What it costs to keep events: quantiles with, by those of a control repetition without; 0: not known. */
	double p50_ratio, p99_ratio;
};

/* 1: it was to be explained; 0: it was not; or a negative errno. Free in either case. */
int explained_make(const struct layout_flow *f, const struct rep *reps, size_t count, struct explained *out,
		   struct err *e);
void explained_free(struct explained *x);

/* With the repetitions that it is about, from a run directory. */
struct explained_flow {
	struct explained found;
	struct rep *reps;
	size_t count;
};

/* As explained_make(). Close in either case. */
int explained_open(const char *run, const struct layout_flow *f, struct explained_flow *out, struct err *e);
void explained_close(struct explained_flow *x);

/* Of a cause: the messages that it explains. */
struct explained_cause {
	unsigned cause;
	size_t messages;
	int64_t time_p50, time_max; /* that it had of each */
};

/* All that explain one at least, the most frequent first; the caller frees. */
struct explained_cause *explained_causes(const struct explained *x, size_t *count);

/* All late messages, the worst first; the caller frees. */
const struct late_message **explained_worst(const struct explained *x);
const struct explained_rep *explained_rep_of(const struct explained *x, const struct late_message *m);

/* Late messages by whether a cause is known: explained, and those in whose time events were lost. */
size_t explained_known(const struct explained *x);
size_t explained_not_known(const struct explained *x);

#endif
