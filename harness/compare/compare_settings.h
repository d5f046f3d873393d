/*
 * Settings that runs of an earlier version did not have yet: they count as having the current
 * default.
 */
#ifndef KBLAT_COMPARE_SETTINGS_H
#define KBLAT_COMPARE_SETTINGS_H

#include "compare/compare_runs.h"

/* The defaults that the runs record ("defaults" of resolved.json); for each setting, the first run
 * that has it counts. A new reference. */
json_t *compare_settings_defaults(const struct compare_runs *runs);

/* A point's settings, with defaults for those that it does not have: a new reference. */
json_t *compare_settings_of(const json_t *params, const json_t *defaults);

#endif
