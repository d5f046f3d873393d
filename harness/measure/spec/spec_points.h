/*
 * Makes points of a block of axes: each gets a complete set of settings, with all defaults filled in, decoded and
 * checked.
 */
#ifndef KBLAT_SPEC_POINTS_H
#define KBLAT_SPEC_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/diag.h"
#include "common/yaml.h"
#include "measure/spec/spec_types.h"

/* --- axes: settings as given by a spec or the command line, with their values. A block is a set of axes --- */

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

/* --- points --- */

/* Which of the points that a block makes are wanted. Errors in others go to `others`. */
struct points_wanted {
	bool (*is_wanted)(const void *arg, const json_t *params,
			  bool is_whole); /* `is_whole`: all settings are there; NULL: all are */
	const void *arg;
	struct diag *others;
};

/* Add the cross product of a block's axes to s->point and s->named; the last axis varies fastest. Errors are added to
 * `d`. */
void spec_add_points(struct spec *s, const struct axes_block *b, const struct points_wanted *wanted, struct diag *d);

/* "unknown kernel 'onway'; did you mean 'oneway'?" */
void spec_complain_unknown(struct diag *d, unsigned line, unsigned column, const char *what, const char *name,
			   const char *nearest);

#endif
