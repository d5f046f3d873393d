/*
 * From a configuration of Observatory to a spec of ours that means the same (docs/observatory.md), as the tree that reading
 * its YAML would give. Each node has its place in the configuration.
 */
#ifndef KBLAT_OBSERVATORY_SPEC_H
#define KBLAT_OBSERVATORY_SPEC_H

#include <stddef.h>

#include "common/diag.h"
#include "common/yaml.h"

struct observatory_request {
	const char *transport; /* which binding: verbs, tcp, … */
	const char *const
	    *devices; /* the RDMA devices here, in their order: what deviceNumber counts. NULL: not known */
	size_t device_count;
	unsigned long long least_bytes; /* of a message over that transport: smaller ones are left out */
};

/* `config` is checked (observatory_config.h). Free with yaml_free. NULL where something cannot be, which is in `d`;
 * what is left out is in `warnings`. */
struct ynode *observatory_spec_make(const struct ynode *config, const struct observatory_request *request,
				    struct diag *d, struct diag *warnings);

#endif
