/*
 * States of hosts in an index. Runs on one machine have nearly the same: the first of a host is
 * stored whole, as a base, and others as what is different from it.
 */
#ifndef KBLAT_INDEX_INDEX_STATE_H
#define KBLAT_INDEX_INDEX_STATE_H

#include <jansson.h>
#include <stdint.h>

#include "index/index_sql.h"

/* Add the state of a host before a run: "keys" of its state.json. `bases` are those that are known
 * already: host -> {"id", "keys"}; json_object() to begin with. */
int index_state_add(struct index *ix, json_t *bases, int64_t run, const char *host, const json_t *keys, struct err *e);

#endif
