/*
 * In each boot, kblat measures, and asks the boot loader for the next kernel, for one boot only. Whatever happens, the
 * boot after that is the machine's default, and a unit goes on from the record:
 *
 *     at.asked     a boot was asked for, in the boot of this ID; recorded before the boot loader is told
 *     at.here      it has come, with this ID: its runs are made, all in this one boot
 *     neither      nothing is asked for, and nothing is in the boot loader
 *
 * The directory also has
 *
 *     runs/old, runs/new     run directories
 *     comparison/            the page of the answer; of a search comparison-2, too, and so on
 *     site/                  that of a series, whose runs are in runs/KERNEL
 *
 * In a guest (boots_guest.h) all of it is one process, which begins each boot and waits for its end.
 */
#include "study/boots/boots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/guard.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "common/trust.h"
#include "judge/compare/compare_verdict.h"
#include "measure/run/host_state.h"
#include "report/verdict_format.h"
#include "study/boots/boots_guest.h"
#include "study/boots/boots_loader.h"
#include "study/boots/boots_plan.h"
#include "study/kinds.h"
#include "study/runner.h"
#include "study/study_record.h"
#include "study/study_run.h"

#define ROOM	      (16ULL << 20) /* bytes that must be free before a boot or a run */
#define SETTLE_MORE_S 600	    /* waited at most for what is not the time since boot */
#define LOAD_MOST     0.5	    /* of each CPU, over a minute */
#define STOP_TRIES    100	    /* tenths of a second for a running one to end */
#define SITE	      "site"

static struct loader loader_of(const struct study *s)
{
	return (struct loader){boots_plan_of(s)->loader, s->path};
}

static const char *boots_this_boot(char *buf)
{
	char name[MACHINE_NAME_MAX];

	*buf = '\0';
	machine_identify(name, buf);
	return buf;
}

static bool is_this_boot(const char *id)
{
	char boot[MACHINE_BOOT_MAX];

	return id && !strcmp(id, boots_this_boot(boot));
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void set_id(char **id, const char *to)
{
	free(*id);
	*id = to ? fs_path("%s", to) : NULL;
}

/* Also the folder, so that the new file has its name even if the power fails now. */
static int boots_save(struct study *s, struct err *e)
{
	return study_record_save(s, e) ?: fs_sync(s->path, e);
}

static int boots_check_room(const struct study *s, struct err *e)
{
	unsigned long long free_bytes;
	const int rc = fs_free_bytes(s->path, &free_bytes, e);

	if (rc || free_bytes >= ROOM)
		return rc;
	return err_set(e, -ENOSPC, STATUS_FAILED, s->path, NULL,
		       "the disk is full: only %llu MiB are free; make room, then `kblat boots start --resume %s`",
		       free_bytes >> 20, s->path);
}

/* --- what has become of the boot that was asked for --- */

/* A try at a boot has failed. Too many in a row end the study. */
static int fail_try(struct study *s, const char *why, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	const bool last = ++p->at.failed >= p->tries;

	fprintf(stderr, "kblat: boot %zu: %s\n", p->at.boot + 1, why);
	boots_plan_note(s, BOOTS_FAILED, NAN, why);
	set_id(&p->at.asked, NULL);
	set_id(&p->at.here, NULL);
	if (boots_save(s, e))
		return -EIO;
	return !last ? 0
		     : err_set(e, -ECHILD, STATUS_FAILED, s->path, NULL,
			       "boot %zu has failed %zu times in a row, at last: %s; `kblat boots start --resume %s` "
			       "tries again",
			       p->at.boot + 1, p->at.failed, why, s->path);
}

/* Of a boot all runs count, or none. */
static void put_boot_away(struct study *s, size_t boot)
{
	for (size_t i = 0; i < s->count; i++) {
		struct cell *c = &s->cell[i];

		if (c->block != boot || c->state == CELL_PENDING)
			continue;
		if (c->run)
			words_add(&c->earlier, c->run);
		c->run = NULL;
		cell_set_state(c, CELL_PENDING, "");
	}
}

/* The record has what was put away before it says that the boot is to be repeated. */
static int repeat_boot(struct study *s, const char *why, struct err *e)
{
	const size_t boot = boots_plan_of(s)->at.boot;
	int rc = 0;

	put_boot_away(s, boot);
	for (size_t i = 0; i < s->count && !rc; i++)
		if (s->cell[i].block == boot)
			rc = study_record_cell(s, i, e);
	return rc ?: fail_try(s, why, e);
}

static int come_up(struct study *s, const char *kernel, const char *boot, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	const char *wanted = p->arm[boots_arm_of(p, p->at.boot)].kernel;
	char *why;
	int rc;

	if (!strcmp(kernel, wanted)) {
		boots_plan_note(s, BOOTS_BOOTED, fmax(0, now_s() - p->at.asked_s), "");
		set_id(&p->at.asked, NULL);
		set_id(&p->at.here, boot);
		return boots_save(s, e);
	}
	why = strcmp(kernel, p->home)
		  ? fs_path("%s was asked for, but %s is running: is '%s' its entry?", wanted, kernel,
			    p->arm[boots_arm_of(p, p->at.boot)].entry)
		  : fs_path("%s did not come up: the default, %s, is running; it has failed to boot, "
			    "or the machine was switched off meanwhile",
			    wanted, kernel);
	rc = fail_try(s, why, e);
	free(why);
	return rc;
}

/* A boot loader that cannot clear its entry would boot a kernel that fails for ever. */
static int check_cleared(const struct study *s, struct err *e)
{
	const struct loader l = loader_of(s);
	const int pending = loader_ask(&l, LOADER_PENDING, e);

	return pending <= 0
		   ? pending
		   : err_set(e, -EBUSY, STATUS_FAILED, l.name, NULL,
			     "the entry of the next boot is still set after that boot: this boot loader "
			     "cannot clear it (for GRUB, /boot must be on a file system that it can write to)");
}

static int arrive(struct study *s, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	char boot[MACHINE_BOOT_MAX], kernel[BOOTS_KERNEL_MOST];

	boots_this_boot(boot);
	if (p->at.asked && strcmp(p->at.asked, boot) != 0)
		return check_cleared(s, e) ?: come_up(s, boots_running_kernel(kernel), boot, e);
	if (p->at.here && strcmp(p->at.here, boot) != 0 && !boots_is_done(s, p->at.boot))
		return repeat_boot(s, "the machine was rebooted or switched off while it was measured", e);
	return 0;
}

/* --- whose are the next boots? --- */

/*
 * One comparison's at a time: /var/lib/kblat/boots-claim has its folder, from when it is started until it ends or is
 * stopped, over all boots. (For a user who is not root, and has a program that boots: ~/.local/state/kblat/boots-claim.)
 */

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

/* Is it this one, or another one? Neither: nobody is. */
static bool boots_claim_is(const struct loader *l)
{
	char *whose = claim_read();
	const bool is = whose && !strcmp(whose, l->dir);

	free(whose);
	return is;
}

static bool boots_claim_is_others(const struct loader *l)
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

/* May this study ask for the next boot? -EBUSY and `e`, which names who may: another one that has not ended, or one whose
 * unit is enabled. */
static int boots_claim_check(const struct loader *l, struct err *e)
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

/* The same, and from now on it is this one that may. */
static int boots_claim_take(const struct loader *l, struct err *e)
{
	char *folder = claim_folder(e);
	int lock = folder ? claim_lock(folder, e) : -ENOENT, rc = lock < 0 ? lock : boots_claim_check(l, e);

	rc = rc ?: claim_write(folder, l->dir, e);
	if (lock >= 0)
		close(lock);
	free(folder);
	return rc;
}

/* No longer, unless it is another one. */
static int boots_claim_leave(const struct loader *l, struct err *e)
{
	char *file = claim_file();
	int rc = 0;

	if (file && boots_claim_is(l) && unlink(file) && errno != ENOENT)
		rc = err_sys(e, -errno, file, "remove");
	free(file);
	return rc;
}

/* --- the next boot --- */

/* `boots stop` gives the machine away before it waits for this process. */
static int check_still_ours(const struct study *s, struct err *e)
{
	const struct loader l = loader_of(s);

	return boots_claim_is(&l) ? 0
				  : err_set(e, -ECANCELED, STATUS_FAILED, s->path, NULL,
					    "it was stopped; `kblat boots start --resume %s` goes on", s->path);
}

/* By a signal that comes after the reboot was asked for, unless it is one of the shutdown. */
static bool is_taken_back(const struct loader *l)
{
	struct err own = ERR_INIT;

	return runner_is_interrupted() &&
	       (runner_is_interrupted_by_user() || loader_ask(l, LOADER_GOES_DOWN, &own) != 1);
}

static void say_boot(const struct boots_plan *p)
{
	fprintf(stderr, "kblat: boot %zu of at most %zu: %s\n", p->at.boot + 1, boots_all(p),
		p->arm[boots_arm_of(p, p->at.boot)].kernel);
}

static int ask_for(struct study *s, size_t boot, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	const struct loader l = loader_of(s);
	char id[MACHINE_BOOT_MAX];
	int rc = boots_check_room(s, e) ?: check_still_ours(s, e);

	if (rc)
		return rc;
	set_id(&p->at.asked, boots_this_boot(id));
	set_id(&p->at.here, NULL);
	p->at.boot = boot;
	p->at.asked_s = now_s();
	say_boot(p);
	rc = boots_save(s, e) ?: loader_do(&l, LOADER_SET, p->arm[boots_arm_of(p, boot)].entry, e);
	if (rc || runner_is_interrupted())
		return rc;
	rc = loader_do(&l, LOADER_REBOOT, NULL, e);
	s->goes_on = !rc && !is_taken_back(&l);
	if (s->goes_on)
		guard_dismiss(&p->guard);
	return rc;
}

/* --- measuring --- */

struct settling {
	const struct study *s;
	double up_s, load;
};

static bool is_up(const struct settling *w)
{
	return w->up_s >= boots_plan_of(w->s)->settle_s;
}

static bool is_booted(const struct settling *w)
{
	const struct loader l = loader_of(w->s);
	struct err own = ERR_INIT;

	return loader_ask(&l, LOADER_SETTLED, &own) == 1;
}

static bool is_quiet(const struct settling *w)
{
	return w->load <= LOAD_MOST * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static const struct {
	const char *what;
	bool (*is_met)(const struct settling *w);
} conditions[] = {{"the time since boot", is_up}, {"systemd's jobs", is_booted}, {"the load", is_quiet}};

/* What is still waited for, or NULL. */
static const char *unsettled(const struct settling *w)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (!conditions[i].is_met(w))
			return conditions[i].what;
	return NULL;
}

static double first_number(const char *path)
{
	struct sysroot root;
	char line[128] = "0";

	if (!sysroot_open(&root, NULL, NULL)) {
		sysroot_line(&root, path, line, sizeof(line));
		sysroot_close(&root);
	}
	return strtod(line, NULL);
}

/* Not for ever: a machine that never rests is measured as it is. */
static void boots_settle(const struct study *s)
{
	const double most_s = boots_plan_of(s)->settle_s + SETTLE_MORE_S;
	const char *what;

	do {
		struct settling w = {s, first_number("/proc/uptime"), first_number("/proc/loadavg")};

		/* Without a time to settle, nothing is waited for. */
		what = most_s > SETTLE_MORE_S ? unsettled(&w) : NULL;
		if (what && w.up_s > most_s) {
			fprintf(stderr, "kblat: not settled after %.0f s (%s); measured all the same\n", w.up_s, what);
			return;
		}
	} while (what && !runner_is_interrupted() && !usleep(500000));
}

static int measure_boot(struct study *s, size_t boot, struct err *e)
{
	struct runner runner;
	int rc = 0, finished;

	runner_open(&runner, s, 1);
	for (size_t i = 0; i < s->count && !rc && !runner_is_interrupted(); i++) {
		if (s->cell[i].block != boot || !cell_is_left(&s->cell[i]))
			continue;
		rc = boots_check_room(s, e) ?: runner_start(&runner, i, e);
		finished = runner_finish(&runner, e);
		rc = rc ?: finished;
		if (!rc && s->cell[i].state != CELL_COMPLETED)
			break;
	}
	runner_close(&runner);
	return rc;
}

static int measure_here(struct study *s, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	const double began_s = now_s();
	int rc;

	boots_settle(s);
	rc = runner_is_interrupted() ? 0 : measure_boot(s, p->at.boot, e);
	if (rc || runner_is_interrupted())
		return rc;
	if (!boots_is_done(s, p->at.boot))
		return repeat_boot(s, "a run has failed, see above", e);
	p->at.failed = 0;
	boots_plan_note(s, BOOTS_MEASURED, fmax(0, now_s() - began_s), "");
	return boots_save(s, e);
}

/* --- in a guest --- */

/* A whole boot, or nothing of it. */
static int boot_guest(struct study *s, size_t boot, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	const double began_s = now_s();
	double others_percent;
	int status;

	put_boot_away(s, boot);
	p->at.boot = boot;
	say_boot(p);
	status = boots_check_room(s, e) ?: guest_boot(s, boot, &others_percent, e);
	if (status < 0 || runner_is_interrupted())
		return status < 0 ? status : 0;
	if (status == GUEST_HUNG)
		return fail_try(s, "the guest hung", e);
	if (status)
		return err_set(e, -ECHILD, status == STATUS_IMPOSSIBLE ? STATUS_IMPOSSIBLE : STATUS_FAILED, s->path,
			       NULL,
			       "boot %zu, %s: kblat or the guest ended with status %d; what was measured before is "
			       "kept, and `kblat boots start --resume %s` goes on",
			       boot + 1, p->arm[boots_arm_of(p, boot)].kernel, status, s->path);
	p->at.failed = 0;
	boots_plan_note(s, BOOTS_MEASURED, fmax(0, now_s() - began_s), "");
	p->event[p->events - 1].others_percent = others_percent;
	return boots_save(s, e);
}

/* --- until it is decided --- */

/* 1: there is an answer; 0: there is none yet; or a negative errno and `e`. */
static int boots_look(const struct study *s, size_t done, struct err *e)
{
	struct comparison c;
	int rc;

	if (boots_plan_of(s)->way == BOOTS_SERIES || done % 2 || done < ARMS * BOOTS_PER_LOOK)
		return 0;
	rc = boots_compare(s, false, &c, e);
	if (rc)
		return rc;
	rc = c.verdict != OUTCOME_UNDECIDED;
	comparison_free(&c);
	return rc;
}

/* Before the boot `end`. */
static int skip_rest(struct study *s, size_t end, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < s->count && !rc; i++) {
		if (s->cell[i].block >= end || !cell_is_left(&s->cell[i]))
			continue;
		cell_set_state(&s->cell[i], CELL_SKIPPED, "decided before");
		rc = study_record_cell(s, i, e);
	}
	return rc;
}

/* The kernels of which the first that is slower may be one. The caller frees. */
static char *among(const struct boots_plan *p, const char *what)
{
	char *text = fs_path("%s", what);

	for (size_t i = p->at.low + 1; i <= p->at.high; i++) {
		char *longer = fs_path("%s %s", text, p->arm[i].kernel);

		free(text);
		text = longer;
	}
	return text;
}

/* A comparison of a search has ended. 1: another one follows, 0: none does; or a negative errno and `e`. */
static int search_on(struct study *s, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	const size_t end = p->at.first + boots_each(p);
	struct comparison c;
	double least = 0;
	char *text;
	int rc = boots_compare(s, true, &c, e);

	if (rc)
		return rc;
	if (c.verdict != OUTCOME_UNDECIDED)
		*(c.verdict == OUTCOME_REGRESSION ? &p->at.high : &p->at.low) = p->at.with;
	for (size_t i = 0; i < c.point_count; i++)
		for (size_t k = 0; k < c.points[i].quantity_count; k++)
			least = fmax(least, c.points[i].quantities[k].low.percent);
	rc = c.verdict != OUTCOME_UNDECIDED && p->at.high > p->at.low + 1;
	comparison_free(&c);
	if (!rc)
		return 0;
	/* At least the lower end of the slowdown must be found again: what is less is harmless. */
	if (!p->at.first)
		words_add(&p->margins, fs_path("%.6g", fmin(least, 100)));
	rc = skip_rest(s, end, e);
	p->at.first = end;
	p->at.with = (p->at.low + p->at.high) / 2;
	text = among(p, "kblat: the first that is slower is among");
	fprintf(stderr, "%s\n", text);
	free(text);
	return rc ?: boots_save(s, e) ?: 1;
}

/* Each turn makes a boot complete, ends the study, or hands over to the next boot. */
static int boots_work_on(struct study *s, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);

	while (!runner_is_interrupted()) {
		const size_t done = boots_done(s), boot = p->at.first + done;
		const int decided = boots_look(s, done, e);
		int rc;

		if (decided < 0)
			return decided;
		if (decided || done == boots_each(p)) {
			rc = p->way == BOOTS_BISECT ? search_on(s, e) : 0;
			if (rc <= 0)
				return rc ?: skip_rest(s, boots_all(p), e);
			continue;
		}
		if (!p->in_guest && (!is_this_boot(p->at.here) || p->at.boot != boot))
			return ask_for(s, boot, e);
		rc = p->in_guest ? boot_guest(s, boot, e) : measure_here(s, e);
		if (rc)
			return rc;
	}
	return 0;
}

static int measure_boots(struct study *s, struct err *e)
{
	return (boots_plan_of(s)->in_guest ? 0 : arrive(s, e)) ?: boots_work_on(s, e);
}

/* --- the end --- */

static void say_if(int rc, const struct err *e)
{
	if (rc)
		fprintf(stderr, "kblat: %s\n", e->text);
}

/* Nothing stays in the boot loader, and nothing goes on by itself any more. What is another study's stays. 0 or a negative
 * errno and `e`. */
static int boots_put_back(const struct study *s, enum loader_verb verb, struct err *e)
{
	const struct loader l = loader_of(s);
	const int pending = boots_claim_is_others(&l) ? 0 : loader_ask(&l, LOADER_PENDING, e);

	return (pending > 0 ? loader_do(&l, LOADER_CLEAR, NULL, e) : pending) ?: loader_do(&l, verb, NULL, e) ?: boots_claim_leave(&l, e);
}

/* As far as that is possible: an entry that cannot be cleared is no reason to leave the unit enabled. */
static int boots_disarm(const struct study *s, struct err *e)
{
	const struct loader l = loader_of(s);
	struct err own = ERR_INIT;
	const int rc = boots_put_back(s, LOADER_DISABLE, e);

	if (rc)
		loader_do(&l, LOADER_DISABLE, NULL, &own);
	return rc;
}

/* The process that has armed it was killed. */
static void disarm_for_killed(void *study)
{
	struct err own = ERR_INIT;

	say_if(boots_disarm(study, &own), &own);
}

static bool is_after_boot(const struct study *s)
{
	const struct boots_options *o = s->request->own;

	return o->after_boot;
}

/* Ended by a signal before the machine was rebooted: it does not go on by itself. */
static void leave_interrupted(struct study *s)
{
	struct err own = ERR_INIT;
	int rc = boots_disarm(s, &own);

	if (!rc) {
		set_id(&boots_plan_of(s)->at.asked, NULL);
		boots_plan_note(s, BOOTS_STOPPED, NAN, "");
		rc = boots_save(s, &own);
	}
	say_if(rc, &own);
}

/* The machine also returns to the kernel that it boots by default. */
static void leave_ended(struct study *s)
{
	const struct loader l = loader_of(s);
	char kernel[BOOTS_KERNEL_MOST];
	struct err own = ERR_INIT;
	int rc = boots_disarm(s, &own);

	if (!rc && !boots_plan_of(s)->in_guest && strcmp(boots_running_kernel(kernel), boots_plan_of(s)->home) != 0) {
		fprintf(stderr, "kblat: it has ended; rebooting into the default kernel, %s\n", boots_plan_of(s)->home);
		rc = loader_do(&l, LOADER_REBOOT, NULL, &own);
	}
	say_if(rc, &own);
}

/* The unit is ended when the machine goes down, and goes on when it is back; or by `boots stop`, which does the rest. */
static void leave_boots(struct study *s)
{
	if (!runner_is_interrupted())
		leave_ended(s);
	else if (!is_after_boot(s))
		leave_interrupted(s);
	guard_dismiss(&boots_plan_of(s)->guard);
}

/* Each kernel of a series compared with the one before: a folder to publish, and the table on `out`. 0, or a negative errno
 * and `e`. */
static int make_site(const struct study *s, int out, struct err *e)
{
	char *site = fs_path("%s/" SITE, s->path);
	const char *const first[] = {"kblat", "history", "--bundle", site, "--json"};
	struct words w = {NULL, 0};
	int rc = fs_remove_tree(site, e);

	words_copy(&w, first, s->request && s->request->json ? 5 : 4);
	for (size_t i = 0; i < s->count; i++)
		if (s->cell[i].state == CELL_COMPLETED)
			words_add(&w, fs_path("%s/%s", s->path, s->cell[i].run));
	fflush(NULL);
	if (!rc) {
		const pid_t pid = spawn_program(&(struct spawn){.words = (const char *const *)w.word,
								.program = "/proc/self/exe",
								.in = -1,
								.out = out,
								.err = STDERR_FILENO});

		rc = pid < 0 ? err_sys(e, pid, "kblat history", "start it") : spawn_await(pid);
		if (rc > 0)
			rc = err_set(e, -ECHILD, STATUS_FAILED, "kblat history", NULL, "ended with status %d", rc);
	}
	words_free(&w);
	free(site);
	return rc;
}

/* The answer of a search takes the place of that of its last comparison. */
static void conclude_search(const struct boots_plan *p, struct comparison *c)
{
	const char *high = p->arm[p->at.high].kernel, *low = p->arm[p->at.low].kernel;

	free(c->answer);
	if (p->at.low == p->at.high)
		c->answer = fs_path("%s is not slower than %s: there is nothing to find", high, p->arm->kernel);
	else if (c->verdict != OUTCOME_UNDECIDED)
		c->answer = fs_path("the first that is slower: %s; %s is not", high, low);
	else if (p->at.first)
		c->answer = among(p, "the first that is slower is one of");
	else
		c->answer =
		    fs_path("it is not known whether %s is slower than %s: use more boots (--boots)", high, low);
	if (c->verdict == OUTCOME_NONE && p->at.low < p->at.high)
		c->verdict = OUTCOME_REGRESSION;
}

static void print_boots_answer(const struct study *s, const struct comparison *c)
{
	if (s->request->format)
		verdict_format_print(s->request->format, verdict_list_of_comparison(c));
	else if (s->request->json)
		json_print(s->answer, stdout);
	else
		compare_table(c, stdout);
}

static enum status judge_boots(struct study *s, struct err *e)
{
	const struct boots_plan *p = boots_plan_of(s);
	struct comparison c;
	enum status status = STATUS_FAILED;

	if (runner_is_interrupted())
		return status;
	if (p->way == BOOTS_SERIES)
		return make_site(s, STDOUT_FILENO, e) ? status : STATUS_OK;
	if (!boots_compare(s, true, &c, e)) {
		if (p->way == BOOTS_BISECT)
			conclude_search(p, &c);
		status = compare_verdict_status(c.verdict);
		study_set_answer(s, boots_answer_to_json(s, &c));
		print_boots_answer(s, &c);
		comparison_free(&c);
	}
	return status;
}

static bool boots_has_ended(const struct study *s)
{
	return s->status != STUDY_RUNNING && s->status != STUDY_INTERRUPTED;
}

/* The answer so far, as far as there can be one. */
static void print_so_far(const struct study *s)
{
	struct comparison c;
	struct err own = ERR_INIT;

	if (boots_plan_of(s)->way == BOOTS_SERIES || boots_done(s) < ARMS)
		return;
	if (boots_compare(s, false, &c, &own)) {
		say_if(-EINVAL, &own);
		return;
	}
	if (boots_plan_of(s)->way == BOOTS_BISECT && boots_has_ended(s))
		conclude_search(boots_plan_of(s), &c);
	printf("%s: %s\n", boots_has_ended(s) ? "answer" : "so far", text_shown(c.answer));
	comparison_free(&c);
}

static int report_boots(struct study *s, char **html, struct err *e)
{
	char *page = boots_page(s);
	struct comparison c;
	int rc;

	if (boots_plan_of(s)->way == BOOTS_SERIES) {
		rc = make_site(s, -1, e);
		*html = rc ? NULL : fs_path("%s/" SITE "/index.html", s->path);
	} else if (!(rc = boots_compare(s, true, &c, e))) {
		*html = fs_path("%s/%s/report.html", s->path, page);
		comparison_free(&c);
	}
	free(page);
	return rc;
}

/* --- beginning and going on --- */

static bool has_boots_options(const struct boots_options *o)
{
	bool any = o->kernels.count || o->bisect || o->no_rdma || o->count_time;

	for (size_t i = 0; i < PAIR_OPTIONS; i++)
		any |= o->pair[ARM_BASE][i] || o->pair[ARM_WITH][i];
	for (size_t i = 0; i < GUEST_OPTIONS; i++)
		any |= o->guest[i] != NULL;
	return any || o->loader || o->settle || o->metric || o->boots || o->runs || o->tries || o->quantities.count ||
	       o->margins.count || o->judge.count;
}

/* What somebody else has asked the boot loader for is not overwritten. */
static int check_nothing_set(const struct loader *l, struct err *e)
{
	const int pending = loader_ask(l, LOADER_PENDING, e);

	return pending <= 0 ? pending
			    : err_set(e, -EBUSY, STATUS_FAILED, l->name, NULL,
				      "an entry of the next boot is set already; clear it, or reboot, first");
}

static void show_brought(const char *meaning, const char *text)
{
	if (!text)
		return;
	fprintf(stderr, "kblat: %s '", meaning);
	text_print(text, stderr);
	fputs("'\n", stderr);
}

/* Nobody else could have written it, but a directory may be forgotten, or be another one. */
static void show_loader(const struct boots_plan *p)
{
	show_brought("the next boot is chosen by", p->loader);
	for (size_t i = 0; i < p->arms; i++) {
		show_brought("it is asked for", p->arm[i].entry);
		show_brought("its command line has", p->arm[i].append);
		show_brought("in it is started", p->arm[i].beside);
	}
	for (size_t i = 0; i < p->guest.count; i++)
		show_brought("the guest has", p->guest.word[i]);
}

#define ONLY_ROOT "at each boot it would be used again, as it is then; name one that only %s can change"

static int trust_at_boot(const char *path, struct err *e)
{
	return trust_path(path, "be used",
			  geteuid()
			      ? "at each boot it would be used again, as it is then; name one that only you can change"
			      : "at each boot it would be used again by root, as it is then; name one that only root "
				"can change, such as a copy in /etc/kblat",
			  e);
}

/* Of a command, each word that is a path, quoted or not. */
static int trust_words(const char *words, struct err *e)
{
	int rc = 0;

	for (size_t n; words && *words && !rc; words += n) {
		words += strspn(words, " \t'\"");
		n = strcspn(words, " \t'\"");
		char *word = or_abort(strndup(words, n));

		rc = *word == '/' ? trust_at_boot(word, e) : 0;
		free(word);
	}
	return rc;
}

/* What the unit uses, as the user who has started it: nobody else may put something in its place. */
static int trust_what_runs(const struct study *s, struct err *e)
{
	const struct study_options *o = &s->options;
	const char *const paths[] = {boots_plan_of(s)->loader, o->profile_path, s->spec};
	int rc = 0;

	if (boots_plan_of(s)->in_guest)
		return 0;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && !rc; i++)
		rc = paths[i] && *paths[i] == '/' ? trust_at_boot(paths[i], e) : 0;
	return rc ?: trust_words(o->source, e) ?: trust_words(o->sink, e);
}

static int trust_place(const struct study *s, struct err *e)
{
	return trust_path(s->parent, "keep the comparison there",
			  geteuid()
			      ? "the unit would go on with what they put there; name another folder with --out"
			      : "the unit would go on, as root, with what they put there; name a folder that only "
				"root can change: --out /var/lib/kblat/boots",
			  e);
}

static enum status check_boots(struct study *s, const struct study_request *r, struct err *e)
{
	const struct boots_options *o = r->own;
	struct loader l = loader_of(s);
	int rc = 0;

	if (r->resume)
		show_loader(boots_plan_of(s));
	if (r->resume && has_boots_options(o))
		rc = err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
			     "--resume uses the study's original options; omit all others");
	if (boots_plan_of(s)->in_guest)
		return rc || guest_check(boots_plan_of(s), e) ? err_status(e) : STATUS_OK;
	rc = rc ?: r->resume ? 0 : trust_place(s, e);
	rc = rc ?: trust_what_runs(s, e) ?: loader_check(l.name, e);
	l.dir = l.dir ? l.dir : "";
	rc = rc ?: boots_claim_check(&l, e);
	if (!rc && !o->after_boot && !boots_plan_of(s)->at.asked)
		rc = check_nothing_set(&l, e);
	return rc ? err_status(e) : STATUS_OK;
}

/* From here on this process, or its guard, leaves nothing armed if it ends before the machine is rebooted. */
static int arm_boots(struct study *s, struct err *e)
{
	const struct loader l = loader_of(s);
	struct boots_plan *p = boots_plan_of(s);
	struct err own = ERR_INIT;
	int rc = guard_start(&p->guard, disarm_for_killed, s);

	rc = rc ? err_sys(e, rc, "boots", "start a process") : loader_do(&l, LOADER_ENABLE, NULL, e);
	if (rc) {
		boots_disarm(s, &own);
		guard_dismiss(&p->guard);
	}
	return rc;
}

/* A user who starts it, or continues it, begins to count tries anew. */
static int prepare_boots(struct study *s, struct err *e)
{
	const struct loader l = loader_of(s);

	if (s->request->dry_run)
		return 0;
	runner_catch_signals();
	if (boots_plan_of(s)->in_guest) {
		boots_plan_of(s)->at.failed = 0;
		guest_tell_load(boots_plan_of(s));
		return 0;
	}
	if (is_after_boot(s))
		return boots_claim_take(&l, e);
	boots_plan_of(s)->at.failed = 0;
	return study_record_trust(s->path, e) ?: boots_claim_take(&l, e) ?: arm_boots(s, e);
}

static enum status plan_boots(struct study *s, const struct study_request *r, struct err *e)
{
	const enum status status = boots_plan_make(s, r, e);

	return status == STATUS_OK && boots_check_choice(boots_plan_of(s), e) ? err_status(e) : status;
}

const struct study_kind boots_kind = {
    .name = "boots",
    .suffix = "-boots",
    .command = "kblat boots start",
    .runs = "runs",
    .by_name = true,
    .quiet = true,
    .plan = plan_boots,
    .judge = judge_boots,
    .show = boots_plan_show,
    .check = check_boots,
    .measure = measure_boots,
    .report = report_boots,
    .cells = boots_plan_cells,
    .plan_to_json = boots_plan_to_json,
    .plan_from_json = boots_plan_from_json,
    .plan_free = boots_plan_free,
    .prepare = prepare_boots,
    .leave = leave_boots,
};

/* --- the subcommand's other actions --- */

enum status boots_go(const struct study_request *r, struct err *e)
{
	struct study s = {.kind = &boots_kind, .lock = -1, .request = r};
	const int rc = study_record_open_own(&s, r->resume, e) ?: trust_what_runs(&s, e);
	const bool ended = !rc && boots_has_ended(&s);

	if (ended)
		leave_boots(&s);
	study_free(&s);
	return rc ? err_status(e) : ended ? STATUS_OK : study_run(&boots_kind, r, e);
}

enum status boots_status(const struct study_request *r, struct err *e)
{
	struct study s = {.kind = &boots_kind, .lock = -1, .request = r};

	if (study_record_open(&s, r->resume, e)) {
		study_free(&s);
		return err_status(e);
	}
	if (!r->json) {
		printf("%s: %s, %zu of at most %zu boots measured\n", s.path, study_statuses[s.status],
		       boots_measured(&s), boots_all(boots_plan_of(&s)));
		boots_plan_print_events(&s);
		print_so_far(&s);
	}
	if (r->json || !boots_has_ended(&s))
		boots_plan_show(&s, r);
	study_free(&s);
	return STATUS_OK;
}

/* The process that the unit has started ends in order; what cannot be ended that way keeps the lock. */
static int take_over(struct study *s, const char *dir, struct err *e)
{
	for (int i = 0;; i++) {
		struct err own = ERR_INIT;
		const int rc = study_record_resume(s, dir, &own);

		if (rc != -EBUSY || i == STOP_TRIES)
			return rc ? err_set(e, rc, own.status, NULL, NULL, "%s", own.text) : 0;
		study_free(s);
		*s = (struct study){.kind = &boots_kind, .lock = -1};
		usleep(100000);
	}
}

static int check_unit(const struct study *s, struct err *e)
{
	return boots_plan_of(s)->in_guest
		   ? err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
			     "its boots are guests, which no unit starts: end its kblat, by Ctrl-C or SIGTERM")
		   : 0;
}

enum status boots_stop(const struct study_request *r, struct err *e)
{
	struct study s = {.kind = &boots_kind, .lock = -1};
	int rc = study_record_open_own(&s, r->resume, e) ?: check_unit(&s, e)
						     ?: trust_what_runs(&s, e)
						     ?: loader_check(boots_plan_of(&s)->loader, e)
						     ?: boots_put_back(&s, LOADER_STOP, e);

	study_free(&s);
	s = (struct study){.kind = &boots_kind, .lock = -1};
	rc = rc ?: take_over(&s, r->resume, e);
	/* The one that ran may have asked for a boot before it ended. */
	rc = rc ?: boots_put_back(&s, LOADER_STOP, e);
	if (!rc && !boots_has_ended(&s)) {
		s.status = STUDY_INTERRUPTED;
		boots_plan_note(&s, BOOTS_STOPPED, NAN, "");
		set_id(&boots_plan_of(&s)->at.asked, NULL);
		rc = boots_save(&s, e);
	}
	if (!rc)
		printf(
		    "stopped: nothing is left in the boot loader, and the unit is disabled; `%s --resume %s` goes on\n",
		    boots_kind.command, s.path);
	study_free(&s);
	return rc ? err_status(e) : STATUS_OK;
}
