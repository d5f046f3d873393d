#include "tuning/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/version.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/ops/ops.h"

#define NAME	"journal.json"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define LASTING STATE_FOLDER_LASTING "/" NAME

static const char *const states[JOURNAL_STATES] = {"applying", "applied", "restoring"};

const char *journal_state_name(enum journal_state s)
{
	return states[s];
}

static char *journal_path(const struct machine *m, char *buf, size_t size)
{
	char folder[4096];

	snprintf(buf, size, "%s/" NAME, state_folder_path(m, folder, sizeof(folder)));
	return buf;
}

/* Remove what a kbtune that was killed while writing a journal has left. */
static void remove_unfinished(struct machine *m)
{
	int fd = state_folder_open_lasting(m, false, NULL);

	unlinkat(m->state_fd, NAME ".tmp", 0);
	if (fd < 0)
		return;
	unlinkat(fd, NAME ".tmp", 0);
	close(fd);
	state_folder_remove_lasting(m);
}

int journal_lock(struct machine *m, struct err *e)
{
	int fd = openat(m->state_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	char folder[5200], who[32] = "";
	int rc;

	state_folder_path(m, folder, sizeof(folder));
	if (fd < 0)
		return err_sys(e, -errno, folder, "lock");
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		rc = -errno;
		if (pread(fd, who, sizeof(who) - 1, 0) < 0)
			who[0] = '\0';
		close(fd);
		return rc == -EWOULDBLOCK
			   ? err_set(e, -EAGAIN, STATUS_FAILED, folder, "lock",
				     "another kbtune (process %.*s) is running; try again when it has ended",
				     (int)strcspn(who, "\n"), who)
			   : err_sys(e, rc, folder, "lock");
	}
	/* The owner is only for messages; it is left out if /run is full. */
	if (!ftruncate(fd, 0))
		dprintf(fd, "%d\n", (int)getpid());
	remove_unfinished(m);
	return fd;
}

char *journal_boot_id(const struct machine *m)
{
	char line[64];
	int rc = sysroot_line(&m->root, BOOT_ID, line, sizeof(line));

	return rc && rc != -ENOENT ? NULL : fs_path("%s", line);
}

static int refuse_without_boot_id(struct err *e)
{
	return err_set(
	    e, -EIO, STATUS_FAILED, BOOT_ID, "read",
	    "without it a journal cannot be distinguished from one of an earlier boot; nothing was changed, try again");
}

void journal_init(struct journal *j, struct machine *m, const char *profile)
{
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	*j = (struct journal){.profile = fs_path("%s", profile),
			      .boot_id = journal_boot_id(m),
			      .applied = fs_path("%s", when),
			      .about = json_object()};
}

void journal_free(struct journal *j)
{
	for (size_t i = 0; i < j->count; i++)
		step_free(&j->steps[i]);
	free(j->steps);
	free(j->profile);
	free(j->boot_id);
	free(j->applied);
	json_decref(j->about);
	*j = (struct journal){0};
}

void journal_set_owner(struct journal *j, const char *owner)
{
	if (owner)
		json_object_set_new(j->about, "owner", json_string(owner));
	else
		json_object_del(j->about, "owner");
}

bool journal_is_owned(const struct journal *j, const char *owner)
{
	const char *text = json_string_value(json_object_get(j->about, "owner"));

	return text && !strcmp(text, owner);
}

struct step *journal_add(struct journal *j)
{
	j->steps = grow_or_abort(j->steps, j->count, sizeof(*j->steps));
	j->steps[j->count] = (struct step){0};
	return &j->steps[j->count++];
}

/* A step as it is stored: completely, or only what persists across a reboot (NULL: nothing). */
static json_t *step_json(const struct step *s, bool lasting)
{
	json_t *one = lasting && !s->op->lasting ? NULL : step_to_json(s);

	if (one && lasting)
		json_object_set_new(one, "data", s->op->lasting(s));
	return one;
}

static json_t *to_json(const struct journal *j, bool lasting)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < j->count; i++) {
		json_t *one = step_json(&j->steps[i], lasting);

		if (!one && lasting)
			continue;
		if (json_array_append_new(steps, one)) {
			json_decref(steps);
			return NULL;
		}
	}
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:O, s:o}", "program", "kbtune", "version", kblat_version,
			 "schema", JOURNAL_SCHEMA, "boot_id", j->boot_id, "state", states[j->state], "profile",
			 j->profile, "applied", j->applied, "about", j->about, "steps", steps);
}

static int write_journal(int dir, const struct journal *j, bool lasting)
{
	json_t *all = to_json(j, lasting);
	char *text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
	int rc = text ? state_folder_write(dir, NAME, text) : -EILSEQ;

	free(text);
	json_decref(all);
	return rc;
}

static bool has_lasting(const struct journal *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->steps[i].op->lasting)
			return true;
	return false;
}

static int remove_lasting(struct machine *m, struct err *e)
{
	int fd = state_folder_open_lasting(m, false, e), rc = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if ((unlinkat(fd, NAME, 0) && errno != ENOENT) || (unlinkat(fd, NAME ".tmp", 0) && errno != ENOENT) ||
	    fsync(fd))
		rc = err_sys(e, -errno, LASTING, "remove");
	close(fd);
	state_folder_remove_lasting(m);
	return rc;
}

static int save_lasting(struct machine *m, const struct journal *j, struct err *e)
{
	int fd, rc;

	if (!has_lasting(j))
		return remove_lasting(m, e);
	fd = state_folder_open_lasting(m, true, e);
	if (fd < 0)
		return fd == -ENOENT && !m->root.live ? 0 : fd;
	rc = write_journal(fd, j, true);
	close(fd);
	return rc ? err_sys(e, rc, LASTING, "write") : 0;
}

/* For users who cannot read it. */
static void describe_to_others(struct machine *m, const struct journal *j)
{
	struct exclusion_note n = {0};

	snprintf(n.profile, sizeof(n.profile), "%s", *j->profile ? j->profile : "(single commands)");
	snprintf(n.since, sizeof(n.since), "%s", j->applied);
	snprintf(n.state, sizeof(n.state), "%s", states[j->state]);
	state_folder_below_root(m, n.folder, sizeof(n.folder));
	exclusion_describe(m, &n);
}

int journal_save(struct machine *m, const struct journal *j, struct err *e)
{
	char path[5200];
	int rc = !j->boot_id ? refuse_without_boot_id(e) : exclusion_take(m, e) ?: save_lasting(m, j, e);

	if (rc)
		return rc;
	rc = write_journal(m->state_fd, j, false);
	if (!rc)
		describe_to_others(m, j);
	return rc ? err_sys(e, rc, journal_path(m, path, sizeof(path)), "write") : 0;
}

bool journal_is_there(const struct machine *m)
{
	return !faccessat(m->state_fd, NAME, F_OK, AT_SYMLINK_NOFOLLOW);
}

int journal_remove(struct machine *m, struct err *e)
{
	char path[5200];
	int rc = remove_lasting(m, e);

	if ((unlinkat(m->state_fd, NAME, 0) && errno != ENOENT) || fsync(m->state_fd))
		return err_sys(e, -errno, journal_path(m, path, sizeof(path)), "remove");
	exclusion_release(m);
	return rc;
}

static int read_steps(const json_t *list, struct journal *j, char *why, size_t size)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		struct step s;

		if (step_from_json(one, ops_find, &s, why, size))
			return -EINVAL;
		*journal_add(j) = s;
	}
	return 0;
}

static int find_state(const char *name)
{
	for (int i = 0; i < JOURNAL_STATES; i++)
		if (!strcmp(states[i], name))
			return i;
	return -1;
}

/* The version is checked first, because the content of a later version is unknown. */
static int from_json(const json_t *all, struct journal *j, char *why, size_t size)
{
	const char *program = "", *version = "unknown", *boot, *state, *profile, *applied;
	json_t *about, *steps;
	json_error_t bad;
	int schema = 0;

	if (json_unpack((json_t *)all, "{s:s, s:i, s?s}", "program", &program, "schema", &schema, "version",
			&version) ||
	    strcmp(program, "kbtune")) {
		snprintf(why, size, "it is not a journal of kbtune");
		return -EINVAL;
	}
	if (schema < 1 || schema > JOURNAL_SCHEMA) {
		snprintf(why, size,
			 "it is of schema %d, this kbtune knows 1 to %d; restore with the kbtune that wrote it (%.40s)",
			 schema, JOURNAL_SCHEMA, version);
		return -EINVAL;
	}
	if (json_unpack_ex((json_t *)all, &bad, 0, "{s:s, s:s, s:s, s:s, s:o, s:o}", "boot_id", &boot, "state", &state,
			   "profile", &profile, "applied", &applied, "about", &about, "steps", &steps) ||
	    find_state(state) < 0 || !json_is_array(steps) || !json_is_object(about)) {
		snprintf(why, size, "it is damaged: %s", bad.text[0] ? bad.text : "a value in it is not valid");
		return -EINVAL;
	}
	*j = (struct journal){.state = (enum journal_state)find_state(state),
			      .profile = fs_path("%s", profile),
			      .boot_id = fs_path("%s", boot),
			      .applied = fs_path("%s", applied),
			      .about = json_incref(about)};
	return read_steps(steps, j, why, size);
}

/* `hint`: what to do about a journal that cannot be used. */
static int load_from(int dir, const char *path, const char *hint, struct journal *j, struct err *e)
{
	char why[300] = "", *text;
	json_error_t bad;
	size_t length;
	json_t *all;
	int rc = state_folder_read(dir, NAME, path, &text, &length, e);

	if (rc)
		return rc;
	all = json_loadb(text, length, JSON_REJECT_DUPLICATES, &bad);
	free(text);
	if (!all)
		snprintf(why, sizeof(why), "it is truncated or damaged (line %d: %.100s)", bad.line, bad.text);
	rc = all ? from_json(all, j, why, sizeof(why)) : -EINVAL;
	json_decref(all);
	if (rc) {
		journal_free(j);
		return err_set(e, rc, STATUS_USAGE, path, "use the journal", "%s; %s, then remove the file", why, hint);
	}
	return 0;
}

/* Used if the first journal does not exist, usually after a reboot. */
static int load_lasting(struct machine *m, struct journal *j, struct err *e)
{
	int fd = state_folder_open_lasting(m, false, e), rc;

	if (fd < 0)
		return fd;
	rc = load_from(fd, LASTING, "choose tuned's profile with tuned-adm", j, e);
	close(fd);
	if (!rc) {
		j->leftovers = true;
		j->state = JOURNAL_RESTORING;
	}
	return rc;
}

int journal_load(struct machine *m, struct journal *j, struct err *e)
{
	struct journal lasting = {0};
	char path[5200], *boot;
	int rc;

	*j = (struct journal){0};
	rc = m->state_fd < 0
		 ? -ENOENT
		 : load_from(m->state_fd, journal_path(m, path, sizeof(path)), "a reboot restores everything", j, e);
	if (!rc) {
		boot = journal_boot_id(m);
		rc = boot ? 0 : refuse_without_boot_id(e);
		j->other_boot = boot && strcmp(boot, j->boot_id) != 0;
		free(boot);
	}
	if (rc && rc != -ENOENT)
		journal_free(j);
	if (rc != -ENOENT && !j->other_boot)
		return rc;
	rc = load_lasting(m, &lasting, e);
	if (rc == -ENOENT)
		return j->other_boot ? 0 : rc;
	journal_free(j);
	*j = lasting;
	return rc;
}

int journal_find(struct machine *m, struct journal *j, struct err *e)
{
	struct exclusion_note others;
	int rc = state_folder_open(m, false, e);

	*j = (struct journal){0};
	if (!rc || rc == -ENOENT)
		rc = journal_load(m, j, e);
	/* On a recorded machine, where all users have the same folders. */
	if (rc == -EACCES && exclusion_note_of_others(m, &others)) {
		journal_free(j);
		err_clear(e);
		rc = -ENOENT;
	}
	return rc;
}

size_t journal_changes(const struct journal *j, size_t from)
{
	size_t n = 0;

	for (size_t i = from; i < j->count; i++)
		n += step_is_change(&j->steps[i]);
	return n;
}
