/*
 * In which keys do many objects differ? One look at each of their values is enough, however many keys there are.
 */
#ifndef KBLAT_ANALYSIS_SPREAD_H
#define KBLAT_ANALYSIS_SPREAD_H

#include <jansson.h>
#include <stdbool.h>

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
