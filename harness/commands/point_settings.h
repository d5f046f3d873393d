/*
 * The settings of a spec's points, for people: those that all points share, or those that
 * distinguish one from the others.
 */
#ifndef KBLAT_COMMANDS_POINT_SETTINGS_H
#define KBLAT_COMMANDS_POINT_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "spec/spec.h"

/* Print the settings of a point, by its index, each as " key=value", as in resolved.json. */
void point_settings_print(const struct spec *spec, size_t point, bool shared, FILE *out);

/* Print those that the spec or the command line names, and that differ between points, each as " rate=1kHz". */
void point_settings_print_named(const struct spec *spec, size_t point, FILE *out);

#endif
