#include "tuning/machine/exclusion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/text.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"

#define NOTE_MAX 4096

struct claim {
	const char *folder, *name, *path;
};

static const struct claim privileged = {"/run", "kbtune.owner", "/run/kbtune.owner"};
static const struct claim anybodys = {"/dev/shm", "kbtune", "/dev/shm/kbtune"};

static int open_folder(const struct machine *m, const struct claim *c)
{
	return machine_openat(m, c->folder, O_RDONLY | O_DIRECTORY);
}

/* 1: owned by this user. 0: there is none. -EBUSY: owned by `owner`. A symbolic link belongs to its
 * own owner, wherever it leads. */
static int claim_seen_in(int folder, const struct claim *c, uid_t *owner)
{
	struct stat st;

	if (fstatat(folder, c->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	*owner = st.st_uid;
	return st.st_uid == geteuid() ? 1 : -EBUSY;
}

static int claim_refuse(const struct claim *c, int rc, uid_t owner, struct err *e)
{
	if (rc != -EBUSY)
		return err_sys(e, rc, c->path, "look at");
	return err_set(e, rc, STATUS_FAILED, c->path, "change this machine",
		       "user %u has changed it with kbtune; run 'kbtune restore' as that user first, or remove this "
		       "file if that user has nothing applied",
		       (unsigned)owner);
}

static int make_file(int folder, const struct claim *c)
{
	int fd = openat(folder, c->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	/* For people only; the owner of the file identifies the user. */
	dprintf(fd, "process %d of user %u\n", (int)getpid(), (unsigned)geteuid());
	close(fd);
	return 0;
}

/* 1: created. 0: already owned by this user. -EBUSY and `e`: owned by another user; or another
 * negative errno and `e`. */
static int claim_make(const struct machine *m, const struct claim *c, struct err *e)
{
	int folder = open_folder(m, c), rc;
	uid_t owner = 0;

	if (folder < 0)
		return err_sys(e, folder, c->folder, "open");
	rc = make_file(folder, c);
	if (rc == -EEXIST) {
		rc = claim_seen_in(folder, c, &owner);
		rc = rc < 0 ? claim_refuse(c, rc, owner, e) : 0;
	} else {
		rc = rc ? err_sys(e, rc, c->path, "make") : 1;
	}
	close(folder);
	return rc;
}

/* -EBUSY and `owner` if another user has it. */
static int claim_seen(const struct machine *m, const struct claim *c, uid_t *owner)
{
	int folder = open_folder(m, c), rc;

	if (folder < 0)
		return 0;
	rc = claim_seen_in(folder, c, owner);
	close(folder);
	return rc;
}

static void claim_release(const struct machine *m, const struct claim *c)
{
	int folder = open_folder(m, c);
	uid_t owner;

	if (folder < 0)
		return;
	if (claim_seen_in(folder, c, &owner) == 1)
		unlinkat(folder, c->name, 0);
	close(folder);
}

static void tell_of_other(const struct machine *m)
{
	uid_t owner;

	if (claim_seen(m, &anybodys, &owner) == -EBUSY)
		fprintf(stderr,
			"kbtune: user %u may have changed this machine, too (%s belongs to that user, but any user can "
			"create it)\n",
			(unsigned)owner, anybodys.path);
}

/* The other one is checked afterwards, so that of two processes at the same time, at least one sees
 * the other. */
static int claim_as_anybody(const struct machine *m, struct err *e)
{
	int rc = claim_make(m, &anybodys, e);
	uid_t owner;

	if (rc == -ENOENT && !m->root.live)
		return 0;
	if (rc < 0 || claim_seen(m, &privileged, &owner) != -EBUSY)
		return rc < 0 ? rc : 0;
	claim_release(m, &anybodys);
	return claim_refuse(&privileged, -EBUSY, owner, e);
}

static bool may_not(int rc)
{
	return rc == -EACCES || rc == -EPERM || rc == -EROFS;
}

int exclusion_take(struct machine *m, struct err *e)
{
	int rc = claim_make(m, &privileged, e);

	if (may_not(rc) || (rc == -ENOENT && !m->root.live)) {
		err_clear(e);
		return claim_as_anybody(m, e);
	}
	if (rc == 1)
		tell_of_other(m);
	return rc < 0 ? rc : 0;
}

void exclusion_release(struct machine *m)
{
	claim_release(m, &privileged);
	claim_release(m, &anybodys);
}

/* --- what is applied, for everybody --- */

/* Our own file. It is replaced in place, as its owner is what counts. */
static int describe_in(const struct machine *m, const struct claim *c, const char *text)
{
	int folder = open_folder(m, c), fd, rc = 0;
	struct stat st;

	if (folder < 0)
		return folder;
	fd = openat(folder, c->name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		rc = -EPERM;
	if (!rc)
		rc = fs_write_fd(fd, text, strlen(text));
	if (!rc && ftruncate(fd, (off_t)strlen(text)))
		rc = -errno;
	close(fd);
	return rc;
}

void exclusion_describe(struct machine *m, const struct exclusion_note *n)
{
	char *text = fs_path("process %d of user %u\nprofile: %s\nsince: %s\nstate: %s\njournal: %s\n", (int)getpid(),
			     (unsigned)geteuid(), n->profile, n->since, n->state, n->folder);

	if (describe_in(m, &privileged, text))
		describe_in(m, &anybodys, text);
	free(text);
}

static void note_field(const char *text, const char *label, char *buf, size_t size)
{
	const char *found = strstr(text, label);

	buf[0] = '\0';
	if (!found)
		return;
	found += strlen(label);
	text_clean(found, strcspn(found, "\n"), buf, size);
}

/* 0, or a negative errno: there is no such file, or it is not one of kbtune's. */
static int claim_note(const struct machine *m, const struct claim *c, struct exclusion_note *n)
{
	int folder = open_folder(m, c), fd, rc;
	char text[NOTE_MAX];
	struct stat st;
	ssize_t got;

	if (folder < 0)
		return folder;
	fd = openat(folder, c->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	got = rc ? 0 : read(fd, text, sizeof(text) - 1);
	close(fd);
	if (rc || got < 0)
		return rc ? rc : -EIO;
	text[got] = '\0';
	*n = (struct exclusion_note){.user = st.st_uid};
	note_field(text, "\nprofile: ", n->profile, sizeof(n->profile));
	note_field(text, "\nsince: ", n->since, sizeof(n->since));
	note_field(text, "\nstate: ", n->state, sizeof(n->state));
	note_field(text, "\njournal: ", n->folder, sizeof(n->folder));
	return 0;
}

/* A file of ours without a journal's folder is of a kbtune that was killed, or of an older one. */
static bool is_not_ours(const struct machine *m, const struct exclusion_note *n)
{
	char ours[1024];

	if (n->user != geteuid())
		return true;
	return *n->folder && strcmp(n->folder, state_folder_below_root(m, ours, sizeof(ours))) != 0;
}

/* What another user's profile has left, of which only root can read the journal. */
static bool read_lasting(const struct machine *m, struct exclusion_note *n)
{
	int fd = machine_openat(m, STATE_FOLDER_LASTING, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	struct stat st;
	int rc;

	if (fd < 0)
		return false;
	rc = fstat(fd, &st);
	close(fd);
	*n = (struct exclusion_note){
	    .user = st.st_uid, .state = "left by an earlier boot", .folder = STATE_FOLDER_LASTING};
	return !rc && st.st_uid != geteuid();
}

bool exclusion_note_of_others(const struct machine *m, struct exclusion_note *n)
{
	if (!claim_note(m, &privileged, n) && is_not_ours(m, n))
		return true;
	if (!claim_note(m, &anybodys, n) && is_not_ours(m, n))
		return true;
	return read_lasting(m, n);
}

char *exclusion_note_text(const struct exclusion_note *n, char *buf, size_t size)
{
	snprintf(buf, size, "user %u%s has %s%s here%s%s%s%s%s%s", (unsigned)n->user, n->user ? "" : " (root)",
		 *n->profile ? "the profile " : "changes", n->profile, *n->state ? ", " : "", n->state,
		 *n->since ? " since " : "", n->since, *n->folder ? "; the journal is in " : "", n->folder);
	return buf;
}

int exclusion_refuse_others(const struct machine *m, const char *operation, struct err *e)
{
	struct exclusion_note n;
	char text[1600];

	if (!exclusion_note_of_others(m, &n))
		return 0;
	exclusion_note_text(&n, text, sizeof(text));
	/* Any user can say so, and must not keep root from anything. */
	if (geteuid() == 0) {
		fprintf(stderr, "kbtune: %s\n", text);
		return 0;
	}
	return n.user == geteuid()
		   ? err_set(e, -EPERM, STATUS_IMPOSSIBLE, NULL, NULL,
			     "cannot %s: %s; run it with the XDG_RUNTIME_DIR that has this folder", operation, text)
		   : err_set(e, -EPERM, STATUS_IMPOSSIBLE, NULL, NULL, "cannot %s: %s; run it as that user", operation,
			     text);
}
