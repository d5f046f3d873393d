#include "campaign/campaign_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "campaign/campaign_child.h"
#include "claims/claim_verdict_json.h"
#include "claims/claims.h"
#include "claims/claims_table.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "run/forecast.h"
#include "rundir/reader.h"
#include "rundir/run_mode.h"
#include "rundir/writer.h"

static size_t count_no(const struct campaign *c)
{
	const json_t *x;
	size_t i, count = 0;

	json_array_foreach (json_object_get(c->j, "experiments"), i, x)
		count += json_integer_value(json_object_get(x, "exit_status")) == STATUS_NO &&
			 record_is_state(x, "completed");
	return count;
}

/* Judge all existing runs together. */
static int judge_runs(const struct campaign *c, struct claim_verdicts *verdicts, struct err *e)
{
	const json_t *all = json_object_get(c->j, "experiments"), *x;
	struct run *runs = or_abort(calloc(json_array_size(all) + 1, sizeof(*runs)));
	size_t i, count = 0;
	int rc = 0;

	*verdicts = (struct claim_verdicts){0};
	json_array_foreach (all, i, x) {
		if (!rc && *json_text(x, "run") &&
		    !(rc = run_open_inside(c->path, json_text(x, "run"), &runs[count], e)))
			count++;
	}
	if (!rc)
		rc = claims_judge(runs, count, verdicts, e);
	while (count)
		run_close(&runs[--count]);
	free(runs);
	return rc;
}

static int write_claims(const struct campaign *c, const struct claim_verdicts *verdicts, const json_t *document,
			struct err *e)
{
	char *json = fs_path("%s/claims.json", c->path), *tsv = fs_path("%s/claims.tsv", c->path), *text = NULL;
	size_t size = 0;
	FILE *out = or_abort(open_memstream(&text, &size));
	mode_t mask;
	int rc;

	claims_tsv(verdicts, out);
	fclose(out);
	mask = run_mode_limit(run_mode_below(c->path));
	rc = json_write(json, document, e) ?: fs_write(tsv, text, size, e);
	umask(mask);
	free(text);
	free(json);
	free(tsv);
	return rc;
}

void campaign_end_print(const struct campaign *c)
{
	const json_t *x;
	size_t i;

	json_array_foreach (json_object_get(c->j, "experiments"), i, x) {
		const char *detail = *json_text(x, "why") ? json_text(x, "why") : json_text(x, "run");

		printf("%-12s %-28s %s\n", json_text(x, "state"), json_text(x, "name"), detail);
	}
	printf("\n");
}

static const char *status_word(const struct campaign *c)
{
	if (child_is_interrupted())
		return "INTERRUPTED";
	if (record_count(c, "failed"))
		return "FAILED";
	return record_count(c, "pending") ? "PARTIAL" : "COMPLETED";
}

/* Experiments left out because of a budget are not a failure: the user asked for that. */
static enum status status_of(const struct campaign *c, const struct claim_verdicts *verdicts)
{
	if (child_is_interrupted() || record_count(c, "failed"))
		return STATUS_FAILED;
	if (!record_count(c, "completed"))
		return STATUS_IMPOSSIBLE;
	return claim_verdicts_status(verdicts) == STATUS_NO || count_no(c) ? STATUS_NO : STATUS_OK;
}

static void say_what_is_left(const struct campaign *c)
{
	const double excess_s = budget_excess_s(&c->budget);
	char *left = budget_left_sentence(&c->budget, json_object_get(c->j, "experiments")), text[FORECAST_TEXT_MAX];

	if (excess_s >= 1)
		fprintf(stderr, "kblat: took %s longer than the budget, to finish an experiment that was running\n",
			forecast_text(excess_s, text, sizeof(text)));
	if (child_is_interrupted())
		fprintf(stderr, "kblat: interrupted; `kblat run --resume %s` continues it\n", c->path);
	else if (left)
		fprintf(stderr, "kblat: %s; `kblat run --resume %s` continues with them\n", left, c->path);
	free(left);
}

enum status campaign_end(struct campaign *c, struct err *e)
{
	struct claim_verdicts verdicts;
	json_t *document = judge_runs(c, &verdicts, e) ? NULL : claim_verdicts_to_json(&verdicts);
	enum status status = STATUS_FAILED;
	char utc[32];

	json_object_set_new(c->j, "status", json_string(status_word(c)));
	json_object_set_new(c->j, "ended_utc", json_string(utc_now(utc, sizeof(utc), 0)));
	if (document && !write_claims(c, &verdicts, document, e) && !record_save(c, e)) {
		status = status_of(c, &verdicts);
		if (c->json)
			json_print(document, stdout);
		else
			campaign_end_print(c);
		if (!c->json && verdicts.count)
			claims_table(&verdicts, stdout);
	}
	say_what_is_left(c);
	json_decref(document);
	claim_verdicts_free(&verdicts);
	printf("%s\n", c->path);
	return status;
}
