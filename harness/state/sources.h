/*
 * What is read from a machine: a table with one row for each source. To add a source, add a row.
 *
 * A source's path may have wildcards in its components. Its key is a pattern: each '*' stands, in
 * order, for what a component with wildcards matched, and one that is left over for names found
 * inside the file. The same pattern tells, later, which row a key came from; so where two rows
 * match a key, the first one counts.
 */
#ifndef KBLAT_STATE_SOURCES_H
#define KBLAT_STATE_SOURCES_H

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

extern const struct state_source state_sources[]; /* group NULL ends */

/* The row from which a key came, or NULL. */
const struct state_source *state_source_of(const char *key);

/* Class of a key; keys of no row (a newer capture's) are informative. */
enum state_class state_class_of(const char *key);

const char *state_class_name(enum state_class class);

#endif
