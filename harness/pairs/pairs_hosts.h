/*
 * The hosts whose pairs are measured: a list ("n1,n2", "n[01-64]", as Slurm writes them) or a file, a
 * host a line: its name, and after a blank, if it has another one on the network under test, its
 * address. '#' begins a comment.
 */
#ifndef KBLAT_PAIRS_HOSTS_H
#define KBLAT_PAIRS_HOSTS_H

#include <stddef.h>

struct err;

#define PAIRS_HOSTS_MAX 4096

struct pairs_host {
	char *name, *address; /* without an address of its own, the name */
};

struct pairs_hosts {
	struct pairs_host *item;
	size_t count;
};

/* `text`: what --hosts says; the name of a file if there is such a file. -EINVAL and STATUS_USAGE: a name that is none, one
 * that is there twice, fewer than two. Release in either case. */
int pairs_hosts_read(struct pairs_hosts *h, const char *text, struct err *e);

/* Another host; the same mistakes. */
int pairs_hosts_add(struct pairs_hosts *h, const char *name, const char *address, struct err *e);
void pairs_hosts_free(struct pairs_hosts *h);

#endif
