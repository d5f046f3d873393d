/*
 * The flows of a point and their names. A point with several flows has them in its settings ("flows": "large small"),
 * and the names of each flow's settings, metrics and summary blocks are prefixed with the flow's name and a dot:
 * "small.size_bytes", "small.lat_ns". Other points have one flow, whose name is "" and whose keys have no prefix.
 */
#ifndef KBLAT_RUNDIR_FLOWS_H
#define KBLAT_RUNDIR_FLOWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define FLOWS_KEY_MAX 192 /* bytes of a key with its flow's name; a longer one is cut */
#define FLOWS_MOST    64  /* of a point */

/* The names in order, [""] for a point without: a new reference. If there are more than FLOWS_MOST, the first
 * FLOWS_MOST + 1. */
json_t *flows_names(const json_t *params);

/* The settings of one flow under their bare names, with those of the point itself ("repetitions"):
 * a new reference, of `params` itself for the flow "". */
json_t *flows_params(const json_t *params, const char *flow);

/* "small.lat_ns" of "small" and "lat_ns"; "lat_ns" of "" and "lat_ns". Returns `buf`. */
char *flows_key(const char *flow, const char *key, char *buf, size_t size);

/* "lat_ns" of either. */
const char *flows_bare_key(const char *key);

/* Is this a key of that flow? For the flow "": does it have no prefix? */
bool flows_owns(const char *flow, const char *key);

/* The value of a flow's key in `object`. Borrowed, or NULL. */
json_t *flows_get(const json_t *object, const char *flow, const char *key);

#endif
