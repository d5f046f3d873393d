/*
 * Labels of the points of many runs: the settings that tell them apart, the kernel and the
 * transport first ("verbs, busy, pause 50us, rc").
 */
#ifndef KBLAT_REPORT_RUNS_LABELS_H
#define KBLAT_REPORT_RUNS_LABELS_H

#include <jansson.h>
#include <stddef.h>

/* Write the labels of `count` points to `labels`, to be freed. Settings may be NULL; their label is "". */
void runs_labels(json_t *const *settings, size_t count, char **labels);

#endif
