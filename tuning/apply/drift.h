/*
 * Compares a machine with what was applied to it.
 */
#ifndef KBLAT_TUNING_DRIFT_H
#define KBLAT_TUNING_DRIFT_H

#include <jansson.h>

struct drift;
struct journal;

void drift_print(const struct journal *j, const struct drift *d);
json_t *drift_json(const struct journal *j, const struct drift *d);

#endif
