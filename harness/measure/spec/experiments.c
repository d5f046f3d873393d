#include "measure/spec/experiments.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/datadir.h"
#include "common/diag.h"
#include "common/fs.h"
#include "common/or_abort.h"

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

/* A name whose last part is this one is meant, whatever the folder of its study. */
static const char *nearest_of(const char *asked, const char *const *names, size_t count)
{
	const char *part = strrchr(asked, '/');

	part = part ? part + 1 : asked;
	for (size_t i = 0; i < count; i++) {
		const char *slash = strrchr(names[i], '/');

		if (slash && !strcmp(slash + 1, part))
			return names[i];
	}
	return suggest(asked, names);
}

char *experiments_suggest(const char *asked)
{
	char *experiments = experiments_directory(), *patterns[2], *found = NULL;
	const char **names, *nearest;
	glob_t all = {0};

	if (!experiments)
		return NULL;
	patterns[0] = fs_path("%s/*/spec.yaml", experiments);
	patterns[1] = fs_path("%s/*/*/spec.yaml", experiments);
	glob(patterns[0], 0, NULL, &all);
	glob(patterns[1], GLOB_APPEND, NULL, &all);
	names = or_abort(calloc(all.gl_pathc + 1, sizeof(*names)));
	for (size_t i = 0; i < all.gl_pathc; i++) {
		*strrchr(all.gl_pathv[i], '/') = '\0';
		names[i] = all.gl_pathv[i] + strlen(experiments) + 1;
	}
	nearest = nearest_of(asked, names, all.gl_pathc);
	if (nearest)
		found = fs_path("%s", nearest);
	free(names);
	globfree(&all);
	free(patterns[0]);
	free(patterns[1]);
	free(experiments);
	return found;
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
