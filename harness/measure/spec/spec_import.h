/*
 * Reads configurations of other programs as specs.
 */
#ifndef KBLAT_SPEC_IMPORT_H
#define KBLAT_SPEC_IMPORT_H

#include "common/yaml.h"
#include "measure/spec/spec_types.h"

/*
 * If `*root` is a configuration of Observatory, replace it by the tree of the equivalent spec, and store the text of
 * that spec in s->text and that of the configuration in s->original. Errors are added to `d`, and warnings to
 * s->warnings. Otherwise nothing happens.
 */
void spec_import(struct spec *s, struct ynode **root, const struct spec_overrides *overrides, struct diag *d);

#endif
