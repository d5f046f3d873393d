#include "measure/spec/experiments.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/datadir.h"
#include "common/diag.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sysroot.h"

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

/* Studies group experiments, so specs are one or two folders deep. */
int experiments_names(const char *experiments, char ***names, struct err *e)
{
	static const char *const patterns[] = {"/*/spec.yaml", "/*/*/spec.yaml"};
	struct sysroot root;
	size_t count = 0;
	int rc = sysroot_open(&root, experiments, e);

	if (rc)
		return rc;
	*names = or_abort(calloc(1, sizeof(**names)));
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		char **paths;
		const int n = sysroot_glob(&root, patterns[i], &paths);

		for (int k = 0; k < n; k++) {
			*strrchr(paths[k], '/') = '\0';
			*names = or_abort(reallocarray(*names, count + 2, sizeof(**names)));
			(*names)[count++] = fs_path("%s", paths[k] + 1);
			(*names)[count] = NULL;
		}
		if (n >= 0)
			sysroot_names_free(paths);
	}
	sysroot_close(&root);
	return 0;
}

/* A name whose last part is this one is meant, whatever the folder of its study. */
static const char *nearest_of(const char *asked, char *const *names)
{
	const char *part = strrchr(asked, '/');

	part = part ? part + 1 : asked;
	for (char *const *name = names; *name; name++) {
		const char *slash = strrchr(*name, '/');

		if (slash && !strcmp(slash + 1, part))
			return *name;
	}
	return suggest(asked, (const char *const *)names);
}

char *experiments_suggest(const char *asked)
{
	char *experiments = experiments_directory(), **names, *found = NULL;

	if (experiments && !experiments_names(experiments, &names, NULL)) {
		const char *nearest = nearest_of(asked, names);

		found = nearest ? fs_path("%s", nearest) : NULL;
		sysroot_names_free(names);
	}
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
