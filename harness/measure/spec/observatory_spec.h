/*
 * Converts a configuration of Observatory to an equivalent spec of kblat (docs/observatory.md), as
 * a tree like that of a spec read from YAML. Each node has its position in the configuration.
 */
#ifndef KBLAT_OBSERVATORY_SPEC_H
#define KBLAT_OBSERVATORY_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "common/diag.h"
#include "common/yaml.h"
#include "measure/spec/spec_types.h"

/* --- the configuration (observatory_config.c) --- */

/*
 * Recognises and checks configurations of Observatory. They are JSON, but read as YAML, which
 * includes JSON, so that every node has its position. The functions
 * at the end convert them to specs.
 */

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

struct observatory_request {
	const char *transport; /* that stands for Observatory's binding: verbs, tcp, … */
	const char *const
	    *devices; /* names of the local RDMA devices, in the order that deviceNumber refers to. NULL: not known */
	size_t device_count;
	unsigned long long least_bytes; /* minimum message size of that transport; smaller ones are left out */
};

/* `config` has been checked (observatory_config_check()). Free the result with yaml_free. NULL if
 * something is impossible, which is then reported in `d`; `warnings` tells what is left out. */
struct ynode *observatory_spec_make(const struct ynode *config, const struct observatory_request *request,
				    struct diag *d, struct diag *warnings);

/*
 * If `*root` is a configuration of Observatory, replace it by the tree of the equivalent spec, and store the text of
 * that spec in s->text and that of the configuration in s->original. Errors are added to `d`, and warnings to
 * s->warnings. Otherwise nothing happens.
 */
void spec_import(struct spec *s, struct ynode **root, const struct spec_overrides *overrides, struct diag *d);

/* A mapping as text: a line for each of its entries and for each item of a list in it. The caller frees. */
char *yaml_make_dump(const struct ynode *map);

#endif
