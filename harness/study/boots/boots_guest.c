#include "study/boots/boots_guest.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/datadir.h"
#include "common/fs.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "study/runner.h"
#include "study/study_record.h"

#define BUSY_PERCENT  15 /* of the machine: from so much on it is told */
#define LOOK_US	      100000
#define SECOND_ASK_MS 1200 /* after the first signal, the guest's command has a second to end */

/* --- the program and its kernels --- */

/* The caller frees; NULL: it is not there. */
static char *guest_program(void)
{
	const char *named = getenv("KBLAT_VM_GUEST");
	char *folder = named ? NULL : datadir_find("kblat", "guest"), *path = named ? fs_path("%s", named)
									      : folder
										  ? fs_path("%s/kblat-guest", folder)
										  : NULL;

	free(folder);
	return path;
}

int guest_check(const struct boots_plan *p, struct err *e)
{
	char *program = guest_program();
	int rc = program && !access(program, X_OK)
		     ? 0
		     : err_set(e, -ENOENT, STATUS_IMPOSSIBLE, "--loader guest", NULL,
			       "the program kblat-guest is not there: install it, or set KBLAT_VM_GUEST");

	/* What it does, and what is wrong, it says itself. */
	for (size_t i = 0; i < p->arms && !rc; i++) {
		const char *const words[] = {program, "--prepare", "--kernel", p->arm[i].entry, NULL};
		const pid_t pid = spawn_program(
		    &(struct spawn){.words = words, .in = -1, .out = -1, .err = STDERR_FILENO, .end_signal = SIGTERM});

		rc = pid < 0 ? pid : spawn_await(pid);
		if (rc)
			err_set(e, -ENOENT,
				rc == STATUS_IMPOSSIBLE || rc == STATUS_USAGE ? (enum status)rc : STATUS_FAILED,
				p->arm[i].entry, NULL, "it cannot be made ready for the guest, see above");
	}
	free(program);
	return rc;
}

/* --- how busy other programs keep this machine, which the guest cannot see --- */

struct load {
	double busy, all; /* ticks of all CPUs */
};

/* Without what our own processes used that have ended. */
static struct load load_now(void)
{
	double t[8] = {0}; /* user nice system idle iowait irq softirq steal */
	FILE *f = fopen("/proc/stat", "re");
	struct tms own = {0};
	struct load load;

	if (f &&
	    fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7) < 7)
		memset(t, 0, sizeof(t));
	if (f)
		fclose(f);
	times(&own);
	load.busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
	load.all = load.busy + t[3] + t[4];
	load.busy -= (double)(own.tms_cutime + own.tms_cstime);
	return load;
}

static double others_since(struct load from)
{
	const struct load now = load_now();

	return now.all > from.all ? fmax(0, 100 * (now.busy - from.busy) / (now.all - from.all)) : 0;
}

/* Then how busy this machine is makes no difference. */
static bool counts_time(const struct boots_plan *p)
{
	return p->guest.count && !strcmp(p->guest.word[p->guest.count - 1], GUEST_COUNTS);
}

void guest_tell_load(const struct boots_plan *p)
{
	const struct load from = load_now();
	double others;

	if (counts_time(p))
		return;
	usleep(500000);
	others = others_since(from);
	if (others >= BUSY_PERCENT)
		fprintf(stderr,
			"kblat: this machine is busy: other programs use %.0f %% of its %ld CPUs. What is measured now "
			"will vary with that, and small differences will not be found\n",
			others, sysconf(_SC_NPROCESSORS_ONLN));
}

void guest_note_load(const struct study *s, json_t *notes)
{
	const struct boots_plan *p = boots_plan_of(s);
	double n[ARMS] = {0}, sum[ARMS] = {0}, squares[ARMS] = {0}, low = INFINITY, high = 0, old, new, variance;
	json_t *note = NULL;

	for (size_t i = 0; i < p->events; i++) {
		const double percent = p->event[i].others_percent;
		const enum compare_arm role = boots_role_of(p, p->event[i].boot);

		if (p->event[i].boot < p->at.first || isnan(percent))
			continue;
		n[role]++;
		sum[role] += percent;
		squares[role] += percent * percent;
		low = fmin(low, percent);
		high = fmax(high, percent);
	}
	old = sum[ARM_BASE] / n[ARM_BASE];
	new = sum[ARM_WITH] / n[ARM_WITH];
	variance = (squares[ARM_BASE] - old * sum[ARM_BASE]) / fmax(1, n[ARM_BASE] - 1) +
		   (squares[ARM_WITH] - new *sum[ARM_WITH]) / fmax(1, n[ARM_WITH] - 1);
	if (fabs(old - new) >= BUSY_PERCENT && fabs(old - new) > 2 * sqrt(fmax(0, variance) / 2))
		note = json_sprintf(
		    "this machine was not as busy for both kernels: other programs used %.0f %% of its CPUs while OLD "
		    "ran, %.0f %% while NEW did; so what differs may be due to that, not to the kernel",
		    old, new);
	else if ((sum[ARM_BASE] + sum[ARM_WITH]) / (n[ARM_BASE] + n[ARM_WITH]) >= BUSY_PERCENT)
		note = json_sprintf(
		    "this machine was busy: other programs used %.0f to %.0f %% of its CPUs while the guest ran", low,
		    high);
	if (note)
		json_array_append_new(notes, note);
}

/* --- a boot --- */

/* In the guest: what runs beside the measurement, then all runs of the boot, each as a process of its own. */
static const char in_guest[] = "if [ \"$1\" ]; then sh -c \"$1\" >/dev/null 2>&1 & fi; n=$2; shift 2\n"
			       "while [ \"$n\" -gt 0 ]; do n=$((n - 1)); \"$@\" >/dev/null; s=$?\n"
			       "[ $s -eq 0 ] || [ $s -eq 3 ] || exit $s; done";

static struct words guest_words(const struct study *s, const struct cell *c, const char *program, const char *out)
{
	const struct boots_plan *p = boots_plan_of(s);
	const struct boots_arm *a = &p->arm[boots_arm_of(p, c->block)];
	struct words w = {NULL, 0}, run = runner_words(s, c);
	char *kblat = or_abort(realpath("/proc/self/exe", NULL)), *runs = fs_path("%zu", p->runs);
	const char *const first[] = {program,	    "--kernel", a->entry, "--append", a->append ? a->append : "",
				     "--in-memory", "--out",	out},
			  *const then[] = {"--", "sh", "-c", in_guest, "-", a->beside ? a->beside : "", runs, kblat};

	words_copy(&w, first, sizeof(first) / sizeof(*first));
	words_copy(&w, (const char *const *)p->guest.word, p->guest.count);
	words_copy(&w, then, sizeof(then) / sizeof(*then));
	for (size_t i = 1; i < run.count; i++) /* run SPEC --out OUT … */
		words_add(&w, fs_path("%s", i == 4 ? out : run.word[i]));
	words_free(&run);
	free(runs);
	free(kblat);
	return w;
}

/* A second signal, a second later, ends a guest whose command does not. */
static int await_guest(pid_t pid)
{
	int64_t asked_ms = 0;
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (runner_is_interrupted() && (!asked_ms || monotonic_ms() - asked_ms > SECOND_ASK_MS)) {
			kill(pid, SIGTERM);
			asked_ms = monotonic_ms();
		}
		usleep(LOOK_US);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_guest(const struct study *s, const struct cell *c, const char *out, struct err *e)
{
	char *program = guest_program();
	struct words w = guest_words(s, c, program ? program : "kblat-guest", out);
	const pid_t pid = spawn_program(&(struct spawn){.words = (const char *const *)w.word,
							.in = -1,
							.out = STDOUT_FILENO,
							.err = STDERR_FILENO,
							.end_signal = SIGTERM,
							.own_group = true});

	words_free(&w);
	free(program);
	return pid < 0 ? err_sys(e, pid, "kblat-guest", "start it") : await_guest(pid);
}

/* What the guest has brought out becomes the boot's runs. */
static int take_guest_run(struct study *s, size_t i, const char *out, const char *name, struct err *e)
{
	struct cell *c = &s->cell[i];
	char *from = fs_path("%s/%s", out, name), *folder = fs_path("%s/%s/%s", s->path, s->kind->runs, c->name),
	     *to = fs_path("%s/%s", folder, name);
	int rc = fs_mkdirs(folder, e);

	if (!rc && rename(from, to))
		rc = err_sys(e, -errno, to, "move a run there");
	if (!rc) {
		c->run = fs_path("%s", to + strlen(s->path) + 1);
		c->exit_status = 0;
		cell_set_state(c, CELL_COMPLETED, "");
		rc = study_record_cell(s, i, e);
	}
	free(to);
	free(folder);
	free(from);
	return rc;
}

static int take_guest_runs(struct study *s, size_t first, const char *out, struct err *e)
{
	const size_t runs = boots_plan_of(s)->runs;
	struct dirent **names = NULL;
	const int count = fs_scandir(out, &names, fs_is_visible, alphasort);
	int rc = (size_t)count == runs ? 0
				       : err_set(e, -ENODATA, STATUS_FAILED, out, NULL,
						 "the guest has brought out %d runs, not %zu", count, runs);

	for (int i = 0; i < count; i++) {
		rc = rc ?: take_guest_run(s, first + (size_t)i, out, names[i]->d_name, e);
		free(names[i]);
	}
	free(names);
	return rc;
}

int guest_boot(struct study *s, size_t boot, double *others_percent, struct err *e)
{
	const size_t first = boot * boots_plan_of(s)->runs;
	const struct load from = load_now();
	char *out = fs_path("%s/.boot", s->path);
	int rc = fs_remove_tree(out, e) ?: run_guest(s, &s->cell[first], out, e);

	*others_percent = counts_time(boots_plan_of(s)) ? NAN : others_since(from);
	if (!rc && !runner_is_interrupted())
		rc = take_guest_runs(s, first, out, e);
	fs_remove_tree(out, NULL);
	free(out);
	return rc;
}
