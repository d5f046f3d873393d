/*
 * The samples of another program as a run directory: one point, with one series `lat_ns`, of which everything that judges and
 * shows runs can be asked. What kblat did not observe (counters, placement, clock) is not made up; the point has a warning.
 */
#ifndef KBLAT_IMPORT_H
#define KBLAT_IMPORT_H

#include <stdint.h>

struct err;
struct import_format;

struct import_request {
	const struct import_format *format;
	const char *out; /* the folder for run directories */
	/* NULL: as the file says; otherwise the format's name, "unknown", "unknown" */
	const char *name, *host, *boot;
	const char *column, *unit; /* as in struct reading */
	int64_t limit_ns;	   /* 0: as the file says, otherwise 10 us */
	int argc;		   /* of the command line, without the program's name */
	char *const *argv;
};

/* Import a file, and seal the run directory; its path is `*path`, which the caller frees. On failure, nothing is left. */
int import_file(const struct import_request *request, const char *file, char **path, struct err *e);

#endif
