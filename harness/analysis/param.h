/*
 * A setting's key and value, for people: "size_bytes": 32 is "size" and "32B".
 */
#ifndef KBLAT_ANALYSIS_PARAM_H
#define KBLAT_ANALYSIS_PARAM_H

#include <jansson.h>
#include <stdbool.h>

#include "common/units.h"

/* The key without its unit, into `name`; the unit. Also for metrics: "lat_ns" is "lat". */
enum unit param_name_unit(const char *key, char *name, size_t size);

/*
 * Does a run's spec name this setting? Else all its points have the defaults, which may be
 * different ones of different transports or kernels: that is no choice that tells points apart.
 * `document` is resolved.json or summary.json; one without that list names everything.
 */
bool param_is_named(const json_t *document, const char *key);

/* The value with its unit; "-" for null or nothing. Returns `buf`. */
char *param_value_text(const json_t *value, enum unit unit, char *buf, size_t size);

#endif
