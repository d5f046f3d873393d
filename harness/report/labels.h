/*
 * What settings, points and runs are called in figures and tables: "size 32B", "rc, busy, size
 * 32B".
 */
#ifndef KBLAT_REPORT_LABELS_H
#define KBLAT_REPORT_LABELS_H

#include "report/model.h"

/* How a value of params reads ("10us", "32B", "yes"), and how its key does without the unit
 * ("size"). Both return `buf`. */
char *label_value(const char *key, const json_t *value, char *buf, size_t size);
char *label_key(const char *key, char *buf, size_t size);

/* "rc" of a word that says what it is, "size 32B" of others. */
void label_setting(FILE *out, const char *key, const json_t *value);

/* Find the settings that vary, and label every point and run. */
void label_all(struct report *r);

#endif
