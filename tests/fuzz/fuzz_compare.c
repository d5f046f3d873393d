/* Runs of two boots, compared, and as a history. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/err.h"
#include "common/fs.h"
#include "fuzz.h"
#include "run_tree.h"

static struct file_tree tree;
static char *arms[2];

static void set_up(void)
{
	file_tree_init(&tree, "runs");
	for (unsigned arm = 0; arm < 2; arm++) {
		arms[arm] = fs_path("%s/%u", tree.path, arm);
		for (unsigned i = 0; i < 2; i++) {
			char *below = fs_path("%u/%u/", arm, i);

			run_tree_add_documents(&tree, "scripted", below);
			free(below);
		}
	}
}

static void command(enum status (*run)(int, char **, struct err *), const char *const *words)
{
	struct err e = ERR_INIT;
	char *argv[12];
	int argc = 0;
	enum status status;

	while (words[argc]) {
		argv[argc] = (char *)words[argc];
		argc++;
	}
	argv[argc] = NULL;
	status = run(argc, argv, &e);
	fuzz_require(*e.text || status == STATUS_OK || status == STATUS_NO || status == STATUS_UNDECIDED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const below[] = {"0/0", "0/1", "1/0", "1/1"};

	if (!tree.path)
		set_up();
	file_tree_apply(&tree, data, size);
	for (unsigned i = 0; i < 4; i++)
		run_tree_seal(&tree, below[i]);
	if (size % 2)
		command(cmd_compare,
			(const char *const[]){"compare", arms[0], "--with", arms[1], "--unit", "run", NULL});
	else
		command(cmd_history, (const char *const[]){"history", arms[0], arms[1], NULL});
	file_tree_restore(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, run_tree_words)
