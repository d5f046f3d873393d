/*
 * YAML made by a program: trees of nodes, each of which knows the position in another text that it comes from, so that
 * errors are reported there. Such a tree can be written as text; reading that text (common/yaml.h) results in the same
 * tree.
 */
#ifndef KBLAT_COMMON_YAML_MAKE_H
#define KBLAT_COMMON_YAML_MAKE_H

#include "common/yaml.h"

/* A node with the position of another one (NULL: none); free with yaml_free, which also frees what was added to it. */
struct ynode *yaml_make(enum ynode_kind kind, const struct ynode *at);
struct ynode *yaml_make_scalar(const char *text, const struct ynode *at);

/* Add to a sequence, or to a mapping under `key`. The collection then owns `item`. Returns `item`. */
struct ynode *yaml_make_item(struct ynode *sequence, struct ynode *item);
struct ynode *yaml_make_entry(struct ynode *map, const char *key, struct ynode *item);

/* The same for a text, the most common kind of entry. */
void yaml_make_text(struct ynode *map, const char *key, const char *text, const struct ynode *at);

/* A mapping as text: a line for each of its entries and for each item of a list in it. The caller frees. */
char *yaml_make_dump(const struct ynode *map);

#endif
