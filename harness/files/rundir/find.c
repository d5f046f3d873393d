#include "files/rundir/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

#define DEPTH 3

static bool is_folder(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_run(const char *path)
{
	char *file = fs_path("%s/run.json", path);
	bool there = !access(file, F_OK);

	free(file);
	return there;
}

static int find_at_depth(const char *path, int depth, find_visit *visit, void *arg, struct err *e)
{
	struct dirent **names = NULL;
	int n, rc = 0;

	if (is_run(path))
		return visit(arg, path, e);
	n = depth ? scandir(path, &names, fs_is_visible, alphasort) : 0;
	if (n < 0)
		return err_sys(e, -errno, path, "list");
	for (int i = 0; i < n; i++) {
		char *below = fs_path("%s/%s", path, names[i]->d_name);

		if (!rc && (names[i]->d_type == DT_DIR || (names[i]->d_type == DT_UNKNOWN && is_folder(below))))
			rc = find_at_depth(below, depth - 1, visit, arg, e);
		free(below);
		free(names[i]);
	}
	free(names);
	return rc;
}

int find_runs(const char *path, find_visit *visit, void *arg, struct err *e)
{
	return find_at_depth(path, DEPTH, visit, arg, e);
}
