/*
 * Causes of delay: what ran, or kept the endpoint from running, and on which side's CPU. A table
 * contains each cause once.
 */
#ifndef KBLAT_ANALYSIS_CAUSE_H
#define KBLAT_ANALYSIS_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cause_class {
#define CAUSE(id, ...) CAUSE_##id,
#include "common/lateness.def"
	CAUSE_CLASSES
};

#define CAUSE_NAME_MAX 96
#define CAUSE_TEXT_MAX 192 /* a cause as text */
#define CAUSE_NO_SIDE  2   /* belongs to neither side */

struct cause {
	enum cause_class class;
	unsigned side; /* 0: the source's CPU, 1: the sink's, or CAUSE_NO_SIDE */
	char name[CAUSE_NAME_MAX];
};

struct cause_table {
	struct cause *list;
	size_t count;
};

extern const char *const cause_sides[CAUSE_NO_SIDE]; /* "source", "sink" */
extern const char *const cause_keys[CAUSE_CLASSES];

/* The index of a cause, which is added if it is new. */
unsigned cause_table_of(struct cause_table *t, enum cause_class class, unsigned side, const char *name);
void cause_table_free(struct cause_table *t);

/* "local timer interrupt on the sink's CPU". Returns `buf`. */
char *cause_describe(const struct cause *c, char *buf, size_t size);

/* "source", "sink"; NULL: it belongs to neither. */
const char *cause_side(const struct cause *c);

/* Does a cause of this class explain a delay? */
bool cause_is_known(enum cause_class class);

/* What removes or moves it, as a phrase (common/lateness.def). "" if nothing does. */
const char *cause_advice(const struct cause *c);

/*
 * How much time of an interval each cause took. Nothing is allocated: there is room for
 * CAUSE_SHARES causes, further ones are ignored.
 */
struct cause_share {
	unsigned cause;
	int64_t time;
};

#define CAUSE_SHARES 128

struct cause_shares {
	struct cause_share list[CAUSE_SHARES];
	size_t count;
};

void cause_shares_add(struct cause_shares *s, unsigned cause, int64_t time);

/* NULL if there is none. */
const struct cause_share *cause_shares_longest(const struct cause_shares *s);
void cause_shares_sort(struct cause_shares *s);

#endif
