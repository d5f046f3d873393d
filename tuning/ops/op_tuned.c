/*
 * A tuned profile. If tuned's daemon is running, it applies the profile (tuned-adm), and returns to
 * its own one afterwards. Otherwise a one-shot tuned applies the profile and holds it as long as it
 * runs. tuned only keeps original values in memory, so kbtune also records what the profile changes
 * (guards), and restores it even if tuned was killed. data: "profile", "mode" (daemon, oneshot),
 * "before", "guards", and the entries described in tuned_files.h.
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
#include "common/spawn.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/tuned.h"
#include "tuning/ops/guards.h"
#include "tuning/ops/tuned_files.h"
#include "tuning/steps/plan.h"

#define NAME	 "tuned"
#define ADM	 "tuned-adm"
#define START_MS 60000
#define STOP_MS	 30000
#define WATCH_MS 10
#define LOG_MAX	 (1 << 20)

static bool is_daemon(const struct step *s)
{
	return !strcmp(step_text(s, "mode"), "daemon");
}

void op_tuned_plan(struct plan *plan, struct machine *m, const char *knob, const char *name, const char *own)
{
	char active[256] = "";
	bool daemon = m->root.live && tuned_daemon(m) && tuned_active(active, sizeof(active));
	struct step *s;

	if (!tuned_is_installed(m)) {
		plan_missing(plan, knob, name, "tuned is not installed (Debian: tuned)");
		return;
	}
	s = plan_step(plan, knob, &op_tuned, "tuned's profile", *active ? active : "none", name,
		      json_pack("{s:s, s:s, s:s, s:o}", "profile", name, "mode", daemon ? "daemon" : "oneshot",
				"before", active, "guards", tuned_guards(m, name, own)));
	tuned_files_plan(m, s, name, own);
}

static int tuned_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	(void)s;
	if (!m->root.live || geteuid() == 0)
		return 0;
	snprintf(why, size, "tuned works only for root");
	return -EPERM;
}

/* Uses a lock that is held as long as tuned-adm runs, in case kbtune is killed meanwhile: tuned-adm
 * then finishes what it has begun, and restoring must wait for that. */
static int ask_daemon(struct machine *m, const char *profile, struct err *e)
{
	const char *const set[] = {"tuned-adm", "profile", profile, NULL}, *const off[] = {"tuned-adm", "off", NULL};
	int lock = holder_lock(m, ADM, START_MS, e), rc;
	char said[1024];

	if (lock < 0)
		return lock;
	rc = tuned_command(*profile ? set : off, lock, TUNED_COMMAND_MS, said, sizeof(said));
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

/* 1: the daemon has our profile; 0: it has another one, or none; or a negative errno: nobody can tell. */
static int has_ours(struct machine *m, const char *ours, struct err *e)
{
	char active[256];
	const int rc = tuned_ask_active(active, sizeof(active));

	if (rc == -ENOENT && !tuned_is_installed(m))
		return 0;
	if (rc < 0)
		return err_sys(e, rc, "tuned-adm", "run");
	if (rc > 128)
		return err_set(e, -EIO, STATUS_FAILED, "tuned-adm", "ask tuned for its profile", "signal %d ended it",
			       rc - 128);
	return !rc && !strcmp(active, ours);
}

/* Return to the daemon's own profile, unless another one has been chosen since. */
static int undo_daemon(struct machine *m, const struct step *s, struct err *e)
{
	int rc = holder_await(m, ADM, START_MS, e);

	if (!rc)
		rc = has_ours(m, step_text(s, "profile"), e);
	if (rc > 0)
		rc = ask_daemon(m, step_text(s, "before"), e);
	return rc;
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
	int rc = 0, other;

	if (m->root.live)
		rc = is_daemon(s) ? undo_daemon(m, s, e) : undo_oneshot(m, e);
	if (!rc)
		rc = guards_undo(m, guards_of(s), e);
	if (!rc && ours)
		rc = tuned_files_put_back(m, s, e);
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
