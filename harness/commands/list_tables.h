/*
 * Topics of `kblat list` that are tables of this program: kernels, settings, transports,
 * statistics; each as JSON and as text.
 */
#ifndef KBLAT_COMMANDS_LIST_TABLES_H
#define KBLAT_COMMANDS_LIST_TABLES_H

#include <jansson.h>

struct err;

/* Append to the array `out`. Return 0. */
int list_kernels(json_t *out, struct err *e);
int list_settings(json_t *out, struct err *e);
int list_transports(json_t *out, struct err *e);
int list_statistics(json_t *out, struct err *e);

/* Print to standard output a list that was made by the functions above. */
void list_kernels_show(const json_t *list);
void list_settings_show(const json_t *list);
void list_transports_show(const json_t *list);
void list_statistics_show(const json_t *list);

#endif
