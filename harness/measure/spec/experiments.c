#include "measure/spec/experiments.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/datadir.h"
#include "common/fs.h"

char *experiments_of_program(void)
{
	const char *named = getenv("KBLAT_EXPERIMENTS");

	return named && fs_is_directory(named) ? fs_path("%s", named) : datadir_find("kblat", "experiments");
}

char *experiments_directory(void)
{
	return fs_is_directory("experiments") ? fs_path("experiments") : experiments_of_program();
}

/* A name that begins with a dot or a slash can only be a path. */
char *experiments_find(const char *asked)
{
	char *experiments = NULL, *path = NULL;

	if (access(asked, F_OK) && *asked && !strchr("./", *asked))
		experiments = experiments_directory();
	if (experiments)
		path = fs_path("%s/%s", experiments, asked);
	free(experiments);
	if (path && fs_is_directory(path))
		return path;
	free(path);
	return fs_path("%s", asked);
}

bool experiments_is_installed(const char *path)
{
	char *asked = datadir_installed("kblat", "experiments");
	char *folder = asked ? realpath(asked, NULL) : NULL, *real = folder ? realpath(path, NULL) : NULL;
	size_t n = folder ? strlen(folder) : 0;
	bool is_inside = real && !strncmp(real, folder, n) && (!real[n] || real[n] == '/');

	free(asked);
	free(folder);
	free(real);
	return is_inside;
}
