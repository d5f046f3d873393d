/* The page of a run, and of a campaign: what they say of it, and the tables of their figures. No gnuplot is started here. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "fuzz.h"
#include "report/campaign_page.h"
#include "report/report.h"
#include "run_tree.h"
#include "rundir/reader.h"

static struct file_tree tree;
static char *run_path, *derived[2];

static const char campaign[] = "{\"schema\": 1, \"study\": \"fuzz\", \"status\": \"COMPLETED\", \"started_utc\": "
			       "\"2026-11-22T09:30:00Z\", \"experiments\": "
			       "[{\"name\": \"scripted\", \"spec\": \"/x/spec.yaml\", \"state\": \"done\", \"run\": "
			       "\"run\", \"exit\": 0, \"why\": \"\"}]}";

static void set_up(void)
{
	file_tree_init(&tree, "campaign");
	run_tree_add(&tree, "scripted", "run/");
	file_tree_add_file(&tree, "campaign.json", campaign, strlen(campaign));
	run_path = fs_path("%s/run", tree.path);
	derived[0] = fs_path("%s/derived", tree.path);
	derived[1] = fs_path("%s/run/derived", tree.path);
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
	} else if (campaign_page_is(tree.path)) {
		campaign_page_make(tree.path, &html, &e);
	}
	free(html);
	for (unsigned i = 0; i < 2; i++)
		fs_remove_tree(derived[i], NULL);
	file_tree_restore(&tree);
	return 0;
}

FUZZ_MUTATOR(mutate_files, run_tree_words)
