/*
 * A run directory while it is written. It is called `<name>-<UTC>-<8 hex>.partial`, and renamed when it is sealed.
 * docs/run-directory.md describes its layout.
 */
#ifndef KBLAT_RUNDIR_WRITER_H
#define KBLAT_RUNDIR_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "files/rundir/run_record.h"

struct err;

struct rundir {
	char *path;  /* where it is now */
	char *final; /* where it will be */
	FILE *log;
	struct run_record record; /* run.json, written when it changes */
	json_t *resolved;	  /* resolved.json */
};

/* What was asked. Borrowed. */
struct rundir_head {
	const char *name, *title;
	const char *text; /* of the spec, byte for byte */
	size_t length;
	const char *original; /* another program's configuration that the spec was made of; NULL: none */
	size_t original_length;
	bool quick;
	bool imported; /* of another program: it cannot be repeated by a spec */
};

#define RUNDIR_NAME_MAX 128

/* Names of runs and hosts become those of folders: STATUS_USAGE if this one cannot. `what` is that which has it. */
int rundir_check_name(const char *what, const char *name, struct err *e);

/* Create it inside `parent` (created if missing), with spec.yaml (and the observatory.json that it was made from),
 * resolved.json, README.txt and log.jsonl. `resolved` is stolen, and
 * what `record` owns is taken. */
int rundir_create(struct rundir *r, const char *parent, const struct rundir_head *head, json_t *resolved,
		  const struct run_record *record, struct err *e);

/* Write run.json again. */
int rundir_update(struct rundir *r, struct err *e);

/* Write any other document of its top level. */
int rundir_write(const struct rundir *r, const char *name, const json_t *value, struct err *e);

/* point.json and params.json of the only point of a run in which another program has measured. */
int rundir_write_point(const struct rundir *r, const char *outcome, const char *why, struct err *e);

/* One line of log.jsonl: {"time": UTC, "event": ..., more}. `more` is stolen, may be NULL. */
void rundir_log(struct rundir *r, const char *event, json_t *more);

/* Closes the log, flushes everything to the disk, and gives the directory its final name. Nothing may be written
 * afterwards. */
int rundir_finish(struct rundir *r, struct err *e);
void rundir_close(struct rundir *r);

/* "20261121T093000Z" (compact) or "2026-11-21T09:30:00Z", of seconds since 1970. Returns `buf` (at least 32 bytes). */
char *utc_of(int64_t seconds, char *buf, size_t size, int compact);
char *utc_now(char *buf, size_t size, int compact);

/* Seconds since 1970 of "2026-11-21T09:30:00Z"; -1 if it is not such a text, or NULL. */
int64_t utc_seconds(const char *utc);

/* When a run was measured, in UTC: of an imported file, which has no other clock, when that was written. The caller frees. */
char *rundir_began(const struct run_record *r);

#endif
