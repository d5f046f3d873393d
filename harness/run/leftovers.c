#include "run/leftovers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/random.h"

#define SHM "/dev/shm"

void leftovers_draw_name(char name[LEFTOVERS_NAME])
{
	random_hex(name, LEFTOVERS_NAME - 1);
}

static void remove_leftover(const char *entry)
{
	char *path = fs_path(SHM "/%s", entry);

	if (unlink(path)) /* an object or a socket; or a directory of columns */
		fs_remove_tree(path, NULL);
	free(path);
}

void leftovers_remove(const char *name)
{
	struct dirent **names = NULL;
	char ours[64];
	int n = strlen(name) == LEFTOVERS_NAME - 1 ? fs_scandir(SHM, &names, NULL, NULL) : 0;

	snprintf(ours, sizeof(ours), "kblat-%u-", (unsigned)getuid());
	for (int i = 0; i < n; i++) {
		if (!strncmp(names[i]->d_name, ours, strlen(ours)) && strstr(names[i]->d_name, name))
			remove_leftover(names[i]->d_name);
		free(names[i]);
	}
	free(names);
}
