/* The page of a run, and of a campaign: what they say of it, and the tables of their figures. No gnuplot is started here. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "files/rundir/reader.h"
#include "fuzz.h"
#include "report/report.h"
#include "run_tree.h"
#include "study/kinds.h"

static struct file_tree tree;
static char *run_path;

static const char study[] =
    "{\"schema\": 1, \"kind\": \"campaign\", \"name\": \"fuzz\", \"title\": \"t\", \"spec\": \"/x\", \"status\": "
    "\"COMPLETED\", \"argv\": [], \"started_utc\": \"2026-11-22T09:30:00Z\", \"options\": {}}";
static const char cells[] = "{\"cell\": 0, \"name\": \"scripted\", \"spec\": \"/x/spec.yaml\", \"state\": "
			    "\"completed\", \"run\": \"run\", \"exit_status\": 0, \"why\": \"\"}\n";

static void set_up(void)
{
	file_tree_init(&tree, "campaign");
	run_tree_add(&tree, "scripted", "run/");
	file_tree_add_file(&tree, "study.json", study, strlen(study));
	file_tree_add_file(&tree, "cells.jsonl", cells, strlen(cells));
	run_path = fs_path("%s/run", tree.path);
	setenv("PATH", "", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	char *html = NULL;
	struct run run;

	if (!tree.path)
		set_up();
	file_tree_apply(&tree, data, size);
	if (size % 2) {
		if (!run_open(run_path, &run, &e)) {
			report_make(&run, 1, &html, &e);
			run_close(&run);
		}
	} else {
		study_page(tree.path, &html, &e);
	}
	free(html);
	file_tree_restore(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, run_tree_words)
