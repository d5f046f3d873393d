/*
 * What the operating system's kernel did on the CPUs of one side while a repetition was measured: trace-<side>.npy,
 * with TRACE_WORDS numbers for each event (common/trace_kinds.h), and trace-<side>.json, which says what they mean.
 */
#ifndef KBLAT_RUNDIR_TRACE_FILE_H
#define KBLAT_RUNDIR_TRACE_FILE_H

#include <jansson.h>
#include <stdint.h>

#include "common/trace_kinds.h"

struct err;

#define TRACE_FILE_KINDS 256   /* that a file may know; newer ones than ours are passed over */
#define TRACE_FILE_NAMES 16384 /* of interrupts, tasks, work items: a machine has hundreds */

struct trace_file {
	json_t *about;	      /* trace-<side>.json */
	const int64_t *words; /* TRACE_WORDS for each event */
	int64_t *copy;	      /* the same, if they were read from a file */
	size_t events;
	int kind[TRACE_FILE_KINDS]; /* its kinds by their numbers there: ours, or -1 */
	size_t names;
};

/* Of the folder of a repetition (of a flow), and "source" or "sink". 1: it is open, 0: there is none, or a negative
 * errno. */
int trace_file_open(const char *dir, const char *side, struct trace_file *out, struct err *e);
void trace_file_close(struct trace_file *f);

/* Makes `events` events in memory look like such a file, with the kinds of this version. Everything still belongs to
 * the caller. */
struct trace_file trace_file_of_events(json_t *about, const int64_t *words, size_t events);

/* The name with that number; "" if there is none. */
const char *trace_file_name(const struct trace_file *f, int64_t name);

/* Why there are no events; "": there are. */
const char *trace_file_why(const struct trace_file *f);

#endif
