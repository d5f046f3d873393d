/*
 * A capture while it is made: what readers and flatteners work with. Nothing here fails towards them: what cannot be
 * read becomes a key that says so, what cannot be written ends the capture.
 */
#ifndef KBLAT_STATE_CAPTURE_H
#define KBLAT_STATE_CAPTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct piece;
struct state_source;
struct sysroot;

/* The machine. */
const struct sysroot *capture_root(const struct capture *c);

/* Add `key`. The first '*' in it is replaced by `name` (NULL: there is none); a key that is there already stays. Text
 * is cleaned, and cut at 4 KiB. */
void capture_text(struct capture *c, const char *key, const char *name, const char *text, size_t length);
void capture_int(struct capture *c, const char *key, const char *name, int64_t value);

/* A number as one, anything else as text. */
void capture_value(struct capture *c, const char *key, const char *name, struct piece value);

/* The errno `-rc` as "!ENOENT". */
void capture_errno(struct capture *c, const char *key, int rc);

/*
 * Read a file and keep it raw under its own path. `*text` stays the capture's, until the next call. 0 or a negative
 * errno: that of reading, -EINVAL for a path that cannot be kept (control characters, ".."), -EDQUOT when the capture
 * is full.
 */
int capture_file(struct capture *c, const char *path, const char **text, size_t *length);

/* Keep what is no file of the machine, as "/made/<name>". */
void capture_made(struct capture *c, const char *name, char *text, size_t length);

/* Readers. */
#define READER(name)                                                                                                   \
	void read_##name(struct capture *c, const struct state_source *s, const char *path, const char *key)
READER(file);
READER(link);	     /* last component */
READER(holders);     /* who has it open */
READER(cpusets);     /* path: mountinfo */
READER(sysctls);     /* a folder with all below it */
READER(threads);     /* path: /proc */
READER(config);	     /* the kernel's */
READER(kernel_log);  /* and its lines about the TSC */
READER(ntp);	     /* how the kernel's clock is disciplined; the live machine only, as what follows */
READER(smis);	     /* system management interrupts so far */
READER(ethtool);     /* path: of an interface in /sys/class/net */
READER(mode);	     /* a file's permissions */
READER(environment); /* this process', without secrets */
READER(program);     /* this program and its libraries */
READER(tuned);	     /* the active profile's text */

/* Flatteners: pure, from a file's text to keys. */
#define FLATTENER(name)                                                                                                \
	void flatten_##name(struct capture *c, const struct state_source *s, const char *key, const char *text,        \
			    size_t length)
FLATTENER(line);       /* the first line */
FLATTENER(int);	       /* a number, or else the line */
FLATTENER(words);      /* a number, or all words, one blank between two */
FLATTENER(cpulist);    /* "0-3", in canonical form */
FLATTENER(cpumask);    /* "f" as "0-3" */
FLATTENER(choice);     /* "always [madvise] never": what is in brackets */
FLATTENER(s32);	       /* four bytes in the machine's order */
FLATTENER(pairs);      /* a name and a value a line, divided by one of `arg` */
FLATTENER(field);      /* the values of the lines that begin "arg :" */
FLATTENER(flag);       /* yes or no: is `arg` one of the flags in /proc/cpuinfo? */
FLATTENER(columns);    /* counts by CPU, under a line of CPUs: interrupts, softirqs; zeros are left out */
FLATTENER(stat);       /* /proc/stat */
FLATTENER(psi);	       /* /proc/pressure: the totals */
FLATTENER(parameters); /* of the kernel's command line */
FLATTENER(interfaces); /* /proc/net/dev: counters */
FLATTENER(limits);     /* /proc/self/limits: soft and hard */
FLATTENER(pci_config); /* PCIe settings of configuration space */
FLATTENER(modules);    /* /proc/modules: sizes */

#endif
