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

#include "files/state/readers.h"

/* The row from which a key came, or NULL. */
const struct state_source *state_source_of(const char *key);

/* Class of a key; keys of no row (a newer capture's) are informative. */
enum state_class state_class_of(const char *key);

/* Is its value a set of CPUs, of a file that may be missing where there are none? */
bool state_is_set(const char *key);

const char *state_class_name(enum state_class class);

#endif
