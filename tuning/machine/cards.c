#include "tuning/machine/cards.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "tuning/machine/machine.h"

static bool has_file(const struct machine *m, const char *name, const char *file)
{
	char *path = fs_path(CARDS "/%s%s", name, file);
	bool has = sysroot_exists(&m->root, path);

	free(path);
	return has;
}

bool cards_has(const struct machine *m, const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && has_file(m, name, "");
}

char **cards_list(const struct machine *m)
{
	char **names;
	int n = sysroot_list(&m->root, CARDS, NULL, &names), kept = 0;

	if (n < 0)
		return or_abort(calloc(1, sizeof(*names)));
	for (int i = 0; i < n; i++)
		if (has_file(m, names[i], "/device"))
			names[kept++] = names[i];
		else
			free(names[i]);
	names[kept] = NULL;
	return names;
}
