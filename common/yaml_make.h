/*
 * YAML that a program makes: trees of nodes, each of which says where in another text it comes from, so that what is
 * wrong with one is said there; and such a tree as text, which reads (common/yaml.h) as the same tree.
 */
#ifndef KBLAT_COMMON_YAML_MAKE_H
#define KBLAT_COMMON_YAML_MAKE_H

#include "common/yaml.h"

/* A node at the place of another (NULL: none); free with yaml_free, which takes what was added to it, too. */
struct ynode *yaml_make(enum ynode_kind kind, const struct ynode *at);
struct ynode *yaml_make_scalar(const char *text, const struct ynode *at);

/* Add to a sequence, or to a mapping under `key`. `item` belongs to the collection from now on. Returns `item`. */
struct ynode *yaml_make_item(struct ynode *sequence, struct ynode *item);
struct ynode *yaml_make_entry(struct ynode *map, const char *key, struct ynode *item);

/* The same for a text, as most entries are. */
void yaml_make_text(struct ynode *map, const char *key, const char *text, const struct ynode *at);

/* A mapping as text: a line for each of its entries and for each item of a list in it. The caller frees. */
char *yaml_make_dump(const struct ynode *map);

#endif
