/*
 * run.json as a type: who measured what when, on which hosts and by which clock, and whether it is valid. docs/run-directory.md has
 * its form; its keys are in run_record.c.
 */
#ifndef KBLAT_RUNDIR_RUN_RECORD_H
#define KBLAT_RUNDIR_RUN_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_host {
	char *name;    /* of its folder in state/, too */
	char *boot_id; /* NULL: not known */
	json_t *roles; /* texts: "coordinator", "source", "sink" */
	json_t *clock; /* of another host than the coordinator's; otherwise NULL */
};

/* The same moment by three clocks. */
struct run_start {
	int64_t monotonic_ns, realtime_ns, tai_ns;
};

/* Texts of one that was read are not NULL unless it is said; JSON may be NULL in what is not sealed. */
struct run_record {
	char *name, *title, *source, *status, *variant;
	json_t *argv; /* texts */
	char *version, *commit, *started_utc;
	char *ended_utc; /* NULL: it has not ended */
	struct run_start t0;
	struct run_host *host;
	size_t hosts;
	json_t *clock; /* names and values */
	bool valid;
	json_t *reasons, *warnings; /* texts */
	json_t *command;	    /* of the other program: texts; NULL: none was run */
	char *sysroot;		    /* of the recorded machine whose state it has; NULL: this machine's */
	char *environment;	    /* or NULL */
	json_t *points;		    /* how many ended in which way; NULL: the run has not ended */
};

/* A new reference; and from outside: what cannot be read is as if it were not there. The caller frees. */
json_t *run_record_to_json(const struct run_record *r);
struct run_record run_record_from_json(const json_t *j);
void run_record_free(struct run_record *r);

/* The host of that name, which gets the role, too; `clock` is borrowed, as above. */
void run_record_add_host(struct run_record *r, const char *name, const char *boot_id, const char *role,
			 const json_t *clock);

bool run_host_is(const struct run_host *h, const char *role);

/* "quick", rather than "full"? */
bool run_record_is_quick(const struct run_record *r);

#endif
