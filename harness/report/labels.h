/*
 * Labels of settings, points and runs in figures and tables: "size 32B", "rc, busy, size 32B".
 */
#ifndef KBLAT_REPORT_LABELS_H
#define KBLAT_REPORT_LABELS_H

#include "report/model.h"

/* Format a value of params ("10us", "32B", "yes"), and its key without the unit ("size"). Both return `buf`. */
char *label_value(const char *key, const json_t *value, char *buf, size_t size);
char *label_key(const char *key, char *buf, size_t size);

/* "rc" for words that speak for themselves, "size 32B" for other values. */
void label_setting(FILE *out, const char *key, const json_t *value);

/* Determine the settings that vary, and label every point and run. */
void label_all(struct report *r);

#endif
