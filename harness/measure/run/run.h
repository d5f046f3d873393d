/*
 * A run: from a spec to a sealed run directory. Nothing is printed here; the caller gets the progress by callbacks.
 */
#ifndef KBLAT_RUN_RUN_H
#define KBLAT_RUN_RUN_H

#include <jansson.h>
#include <signal.h>

#include "measure/run/coordinator.h"
#include "measure/spec/spec.h"

struct run_request {
	const struct spec *spec;
	const char *out;	 /* the run directory is created inside it; NULL: in runs/ next to the spec */
	const char *launcher[2]; /* by role; NULL or "": this machine */
	bool no_state;		 /* the host's state is not captured */
	bool mask;		 /* without what identifies a machine */
	int argc;		 /* of the command line, without the program's name */
	char *const *argv;
	volatile sig_atomic_t *interrupted;	/* not 0: end early and keep what was measured */
	void (*show)(const struct progress *p); /* NULL: nobody looks */
	void (*point_ended)(const struct progress *p, enum outcome outcome, const char *why);
	void (*warn)(const char *text); /* what is no reason to end */
};

struct run_result {
	char *path;		 /* of the run directory; NULL: there is none */
	struct summary *summary; /* NULL: it could not be sealed */
	size_t count[OUTCOMES];	 /* points by outcome */
	size_t total;
};

/* The directory in which run directories of a spec are created: `out` (--out), or if that is NULL runs/ next to the spec; of a
 * run's own spec, where that run is. The caller frees. */
char *run_parent(const struct spec *spec, const char *out);

/* 0, or a negative errno and `e`. Free the result in either case. */
int run_execute(const struct run_request *request, struct run_result *result, struct err *e);
void run_result_free(struct run_result *r);

/* resolved.json: every point with every setting, the columns and series of their kernels, the spec's claims: a new reference. */
json_t *describe_resolved(const struct spec *spec);

/* "argv" of what is recorded: "kblat", and the words after it. A new reference. */
json_t *describe_command(int argc, char *const *argv);

/* What begins now, by this kblat. `source`: of the statement that it is about, or of the samples. */
struct run_record describe_run(const char *name, const char *title, const char *source, bool quick, int argc,
			       char *const *argv);

/* That it is measured here, from now on. The tick counter at its t0. */
int64_t describe_start(struct run_record *r, const char *host, const char *boot_id, const char *role,
		       const struct clock_report *clock);

#endif
