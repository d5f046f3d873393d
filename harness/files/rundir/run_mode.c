#include "files/rundir/run_mode.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/fs.h"
#include "files/rundir/find.h"
#include "files/rundir/reader.h"

#define ALL 0666

/* Without the permissions of those who lack this one for `path`, if it exists. Takes `path`. */
static mode_t mode_without(char *path, mode_t group, mode_t others)
{
	struct stat st;
	mode_t mode = ALL;

	if (!lstat(path, &st)) {
		mode &= st.st_mode & group ? ALL : ~(mode_t)S_IRWXG;
		mode &= st.st_mode & others ? ALL : ~(mode_t)S_IRWXO;
	}
	free(path);
	return mode;
}

static mode_t file_mode(char *path)
{
	return mode_without(path, S_IRGRP, S_IROTH);
}

static mode_t captures_mode(const char *run_path)
{
	static const char *const files[] = {"before/state.json", "after/state.json", "changes.json"};
	char *state = fs_path("%s/state", run_path);
	struct dirent **names;
	int n = fs_scandir(state, &names, fs_is_visible, alphasort);
	mode_t mode = ALL;

	for (int i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
			mode &= file_mode(fs_path("%s/%s/%s", state, names[i]->d_name, files[k]));
		free(names[i]);
	}
	free(names);
	free(state);
	return mode;
}

mode_t run_mode(const char *run_path)
{
	static const char *const files[] = {"run.json", "resolved.json", "summary.json"};
	mode_t mode = captures_mode(run_path);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		mode &= file_mode(fs_path("%s/%s", run_path, files[i]));
	return mode;
}

mode_t run_mode_above(const char *run_path, const char *folder)
{
	mode_t mode = run_mode(run_path);

	for (size_t n = strlen(run_path); n > strlen(folder);) {
		mode &= mode_without(fs_path("%.*s", (int)n, run_path), S_IXGRP, S_IXOTH);
		while (n && run_path[--n] != '/')
			;
	}
	return mode;
}

mode_t run_mode_of(const struct run *runs, size_t count)
{
	mode_t mode = ALL;

	for (size_t i = 0; i < count; i++)
		mode &= run_mode(runs[i].path);
	return mode;
}

static int limit_by_run(void *mode, const char *path, struct err *e)
{
	(void)e;
	*(mode_t *)mode &= run_mode(path);
	return 0;
}

mode_t run_mode_below(const char *folder)
{
	mode_t mode = ALL;

	/* If it cannot be searched, nobody else may read what it contains. */
	return find_runs(folder, limit_by_run, &mode, NULL) ? ALL & S_IRWXU : mode;
}

mode_t run_mode_limit(mode_t mode)
{
	const mode_t before = umask(S_IRWXG | S_IRWXO);

	umask(before | (mode & S_IRGRP ? 0 : S_IRWXG) | (mode & S_IROTH ? 0 : S_IRWXO));
	return before;
}
