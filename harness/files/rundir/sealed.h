/*
 * A run that may be compared with others: it is sealed, the files that are read (not the raw columns) have not changed
 * since then, and the boots are known.
 */
#ifndef KBLAT_RUNDIR_SEALED_H
#define KBLAT_RUNDIR_SEALED_H

#include "files/rundir/reader.h"

#define SEALED_UNKNOWN "unknown" /* a kernel about which there is no capture */

struct sealed_hosts {
	char *boot, *kernel, *hosts; /* of several hosts joined with '+' */
	json_t *states;		     /* state.json of each host that was captured before the run, by its name */
};

/* Is it sealed, and are its JSON files and captures unchanged since then? STATUS_USAGE if not. */
int sealed_check(const struct run *run, struct err *e);

/* For readers that also show runs that are not sealed: 0 if it never was, or if its JSON files are as they were sealed, by the
 * manifest; the columns are not read. Otherwise a negative errno and STATUS_NO. */
int sealed_unchanged(const struct run *run, struct err *e);

/* Information about its hosts; release with sealed_hosts_free() in any case. STATUS_USAGE if a boot is not known. */
int sealed_hosts_read(const struct run *run, struct sealed_hosts *h, struct err *e);
void sealed_hosts_free(struct sealed_hosts *h);

#endif
