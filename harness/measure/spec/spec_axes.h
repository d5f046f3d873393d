/*
 * Settings as given by a spec or the command line. An axis is a setting with its values; a block is a set of axes whose
 * cross product makes points.
 */
#ifndef KBLAT_SPEC_AXES_H
#define KBLAT_SPEC_AXES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/diag.h"
#include "common/yaml.h"

#define AXES_MAX 128

/* A value as it was written, and its position. */
struct written {
	const char *text; /* NULL: nobody did */
	unsigned line, column;
};

/* More than one value make an axis of the matrix. */
struct axis {
	const char *name; /* maybe of one flow: "small.size" */
	unsigned line, column;
	const struct ynode *values; /* NULL: from the command line */
	const char *text;	    /* of the command line */
	bool optional;		    /* applies only to the points that have such a setting */
	bool *used;		    /* set when some point had it */
};

struct axes_block {
	struct axis axes[AXES_MAX];
	size_t count;
	unsigned line, column;
};

size_t axis_count(const struct axis *a);
struct written axis_value(const struct axis *a, size_t i);

/* A later axis of the same name replaces an earlier one: those of `quick` replace those of the block, and these replace
 * those of `settings`. */
void axes_add(struct diag *d, struct axes_block *b, const struct axis *axis);

/* Add every setting of a mapping (NULL: none). `used`: they are optional, and this records that one was used. */
void axes_add_mapping(struct diag *d, struct axes_block *b, const struct ynode *map, bool *used);

/* NULL if there is no axis with that name. */
const struct axis *axes_find(const struct axes_block *b, const char *name);

/* The number of points that it makes, or `most` + 1 if there are more than `most`. */
size_t axes_product(const struct axes_block *b, size_t most);

#endif
