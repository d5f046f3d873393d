#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "commands/shared_options.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/sealed.h"
#include "judge/claims/claim_verdict.h"
#include "judge/claims/claims.h"

const struct cli_command cmd_claims_cli = {
    .name = "claims",
    .synopsis = "RUN… [--json]",
    .summary = "judge each claim of a paper by what was measured",
    .details = "Shows each claim in the specs of these runs (docs/claims.md): the sentence, the source's number, what "
	       "was measured, and whether the claim holds, fails, or is not judged and why. Several runs are judged "
	       "together, because a claim may compare two experiments.\n\nA claim is not judged if the run's machine "
	       "lacked what the claim needs, or if the bound lies within the uncertainty of the measurement.\n\nExit "
	       "status: 0 none fails; 3 a claim fails; 4 none could be judged; 2 RUN is not a run directory.",
    .min_args = 1,
    .max_args = 64,
};

static void print_json(const struct claim_verdicts *verdicts)
{
	json_t *document = claim_verdicts_to_json(verdicts);

	json_print(document, stdout);
	json_decref(document);
}

struct asked {
	struct verdict_options verdicts;
	bool json;
};

static enum status judge_and_show(const struct run *runs, size_t count, const struct asked *asked, struct err *e)
{
	struct claim_verdicts verdicts;
	enum status status;

	if (claims_judge(runs, count, &verdicts, e))
		return e->status;
	status = claim_verdicts_status(&verdicts);
	if (asked->json)
		print_json(&verdicts);
	else if (asked->verdicts.format)
		verdict_format_print(asked->verdicts.format, verdict_list_of_claims(&verdicts, runs, count));
	else if (verdicts.count)
		claims_table(&verdicts, stdout);
	else
		printf("No claims are made by %s.\n", count == 1 ? "this run's spec" : "these runs' specs");
	claim_verdicts_free(&verdicts);
	return status;
}

static enum status open_and_judge(const struct cli_list *args, void *options, struct err *e)
{
	struct asked *asked = options;
	struct run *runs = or_abort(calloc(args->count, sizeof(*runs)));
	enum status status = STATUS_FAILED;
	size_t count = 0;

	if (verdict_options_read(&asked->verdicts, asked->json, e)) {
		free(runs);
		return e->status;
	}
	while (count < args->count && !run_open(args->items[count], &runs[count], e))
		count++;
	if (count == args->count)
		status = judge_and_show(runs, count, asked, e);
	while (count) {
		sealed_unchanged(&runs[--count], e);
		run_close(&runs[count]);
	}
	free(runs);
	return e->status ? e->status : status;
}

enum status cmd_claims(int argc, char **argv, struct err *e)
{
	struct asked asked = {.json = false};
	const struct cli_flag flags[] = {
	    VERDICT_OPTIONS_FLAGS(asked.verdicts),
	    {"json", CLI_FLAG, &asked.json, NULL, "print JSON, every case with its numbers", 0, 0},
	    {.name = NULL},
	};

	return verdict_options_exit(argc, argv,
				    cli_run("kblat", &cmd_claims_cli, flags, argc, argv, open_and_judge, &asked, e));
}
