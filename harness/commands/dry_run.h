/*
 * What `kblat run SPEC --dry-run` prints: the points, the settings in which they differ, and how
 * long each is expected to take.
 */
#ifndef KBLAT_COMMANDS_DRY_RUN_H
#define KBLAT_COMMANDS_DRY_RUN_H

#include <stdbool.h>
#include <stdio.h>

#include "measure/spec/spec.h"

/* `out`: as for --out; former runs are searched for there. */
void dry_run_show(const struct spec *spec, const char *out, bool json);

/* Print the settings of a point, by its index, that the spec or the command line names, and that differ between points,
 * each as " rate=1kHz". */
void dry_run_named_settings(const struct spec *spec, size_t point, FILE *out);

#endif
