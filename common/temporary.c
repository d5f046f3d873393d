#include "common/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

const char *temporary_place(void)
{
	const char *named = getenv("TMPDIR");

	return named && *named ? named : "/tmp";
}

static void remove_temporary(void *path)
{
	if (unlink(path) && (errno == EISDIR || errno == EPERM))
		fs_remove_tree(path, NULL);
}

static int temporary_begin(struct temporary *t, struct err *e)
{
	int rc = guard_start(&t->guard, remove_temporary, t->path);

	if (!rc)
		return 0;
	rc = err_sys(e, rc, t->path, "start the process that would remove it");
	temporary_remove(t);
	return rc;
}

int temporary_make(struct temporary *t, const char *where, const char *name, struct err *e)
{
	int rc;

	*t = (struct temporary){.path = fs_path("%s/kblat-%u-%d-%sXXXXXX", where ? where : temporary_place(),
						(unsigned)getuid(), (int)getpid(), name)};
	if (mkdtemp(t->path))
		return temporary_begin(t, e);
	rc = err_sys(e, -errno, t->path, "make");
	free(t->path);
	t->path = NULL;
	return rc;
}

int temporary_file(struct temporary *t, const char *path, struct err *e)
{
	*t = (struct temporary){.path = fs_path("%s", path)};
	return temporary_begin(t, e);
}

void temporary_remove(struct temporary *t)
{
	if (!t->path)
		return;
	remove_temporary(t->path);
	guard_dismiss(&t->guard);
	free(t->path);
	*t = (struct temporary){0};
}
