/* A recorded machine, captured: what comes out is a state that is read. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"
#include "files/state/capture.h"
#include "files/state/load.h"
#include "fuzz.h"
#include "machine_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct file_tree tree;
	static char *dir;
	struct err e = ERR_INIT;
	struct sysroot root;
	json_t *state;

	if (!dir) {
		machine_tree_init(&tree);
		dir = fs_path("%s/capture", fuzz_folder());
	}
	file_tree_apply(&tree, data, size);
	fuzz_require(!sysroot_open(&root, tree.path, &e));
	if (!state_capture(&root, dir, &(struct state_options){.mask = size % 2}, &e)) {
		state = state_load(dir, &e);
		fuzz_require(state);
		json_decref(state);
	} else {
		fuzz_require(*e.text);
	}
	sysroot_close(&root);
	fs_remove_tree(dir, NULL);
	file_tree_restore(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, machine_tree_words)
