/*
 * States of hosts in an index. All runs on one machine have nearly the same state, so the first one
 * of a host is stored completely, as a base, and others as their differences from it.
 */
#ifndef KBLAT_INDEX_INDEX_STATE_H
#define KBLAT_INDEX_INDEX_STATE_H

#include <jansson.h>
#include <stdint.h>

#include "index/index_sql.h"

/* Add the state of a host before a run: "keys" of its state.json. `bases` are the bases known so
 * far: host -> {"id", "keys"}; an empty object to begin with. */
int index_state_add(struct index *ix, json_t *bases, int64_t run, const char *host, const json_t *keys, struct err *e);

#endif
