#include "claims/claim_verdict.h"

#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

void claim_verdict_add_case(struct claim_verdict *v, struct claim_case one)
{
	v->cases = grow_or_abort(v->cases, v->case_count, sizeof(*v->cases));
	v->cases[v->case_count++] = one;
}

void claim_verdicts_add(struct claim_verdicts *v, struct claim_verdict one)
{
	v->all = grow_or_abort(v->all, v->count, sizeof(*v->all));
	v->all[v->count++] = one;
}

static void free_verdict(struct claim_verdict *v)
{
	char *texts[] = {v->experiment, v->id,	   v->claim,	v->source, v->measured_by_source,
			 v->metric,	v->wanted, v->measured, v->why};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	for (size_t i = 0; i < v->case_count; i++)
		claim_case_free(&v->cases[i]);
	free(v->cases);
}

void claim_verdicts_free(struct claim_verdicts *v)
{
	for (size_t i = 0; i < v->count; i++)
		free_verdict(&v->all[i]);
	free(v->all);
	*v = (struct claim_verdicts){0};
}

size_t claim_verdicts_count(const struct claim_verdicts *v, enum claim_outcome verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		count += v->all[i].verdict == verdict;
	return count;
}

enum status claim_verdicts_status(const struct claim_verdicts *v)
{
	if (claim_verdicts_count(v, CLAIM_FAILS))
		return STATUS_NO;
	return claim_verdicts_count(v, CLAIM_HOLDS) ? STATUS_OK : STATUS_UNDECIDED;
}

bool claim_verdicts_of_several(const struct claim_verdicts *v)
{
	for (size_t i = 1; i < v->count; i++)
		if (strcmp(v->all[0].experiment, v->all[i].experiment))
			return true;
	return false;
}
