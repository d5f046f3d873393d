#include "report/plot_scripts.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

#define LEVELS 3

#ifndef KBLAT_DATADIR
#define KBLAT_DATADIR "/usr/local/share/kblat"
#endif

static bool holds_scripts(const char *dir)
{
	char *style = fs_path("%s/style.gp", dir);
	bool there = !access(style, R_OK);

	free(style);
	return there;
}

/* Whoever names a folder means it: no other is looked for then. */
static char *from_environment(void)
{
	const char *dir = getenv("KBLAT_PLOTS");

	return dir && *dir ? fs_path("%s", dir) : NULL;
}

/* build/kblat, build/san/kblat, build/san/unit/test_report: the tree is above. */
static char *above_program(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	for (int level = 0; level <= LEVELS && (slash = strrchr(path, '/')); level++) {
		char *dir;

		*slash = '\0';
		dir = fs_path("%s/plots", path);
		if (level && holds_scripts(dir))
			return dir;
		free(dir);
	}
	return NULL;
}

static char *installed(void)
{
	char *dir = fs_path("%s/plots", KBLAT_DATADIR);

	if (holds_scripts(dir))
		return dir;
	free(dir);
	return NULL;
}

char *plot_scripts(struct err *e)
{
	char *dir = from_environment(), *real;

	if (!dir)
		dir = above_program();
	if (!dir)
		dir = installed();
	if (!dir || !holds_scripts(dir)) {
		err_set(e, -ENOENT, STATUS_FAILED, dir ? dir : "plots", "find the plot scripts",
			dir ? "no style.gp in it; set KBLAT_PLOTS to the folder that has one, or unset it"
			    : "neither above the program nor installed; set KBLAT_PLOTS to their folder");
		free(dir);
		return NULL;
	}
	real = realpath(dir, NULL);
	free(dir);
	return real;
}
