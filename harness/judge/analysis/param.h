/*
 * Formats a setting's key and value for people: "size_bytes": 32 becomes "size" and "32B".
 */
#ifndef KBLAT_ANALYSIS_PARAM_H
#define KBLAT_ANALYSIS_PARAM_H

#include <jansson.h>
#include <stdbool.h>

#include "common/units.h"

/* A setting of a point ("params"): its value; a text ("" if it is none); an integer (0 if it is none); is it this text,
 * or true? */
const json_t *param_value(const json_t *params, const char *key);
const char *param_text(const json_t *params, const char *key);
json_int_t param_integer(const json_t *params, const char *key);
bool param_is(const json_t *params, const char *key, const char *text);
bool param_flag(const json_t *params, const char *key);

/* Writes the key without its unit to `name` and returns the unit. Also for metrics: "lat_ns" becomes "lat". */
enum unit param_name_unit(const char *key, char *name, size_t size);

/* Settings in which points differ, at most: no spec chooses more. What else differs in a damaged run is left out. */
#define PARAM_VARYING_MOST 128

/*
 * Does a run's spec name a setting? If it does not, all points have defaults. These may differ
 * between transports or kernels, but nobody chose them, so they do not distinguish points.
 * `list` is "named" of resolved.json or of a summary; without it, every setting
 * counts as named. A new reference (for param_is_named()), or NULL.
 */
json_t *param_named(const json_t *list);
bool param_is_named(const json_t *named, const char *key);

/* The value with its unit; "-" for JSON null and NULL, "none" for an empty text or list. Returns `buf`. */
char *param_value_text(const json_t *value, enum unit unit, char *buf, size_t size);

/* Does a value speak for itself, without the name of its setting? "rc" does; 5, "auto", "188B" and "9,12" do not. */
bool param_speaks(const json_t *value);

#endif
