#include "claims/claims.h"

#include <stdlib.h>

#include "claims/claim_judge.h"
#include "claims/claim_run.h"
#include "claims/claim_verdict_json.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "rundir/schema.h"

bool claims_are_made(const json_t *resolved)
{
	return json_array_size(json_object_get(resolved, "claims")) > 0;
}

int claims_judge(const struct run *runs, size_t count, struct claim_verdicts *out, struct err *e)
{
	struct claim_run *all = or_abort(calloc(count + 1, sizeof(*all)));
	int rc = 0;

	*out = (struct claim_verdicts){0};
	for (size_t i = 0; !rc && i < count; i++)
		rc = claim_run_read(&runs[i], &all[i], e);
	if (!rc)
		*out = claim_judge_runs(all, count);
	for (size_t i = 0; i < count; i++)
		claim_run_free(&all[i]);
	free(all);
	return rc;
}

json_t *claims_of_runs(const struct run *runs, size_t count, struct err *e)
{
	struct claim_verdicts verdicts;
	json_t *document = NULL;

	if (!claims_judge(runs, count, &verdicts, e))
		document = claim_verdicts_to_json(&verdicts);
	claim_verdicts_free(&verdicts);
	return document;
}

struct claim_verdicts claims_read(const char *dir)
{
	char *path = fs_path("%s/claims.json", dir);
	struct err ignored = ERR_INIT;
	json_t *document = fs_is_missing(path) ? NULL : schema_read(DOC_CLAIMS, path, &ignored);
	struct claim_verdicts verdicts = claim_verdicts_from_json(document);

	json_decref(document);
	free(path);
	return verdicts;
}
