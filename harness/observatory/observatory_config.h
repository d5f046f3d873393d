/*
 * A configuration of Observatory: JSON, read as the YAML that it also is, so that every node has its place. Here it is
 * recognised and checked; harness/observatory/observatory_spec.h makes a spec of it.
 */
#ifndef KBLAT_OBSERVATORY_CONFIG_H
#define KBLAT_OBSERVATORY_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "common/diag.h"
#include "common/yaml.h"

/* By its keys: is it one, and no spec of ours? */
bool observatory_config_is(const struct ynode *root);

/*
 * Everything that is wrong with it, into `d`, and what is odd, into `warnings`, each at its place. `text`: of the file, which
 * must be JSON as Observatory's own parsers take it. After that the tree can be read without looking twice.
 */
void observatory_config_check(const struct ynode *root, const char *text, size_t length, struct diag *d,
			      struct diag *warnings);

/* The value of one of its `parameters`, of several the last, as Observatory has it; NULL: it is not given. */
const struct ynode *observatory_config_parameter(const struct ynode *root, const char *key);

/* The name its results carry: resultName, or className where that is empty. */
const char *observatory_config_result_name(const struct ynode *root);

/* Is its `detector` enabled: are bytes on the wire to be counted? */
bool observatory_config_has_detector(const struct ynode *root);

/* A whole number that was checked. */
unsigned long long observatory_config_number(const struct ynode *map, const char *key);

#endif
