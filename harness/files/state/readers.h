/*
 * Where the keys of a capture come from: what a row of the table of sources (sources.h) is, and the
 * readers and flatteners that it may name.
 */
#ifndef KBLAT_STATE_READERS_H
#define KBLAT_STATE_READERS_H

#include <stdbool.h>
#include <stddef.h>

struct capture;

/* What a difference means for a comparison of two measurements. */
enum state_class {
	STATE_FATAL,	   /* it can explain a different latency by itself */
	STATE_WARN,	   /* it may matter */
	STATE_INFORMATIVE, /* good to know */
	STATE_VOLATILE,	   /* changes by itself; reported as a delta */
};

struct state_source;

/* Read `path` (wildcards resolved) and add keys. */
typedef void state_reader(struct capture *c, const struct state_source *s, const char *path, const char *key);

/* Pure, from a file's text to keys. */
typedef void state_flattener(struct capture *c, const struct state_source *s, const char *key, const char *text,
			     size_t length);

struct state_source {
	const char *group; /* first part of the key */
	enum state_class class;
	const char *key;
	const char *path;

	state_reader *read;
	state_flattener *flatten; /* for read_file: what the text says. NULL: only the raw file is kept */
	const char *arg;	  /* for `flatten` */
	bool needs_root;
};

/* The table (sources.c). */
extern const struct state_source state_sources[]; /* group NULL ends */

/* Every reader, by X(name, how): read_name(), and what `kblat state --sources` calls its way of reading. */
#define EVERY_STATE_READER(X)                                                                                          \
	X(file, "file")                                                                                                \
	X(link, "link") /* its last component */                                                                       \
	X(mode, "permissions")                                                                                         \
	X(holders, "open descriptors")                                                                                 \
	X(cpusets, "control groups") /* path: mountinfo */                                                             \
	X(sysctls, "folder")                                                                                           \
	X(threads, "threads") /* path: /proc */                                                                        \
	X(config, "kernel configuration")                                                                              \
	X(kernel_log, "system call")  /* and its lines about the TSC */                                                \
	X(ntp, "system call")	      /* how the kernel's clock is disciplined */                                      \
	X(smis, "register")	      /* system management interrupts so far */                                        \
	X(ethtool, "ioctl")	      /* path: of an interface in /sys/class/net */                                    \
	X(environment, "environment") /* this process', without secrets */                                             \
	X(program, "loaded objects")  /* this program and its libraries */                                             \
	X(tuned, "profiles")	      /* the active profile's text */

#define DECLARE_STATE_READER(name, how) state_reader read_##name;
EVERY_STATE_READER(DECLARE_STATE_READER)

state_flattener flatten_line;	    /* the first line */
state_flattener flatten_int;	    /* a number, or else the line */
state_flattener flatten_words;	    /* a number, or all words, one blank between two */
state_flattener flatten_cpulist;    /* "0-3", in canonical form */
state_flattener flatten_cpumask;    /* "f" as "0-3" */
state_flattener flatten_choice;	    /* "always [madvise] never": what is in brackets */
state_flattener flatten_s32;	    /* four bytes in the machine's order */
state_flattener flatten_pci_config; /* PCIe settings of configuration space */
state_flattener flatten_pairs;	    /* each line has a name and a value, separated by one of the characters in `arg` */
state_flattener flatten_field;	    /* the values of the lines that begin "arg :" */
state_flattener flatten_flag;	    /* yes or no: is `arg` one of the flags in /proc/cpuinfo? */
state_flattener flatten_columns;    /* counts by CPU, under a line of CPUs: interrupts, softirqs; zeros are left out */
state_flattener flatten_stat;	    /* /proc/stat */
state_flattener flatten_psi;	    /* /proc/pressure: the totals */
state_flattener flatten_modules;    /* /proc/modules: sizes */
state_flattener flatten_parameters; /* of the kernel's command line */
state_flattener flatten_limits;	    /* /proc/self/limits: soft and hard */
state_flattener flatten_interfaces; /* /proc/net/dev: counters */

#endif
