/*
 * Summaries as JSON, for tests that change them or compare them as text.
 */
#ifndef KBLAT_TESTS_UNIT_SUMMARY_DOCUMENTS_H
#define KBLAT_TESTS_UNIT_SUMMARY_DOCUMENTS_H

#include <stdlib.h>

#include "files/rundir/run_record.h"
#include "judge/analysis/summary_build.h"
#include "judge/analysis/summary_json.h"
#include "judge/analysis/summary_table.h"

/* NULL and `e` if it cannot be made. */
static inline json_t *document_build(const char *dir, const json_t *run, const json_t *resolved, struct err *e)
{
	struct run_record record = run_record_from_json(run);
	struct summary *s = summary_build(dir, &record, resolved, e);
	json_t *document = s ? summary_encode(s) : NULL;

	run_record_free(&record);
	summary_free(s);
	return document;
}

static inline int document_write(const char *dir, const json_t *document, struct err *e)
{
	struct summary *s = summary_decode(document);
	int rc = summary_write(dir, s, e);

	summary_free(s);
	return rc;
}

static inline int document_csv(const json_t *document, FILE *out)
{
	struct summary *s = summary_decode(document);
	int rc = summary_csv(s, out);

	summary_free(s);
	return rc;
}

static inline void documents_table(const json_t *const *documents, size_t count, FILE *out)
{
	struct summary **all = calloc(count + 1, sizeof(*all));

	for (size_t i = 0; i < count; i++)
		all[i] = summary_decode(documents[i]);
	summary_table((const struct summary *const *)all, count, out);
	for (size_t i = 0; i < count; i++)
		summary_free(all[i]);
	free(all);
}

/* NULL: the flow has no such block. */
static inline json_t *document_of_block(const struct block *of, const struct layout_flow *f, const struct rep *reps,
					size_t count)
{
	struct summary_block b = {.of = of};
	json_t *document = of->make(f, reps, count, NULL, &b) ? summary_encode_block(&b) : NULL;

	summary_free_block(&b);
	return document;
}

#endif
