/*
 * The hosts between which is measured: a list ("n1,n2", "n[01-64]", as Slurm writes them) or a file, a
 * host a line: its name, and after a blank, if it has another one on the network under test, its
 * address. '#' begins a comment.
 */
#ifndef KBLAT_STUDY_STUDY_HOSTS_H
#define KBLAT_STUDY_STUDY_HOSTS_H

#include <stddef.h>

struct err;

#define HOSTS_MAX 4096

struct study_host {
	char *name, *address; /* without an address of its own, the name */
};

struct study_hosts {
	struct study_host *item;
	size_t count;
};

/* `text`: what --hosts says; the name of a file if there is such a file. -EINVAL and STATUS_USAGE: a name that is none, one
 * that is there twice, fewer than two. Release in either case. */
int study_hosts_read(struct study_hosts *h, const char *text, struct err *e);

/* Another host; the same mistakes. */
int study_hosts_add(struct study_hosts *h, const char *name, const char *address, struct err *e);
void study_hosts_free(struct study_hosts *h);

/*
 * Replaces the placeholders of --source, --sink and --set, which differ between pairs: {source}, {sink},
 * {source_address}, {sink_address}, and {host} and {address} of the launcher's own side (`host`, or NULL). Other words in
 * braces are left unchanged. The caller frees.
 */
char *study_hosts_fill(const char *text, const struct study_host *source, const struct study_host *sink,
		       const struct study_host *host);

#endif
