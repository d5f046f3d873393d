/*
 * A run whose numbers may be quoted beside those of others: sealed, unchanged since (the files that
 * are read, not the raw columns), and of known boots.
 */
#ifndef KBLAT_RUNDIR_SEALED_H
#define KBLAT_RUNDIR_SEALED_H

#include "rundir/reader.h"

#define SEALED_UNKNOWN "unknown" /* a kernel that no capture tells */

struct sealed_hosts {
	char *boot, *kernel, *hosts; /* of several hosts joined with '+' */
	json_t *states;		     /* state.json of each host that was captured before the run, by its name */
};

/* Is it sealed, and are its JSON files and captures as they were then? STATUS_USAGE if not. */
int sealed_check(const struct run *run, struct err *e);

/* What is known of its hosts; release with sealed_hosts_free() in either case. STATUS_USAGE where a boot is not known. */
int sealed_hosts_read(const struct run *run, struct sealed_hosts *h, struct err *e);
void sealed_hosts_free(struct sealed_hosts *h);

#endif
