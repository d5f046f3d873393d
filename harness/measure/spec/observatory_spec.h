/*
 * Converts a configuration of Observatory to an equivalent spec of kblat (docs/observatory.md), as
 * a tree like that of a spec read from YAML. Each node has its position in the configuration.
 */
#ifndef KBLAT_OBSERVATORY_SPEC_H
#define KBLAT_OBSERVATORY_SPEC_H

#include <stddef.h>

#include "common/diag.h"
#include "common/yaml.h"
#include "measure/spec/spec_types.h"

struct observatory_request {
	const char *transport; /* that stands for Observatory's binding: verbs, tcp, … */
	const char *const
	    *devices; /* names of the local RDMA devices, in the order that deviceNumber refers to. NULL: not known */
	size_t device_count;
	unsigned long long least_bytes; /* minimum message size of that transport; smaller ones are left out */
};

/* `config` has been checked (observatory_config.h). Free the result with yaml_free. NULL if
 * something is impossible, which is then reported in `d`; `warnings` tells what is left out. */
struct ynode *observatory_spec_make(const struct ynode *config, const struct observatory_request *request,
				    struct diag *d, struct diag *warnings);

/*
 * If `*root` is a configuration of Observatory, replace it by the tree of the equivalent spec, and store the text of
 * that spec in s->text and that of the configuration in s->original. Errors are added to `d`, and warnings to
 * s->warnings. Otherwise nothing happens.
 */
void spec_import(struct spec *s, struct ynode **root, const struct spec_overrides *overrides, struct diag *d);

#endif
