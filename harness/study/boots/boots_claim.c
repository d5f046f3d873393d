#include "study/boots/boots_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "measure/run/host_state.h"
#include "study/kinds.h"
#include "study/study_record.h"

#define FOLDER "/var/lib/kblat"
#define NAME   "boots-claim"

/* It outlives boots. The caller frees; NULL and `e`: this user has no home. */
static char *claim_folder(struct err *e)
{
	const char *root = machine_state_sysroot(), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (!geteuid())
		return fs_path("%s" FOLDER, root ? root : "");
	if (state && *state == '/')
		return fs_path("%s/kblat", state);
	if (home && *home == '/')
		return fs_path("%s/.local/state/kblat", home);
	err_set(e, -ENOENT, STATUS_USAGE, "HOME", NULL, "is not set, so there is no place to keep who may reboot");
	return NULL;
}

static char *claim_file(void)
{
	char *folder = claim_folder(NULL), *file = folder ? fs_path("%s/" NAME, folder) : NULL;

	free(folder);
	return file;
}

/* The folder of the study that may ask for the next boot, which the caller frees; NULL: there is none. */
static char *claim_read(void)
{
	char *file = claim_file(), *text = NULL;
	size_t size;

	if (file && !fs_read_followed(file, PATH_MAX, &text, &size, NULL))
		text[strcspn(text, "\n")] = '\0';
	free(file);
	return text;
}

bool boots_claim_is(const struct loader *l)
{
	char *whose = claim_read();
	const bool is = whose && !strcmp(whose, l->dir);

	free(whose);
	return is;
}

bool boots_claim_is_others(const struct loader *l)
{
	char *whose = claim_read();
	const bool is = whose && strcmp(whose, l->dir) != 0;

	free(whose);
	return is;
}

/* One that is gone, or has ended, asks for nothing any more. */
static bool may_go_on(const char *dir)
{
	struct study s = {.kind = &boots_kind, .lock = -1};
	struct err own = ERR_INIT;
	const bool goes_on =
	    !study_record_open(&s, dir, &own) && (s.status == STUDY_RUNNING || s.status == STUDY_INTERRUPTED);

	study_free(&s);
	return goes_on;
}

int boots_claim_check(const struct loader *l, struct err *e)
{
	char *whose = claim_read(), *unit = loader_other_unit(l);
	int rc = 0;

	if (whose && strcmp(whose, l->dir) != 0 && may_go_on(whose))
		rc = err_set(e, -EBUSY, STATUS_FAILED, "boots", NULL,
			     "the machine's next boots are those of another comparison, %s; `kblat boots status %s` "
			     "shows it, `kblat boots stop %s` ends it",
			     whose, whose, whose);
	else if (unit)
		rc = err_set(
		    e, -EBUSY, STATUS_FAILED, "boots", NULL,
		    "another comparison goes on after the next boot, by the unit %s; `kblat boots stop` ends it, "
		    "or, if its folder is gone, `systemctl disable --now '%s'`",
		    unit, unit);
	free(unit);
	free(whose);
	return rc;
}

/* Locked, so that of two only one has it. A descriptor, or a negative errno and `e`. */
static int claim_lock(char *folder, struct err *e)
{
	int fd = fs_mkdirs(folder, e) ?: open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX)) {
		close(fd);
		fd = -1;
	}
	return fd >= 0 ? fd : err_sys(e, -errno, folder, "open");
}

static int claim_write(const char *folder, const char *dir, struct err *e)
{
	char *file = fs_path("%s/" NAME, folder), *text = fs_path("%s\n", dir);
	const int rc = fs_write_mode(file, text, strlen(text), 0644, e) ?: fs_sync(folder, e);

	free(text);
	free(file);
	return rc;
}

int boots_claim_take(const struct loader *l, struct err *e)
{
	char *folder = claim_folder(e);
	int lock = folder ? claim_lock(folder, e) : -ENOENT, rc = lock < 0 ? lock : boots_claim_check(l, e);

	rc = rc ?: claim_write(folder, l->dir, e);
	if (lock >= 0)
		close(lock);
	free(folder);
	return rc;
}

int boots_claim_leave(const struct loader *l, struct err *e)
{
	char *file = claim_file();
	int rc = 0;

	if (file && boots_claim_is(l) && unlink(file) && errno != ENOENT)
		rc = err_sys(e, -errno, file, "remove");
	free(file);
	return rc;
}
