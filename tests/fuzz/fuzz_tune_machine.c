/*
 * A recorded machine that was made to hurt: a profile is planned, applied, checked and undone. Where both went well, every
 * file is as before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "fuzz.h"
#include "machine_tree.h"
#include "tuning/journal/change.h"
#include "tuning/journal/transaction.h"
#include "tuning/knobs/knobs.h"
#include "tuning/machine/machine.h"
#include "tuning/profile/profile.h"

static struct file_tree tree;
static uint64_t unchanged;
static char *journal;
static FILE *null;

static void apply_and_undo(struct machine *m, struct plan *p, struct err *e)
{
	const uint64_t before = machine_tree_sum(&tree);
	struct undone done;
	struct journal j;
	struct drift d;
	int lock, rc;

	if (change_begin(m, p->profile, &j, &lock, e))
		return;
	rc = transaction_apply(m, p, &j, e);
	if (!rc) {
		transaction_verify(m, &j, &d);
		json_decref(d.list);
		rc = transaction_undo(m, &j, NULL, NULL, &done, e);
		/* What is gone cannot be put back. */
		if (!rc && !done.gone)
			fuzz_require(machine_tree_sum(&tree) == before);
	}
	change_end(m, &j, lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct profile profile;
	struct plan p = {0};
	struct machine m;

	if (!tree.path) {
		machine_tree_init(&tree);
		unchanged = machine_tree_sum(&tree);
		journal = fs_path("%s/run/kbtune", tree.path);
		null = fopen("/dev/null", "we");
		setenv("KBTUNE_PROFILES", "profiles", 1);
	}
	file_tree_apply(&tree, data, size);
	if (!machine_open(&m, tree.path, &e)) {
		fuzz_require(!profile_load(size % 2 ? "isolated" : "thesis", knobs_keys(), &profile, &e));
		if (!knobs_plan(&m, &profile, &p, &e)) {
			plan_print(&p, null);
			if (!transaction_probe(&m, &p, &e))
				apply_and_undo(&m, &p, &e);
		}
		plan_free(&p);
		profile_free(&profile);
		machine_close(&m);
	}
	fs_remove_tree(journal, NULL);
	file_tree_restore(&tree);
	if (machine_tree_sum(&tree) != unchanged)
		file_tree_renew(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, machine_tree_words)
