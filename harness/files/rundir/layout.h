/*
 * What a run directory contains for a point, according to resolved.json: the id and settings of the point, its flows,
 * the columns recorded by each flow's kernel, and the series computed from them. Names that become paths are checked
 * here.
 */
#ifndef KBLAT_RUNDIR_LAYOUT_H
#define KBLAT_RUNDIR_LAYOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

/* columns of a kernel, series of it, flows of a point: resolved.json is not trusted with more */
#define LAYOUT_MOST   64
#define LAYOUT_ID_MAX 999999

struct layout_series {
	const char *name;  /* "lat_ns" */
	const char *label; /* "t_lat": in figures and tables */
	unsigned column;   /* index in columns */
	int minus;	   /* likewise; -1: none */
	/* likewise: if it never happened, there is no entry, so none is lost; -1: none */
	int only_where_recorded;
	int divide;   /* 2: half of it; 1: as it is */
	bool lag;     /* minus the column's own entry before */
	bool sparse;  /* entries only where they were asked for: the others are not lost */
	bool crosses; /* it subtracts a stamp of one side's clock from one of the other's */
};

/* How many bytes a message moves over the wire; 0 in both directions if the transport is not known to use a wire. */
struct layout_wire {
	json_int_t out_bytes, in_bytes; /* of a post of the source; of an answer */
	bool fetches;			/* there is no answer: the source's own requests bring them */
};

/* What the settings mean for the rules of validity. */
struct layout_rules {
	enum layout_faults {
		FAULTS_WRONG,	 /* page faults inside the measured interval invalidate it */
		FAULTS_MEASURED, /* they are the subject */
		FAULTS_EXPECTED,
	} page_faults;
	bool polls;		     /* busily: its threads are to keep their CPUs */
	bool yields;		     /* but they yield them between two polls, which is counted as a loss */
	bool stores;		     /* samples are written to a file, for which they may have to wait */
	bool restamps;		     /* a stamp may be overwritten before it is read */
	bool foreign;		     /* measured by another program: only its samples are known */
	bool traced;		     /* requests of another program, with stamps */
	bool unordered;		     /* the order of the entries is not that of the messages */
	json_int_t resolution_ns;    /* how finely the samples are known; 0: by their clock */
	json_int_t resolution_ppm;   /* or by that share of their value, if that is more */
	json_int_t missed_limit_ppm; /* steps that the pacer may miss; negative: there is no pacer */
};

/* The properties of a flow's transport that matter for the rules of validity. */
struct layout_traits {
	bool reliable;	      /* a lost message is an error */
	bool own_clock;	      /* the tick counter has no part in its numbers */
	bool device;	      /* whose counters must show the traffic */
	bool passive;	      /* nobody at the sink receives anything */
	bool alone;	      /* nor is anything sent: only the source does something */
	json_int_t block;     /* messages that share an entry of each column; at least 1 */
	const json_t *checks; /* array of rows (files/rundir/checks.h), borrowed; NULL: a run of 1.0.0 */
	struct layout_rules rules;
};

/* A pair of endpoints. */
struct layout_flow {
	unsigned point; /* id */
	/* "small"; "": the point has no flows, and its one pair of endpoints no folder of its
	 * own */
	const char *name;
	const json_t *params; /* its settings under their bare names, with the point's own */
	struct layout_traits traits;
	struct layout_wire wire;
	json_int_t limit_ns;
	bool counts_loss; /* its columns do not show what was received; the counters of both sides do */
	unsigned column_count, series_count;
	const char **columns;
	const char **clocks; /* of each column: the side whose clock made the stamps */
	struct layout_series *series;
};

/* Strings are borrowed from resolved.json. */
struct layout {
	unsigned id;
	const json_t *params; /* all of them, those of a flow with its name before them */
	size_t flow_count;    /* at least one */
	struct layout_flow *flows;
	json_t *held; /* what belongs to the layout */
};

/* The point at `index` of resolved.json's "points"; free with layout_free(). On failure -EINVAL and STATUS_USAGE; the
 * message names resolved.json below `run_path`. */
int layout_read(const char *run_path, const json_t *resolved, size_t index, struct layout *out, struct err *e);

/* layout_read() for the point with that id; -ENOENT if there is none. */
int layout_find(const char *run_path, const json_t *resolved, unsigned id, struct layout *out, struct err *e);

void layout_free(struct layout *l);

/* Does a setting of any flow determine how long to measure rather than what? */
bool layout_is_bookkeeping(const json_t *resolved, const char *key);

/* Over which time a message is late (over_limit), of a flow's settings; 10 us where they name none. */
json_int_t layout_limit_ns(const json_t *params);

/* The index of a column by its name, or -1. */
int layout_column(const struct layout_flow *f, const char *name);

/* "<run>/points/<nnnn>"; "<run>/points/<nnnn>/<part>", and of a flow with a name
 * "<run>/points/<nnnn>/<part>/<flow>"; of the part "rep-<nn>". The caller frees. */
char *layout_point_dir(const char *run_path, unsigned id);
char *layout_part_dir(const char *run_path, unsigned id, const char *part, const char *flow);
char *layout_rep_dir(const char *run_path, unsigned id, unsigned rep, const char *flow);

#endif
