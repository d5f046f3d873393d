/*
 * A tuned profile. Where tuned's daemon runs, it is asked (tuned-adm) and asked to go back to its
 * profile afterwards. Elsewhere a one-shot tuned applies the profile and holds it as long as it
 * lives. tuned keeps originals in memory only, so what the profile changes is written down here as
 * well (guards), and put back even where tuned was killed. data: "profile", "mode" (daemon,
 * oneshot), "guards"; "install": the text of a profile of ours that is put into /etc/tuned for the
 * time being, and "folder", where; "files": tuned's own notes, as they were.
 */
#include "tuning/ops/op_tuned.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/tuned.h"
#include "tuning/ops/guards.h"
#include "tuning/steps/plan.h"

#define NAME	 "tuned"
#define START_MS 60000
#define STOP_MS	 30000
#define WATCH_MS 10
#define LOG_MAX	 (1 << 20)

static bool is_daemon(const struct step *s)
{
	return !strcmp(step_text(s, "mode"), "daemon");
}

/* tuned writes down which profile it has, even as a one-shot. */
static json_t *read_notes(const struct machine *m)
{
	static const char *const files[] = {"/etc/tuned/active_profile", "/etc/tuned/profile_mode",
					    "/etc/tuned/post_loaded_profile"};
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!machine_read(m, files[i], &text)) {
			json_t *one = json_pack("{s:s, s:s}", "path", files[i], "raw", text);

			if (one)
				json_array_append_new(list, one);
			free(text);
		}
	return list;
}

void op_tuned_plan(struct plan *plan, struct machine *m, const char *knob, const char *name, const char *own)
{
	char active[256] = "", *folder;
	bool daemon = m->root.live && tuned_daemon(m) && tuned_active(active, sizeof(active));
	struct step *s;

	if (!tuned_is_installed(m)) {
		plan_missing(plan, knob, name, "tuned is not installed (Debian: tuned)");
		return;
	}
	s = plan_step(plan, knob, &op_tuned, "tuned's profile", *active ? active : "none", name,
		      json_pack("{s:s, s:s, s:s, s:o}", "profile", name, "mode", daemon ? "daemon" : "oneshot",
				"before", active, "guards", tuned_guards(m, name, own)));
	if (!daemon)
		json_object_set_new(s->data, "files", read_notes(m));
	if (own) {
		folder = fs_path("/etc/tuned/%s", name);
		json_object_set_new(s->data, "install", json_string(own));
		json_object_set_new(s->data, "folder", json_string(folder));
		free(folder);
	}
}

static int tuned_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	(void)s;
	if (!m->root.live || geteuid() == 0)
		return 0;
	snprintf(why, size, "tuned works only for root");
	return -EPERM;
}

/* Unlike a kernel's, such a file keeps what it had behind a shorter text. */
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
	fd = machine_openat(m, path, O_WRONLY | O_TRUNC | O_NOFOLLOW);
	if (fd < 0)
		return fd;
	rc = fs_write_fd(fd, raw, strlen(raw));
	close(fd);
	machine_changed(m);
	return rc;
}

static int undo_files(struct machine *m, const struct step *s, struct err *e)
{
	const json_t *files = json_object_get(s->data, "files"), *one;
	int rc = 0;
	size_t i;

	json_array_foreach (files, i, one) {
		const char *path = json_string_value(json_object_get(one, "path"));
		const char *raw = json_string_value(json_object_get(one, "raw"));
		int failed = path && raw ? rewrite(m, path, raw) : 0;

		if (failed)
			rc = err_sys(e, failed, path, "put back");
	}
	return rc;
}

static int install(struct machine *m, const struct step *s, struct err *e)
{
	const char *text = step_text(s, "install"), *folder = step_text(s, "folder");
	char *conf = fs_path("%s/tuned.conf", folder);
	int rc = *text ? machine_mkdir(m, folder) : 0;

	if (!rc && *text)
		rc = machine_create(m, conf, text, strlen(text), 0644);
	free(conf);
	return rc ? err_sys(e, rc, folder, "install the tuned profile") : 0;
}

static int uninstall(struct machine *m, const struct step *s, struct err *e)
{
	const char *folder = step_text(s, "folder");
	char *conf = fs_path("%s/tuned.conf", folder);
	int rc = 0;

	if (*folder && sysroot_exists(&m->root, folder)) {
		machine_unlink(m, conf);
		rc = machine_rmdir(m, folder);
	}
	free(conf);
	return rc ? err_sys(e, rc, folder, "remove the tuned profile") : 0;
}

static int ask_daemon(const char *profile, struct err *e)
{
	const char *const set[] = {"tuned-adm", "profile", profile, NULL}, *const off[] = {"tuned-adm", "off", NULL};
	char said[1024];
	int rc = tuned_command(*profile ? set : off, said, sizeof(said));

	if (rc < 0)
		return err_sys(e, rc, "tuned-adm", "start");
	return rc ? err_set(e, -EIO, STATUS_FAILED, "tuned", "apply its profile", "%s",
			    *said ? said : "tuned-adm failed")
		  : 0;
}

struct oneshot {
	const char *profile;
	char log[4200];
};

/* What the log says: 1 it is applied, -1 it won't be, 0 nothing yet. `why` gets its last error. */
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

/* Beside tuned, until that has applied the profile or ended. */
static void watch_log(int ready, const struct oneshot *o, pid_t tuned)
{
	struct timespec pause = {.tv_nsec = WATCH_MS * 1000000};
	char why[300] = "tuned ended at once";
	int said = 0;

	for (int ms = 0; !said && ms < START_MS && (getppid() == tuned); ms += WATCH_MS) {
		said = read_log(o->log, why, sizeof(why));
		nanosleep(&pause, NULL);
	}
	if (said > 0 ? write(ready, "", 1) < 0 : write(ready, why, strlen(why)) < 0)
		_exit(1);
	_exit(0);
}

static void become_tuned(int ready, void *context)
{
	struct oneshot *o = context;
	pid_t self = getpid();

	if (fork() == 0)
		watch_log(ready, o, self);
	close(ready);
	execlp("tuned", "tuned", "--no-dbus", "--no-socket", "--profile", o->profile, "--log", o->log, (char *)NULL);
	execl("/usr/sbin/tuned", "tuned", "--no-dbus", "--no-socket", "--profile", o->profile, "--log", o->log,
	      (char *)NULL);
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
	int rc = install(m, s, e);

	if (rc)
		return rc;
	if (!m->root.live) {
		step_note(s, "simulated: tuned does not work on a recorded machine");
		return 0;
	}
	return is_daemon(s) ? ask_daemon(step_text(s, "profile"), e) : start_oneshot(m, s, e);
}

static json_t *guards_of(const struct step *s)
{
	return json_object_get(s->data, "guards");
}

static void tuned_settle(struct machine *m, struct step *s)
{
	if (m->root.live)
		guards_settle(m, guards_of(s));
}

static enum check tuned_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	char active[256];

	if (!m->root.live)
		return CHECK_SAME;
	if (!is_daemon(s)) {
		if (holder_pid(m, NAME))
			return guards_find_changed(m, guards_of(s), now, size) ? CHECK_DRIFT : CHECK_SAME;
		snprintf(now, size, "the tuned process that held it has ended");
		return CHECK_DRIFT;
	}
	if (tuned_active(active, sizeof(active)) && !strcmp(active, step_text(s, "profile")))
		return guards_find_changed(m, guards_of(s), now, size) ? CHECK_DRIFT : CHECK_SAME;
	snprintf(now, size, "%s", *active ? active : "no profile");
	return CHECK_DRIFT;
}

static int tuned_undo(struct machine *m, const struct step *s, struct err *e)
{
	char active[256];
	int rc = 0, other;

	if (m->root.live && !is_daemon(s)) {
		rc = holder_stop(m, NAME, STOP_MS, e);
		unlinkat(m->state_fd, "tuned.log", 0);
	} else if (m->root.live && tuned_active(active, sizeof(active)) && !strcmp(active, step_text(s, "profile"))) {
		rc = ask_daemon(step_text(s, "before"), e);
	}
	if (!rc)
		rc = guards_undo(m, guards_of(s), e);
	if (!rc)
		rc = undo_files(m, s, e);
	other = uninstall(m, s, e);
	return rc ? rc : other;
}

const struct op op_tuned = {
    .name = "tuned",
    .right = "CAP_SYS_ADMIN",
    .probe = tuned_probe,
    .apply = tuned_apply,
    .settle = tuned_settle,
    .check = tuned_check,
    .undo = tuned_undo,
};
