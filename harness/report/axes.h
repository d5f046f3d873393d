/*
 * Settings as figures need them: which may be an axis, what tells the leading series of points
 * apart, how a combination reads.
 */
#ifndef KBLAT_REPORT_AXES_H
#define KBLAT_REPORT_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model.h"

#define AXES_SIZE	"size_bytes"
#define AXES_VALUES_MIN 3    /* fewer are no axis */
#define AXES_VALUES_MAX 64   /* nor are more */
#define AXES_FACET	"qp" /* a figure or a part of it for each value: they are not laid over each other */

const json_t *axes_setting(const struct report_item *i, const char *key); /* NULL: its point has none */
bool axes_same(const json_t *a, const json_t *b);			  /* both missing are the same */

/* In this setting of their points; "" stands for the run. */
bool axes_differ(const struct report_item *a, const struct report_item *b, const char *key);

/* Flows of one name, in none of these settings different. */
bool axes_agree(const struct report_item *a, const struct report_item *b, const char *const *keys, size_t count);

/* Flows of one name, or both of points without. */
bool axes_of_one_flow(const struct report_item *a, const struct report_item *b);

/* Whether its point has an integer value of this setting. */
bool axes_has_number(const struct report_item *i, const char *key);

/* The distinct values of a setting over what was measured, rising. Returns their number; `most` +
 * 1 where there are more. */
size_t axes_values(const struct report *r, const char *key, int64_t *values, size_t most);

/* Whether a setting beside the size says what is measured, not for how long, and does not only go
 * along with the size. */
bool axes_is_axis(const struct report *r, const char *key);

/* Settings that always change together over what was measured: a pause and the burst that is chosen
 * with it; "" stands for the run. */
bool axes_go_along(const struct report *r, const char *a, const char *b);

bool axes_is_bookkeeping(const struct report *r, const char *key);

/* Whether a figure against a setting shows the point: one with enough values, of which it has one.
 * A figure for each of its values would say less. */
bool axes_is_on_one(const struct report *r, const struct report_item *i);

/* "small, send, inline no": the flow, if there are several, and of settings the value alone where
 * it says what it is. For the caller to free; at most AXES_LABEL_MAX bytes. */
char *axes_label(const struct report *r, const struct report_item *item, const char *const *keys, size_t count);
#define AXES_LABEL_MAX 80

#endif
