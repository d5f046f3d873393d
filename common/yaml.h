/*
 * The part of YAML that specs and profiles use, with libyaml's parser: mappings, sequences and scalars, each with its
 * position in the text. One document; no anchors, aliases or tags; a duplicate key is an error; at most YAML_MAX_BYTES
 * and YAML_MAX_DEPTH. All errors that can be found are added to a `struct diag`; a syntax error ends the reading,
 * duplicate keys do not.
 */
#ifndef KBLAT_COMMON_YAML_H
#define KBLAT_COMMON_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "common/diag.h"

#define YAML_MAX_BYTES (1024 * 1024)
#define YAML_MAX_DEPTH 32

enum ynode_kind { YNODE_SCALAR, YNODE_SEQUENCE, YNODE_MAPPING };

struct ynode {
	enum ynode_kind kind;
	unsigned line, column; /* from 1 */
	char *scalar;	       /* SCALAR: NUL-terminated text (a NUL inside is an error) */
	bool quoted;	       /* SCALAR: written in quotes, so never a number or null */
	size_t count;	       /* SEQUENCE, MAPPING: entries */
	struct ynode **items;  /* SEQUENCE: items; MAPPING: values */
	struct ynode **keys;   /* MAPPING: keys, always scalars */
};

/*
 * Read a file whole. Refuses what is not a regular file, is over YAML_MAX_BYTES, is not UTF-8. On
 * success `*root` (free with yaml_free), and `*text` with `*length`: the bytes as they are in the
 * file (the caller frees; `d->text` points into it). On failure -EINVAL and at least one
 * diagnostic; `*text` may be set all the same, so that lines can be shown.
 */
int yaml_load_file(const char *path, struct diag *d, struct ynode **root, char **text, size_t *length);

/* The same from memory, for tests and fuzzing. `text` must outlive `d`. */
int yaml_load_text(const char *text, size_t length, struct diag *d, struct ynode **root);

void ynode_free(struct ynode *n);

/* This symbol must not be exported: libyaml calls its own yaml_free through the dynamic linker, and would get ours. */
static inline void yaml_free(struct ynode *n)
{
	ynode_free(n);
}

/* The value of a mapping's key, or NULL. */
const struct ynode *yaml_get(const struct ynode *map, const char *key);

#endif
