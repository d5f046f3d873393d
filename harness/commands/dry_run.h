/*
 * What `kblat run SPEC --dry-run` prints: the points, what tells them apart, and how long each is expected to take.
 */
#ifndef KBLAT_COMMANDS_DRY_RUN_H
#define KBLAT_COMMANDS_DRY_RUN_H

#include <stdbool.h>

#include "spec/spec.h"

/* `out`: as of --out, where former runs are looked for. */
void dry_run_show(const struct spec *spec, const char *out, bool json);

#endif
