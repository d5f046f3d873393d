/* The record of a study: what is read can be written and read again, and every cell can be run. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "file_tree.h"
#include "fuzz.h"
#include "study/kinds.h"
#include "study/runner.h"
#include "study/study.h"
#include "study/study_record.h"
#include "study/study_run.h"

static const char record[] =
    "{\"schema\": 1, \"kind\": \"pairs\", \"name\": \"s\", \"spec\": \"/s\", \"status\": \"RUNNING\", "
    "\"argv\": [], \"options\": {\"set\": [\"a={sink}\"], \"source\": \"ssh {host}\"}, \"hosts\": "
    "[{\"name\": \"n1\", \"address\": \"n1\"}, {\"name\": \"n2\", \"address\": \"10.0.0.2\"}]}";
static const char cells[] =
    "{\"cell\": 0, \"source\": \"n1\", \"sink\": \"n2\", \"block\": 0, \"state\": \"completed\", \"run\": "
    "\"runs/x\", \"numbers\": [{\"id\": 0, \"metric\": \"lat_ns\", \"p50\": 1, \"valid\": true}]}\n";
static const char *const words[] = {
    "kind",  "plan",	"arms",	   "knobs",	"comparisons", "environment", "stage", "block",	  "cell", "cells",
    "state", "earlier", "numbers", "pairs",	"campaign",    "whole",	      "none",  "source",  "sink", "set",
    "only",  "../x",	"/x",	   "completed", "hosts",       "spec",	      "name",  "address", NULL};
static struct file_tree tree;

static void set_up(void)
{
	file_tree_init(&tree, "study");
	file_tree_add_file(&tree, "study.json", record, strlen(record));
	file_tree_add_file(&tree, "cells.jsonl", cells, strlen(cells));
}

/* What was read must be the same after it was written. */
static void check_again(const struct study *s)
{
	struct study again = {.kind = s->kind, .lock = -1};
	struct err e = ERR_INIT;
	json_t *head = study_to_json(s), *same;

	fuzz_require(head && !study_from_json(&again, head, "again", &e));
	if (again.kind->cells)
		again.kind->cells(&again);
	for (size_t i = 0; i < s->count; i++) {
		struct words w = runner_words(s, &s->cell[i]);
		json_t *j = study_cell_to_json(s, i);

		fuzz_require(j && !study_cell_from_json(&again, j, "again", &e));
		same = study_cell_to_json(&again, i);
		fuzz_require(json_equal(j, same));
		fuzz_require(w.count > 4 && !strcmp(w.word[1], "run") && *w.word[2] == '/');
		json_decref(same);
		json_decref(j);
		words_free(&w);
	}
	study_free(&again);
	json_decref(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct study_kind *kind;
	struct err e = ERR_INIT;

	if (!tree.path)
		set_up();
	file_tree_apply(&tree, data, size);
	kind = study_kind_at(tree.path);
	if (kind) {
		struct study s = {.kind = kind, .lock = -1};

		if (!study_record_open(&s, tree.path, &e))
			check_again(&s);
		else
			fuzz_require(e.status != STATUS_OK && *e.text);
		study_free(&s);
	}
	file_tree_restore(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, words)
