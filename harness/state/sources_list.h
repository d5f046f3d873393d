/*
 * The table of sources, for people and programs: what a capture would hold.
 */
#ifndef KBLAT_STATE_SOURCES_LIST_H
#define KBLAT_STATE_SOURCES_LIST_H

#include <jansson.h>

/* {"schema": 1, "sources": [{"key", "group", "class", "how", "path", "needs_root"}, ...]}, a new
 * reference. */
json_t *sources_list_json(void);

/* As text on standard output. */
void sources_list_print(void);

#endif
