#include "measure/run/seal.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "files/rundir/reader.h"
#include "judge/analysis/reduce.h"
#include "judge/analysis/summary_build.h"
#include "judge/analysis/summary_json.h"
#include "judge/claims/claims.h"

int seal_repetition(const char *path, const json_t *resolved, unsigned point, unsigned rep, struct err *e)
{
	return reduce_write(path, resolved, point, rep, e);
}

/* Only if the spec makes claims. */
static int seal_write_claims(const struct rundir *r, const struct summary *summary, struct err *e)
{
	struct run run = {.path = r->path, .record = r->record, .resolved = r->resolved};
	json_t *verdicts;
	int rc;

	if (!claims_are_made(r->resolved))
		return 0;
	run.summary = summary_encode(summary);
	verdicts = claims_of_runs(&run, 1, e);
	rc = verdicts ? rundir_write(r, "claims.json", verdicts, e) : -EIO;
	json_decref(verdicts);
	json_decref(run.summary);
	return rc;
}

static int seal_conclude(struct rundir *r, const struct summary *summary, struct err *e)
{
	int rc = summary_write(r->path, summary, e);

	if (!rc)
		rc = seal_write_claims(r, summary, e);
	r->record.valid = summary->valid;
	json_decref(r->record.reasons);
	r->record.reasons = json_incref(summary->reasons);
	json_decref(r->record.warnings);
	r->record.warnings = json_incref(summary->warnings);
	return rc ? rc : rundir_update(r, e);
}

int seal_run(struct rundir *r, const char *status, struct summary **summary, struct err *e)
{
	char utc[32];
	int rc;

	rundir_log(r, "seal", json_pack("{s:s}", "status", status));
	free(r->record.status);
	r->record.status = fs_path("%s", status);
	r->record.ended_utc = fs_path("%s", utc_now(utc, sizeof(utc), 0));
	*summary = summary_build(r->path, &r->record, r->resolved, e);
	rc = *summary ? seal_conclude(r, *summary, e) : -EIO;
	if (!rc)
		rc = rundir_finish(r, e);
	if (rc) {
		summary_free(*summary);
		*summary = NULL;
	}
	return rc;
}

void seal_free_summary(struct summary *summary)
{
	summary_free(summary);
}
