/*
 * A recorded machine that was made to hurt: a profile is planned, applied, checked and undone. Where both went well, every
 * file is as before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "fuzz.h"
#include "machine_tree.h"
#include "tuning/journal/change.h"
#include "tuning/journal/transaction.h"
#include "tuning/knobs/knobs.h"
#include "tuning/machine/machine.h"
#include "tuning/profile/profile.h"

static struct file_tree tree;
static FILE *null;

static void apply_and_undo(struct machine *m, struct plan *p, struct err *e)
{
	const uint64_t before = machine_tree_difference(&tree);
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
			fuzz_require(machine_tree_difference(&tree) == before);
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
	file_tree_restore(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, machine_tree_words)
