/*
 * Experiments that another program's configuration describes, read as the specs that they mean.
 */
#ifndef KBLAT_SPEC_IMPORT_H
#define KBLAT_SPEC_IMPORT_H

#include "common/yaml.h"
#include "spec/spec.h"

/*
 * If `*root` is a configuration of Observatory, put the tree of the spec that it means in its place, that spec's text into
 * s->text, and the configuration's into s->original. What is wrong is in `d`, what is odd in s->warnings. Otherwise
 * nothing happens.
 */
void spec_import(struct spec *s, struct ynode **root, const struct spec_overrides *overrides, struct diag *d);

#endif
