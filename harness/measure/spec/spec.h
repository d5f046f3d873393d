/*
 * An experiment's spec (YAML; docs/spec.md) and its points. Reading it yields numbered points, each with a complete,
 * checked set of settings in which all defaults are filled in. All errors in a spec are reported at once, with their
 * positions.
 */
#ifndef KBLAT_SPEC_H
#define KBLAT_SPEC_H

#include "measure/spec/spec_types.h"

/*
 * Read `path`, a file or a directory with a spec.yaml in it; or a configuration of Observatory. 0, or a negative errno
 * and diagnostics in `d` (initialised here; free with diag_free in both cases, before spec_free).
 */
int spec_load(const char *path, const struct spec_overrides *overrides, struct spec *out, struct diag *d);
void spec_free(struct spec *s);

/* [{"id", "params"}, …]: a new reference. */
json_t *spec_points_json(const struct spec *s);

#endif
