#include "common/datadir.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"

/* build/kblat, build/san/kblat, build/san/unit/test_report: the tree is at most this many levels
 * above the program. */
#define LEVELS 3

/* Remove the last component of a path. */
static bool datadir_go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	return slash;
}

/* The folder of the running program. */
static bool datadir_of_program(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	path[n > 0 ? n : 0] = '\0';
	return datadir_go_up(path);
}

char *datadir_installed(const char *owner, const char *name)
{
	char path[PATH_MAX];

	if (!datadir_of_program(path, sizeof(path)) || !datadir_go_up(path))
		return NULL;
	return fs_path("%s/share/%s/%s", path, owner, name);
}

char **datadir_places(const char *owner, const char *name)
{
	char **places = or_abort(calloc(LEVELS + 2, sizeof(*places)));
	char path[PATH_MAX];
	size_t count = 0;

	places[count] = datadir_installed(owner, name);
	count += places[count] != NULL;
	if (!datadir_of_program(path, sizeof(path)))
		return places;
	for (int level = 0; level < LEVELS && datadir_go_up(path); level++)
		places[count++] = fs_path("%s/%s", path, name);
	return places;
}

char *datadir_find(const char *owner, const char *name)
{
	char **places = datadir_places(owner, name), *found = NULL;

	for (char **p = places; *p && !found; p++)
		if (fs_is_directory(*p))
			found = fs_path("%s", *p);
	fs_files_free(places);
	return found;
}
