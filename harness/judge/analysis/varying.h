/*
 * The settings that tell points apart. Points of one kind have the same kernels and transports, and
 * so the same settings. Where kinds differ, their kernels or transports say so, and what only one of
 * them has, or what is only a transport's default, need not be named: a setting varies if two points
 * of one kind have different values.
 */
#ifndef KBLAT_ANALYSIS_VARYING_H
#define KBLAT_ANALYSIS_VARYING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Is it a kernel or a transport, also that of a flow? */
bool varying_is_kind(const char *key);

/* The settings that vary among `count` points, as keys of an object, the kernels and transports first. Params may be
 * NULL. A new reference. */
json_t *varying_keys(const json_t *const *params, size_t count);

/*
 * In which keys do many objects differ? One look at each of their values is enough, however many keys there are.
 */

struct spread {
	json_t *first;	   /* the first value of each key */
	json_t *differing; /* the keys of which another value followed */
};

struct spread spread_new(void);
void spread_free(struct spread *s);

void spread_add(struct spread *s, const char *key, const json_t *value);

/* Two objects have this key, with different values. */
bool spread_differs(const struct spread *s, const char *key);

#endif
