/*
 * A summary in files: summary.json, and a point of it as points/<nnnn>/summary.json. Only this module
 * knows the keys, except for those of statistics and of blocks' numbers, which their rows name
 * (statistic_rows.def, the files of blocks.c). docs/run-directory.md describes the format.
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_JSON_H
#define KBLAT_ANALYSIS_SUMMARY_JSON_H

#include "judge/analysis/summary.h"

/* Files are not trusted: what is missing or not of its type is absent, false, 0 or "", and what this version does not
 * know is left out. Never NULL; release with summary_free(). */
struct summary *summary_decode(const json_t *document);

/* What a word of point.json means. */
enum summary_outcome summary_outcome_of(const char *text);

/* point.json's "environment", which may be NULL, into a point that has none yet. */
void summary_decode_environment(struct summary_point *p, const json_t *environment);

/* New references. */
json_t *summary_encode(const struct summary *s);
json_t *summary_encode_point(const struct summary_point *p);
json_t *summary_encode_block(const struct summary_block *b);

#endif
