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
	const int rc = guard_start(&t->guard, remove_temporary, t->path);

	if (!rc)
		return 0;
	return err_sys(e, rc, t->path, "start the process that would remove it");
}

int temporary_make(struct temporary *t, const char *where, const char *name, struct err *e)
{
	int rc;

	*t = (struct temporary){.path = fs_path("%s/kblat-%u-%d-%sXXXXXX", where ? where : temporary_place(),
						(unsigned)getuid(), (int)getpid(), name)};
	if (mkdtemp(t->path)) {
		rc = temporary_begin(t, e);
		if (rc)
			temporary_remove(t);
		return rc;
	}
	rc = err_sys(e, -errno, t->path, "make");
	free(t->path);
	t->path = NULL;
	return rc;
}

int temporary_file(struct temporary *t, const char *path, struct err *e)
{
	int rc;

	*t = (struct temporary){.path = fs_path("%s", path)};
	rc = temporary_begin(t, e);
	if (rc)
		temporary_forget(t);
	return rc;
}

void temporary_forget(struct temporary *t)
{
	guard_dismiss(&t->guard);
	free(t->path);
	*t = (struct temporary){0};
}

void temporary_remove(struct temporary *t)
{
	if (!t->path)
		return;
	remove_temporary(t->path);
	temporary_forget(t);
}
