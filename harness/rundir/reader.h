/*
 * A run directory as read: what a run left behind. Layout and the shape of every file:
 * docs/run-directory.md.
 */
#ifndef KBLAT_RUNDIR_READER_H
#define KBLAT_RUNDIR_READER_H

#include <jansson.h>
#include <stdbool.h>

struct err;

struct run {
	char *path;	  /* absolute */
	bool sealed;	  /* has a manifest, and no .partial at its end */
	json_t *run;	  /* run.json */
	json_t *resolved; /* resolved.json */
	json_t *summary;  /* summary.json; NULL if there is none yet */
};

/* Open for reading. STATUS_USAGE if it is no run directory; a newer schema is refused. A .partial
 * directory is accepted. */
int run_open(const char *path, struct run *out, struct err *e);
void run_close(struct run *r);

/* Likewise the run `name` inside `dir`, an absolute path without links, as a campaign.json names it:
 * one part only, and no link. */
int run_open_inside(const char *dir, const char *name, struct run *out, struct err *e);

/* What state.json said of the host of a role ("source", "sink") before the run, as "keys": a new
 * reference, NULL if that is not known. `run`: run.json. */
json_t *run_state(const char *run_path, const json_t *run, const char *role);

#endif
