#include "judge/claims/claim_verdict.h"
#include "study/bundle/bundle.h"
#include "study/bundle/reproduce.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/text.h"
#include "common/yaml.h"
#include "files/rundir/find.h"
#include "judge/claims/claims.h"
#include "measure/spec/experiments.h"

/* --- experiments by the name in their specs --- */

static bool spec_is_named(const char *folder, const char *name)
{
	char *path = fs_path("%s/spec.yaml", folder), *text = NULL;
	const struct ynode *said = NULL;
	struct ynode *root = NULL;
	struct diag d;
	size_t length;
	bool found;

	diag_init(&d, path);
	if (!fs_is_missing(path) && !yaml_load_file(path, &d, &root, &text, &length) && root->kind == YNODE_MAPPING)
		said = yaml_get(root, "name");
	found = said && said->kind == YNODE_SCALAR && !strcmp(said->scalar, name);
	diag_free(&d);
	yaml_free(root);
	free(text);
	free(path);
	return found;
}

/* The caller frees; NULL: there is none. */
static char *find_named(const char *folder, const char *name, unsigned depth)
{
	struct dirent **names = NULL;
	int n = depth ? fs_scandir(folder, &names, fs_is_visible, alphasort) : 0;
	char *found = spec_is_named(folder, name) ? or_abort(strdup(folder)) : NULL;

	for (int i = 0; i < n; i++) {
		char *inside = fs_path("%s/%s", folder, names[i]->d_name);

		if (!found && fs_is_directory(inside))
			found = find_named(inside, name, depth - 1);
		free(inside);
		free(names[i]);
	}
	free(names);
	return found;
}

/* --- runs --- */

static int run_here(const char *spec, const char *folder, bool quick, struct err *e)
{
	const char *const words[] = {"kblat", "run", spec, "--out", folder, "--quiet", quick ? "--quick" : NULL, NULL};
	const struct spawn s = {.words = words,
				.program = "/proc/self/exe",
				.in = -1,
				.out = STDERR_FILENO,
				.err = STDERR_FILENO,
				.end_signal = SIGTERM};
	pid_t pid = spawn_program(&s);

	return pid < 0 ? err_sys(e, (int)pid, spec, "run") : spawn_await(pid);
}

static int run_named(const char *experiments, const struct bundle_run *r, const char *folder, struct err *e)
{
	char *spec = experiments ? find_named(experiments, r->name, 2) : NULL, name[256];
	int rc = 0;

	text_clean(r->name, strlen(r->name), name, sizeof(name));
	if (spec) {
		fprintf(stderr, "kblat: %s\n", name);
		rc = run_here(spec, folder, !strcmp(r->variant, "quick"), e);
	} else {
		fprintf(stderr, "kblat: %s: no experiment of this name is here\n", name);
	}
	if (rc > 0 && rc != STATUS_NO)
		fprintf(stderr, "kblat: %s: %s (exit status %d)\n", name,
			rc == STATUS_IMPOSSIBLE ? "not possible on this machine" : "it failed", rc);
	free(spec);
	return rc < 0 ? rc : 0;
}

/* --- their claims --- */

struct runs {
	struct run *run;
	size_t count;
};

static int take_run(void *arg, const char *path, struct err *e)
{
	struct runs *all = arg;
	struct err own = ERR_INIT;

	(void)e;
	all->run = grow_or_abort(all->run, all->count, sizeof(*all->run));
	if (!run_open(path, &all->run[all->count], &own)) {
		if (all->run[all->count].sealed)
			all->count++;
		else
			run_close(&all->run[all->count]);
	}
	return 0;
}

int reproduce_run(const struct bundle *b, const char *folder, struct claim_verdicts *out, struct err *e)
{
	char *experiments = experiments_of_program();
	struct runs all = {0};
	int rc = fs_mkdirs(folder, e);

	*out = (struct claim_verdicts){0};
	for (size_t i = 0; i < b->runs && !rc; i++)
		rc = run_named(experiments, &b->run[i], folder, e);
	rc = rc ?: find_runs(folder, take_run, &all, e);
	if (!rc && all.count)
		rc = claims_judge(all.run, all.count, out, e);
	while (all.count)
		run_close(&all.run[--all.count]);
	free(all.run);
	free(experiments);
	return rc;
}
