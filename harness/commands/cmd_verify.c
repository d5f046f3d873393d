#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands.h"
#include "common/fs.h"
#include "common/text.h"
#include "files/rundir/manifest.h"
#include "judge/analysis/verify.h"
#include "judge/claims/claims.h"

const struct cli_command cmd_verify_cli = {
    .name = "verify",
    .synopsis = "RUN",
    .summary = "check that a run directory is intact, and recompute its numbers",
    .details =
	"Checks every file against the manifest, every JSON file against its schema and the form of every column, then "
	"recomputes the summary from the raw columns. Each problem is printed on a line of standard output that starts "
	"with the file's name. derived/ is not checked, as it can be generated again at any time.\n\nExit status: 0 "
	"verified; 3 something differs, or the run was never sealed; 2 RUN is not a run directory.",
    .min_args = 1,
    .max_args = 1,
};

static void print_line(void *arg, const char *text)
{
	(void)arg;
	printf("%s\n", text_shown(text));
}

static bool has_manifest(const char *path)
{
	char *manifest = fs_path("%s/manifest-sha256.txt", path);
	bool there = !fs_is_missing(manifest);

	free(manifest);
	return there;
}

static enum status verify_content(const char *path, const struct run *run, struct err *e)
{
	struct verified seen;
	int wrong;

	if (!run->sealed) {
		printf("%s: not sealed: the run has not ended, or was killed\n", path);
		return STATUS_NO;
	}
	wrong = verify_run(run, claims_files, print_line, NULL, &seen, e);
	if (wrong < 0)
		return e->status;
	if (wrong)
		return STATUS_NO;
	printf("%s: verified: %zu files, %zu point%s\n", path, seen.files, seen.points, seen.points == 1 ? "" : "s");
	return STATUS_OK;
}

/* A directory with a manifest was a run directory, so missing files are a difference, not a wrong argument. */
static enum status refuse_run(bool was_sealed, const struct err *why, struct err *e)
{
	if (was_sealed) {
		printf("%s\n", why->text); /* clean */
		return STATUS_NO;
	}
	*e = *why;
	return e->status;
}

static enum status verify_path(const struct cli_list *args, void *unused, struct err *e)
{
	const char *path = args->items[0];
	char *real = realpath(path, NULL);
	bool was_sealed = real && has_manifest(real);
	/* Checked first, because if a file is damaged, the run may not even be readable. */
	int wrong = was_sealed ? manifest_check(real, print_line, NULL, e) : 0;
	struct err why = ERR_INIT;
	enum status status;
	struct run run;

	(void)unused;
	free(real);
	if (wrong < 0)
		return e->status;
	if (wrong)
		return STATUS_NO;
	if (run_open(path, &run, &why))
		return refuse_run(was_sealed, &why, e);
	status = verify_content(path, &run, e);
	run_close(&run);
	return status;
}

enum status cmd_verify(int argc, char **argv, struct err *e)
{
	return cli_run("kblat", &cmd_verify_cli, NULL, argc, argv, verify_path, NULL, e);
}
