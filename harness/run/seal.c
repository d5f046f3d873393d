#include "run/seal.h"

#include <errno.h>

#include "analysis/summary.h"
#include "claims/claims.h"
#include "common/err.h"
#include "rundir/reader.h"

/* Only if the spec makes claims. */
static int seal_write_claims(const struct rundir *r, json_t *summary, struct err *e)
{
	struct run run = {.path = r->path, .run = r->run, .resolved = r->resolved, .summary = summary};
	json_t *verdicts;
	int rc;

	if (!claims_are_made(r->resolved))
		return 0;
	verdicts = claims_of_runs(&run, 1, e);
	rc = verdicts ? rundir_write(r, "claims.json", verdicts, e) : -EIO;
	json_decref(verdicts);
	return rc;
}

static int seal_conclude(struct rundir *r, json_t *summary, struct err *e)
{
	static const char *const keys[] = {"valid", "reasons", "warnings"};
	int rc = summary_write(r->path, summary, e);

	if (!rc)
		rc = seal_write_claims(r, summary, e);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(r->run, keys[i], json_object_get(summary, keys[i]));
	return rc ? rc : rundir_update(r, e);
}

int seal_run(struct rundir *r, const char *status, json_t **summary, struct err *e)
{
	char utc[32];
	int rc;

	rundir_log(r, "seal", json_pack("{s:s}", "status", status));
	json_object_set_new(r->run, "status", json_string(status));
	json_object_set_new(r->run, "ended_utc", json_string(utc_now(utc, sizeof(utc), 0)));
	*summary = summary_build(r->path, r->run, r->resolved, e);
	rc = *summary ? seal_conclude(r, *summary, e) : -EIO;
	if (!rc)
		rc = rundir_finish(r, e);
	if (rc) {
		json_decref(*summary);
		*summary = NULL;
	}
	return rc;
}
