/*
 * What `kblat run SPEC --dry-run` prints: the points, the settings in which they differ, and how
 * long each is expected to take.
 */
#ifndef KBLAT_COMMANDS_DRY_RUN_H
#define KBLAT_COMMANDS_DRY_RUN_H

#include <stdbool.h>

#include "spec/spec.h"

/* `out`: as for --out; former runs are searched for there. */
void dry_run_show(const struct spec *spec, const char *out, bool json);

#endif
