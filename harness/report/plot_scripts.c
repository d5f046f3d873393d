#include "report/plot_scripts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/datadir.h"
#include "common/err.h"
#include "common/fs.h"

static bool holds_scripts(const char *dir)
{
	char *style = fs_path("%s/style.gp", dir);
	bool there = !access(style, R_OK);

	free(style);
	return there;
}

/* If a folder is given explicitly, no other one is searched. */
static char *from_environment(void)
{
	const char *dir = getenv("KBLAT_PLOTS");

	return dir && *dir ? fs_path("%s", dir) : NULL;
}

static char *from_datadir(void)
{
	char **places = datadir_places("kblat", "plots"), *dir = NULL;

	for (char **p = places; *p && !dir; p++)
		if (holds_scripts(*p))
			dir = fs_path("%s", *p);
	fs_files_free(places);
	return dir;
}

char *plot_scripts(struct err *e)
{
	char *dir = from_environment(), *real;

	if (!dir)
		dir = from_datadir();
	if (!dir || !holds_scripts(dir)) {
		err_set(e, -ENOENT, STATUS_FAILED, dir ? dir : "plots", "find the plot scripts",
			dir ? "no style.gp in it; set KBLAT_PLOTS to the folder that has one, or unset it"
			    : "neither next to the program nor installed; set KBLAT_PLOTS to their folder");
		free(dir);
		return NULL;
	}
	real = realpath(dir, NULL);
	free(dir);
	return real;
}
