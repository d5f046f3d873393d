/*
 * The settings of a spec's points, for people: those that all points share, or those that tell one from the others.
 */
#ifndef KBLAT_COMMANDS_POINT_SETTINGS_H
#define KBLAT_COMMANDS_POINT_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "spec/spec.h"

/* " key=value" each, of the point at that index, as in resolved.json. */
void point_settings_print(const struct spec *spec, size_t point, bool shared, FILE *out);

/* " rate=1kHz" each: those that the spec or the command line names and that differ between points. */
void point_settings_print_named(const struct spec *spec, size_t point, FILE *out);

#endif
