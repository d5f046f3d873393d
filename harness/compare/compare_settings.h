/*
 * Settings that runs of an earlier version did not have yet: they were what is the default now.
 */
#ifndef KBLAT_COMPARE_SETTINGS_H
#define KBLAT_COMPARE_SETTINGS_H

#include "compare/compare_runs.h"

/* The defaults that any of the runs tells ("defaults" of resolved.json; of several, the first's): a new reference. */
json_t *compare_settings_defaults(const struct compare_runs *runs);

/* A point's settings, with the default of each that it lacks: a new reference. */
json_t *compare_settings_of(const json_t *params, const json_t *defaults);

#endif
