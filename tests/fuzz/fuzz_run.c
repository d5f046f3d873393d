/* A run directory and everything that reads one: verify, summary, CSV, claims, forecasts from its log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/fs.h"
#include "common/json.h"
#include "files/rundir/reader.h"
#include "fuzz.h"
#include "judge/analysis/summary_build.h"
#include "judge/analysis/summary_table.h"
#include "judge/claims/claim_verdict.h"
#include "judge/claims/claims.h"
#include "measure/run/forecast.h"
#include "run_tree.h"

static struct file_tree tree;
static FILE *null;

static void judge_claims(const struct run *run)
{
	struct claim_verdicts verdicts;
	struct err e = ERR_INIT;

	if (claims_judge(run, 1, &verdicts, &e)) {
		fuzz_require(*e.text);
		return;
	}
	json_decref(claim_verdicts_to_json(&verdicts));
	claims_table(&verdicts, null);
	claim_verdicts_free(&verdicts);
}

static void summarise(const struct run *run)
{
	struct err e = ERR_INIT;
	struct summary *summary = summary_of_run(run, &e), *again;

	if (summary) {
		summary_table((const struct summary *const[]){summary}, 1, null);
		summary_csv(summary, null);
	}
	summary_free(summary);
	again = summary_build(run->path, &run->record, run->resolved, &e);
	fuzz_require(again || *e.text);
	summary_free(again);
}

static void verify(void)
{
	struct err e = ERR_INIT;
	char *argv[] = {(char *)"verify", tree.path, NULL};
	enum status status = cmd_verify(2, argv, &e);

	fuzz_require(status == STATUS_OK || status == STATUS_NO || *e.text);
}

static void read_all(const struct run *run, unsigned way)
{
	struct earlier_runs f;

	if (way == 0)
		summarise(run);
	else if (way == 1)
		judge_claims(run);
	earlier_runs_open(&f, fuzz_folder(), "scripted");
	earlier_runs_close(&f);
}

/* The length says which way: each reader has its share. Two of three are sealed anew before, so that they see what is in it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct run run;

	if (!tree.path) {
		file_tree_init(&tree, "scripted-20261122T093000Z-01234567");
		run_tree_add(&tree, "scripted", "");
		null = fopen("/dev/null", "we");
	}
	file_tree_apply(&tree, data, size);
	if (size % 3)
		run_tree_seal(&tree, "");
	if (size % 4 == 3) {
		verify();
	} else if (!run_open(tree.path, &run, &e)) {
		read_all(&run, size % 4);
		run_close(&run);
	} else {
		fuzz_require(*e.text);
	}
	file_tree_restore(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, run_tree_words)
