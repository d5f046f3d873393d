/*
 * Labels of settings, points and runs in figures and tables: "size 32B", "rc, busy, size 32B".
 */
#ifndef KBLAT_REPORT_LABELS_H
#define KBLAT_REPORT_LABELS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "report/model_types.h"

/* Format a value of params ("10us", "32B", "yes"), and its key without the unit ("size"). Both return `buf`. */
char *label_value(const char *key, const json_t *value, char *buf, size_t size);
char *label_key(const char *key, char *buf, size_t size);

/* "rc" for words that speak for themselves, "size 32B" for other values. */
void label_setting(FILE *out, const char *key, const json_t *value);

/* Determine the settings that vary, and label every point and run. */
void label_all(struct report *r);

/* Write labels to `labels`, to be freed, which tell `count` points of many runs apart by their
 * settings, the kernel and the transport first ("verbs, busy, pause 50us, rc"). Settings may be NULL;
 * their label is "". */
void label_apart(json_t *const *settings, size_t count, char **labels);

#endif
