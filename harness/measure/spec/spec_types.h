/*
 * A spec and its points, as all that reads it fills it in.
 */
#ifndef KBLAT_SPEC_TYPES_H
#define KBLAT_SPEC_TYPES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/diag.h"
#include "files/claim/claim.h"
#include "measure/point/point.h"

#define SPEC_MAX_POINTS 10000

/* What the command line adds to a spec: "KEY=VALUE" each. */
struct spec_overrides {
	const char *const *set;
	size_t set_count;
	const char *const *only;
	size_t only_count;
	bool quick; /* the spec's `quick` settings replace the others */
	/*
	 * NULL, if there is only one experiment. For one of several experiments: filled, for each of `set`, with
	 * whether any point has that setting. Then it is not an error if no point has it, or if `only` leaves no point.
	 */
	bool *set_applies;
};

struct spec {
	char *path;		     /* of the file */
	char *name, *title, *source; /* title, source: "" if not given */
	char *text;		     /* the file, byte for byte; of an import the spec that it means */
	size_t length;
	char *
	    original; /* the file, byte for byte, if it belongs to another program (observatory_spec.h); otherwise NULL */
	size_t original_length;
	bool wants_wire;      /* it requests the bytes on the wire, so there is a warning if they are not available */
	struct diag warnings; /* warnings: what is unusual, but not wrong */
	bool quick;
	struct point *point; /* by id */
	size_t point_count;
	json_t *named;	    /* array of the params' keys that the spec or the command line gives; the others have their
			   defaults */
	json_t *named_keys; /* the same as keys of an object */
	json_t *differing;  /* likewise the keys whose values are not the same in all points */
	size_t flow_count;  /* of all points, those that --only drops included; at most SPEC_MAX_POINTS */
	struct claim_list claims;
	json_t *judge; /* keys of the quantities that decide a comparison; NULL: it names none */
};

#endif
