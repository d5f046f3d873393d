/*
 * A tuned profile. If tuned's daemon is running, it applies the profile (tuned-adm), and returns to
 * its own one afterwards. Otherwise a one-shot tuned applies the profile and holds it as long as it
 * runs. tuned only keeps original values in memory, so kbtune also records what the profile changes
 * (guards), and restores it even if tuned was killed. data: "profile", "mode" (daemon, oneshot),
 * "before"; "post", the post-loaded profile, which tuned adds to any other; "auto", whether tuned
 * itself had chosen; "guards", and the entries of "files" below.
 */
#include "tuning/ops/op_tuned.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/form.h"
#include "common/fs.h"
#include "common/spawn.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/tuned.h"
#include "tuning/ops/op_file.h"
#include "tuning/ops/tuned_effects.h"
#include "tuning/steps/plan.h"
#include "tuning/steps/step.h"

/* --- guards --- */

/*
 * Files that another program, such as tuned, changes for kbtune: their original content ("raw", in
 * "form"), so that they can be restored whatever happens to the program, and their changed content
 * ("made"), with the files that change with them ("beside", see op_file.h). An array of {"path", "form",
 * "raw"} and more.
 */

/* Treat a guard as a step that writes a file, so that it is restored like any other value. */
static int undo_guard(struct machine *m, const json_t *guard, struct err *e)
{
	const char *path = json_string_value(json_object_get(guard, "path"));
	const char *raw = json_string_value(json_object_get(guard, "raw"));
	const char *form = json_string_value(json_object_get(guard, "form"));
	struct step s;
	char *value;
	int rc;

	if (!path || !raw || !form || form_find(form) < 0)
		return 0;
	value = form_value((enum form)form_find(form), raw, "");
	step_init(&s, "tuned", &op_file, path, value, value, json_copy((json_t *)guard));
	free(value);
	rc = op_file.undo(m, &s, e);
	step_free(&s);
	return rc == STEP_GONE ? 0 : rc;
}

/* Restore all of them. 0, or the negative errno of the first failure and `e`. */
static int guards_undo(struct machine *m, const json_t *guards, struct err *e)
{
	const json_t *one;
	int rc = 0, first = 0;
	bool again = false;
	size_t i;

	/* Some can only be put back when others are: of dirty_bytes and dirty_ratio, the one that is not 0. */
	json_array_foreach (guards, i, one)
		again |= undo_guard(m, one, NULL) < 0;
	for (i = 0; again && i < json_array_size(guards); i++) {
		rc = undo_guard(m, json_array_get(guards, i), e);
		first = first ? first : rc;
	}
	return first;
}

/* The current value, or that in `raw`; NULL if it is not a guard or cannot be read. The caller frees. */
static char *read_guard(struct machine *m, const json_t *guard, const char *raw)
{
	const char *path = json_string_value(json_object_get(guard, "path"));
	const char *form = json_string_value(json_object_get(guard, "form"));
	char *text = NULL, *value;

	if (!path || !form || form_find(form) < 0 || (!raw && machine_read(m, path, &text)))
		return NULL;
	value = form_value((enum form)form_find(form), raw ? raw : text, "");
	free(text);
	return value;
}

/* To be called after the change: stores the new content of files that differ from before. Live
 * machines only. */
static void guards_settle(struct machine *m, json_t *guards)
{
	json_t *one;
	size_t i;

	json_array_foreach (guards, i, one) {
		const char *raw = json_string_value(json_object_get(one, "raw"));
		char *before = raw ? read_guard(m, one, raw) : NULL, *now = read_guard(m, one, NULL);

		if (before && now && strcmp(before, now))
			json_object_set_new(one, "made", json_string(now));
		free(before);
		free(now);
		op_file_look_beside(m, one);
	}
}

/* Has one of them changed since? Then `text` contains which one. */
static bool guards_find_changed(struct machine *m, const json_t *guards, char *text, size_t size)
{
	const json_t *one;
	bool changed = false;
	size_t i;

	json_array_foreach (guards, i, one) {
		const char *made = json_string_value(json_object_get(one, "made"));
		char *now = made ? read_guard(m, one, NULL) : NULL;

		changed = now && strcmp(made, now);
		if (changed)
			snprintf(text, size, "%s is %s, no longer %s", json_string_value(json_object_get(one, "path")),
				 now, made);
		free(now);
		if (changed)
			break;
	}
	return changed;
}

/* --- files --- */

/*
 * What a tuned profile leaves on disk, where it would survive a reboot: tuned's own record of its
 * active profile; other files that it changes ("of_others"), such as grub.cfg; and a profile of
 * kbtune that is installed temporarily. Parts of op_tuned's data: "files", as they were ("raw" or
 * "absent"), and what tuned made of those of others ("made"); "install", the text of a profile, and
 * "folder", where.
 */

#define ACTIVE "/etc/tuned/active_profile"
#define FOLDER "/etc/tuned" /* of tuned before 2.23 */

/* NULL if it cannot be read, or is not text. */
static json_t *record_file(const struct machine *m, const char *path)
{
	char *text = NULL;
	int rc = machine_read(m, path, &text);
	json_t *one = rc == -ENOENT ? json_pack("{s:s, s:b}", "path", path, "absent", true)
		      : rc	    ? NULL
				    : json_pack("{s:s, s:s}", "path", path, "raw", text);

	free(text);
	return one;
}

/* tuned records its active profile, even in one-shot mode. */
static json_t *read_notes(const struct machine *m)
{
	static const char *const files[] = {ACTIVE, "/etc/tuned/profile_mode", "/etc/tuned/post_loaded_profile"};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		json_t *one = record_file(m, files[i]);

		if (one)
			json_array_append_new(list, one);
	}
	return list;
}

static void plan_others(const struct machine *m, struct step *s, const json_t *resolved)
{
	json_t *paths = tuned_effects_files(m, resolved), *path;
	size_t i;

	json_array_foreach (paths, i, path) {
		json_t *one = record_file(m, json_string_value(path));

		if (one)
			json_object_set_new(one, "of_others", json_true());
		if (one)
			json_array_append_new(json_object_get(s->data, "files"), one);
		else
			step_cannot_undo(s, true, json_string_value(path),
					 "it cannot be recorded: only tuned can undo its changes");
	}
	json_decref(paths);
}

/* The last folder of profiles wins over the others, and belongs to the administrator. */
static const char *profiles_folder(const json_t *resolved)
{
	const json_t *dirs = json_object_get(resolved, "dirs");
	const char *last = json_string_value(json_array_get(dirs, json_array_size(dirs) - 1));

	return last ? last : FOLDER;
}

/* Write down the files, and the profile that is to be installed (`own` is its text; NULL: none). `resolved`: of
 * tuned_resolve(), or NULL. */
static void tuned_files_plan(const struct machine *m, struct step *s, const char *name, const char *own,
			     const json_t *resolved)
{
	char *folder = fs_path("%s/%s", profiles_folder(resolved), name), *text;

	json_object_set_new(s->data, "files", read_notes(m));
	plan_others(m, s, resolved);
	if (own) {
		text = fs_path("%s%s", TUNED_OURS, own);
		json_object_set_new(s->data, "install", json_string(text));
		json_object_set_new(s->data, "folder", json_string(folder));
		free(text);
	}
	free(folder);
}

static char *conf_path(const struct step *s)
{
	return fs_path("%s/tuned.conf", step_text(s, "folder"));
}

/* A forgotten profile: its text identifies it as one of kbtune's. */
static int replace_forgotten(struct machine *m, const char *conf)
{
	return tuned_is_ours(m, conf) ? machine_unlink(m, conf) : -EEXIST;
}

/* 0, or a negative errno and `e`. */
static int tuned_files_install(struct machine *m, const struct step *s, struct err *e)
{
	const char *text = step_text(s, "install"), *folder = step_text(s, "folder");
	char *conf;
	int rc;

	if (!*text)
		return 0;
	conf = conf_path(s);
	rc = machine_mkdir(m, folder);
	if (rc == -EEXIST)
		rc = replace_forgotten(m, conf);
	if (!rc)
		rc = machine_create(m, conf, text, strlen(text), 0644);
	free(conf);
	return rc ? err_sys(e, rc, folder, "install the tuned profile") : 0;
}

/* Does it contain what kbtune wrote, or the beginning of it if kbtune was killed while writing? 1,
 * 0, or a negative errno. */
static int is_of_step(struct machine *m, const struct step *s, const char *conf)
{
	char *text;
	int rc = machine_read(m, conf, &text);

	if (rc)
		return rc;
	rc = !strncmp(step_text(s, "install"), text, strlen(text));
	free(text);
	return rc;
}

/* Remove it, unless it is somebody else's. 0, or a negative errno and `e`. */
static int tuned_files_uninstall(struct machine *m, const struct step *s, struct err *e)
{
	const char *folder = step_text(s, "folder");
	char *conf;
	int rc;

	if (!*folder)
		return 0;
	conf = conf_path(s);
	rc = is_of_step(m, s, conf);
	if (rc > 0)
		rc = machine_unlink(m, conf);
	if (!rc || rc == -ENOENT)
		rc = machine_rmdir(m, folder);
	free(conf);
	/* There are other files. */
	if (rc == -ENOTEMPTY || rc == -ENOENT)
		rc = 0;
	return rc ? err_sys(e, rc, folder, "remove the tuned profile") : 0;
}

/* Do tuned's notes name a profile? */
static bool tuned_files_name(const struct machine *m, const char *profile)
{
	char line[256];

	return !sysroot_line(&m->root, ACTIVE, line, sizeof(line)) && !strcmp(line, profile);
}

/* Unlike kernel files, these must be truncated: at the end, so that a boot loader's file is never empty. tuned writes
 * through symbolic links, and so does this. */
static int rewrite(struct machine *m, const char *path, const char *raw)
{
	char *text;
	int rc = machine_read(m, path, &text), fd;
	bool same;

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	same = !strcmp(text, raw);
	free(text);
	if (same)
		return 0;
	fd = machine_openat(m, path, O_WRONLY);
	if (fd < 0)
		return fd;
	rc = fs_write_fd(fd, raw, strlen(raw));
	if (!rc && (ftruncate(fd, (off_t)strlen(raw)) || fsync(fd)))
		rc = -errno;
	close(fd);
	machine_changed(m);
	return rc;
}

static bool is_link(const struct machine *m, const char *path)
{
	char target[PATH_MAX];

	return !sysroot_readlink(&m->root, path, target, sizeof(target));
}

/* A dangling symbolic link belongs to the administrator, and is kept; tuned treats an empty file
 * like a missing one. */
static int remove_note(struct machine *m, const char *path)
{
	int rc = is_link(m, path) ? rewrite(m, path, "") : machine_unlink(m, path);

	return rc == -ENOENT ? 0 : rc;
}

static bool is_of_others(const json_t *note)
{
	return json_is_true(json_object_get(note, "of_others"));
}

/* "" for a file that does not exist. NULL if it cannot be read. The caller frees. */
static char *content(struct machine *m, const json_t *note)
{
	char *text = NULL;
	int rc = machine_read(m, json_string_value(json_object_get(note, "path")), &text);

	return rc == -ENOENT ? fs_path("%s", "") : rc ? NULL : text;
}

/* When it is applied: what tuned made of other files. */
static void tuned_files_settle(struct machine *m, struct step *s)
{
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(s->data, "files"), i, one) {
		char *now = is_of_others(one) ? content(m, one) : NULL;

		if (now)
			json_object_set_new(one, "made", json_string(now));
		free(now);
	}
}

/* Before tuned undoes its own changes: adds to the object `changed` the paths of files that somebody else has changed
 * since. */
static void tuned_files_look(struct machine *m, const struct step *s, json_t *changed)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(s->data, "files"), i, one) {
		const char *made = json_string_value(json_object_get(one, "made")), *raw;
		char *now = made ? content(m, one) : NULL;

		raw = json_string_value(json_object_get(one, "raw"));
		if (now && strcmp(now, made) && strcmp(now, raw ? raw : ""))
			json_object_set_new(changed, json_string_value(json_object_get(one, "path")), json_true());
		free(now);
	}
}

static int put_back(struct machine *m, const json_t *note)
{
	const char *path = json_string_value(json_object_get(note, "path"));
	const char *raw = json_string_value(json_object_get(note, "raw"));

	if (path && raw)
		return rewrite(m, path, raw);
	return path && json_is_true(json_object_get(note, "absent")) ? remove_note(m, path) : 0;
}

/* Restore tuned's notes (if `notes`), and the files of others, but not those that are in `changed`. 0, or a negative
 * errno and `e`. */
static int tuned_files_put_back(struct machine *m, const struct step *s, bool notes, const json_t *changed,
				struct err *e)
{
	const json_t *files = json_object_get(s->data, "files"), *one;
	int rc = 0;
	size_t i;

	json_array_foreach (files, i, one) {
		const char *path = json_string_value(json_object_get(one, "path"));
		int failed = 0;

		if (path && is_of_others(one) && json_object_get(changed, path))
			fprintf(stderr, "kbtune: %s has been changed by somebody else meanwhile: it stays so\n", path);
		else if (is_of_others(one) || notes)
			failed = put_back(m, one);
		if (failed)
			rc = err_sys(e, failed, path, "put back");
	}
	return rc;
}

#define NAME	     "tuned"
#define ADM	     "tuned-adm"
#define START_MS     60000
#define STOP_MS	     30000
#define WATCH_MS     10
#define LOG_MAX	     (1 << 20)
#define PROFILES_MAX 32 /* that are applied together */
#define ERRORS_MAX   5

static bool is_daemon(const struct step *s)
{
	return !strcmp(step_text(s, "mode"), "daemon");
}

/* The one that tuned adds to whatever is chosen; "" for none. */
static void read_post(const struct machine *m, char *buf, size_t size)
{
	if (sysroot_line(&m->root, "/etc/tuned/post_loaded_profile", buf, size))
		buf[0] = '\0';
}

static bool is_automatic(const struct machine *m)
{
	char mode[32] = "";

	return !sysroot_line(&m->root, "/etc/tuned/profile_mode", mode, sizeof(mode)) && !strcmp(mode, "auto");
}

/* What tuned makes of it; NULL and a reason in the plan if it cannot be applied; *why if nobody can tell. */
static json_t *resolve_choice(struct plan *plan, const struct machine *m, const char *knob,
			      const struct tuned_choice *c, const char *post, char *why, size_t size, bool *possible)
{
	const bool both = *post && !c->text;
	char *names = fs_path("%s%s%s", c->names, both ? " " : "", both ? post : "");
	json_t *resolved = tuned_resolve(m, names, c->path, why, size), *refused, *blocked;

	free(names);
	refused = json_object_get(resolved, "refused");
	blocked = json_object_get(resolved, "blocked");
	*possible = false;
	if (resolved && !json_is_true(json_object_get(resolved, "daemon")))
		plan_missing(plan, knob, c->names,
			     "tuned-main.conf says daemon = 0: tuned then ends at once, holds no PM QoS request and "
			     "undoes nothing");
	else if (refused && !json_array_size(blocked))
		plan_missing(plan, knob, c->names, "tuned says: %s", json_string_value(refused));
	else
		*possible = true;
	if (refused)
		snprintf(why, size, "%s", json_string_value(refused));
	if (refused || !*possible) {
		json_decref(resolved);
		resolved = NULL;
	}
	return resolved;
}

static void note_files(struct plan *plan, const struct step *s)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(s->data, "files"), i, one)
		if (json_is_true(json_object_get(one, "of_others")))
			plan_warn(plan, "tuned changes %s, which survives a reboot; restoring puts it back",
				  json_string_value(json_object_get(one, "path")));
}

/* What cannot be restored, or is not known. */
static void state_losses(struct machine *m, struct step *s, const json_t *resolved, const char *why)
{
	const char *rollback = json_string_value(json_object_get(resolved, "rollback"));

	if (!resolved)
		step_cannot_undo(s, false, "tuned's profile",
				 "what it changes is not known (%s): only tuned can undo it", why);
	else
		tuned_effects_state(m, resolved, s);
	if (rollback && !strcmp(rollback, "not_on_exit") && !is_daemon(s) && step_irreversible(s))
		step_cannot_undo(s, false, "/etc/tuned/tuned-main.conf",
				 "rollback = not_on_exit: tuned undoes none of this when it ends");
}

/* Others that change the same values meanwhile. */
static void warn_of_others(struct plan *plan, const struct machine *m)
{
	static const char *const names[] = {"tuned-ppd", "power-profiles-daemon"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tasks_find(m, names[i]))
			plan_warn(plan, "%s is running, and may choose another profile at any time", names[i]);
}

static void warn_of_errors(struct plan *plan, const json_t *resolved)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(resolved, "errors"), i, one)
		if (i < ERRORS_MAX)
			plan_warn(plan, "tuned says: %s", json_string_value(one));
}

static void plan_resolved(struct plan *plan, struct machine *m, const char *knob, const struct tuned_choice *c,
			  const struct tuned_active *active, bool daemon, const json_t *resolved, const char *why)
{
	struct step *s;

	if (resolved)
		tuned_effects_plan(plan, m, knob, resolved);
	s = plan_step(plan, knob, &op_tuned, "tuned's profile", *active->profile ? active->profile : "none", c->names,
		      json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "profile", c->names, "mode",
				daemon ? "daemon" : "oneshot", "before", active->profile, "post", active->post, "auto",
				daemon && is_automatic(m), "guards",
				resolved ? tuned_effects_guards(m, resolved) : json_array()));
	tuned_files_plan(m, s, c->names, c->text, resolved);
	note_files(plan, s);
	state_losses(m, s, resolved, why);
	warn_of_errors(plan, resolved);
	warn_of_others(plan, m);
}

void op_tuned_plan(struct plan *plan, struct machine *m, const char *knob, const struct tuned_choice *c)
{
	struct tuned_active active = {.answers = false};
	const int process = m->root.live ? tuned_daemon(m) : 0;
	const bool daemon = process && tuned_active(&active);
	char why[512] = "";
	json_t *resolved;
	bool possible;

	if (!tuned_is_installed(m)) {
		plan_missing(plan, knob, c->names, "tuned is not installed (Debian: tuned)");
		return;
	}
	if (process && !daemon) {
		plan_missing(plan, knob, c->names,
			     "tuned runs (process %d), but does not answer tuned-adm: is D-Bus running?", process);
		return;
	}
	if (!daemon)
		read_post(m, active.post, sizeof(active.post));
	resolved = resolve_choice(plan, m, knob, c, active.post, why, sizeof(why), &possible);
	if (possible)
		plan_resolved(plan, m, knob, c, &active, daemon, resolved, why);
	json_decref(resolved);
}

static int tuned_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	(void)s;
	if (!m->root.live || geteuid() == 0)
		return 0;
	snprintf(why, size, "tuned works only for root");
	return -EPERM;
}

/* For `profile`, or none (""), or the one that tuned recommends (NULL). Uses a lock that is held as long as
 * tuned-adm runs, in case kbtune is killed meanwhile: tuned-adm then finishes what it has begun, and restoring must
 * wait for that. */
static int ask_daemon(struct machine *m, const char *profile, struct err *e)
{
	const char *words[PROFILES_MAX + 3] = {"tuned-adm", profile ? "profile" : "auto_profile"};
	char *names = fs_path("%s", profile ? profile : ""), *rest = names, *name, said[1024];
	int lock = holder_lock(m, ADM, START_MS, e), rc;
	size_t n = 2;

	while (n < PROFILES_MAX + 2 && (name = strsep(&rest, " ")))
		if (*name)
			words[n++] = name;
	if (profile && n == 2)
		words[1] = "off";
	rc = lock < 0 ? lock : tuned_command(words, lock, TUNED_COMMAND_MS, said, sizeof(said));
	free(names);
	if (lock < 0)
		return lock;
	holder_unlock(m, ADM, lock);
	if (rc < 0)
		return err_sys(e, rc, "tuned-adm", "run");
	return rc ? err_set(e, -EIO, STATUS_FAILED, "tuned", "apply its profile", "%s",
			    *said ? said : "tuned-adm failed")
		  : 0;
}

struct oneshot {
	const char *profile;
	char log[4200];
	int ready;
	pid_t tuned;
};

/* The state according to the log: 1: applied, -1: failed, 0: nothing yet. The last error goes to `why`. */
static int read_log(const char *path, char *why, size_t size)
{
	char *text, *error;
	int said = 0;

	if (fs_read_followed(path, LOG_MAX, &text, NULL, NULL))
		return 0;
	if (strstr(text, "' applied"))
		said = 1;
	error = strstr(text, "Cannot set initial profile");
	if (!error)
		error = strstr(text, "Cannot load profile");
	if (error) {
		snprintf(why, size, "tuned says: %.*s", (int)strcspn(error, "\n"), error);
		said = -1;
	}
	free(text);
	return said;
}

/* Runs concurrently with tuned until it has applied the profile or ended. */
static void watch_log(void *context)
{
	const struct oneshot *o = context;
	struct timespec pause = {.tv_nsec = WATCH_MS * 1000000};
	char why[300] = "tuned ended at once";
	int said = 0;

	for (int ms = 0; !said && ms < START_MS && getppid() == o->tuned; ms += WATCH_MS) {
		said = read_log(o->log, why, sizeof(why));
		nanosleep(&pause, NULL);
	}
	if (said > 0 ? write(o->ready, "", 1) < 0 : write(o->ready, why, strlen(why)) < 0)
		_exit(1);
}

static void become_tuned(int ready, void *context)
{
	struct oneshot *o = context;
	const char *const words[] = {"tuned",	 "--no-dbus", "--no-socket", "--profile",
				     o->profile, "--log",     o->log,	     NULL};

	o->ready = ready;
	o->tuned = getpid();
	spawn_function(watch_log, o);
	close(ready);
	spawn_replace("tuned", words);
}

static int start_oneshot(struct machine *m, const struct step *s, struct err *e)
{
	struct oneshot o = {.profile = step_text(s, "profile")};
	char folder[4096];

	snprintf(o.log, sizeof(o.log), "%s/tuned.log", state_folder_path(m, folder, sizeof(folder)));
	unlinkat(m->state_fd, "tuned.log", 0);
	return holder_start(m, NAME, become_tuned, &o, START_MS, e);
}

static int tuned_apply(struct machine *m, struct step *s, struct err *e)
{
	int rc = tuned_files_install(m, s, e);

	if (rc)
		return rc;
	if (!m->root.live) {
		step_note(s, "simulated: tuned does not work on a recorded machine");
		return 0;
	}
	return is_daemon(s) ? ask_daemon(m, step_text(s, "profile"), e) : start_oneshot(m, s, e);
}

static json_t *guards_of(const struct step *s)
{
	return json_object_get(s->data, "guards");
}

static void tuned_settle(struct machine *m, struct step *s)
{
	if (!m->root.live)
		return;
	guards_settle(m, guards_of(s));
	tuned_files_settle(m, s);
}

static enum check tuned_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	struct tuned_active active;

	if (!m->root.live)
		return CHECK_SAME;
	if (!is_daemon(s)) {
		if (holder_pid(m, NAME))
			return guards_find_changed(m, guards_of(s), now, size) ? CHECK_DRIFT : CHECK_SAME;
		snprintf(now, size, "the tuned process that held it has ended");
		return CHECK_DRIFT;
	}
	if (!tuned_active(&active) || strcmp(active.profile, step_text(s, "profile")) != 0)
		snprintf(now, size, "%s", *active.profile ? active.profile : "no profile");
	else if (json_object_get(s->data, "post") && strcmp(active.post, step_text(s, "post")) != 0)
		snprintf(now, size, "%s, with the post-loaded profile %s", active.profile,
			 *active.post ? active.post : "no more");
	else
		return guards_find_changed(m, guards_of(s), now, size) ? CHECK_DRIFT : CHECK_SAME;
	return CHECK_DRIFT;
}

/* 1: the daemon has our profile; 0: it has another one, or none; or a negative errno: nobody can tell. */
static int has_ours(struct machine *m, const char *ours, struct err *e)
{
	struct tuned_active active;
	const int rc = tuned_ask_active(&active);

	if (rc == -ENOENT && !tuned_is_installed(m))
		return 0;
	if (rc < 0)
		return err_sys(e, rc, "tuned-adm", "run");
	if (rc > 128)
		return err_set(e, -EIO, STATUS_FAILED, "tuned-adm", "ask tuned for its profile", "signal %d ended it",
			       rc - 128);
	return !rc && !strcmp(active.profile, ours);
}

/* Return to the daemon's own profile, unless another one has been chosen since. */
static int undo_daemon(struct machine *m, const struct step *s, struct err *e)
{
	int rc = holder_await(m, ADM, START_MS, e);

	if (!rc)
		rc = has_ours(m, step_text(s, "profile"), e);
	if (rc > 0)
		rc = ask_daemon(m, json_is_true(json_object_get(s->data, "auto")) ? NULL : step_text(s, "before"), e);
	return rc;
}

/* The daemon had nothing but the post-loaded profile, for which tuned-adm has no command: it reads its notes again. */
static int restart_post(struct machine *m, const struct step *s, struct err *e)
{
	const int daemon = is_daemon(s) && *step_text(s, "post") && !*step_text(s, "before") ? tuned_daemon(m) : 0;

	return daemon && kill(daemon, SIGHUP) ? err_sys(e, -errno, "tuned", "have it read its profile again") : 0;
}

static int undo_oneshot(struct machine *m, struct err *e)
{
	int rc = holder_stop(m, NAME, STOP_MS, e);

	unlinkat(m->state_fd, "tuned.log", 0);
	return rc;
}

static int tuned_undo(struct machine *m, const struct step *s, struct err *e)
{
	/* Otherwise another profile has been chosen since. */
	bool ours = !is_daemon(s) || tuned_files_name(m, step_text(s, "profile")) ||
		    tuned_files_name(m, step_text(s, "before"));
	json_t *changed = json_object();
	int rc = 0, other;

	tuned_files_look(m, s, changed);
	if (m->root.live)
		rc = is_daemon(s) ? undo_daemon(m, s, e) : undo_oneshot(m, e);
	if (!rc)
		rc = guards_undo(m, guards_of(s), e);
	if (!rc)
		rc = tuned_files_put_back(m, s, ours, changed, e);
	if (!rc && ours && m->root.live)
		rc = restart_post(m, s, e);
	json_decref(changed);
	other = tuned_files_uninstall(m, s, e);
	return rc ? rc : other;
}

/* What persists across a reboot: tuned starts with its last profile, and an installed profile stays
 * installed. Values in files return to the kernel's defaults. */
static json_t *tuned_lasting(const struct step *s)
{
	json_t *data = json_copy(s->data);

	json_object_del(data, "guards");
	return data;
}

const struct op op_tuned = {
    .name = "tuned",
    .right = "CAP_SYS_ADMIN",
    .probe = tuned_probe,
    .apply = tuned_apply,
    .settle = tuned_settle,
    .check = tuned_check,
    .undo = tuned_undo,
    .lasting = tuned_lasting,
};
