/*
 * Recognises and checks configurations of Observatory. They are JSON, but read as YAML, which
 * includes JSON, so that every node has its position. harness/measure/spec/observatory_spec.h
 * converts them to specs.
 */
#ifndef KBLAT_OBSERVATORY_CONFIG_H
#define KBLAT_OBSERVATORY_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "common/diag.h"
#include "common/yaml.h"

/* Judging by its keys, is it such a configuration rather than a spec of kblat? */
bool observatory_config_is(const struct ynode *root);

/*
 * Add all errors to `d`, and suspicious things to `warnings`, each with its position. `text`:
 * content of the file, which must be JSON that Observatory's own parsers accept. If there are no
 * errors, the tree can be read without further checks.
 */
void observatory_config_check(const struct ynode *root, const char *text, size_t length, struct diag *d,
			      struct diag *warnings);

/* The value of one of its `parameters`; if it is given several times, the last one, as in
 * Observatory. NULL: it is not given. */
const struct ynode *observatory_config_parameter(const struct ynode *root, const char *key);

/* The name of its results: resultName, or className if that is empty. */
const char *observatory_config_result_name(const struct ynode *root);

/* Is its `detector` enabled, which counts bytes on the wire? */
bool observatory_config_has_detector(const struct ynode *root);

/* The value of a whole number, which has been checked. */
unsigned long long observatory_config_number(const struct ynode *map, const char *key);

#endif
