#include "measure/program/program_run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "common/spawn.h"
#include "common/version.h"
#include "files/rundir/layout.h"
#include "files/rundir/writer.h"
#include "judge/analysis/summary.h"
#include "measure/instrument/clock.h"
#include "measure/program/probes.h"
#include "measure/program/requests.h"
#include "measure/run/host_state.h"
#include "measure/run/run.h"
#include "measure/run/seal.h"
#include "measure/trace/trace.h"

#define KERNEL	       "requests"
#define CALIBRATION_MS 100
#define PAUSE_MS       5	   /* between two looks at the program and its stamps */
#define ENDING_MS      5000	   /* from SIGTERM to SIGKILL */
#define BUFFERS_MOST   (2ll << 30) /* for all CPUs and both instances together */
#define MACHINE	       0
#define CALLS	       1

struct program_run {
	const struct program_run_request *request;
	struct rundir dir;
	char host[MACHINE_NAME_MAX], boot[MACHINE_BOOT_MAX];
	struct clock_report clock;
	struct clock_conversion conversion;
	struct clock_point mono[2]; /* CLOCK_MONOTONIC, before and after */
	struct probe_place places[PROBE_ENDS];
	struct probes probes;
	int64_t probes_ns; /* what both of a request take; 0: not known */
	struct stamp_memory *memory;
	struct request_stamps stamps;
	uint64_t stamps_lost, threads_lost;
	struct program_requests requests;
	struct trace *trace[2];
	struct trace_names names;
	struct trace_words words;
	json_t *about;	   /* trace-source.json */
	int64_t traced_at; /* in ns of the run; INT64_MAX: not */
	char why[256];	   /* there are no events */
	char *group;	   /* the program's control group, when it began */
	int64_t throttled; /* how often that had used up its quota until then */
	pid_t pid;
	bool is_ended;
	int status, signal;	  /* signal: of which it died; 0: it did not */
	struct trace_death death; /* likewise, of it or a process of its own */
	uint64_t bodies;	  /* which of a function's were begun; a bit each, from 63 on the last one */
};

/* --- the program --- */

/* A number in /proc/<pid>/task/<tid>/children, and all that it has started. */
static void collect_threads(pid_t pid, pid_t **threads, size_t *count);

static void collect_children(pid_t pid, const char *tid, pid_t **threads, size_t *count)
{
	char path[300], *text = NULL, *rest, *word;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, tid);
	if (fs_read_followed(path, 1 << 20, &text, &size, NULL))
		return;
	rest = text;
	while ((word = strsep(&rest, " \n")))
		if (*word)
			collect_threads((pid_t)strtol(word, NULL, 10), threads, count);
	free(text);
}

static void collect_threads(pid_t pid, pid_t **threads, size_t *count)
{
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	for (struct dirent *d; dir && (d = readdir(dir));) {
		if (*d->d_name == '.')
			continue;
		*threads = grow_or_abort(*threads, *count, sizeof(**threads));
		(*threads)[(*count)++] = (pid_t)strtol(d->d_name, NULL, 10);
		collect_children(pid, d->d_name, threads, count);
	}
	if (dir)
		closedir(dir);
}

static int check_pid(pid_t pid, struct err *e)
{
	char object[32];

	snprintf(object, sizeof(object), "process %d", (int)pid);
	if (!kill(pid, 0) || errno == EPERM)
		return 0;
	return err_set(e, -ESRCH, STATUS_USAGE, object, NULL, "there is no such process");
}

/* The loader drops the environment and the descriptors' trust where a program gets other rights. */
static int check_command(const struct program_run_request *q, struct err *e)
{
	char *binary = q->stamps ? fs_program(q->command[0]) : NULL;
	struct stat st;
	int rc = 0;

	if (binary && !stat(binary, &st) && st.st_mode & (S_ISUID | S_ISGID))
		rc = err_set(
		    e, -EPERM, STATUS_USAGE, binary, NULL,
		    "runs with other rights (setuid, setgid): it does not take memory for stamps from its caller; "
		    "use probes (--from, --to)");
	free(binary);
	return rc;
}

/* A FIFO or a device would be waited for. */
static int check_requests_file(const char *path, struct err *e)
{
	struct stat st;

	if (!path || stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
		       S_ISDIR(st.st_mode) ? "is a directory"
					   : "is not a regular file, into which requests are written");
}

static int start_program(struct program_run *p, int memory, struct err *e)
{
	const struct program_run_request *q = p->request;
	const struct spawn s = {
	    .words = q->command, .in = STDIN_FILENO, .out = STDOUT_FILENO, .err = STDERR_FILENO, .kept = memory};
	char number[16];

	if (memory >= 0) {
		snprintf(number, sizeof(number), "%d", memory);
		setenv("KBLAT_STAMPS", number, 1);
	}
	fflush(stdout);
	p->pid = spawn_program(&s);
	unsetenv("KBLAT_STAMPS");
	if (p->pid < 0)
		return err_set(e, p->pid, STATUS_USAGE, q->command[0], NULL, "cannot be started: %s",
			       strerror(-p->pid));
	return 0;
}

/* What has died stays listed until its parent asks how; and of a process whose first thread has ended, others may go on. */
static bool is_alive(pid_t pid)
{
	char path[64], *text = NULL, *name_end, state = '?';
	size_t size;
	long threads = 0;

	if (kill(pid, 0) && errno == ESRCH)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fs_read_followed(path, 1 << 12, &text, &size, NULL))
		return kill(pid, 0) == 0 || errno != ESRCH;
	name_end = strrchr(text, ')');
	if (name_end)
		sscanf(name_end, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &state,
		       &threads);
	free(text);
	return !strchr("ZX", state) || threads > 1;
}

static void look_at_program(struct program_run *p)
{
	int status;

	if (p->is_ended)
		return;
	if (!p->request->command) {
		p->is_ended = !is_alive(p->pid);
		return;
	}
	if (waitpid(p->pid, &status, WNOHANG) != p->pid)
		return;
	p->is_ended = true;
	p->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	p->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void pause_ms(unsigned ms)
{
	const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

/* A program that was started here does not outlive the measurement. */
static void end_program(struct program_run *p)
{
	if (!p->request->command || p->pid <= 0)
		return;
	look_at_program(p);
	if (p->is_ended)
		return;
	kill(p->pid, SIGTERM);
	for (int waited = 0; !p->is_ended && waited < ENDING_MS; waited += PAUSE_MS) {
		pause_ms(PAUSE_MS);
		look_at_program(p);
	}
	p->status = p->signal = 0; /* it did what it was told */
	if (!p->is_ended) {
		kill(p->pid, SIGKILL);
		p->status = spawn_await(p->pid);
		p->is_ended = true;
	}
}

/* --- its control group --- */

/* Where it is, of the controller cpu: version 2, or version 1 where systemd and cgroupfs-mount mount it. NULL: not known. */
static char *cpu_group(pid_t pid)
{
	char path[64], *text = NULL, *rest, *line, *found = NULL;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (fs_read_followed(path, 1 << 16, &text, &size, NULL))
		return NULL;
	rest = text;
	while (!found && (line = strsep(&rest, "\n"))) {
		const char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (group && !strncmp(controllers, "::", 2) && !fs_is_missing("/sys/fs/cgroup/cgroup.controllers"))
			found = fs_path("/sys/fs/cgroup%s", group + 1);
		else if (group && (!strncmp(controllers, ":cpu:", 5) || !strncmp(controllers, ":cpu,", 5)))
			found = fs_path("/sys/fs/cgroup/cpu%s", group + 1);
	}
	free(text);
	return found;
}

/* How often it, or one that it is in, has used up its quota. */
static int64_t times_throttled(const char *group)
{
	char *at = group ? or_abort(strdup(group)) : NULL, *slash;
	int64_t times = 0;

	while (at && (slash = strrchr(at, '/')) && strcmp(at, "/sys/fs")) {
		char *path = fs_path("%s/cpu.stat", at), *text = NULL, *found;
		size_t size;

		if (!fs_read_followed(path, 1 << 16, &text, &size, NULL) && (found = strstr(text, "nr_throttled ")))
			times += strtoll(found + strlen("nr_throttled "), NULL, 10);
		free(text);
		free(path);
		*slash = '\0';
	}
	free(at);
	return times;
}

static void note_quota(struct program_run *p)
{
	p->group = cpu_group(p->request->command ? getpid() : p->request->pid);
	p->throttled = times_throttled(p->group);
}

/* How often its quota was used up meanwhile: only then was a thread that could go on kept from that by it. */
static int64_t count_throttled(const struct program_run *p)
{
	char *now = cpu_group(p->pid);
	const bool has_moved = now && p->group && strcmp(now, p->group) != 0;
	const int64_t times = times_throttled(now ? now : p->group) - (has_moved ? 0 : p->throttled);

	free(now);
	return times;
}

/* --- events --- */

/* A program that is started here is a child of this process, which is therefore followed until then: its own events are
 * not kept, as its own threads are none of the program's. */
static int follow_threads(struct program_run *p, struct err *e)
{
	const pid_t self = getpid();
	const char *system = *p->probes.system ? p->probes.system : NULL;
	pid_t *threads = NULL;
	size_t count = 0;
	int rc;

	if (p->request->command)
		return trace_follow_program(p->trace[CALLS], &self, 1, system, e);
	collect_threads(p->request->pid, &threads, &count);
	rc = trace_follow_program(p->trace[CALLS], threads, count, system, e);
	free(threads);
	return rc;
}

static int open_traces(struct program_run *p, struct err *e)
{
	static const enum trace_set sets[] = {[MACHINE] = TRACE_SET_MACHINE, [CALLS] = TRACE_SET_PROGRAM};
	int64_t bytes = p->request->buffer_bytes;
	struct cpulist cpus;
	int rc = trace_online_cpus(&cpus);

	if (rc)
		return err_sys(e, rc, "CPUs", "list the");
	if (bytes > BUFFERS_MOST / 2 / (int64_t)cpulist_count(&cpus))
		bytes = BUFFERS_MOST / 2 / (int64_t)cpulist_count(&cpus);
	for (size_t i = 0; !rc && i < 2; i++)
		rc = trace_open(&p->trace[i], &cpus, (uint64_t)bytes, sets[i], e);
	return rc ? rc : follow_threads(p, e);
}

static void close_traces(struct program_run *p)
{
	for (size_t i = 0; i < 2; i++) {
		trace_close(p->trace[i]);
		p->trace[i] = NULL;
	}
}

/* Without events requests are measured, but not explained; probes are events themselves. */
static int prepare_traces(struct program_run *p, struct err *e)
{
	struct err why = ERR_INIT;

	if (p->request->explain == PROGRAM_EXPLAIN_NO && !p->request->from) {
		snprintf(p->why, sizeof(p->why), "it was not asked for");
		return 0;
	}
	if (!open_traces(p, &why))
		return 0;
	close_traces(p);
	snprintf(p->why, sizeof(p->why), "%s", why.text);
	if (!p->request->from && p->request->explain != PROGRAM_EXPLAIN_REQUIRED)
		return 0;
	return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, p->request->from ? "probes" : "explain", NULL, "%s", p->why);
}

static int64_t run_now(const struct program_run *p)
{
	return clock_to_ns(&p->conversion, clock_ticks_begin());
}

static int start_traces(struct program_run *p, struct err *e)
{
	int rc = 0;

	if (!p->trace[CALLS])
		return 0;
	for (size_t i = 0; !rc && i < 2; i++)
		rc = trace_start(p->trace[i], e);
	p->traced_at = rc ? INT64_MAX : run_now(p);
	return rc;
}

static void take_hit(void *context, const struct trace_probe_hit *hit)
{
	struct program_run *p = context;
	const enum probe_end end = strcmp(hit->event, probe_events[PROBE_TO]) ? PROBE_FROM : PROBE_TO;
	struct request_stamp stamp;

	if (!probe_hit_read(&p->places[end], hit, &stamp))
		return;
	stamp.is_end = end == PROBE_TO;
	if (end == PROBE_FROM) {
		const unsigned body = p->places[end].sites.list[hit->site].body;

		p->bodies |= UINT64_C(1) << (body < 63 ? body : 63);
	}
	request_stamps_add(&p->stamps, &stamp);
}

static int read_traces(struct program_run *p, struct err *e)
{
	struct trace_program program = {
	    .probes = *p->probes.system ? p->probes.system : NULL, .take = take_hit, .context = p};
	pid_t *threads = NULL;
	size_t count = 0;
	int rc = 0;

	if (p->traced_at == INT64_MAX)
		return 0;
	for (size_t i = 0; !rc && i < 2; i++)
		rc = trace_stop(p->trace[i], e);
	if (!p->request->command)
		collect_threads(p->request->pid, &threads, &count);
	trace_threads_add(&program.threads, p->pid);
	for (size_t i = 0; i < count; i++)
		trace_threads_add(&program.threads, threads[i]);
	if (!rc)
		rc = trace_read_program(p->trace[MACHINE], p->trace[CALLS], &program, &p->conversion, &p->names,
					&p->words, &p->about, e);
	if (!rc) {
		json_object_set_new(p->about, "throttled", json_integer(count_throttled(p)));
		json_object_set_new(p->about, "probes_ns", json_integer(p->probes_ns));
	}
	p->death = program.death;
	trace_threads_free(&program.threads);
	free(threads);
	return rc;
}

/* --- measuring --- */

static void measure_until_end(struct program_run *p, struct err *e)
{
	const struct program_run_request *q = p->request;
	const int64_t begin = run_now(p);
	int64_t now = begin;

	while (!e->status && !p->is_ended && !*q->interrupted && (!q->for_ns || now - begin < q->for_ns) &&
	       p->stamps.count < REQUEST_STAMPS_MOST) {
		pause_ms(PAUSE_MS);
		if (p->memory)
			stamp_memory_take(p->memory, &p->conversion, &p->stamps);
		look_at_program(p);
		now = run_now(p);
		if (p->traced_at == INT64_MAX && p->trace[CALLS] && now - begin >= q->untraced_ns)
			start_traces(p, e);
	}
	/* Stamps that follow belong to no measurement. */
	if (p->memory) {
		stamp_memory_take(p->memory, &p->conversion, &p->stamps);
		p->stamps_lost = stamp_memory_lost(p->memory);
		p->threads_lost = stamp_memory_threads_lost(p->memory);
	}
	if (p->memory && p->stamps.count == REQUEST_STAMPS_MOST) {
		p->stamps.left = 0;
		fprintf(stderr,
			"kblat: after %.1f s there are %u stamps, and more are not kept: the measurement ends\n",
			(double)(now - begin) / 1e9, REQUEST_STAMPS_MOST);
	}
}

static struct clock_point look_at_monotonic(void)
{
	struct clock_point at;
	int64_t before = clock_ticks_begin();

	at.ns = monotonic_ns();
	at.ticks = before + (clock_ticks_end() - before) / 2;
	return at;
}

static int open_memory(struct program_run *p, int *fd, struct err *e)
{
	*fd = -1;
	return p->request->stamps ? stamp_memory_open(&p->memory, fd, e) : 0;
}

/* What a place's probes do not see. */
static void warn_of_place(const struct probe_place *place)
{
	const struct binary_sites *s = &place->sites;

	if (s->missing)
		fprintf(stderr,
			"kblat: %s: %zu of %zu places of this function cannot be probed (%s): the run will not be "
			"valid, as "
			"the requests there are missing\n",
			place->name, s->missing, s->missing + s->count, s->why);
	if (*s->notice)
		fprintf(stderr, "kblat: %s is left by a jump%s: there its requests end\n", place->name, s->notice);
	if (*s->folded)
		fprintf(stderr,
			"kblat: %s has its code together with '%s', as the linker found that both do the same: its "
			"calls are requests, too\n",
			place->name, s->folded);
	if (s->is_coroutine && place->at_return)
		fprintf(stderr, "kblat: %s is a coroutine: its call, and the request, ends when it first waits\n",
			place->name);
}

static int find_probes(struct program_run *p, struct err *e)
{
	const char *const texts[PROBE_ENDS] = {p->request->from, p->request->to};
	pid_t *tasks = NULL;
	size_t count = 0;
	int rc = 0;

	if (!p->request->from)
		return 0;
	if (!p->request->command)
		collect_threads(p->request->pid, &tasks, &count);
	for (enum probe_end end = PROBE_FROM; !rc && end < PROBE_ENDS; end++)
		rc = probe_place_find(texts[end], tasks, count, &p->places[end], e);
	free(tasks);
	/* Whoever may not set them is told before anything is created. */
	if (!rc)
		rc = probes_add(p->places, p->request->id, &p->probes, e);
	if (!rc)
		probes_remove(&p->probes);
	*p->probes.system = '\0';
	for (enum probe_end end = probes_share_frames(p->places) ? PROBE_TO : PROBE_FROM; !rc && end < PROBE_ENDS;
	     end++)
		warn_of_place(&p->places[end]);
	return rc;
}

/* Files of one name are many, and one may have been replaced meanwhile. */
static void say_which_files(const struct program_run *p)
{
	for (enum probe_end end = PROBE_FROM; end < PROBE_ENDS; end++) {
		const struct probe_place *place = &p->places[end];
		char runner[64] = "";

		if (end != PROBE_FROM && !strcmp(place->file.path, p->places[PROBE_FROM].file.path))
			continue;
		if (place->file.runner)
			snprintf(runner, sizeof(runner), ", which process %d runs", (int)place->file.runner);
		else if (!p->request->command)
			snprintf(runner, sizeof(runner), ", which process %d does not run now", (int)p->request->pid);
		fprintf(stderr, "kblat: probes are in %s (build ID %s)%s\n", place->file.path,
			*place->sites.build_id ? place->sites.build_id : "none", runner);
	}
}

#define PROBES_LEAST 10 /* a request should take so many times what its probes take */

/* What they cost is said before the program pays for it. */
static int set_probes(struct program_run *p, struct err *e)
{
	if (!p->request->from)
		return 0;
	p->probes_ns = probe_cost_ns(p->places, &p->conversion);
	if (p->probes_ns > 0)
		fprintf(stderr,
			"kblat: a request passes 2 probes, which take %.1f us together here: this suits requests of "
			"%.0f us and more\n",
			(double)p->probes_ns / 1000, (double)(PROBES_LEAST * p->probes_ns) / 1000);
	rundir_log(&p->dir, "probes", json_pack("{s:I}", "probes_ns", (json_int_t)p->probes_ns));
	say_which_files(p);
	return probes_add(p->places, p->request->id, &p->probes, e);
}

/* More than one ran of those among which a function was chosen when the program was loaded: which one was? */
static bool are_several(const struct program_run *p)
{
	return p->places[PROBE_FROM].sites.is_chosen && p->bodies & (p->bodies - 1);
}

static void warn_of_chosen(const struct program_run *p)
{
	if (are_several(p))
		fprintf(stderr,
			"kblat: %s is chosen among several functions when the program is loaded, of which more than "
			"one ran, "
			"as others call them by their names: give the address of the one that is meant\n",
			p->places[PROBE_FROM].name);
}

static void warn_of_probes(const struct program_run *p)
{
	int64_t *took = or_abort(calloc(p->requests.count + 1, sizeof(*took)));

	for (size_t i = 0; i < p->requests.count; i++)
		took[i] = p->requests.list[i].to - p->requests.list[i].from;
	sort_integers(took, p->requests.count);
	if (p->requests.count && took[p->requests.count / 2] < PROBES_LEAST * p->probes_ns)
		fprintf(stderr,
			"kblat: a typical request takes %.1f us, its probes %.1f us: they slow the program down; what "
			"makes "
			"requests late is seen all the same\n",
			(double)took[p->requests.count / 2] / 1000, (double)p->probes_ns / 1000);
	free(took);
}

static int measure_program(struct program_run *p, struct err *e)
{
	const struct program_run_request *q = p->request;
	int memory, rc = open_memory(p, &memory, e);

	if (!rc)
		rc = set_probes(p, e) ?: prepare_traces(p, e);
	note_quota(p);
	p->mono[0] = look_at_monotonic();
	/* What is recorded from the start includes the start. */
	if (!rc && !q->untraced_ns)
		rc = start_traces(p, e);
	p->pid = q->pid;
	if (!rc && q->command)
		rc = start_program(p, memory, e);
	if (!rc) {
		trace_names_see_cgroups(&p->names, p->pid);
		measure_until_end(p, e);
	}
	if (!rc && !e->status)
		rc = read_traces(p, e);
	p->mono[1] = look_at_monotonic();
	end_program(p);
	return rc ? rc : e->status ? -EIO : 0;
}

/* --- how it ended --- */

/* Whoever measures ends a program that it has started: what came then is no death. */
static void say_of_death(const struct program_run *p, char *out, size_t size)
{
	const int signal = p->death.signal && trace_signal_is_fault(p->death.signal) ? p->death.signal
			   : p->signal						     ? p->signal
			   : p->death.tid == p->pid				     ? p->death.signal
										     : 0;

	*out = '\0';
	if (!p->request->from || !signal || (*p->request->interrupted && !trace_signal_is_fault(signal)))
		return;
	snprintf(out, size, "the program died by signal %d (%s) while probes were in it", signal, strsignal(signal));
}

/* --- requests --- */

static enum request_match how_to_match(const struct program_run *p)
{
	const struct program_run_request *q = p->request;

	if (q->from && probes_share_frames(p->places))
		return MATCH_FRAME;
	return q->from && (!q->id || p->places[PROBE_TO].at_return) ? MATCH_THREAD : MATCH_ID;
}

static int find_requests(struct program_run *p, struct err *e)
{
	const struct program_run_request *q = p->request;
	char died[160];
	int rc = 0;

	if (q->file)
		rc = requests_read(q->file, &p->conversion, p->mono, &p->requests, e);
	else
		p->requests = requests_match(&p->stamps, how_to_match(p));
	if (rc || p->requests.count)
		return rc;
	say_of_death(p, died, sizeof(died));
	return err_set(e, -ENODATA, STATUS_FAILED, q->command ? q->command[0] : "the program", NULL,
		       "%s%sno request was seen (%zu began and did not end, %zu ended and had not begun)%s", died,
		       *died ? "; " : "", p->requests.open, p->requests.strange,
		       q->stamps  ? ": does it include kblat_stamp.h, and call kblat_begin() and kblat_end()?"
		       : !q->from ? ""
		       : q->command && p->is_ended && !p->status
			   ? ": was it called? If the program goes on in the background, trace that with --pid"
			   : ": was it called meanwhile?");
}

/* --- the run directory --- */

static const char *const request_columns[] = {"t_begin", "t_end", "thread", "id"};

static int64_t request_value(const struct program_request *r, size_t column)
{
	const int64_t values[] = {r->from, r->to, r->tid, (int64_t)r->id};

	return values[column];
}

typedef bool request_filter(const struct program_run *p, const struct program_request *r);

static bool is_before_events(const struct program_run *p, const struct program_request *r)
{
	return p->request->untraced_ns && r->to < p->traced_at;
}

static bool is_measured(const struct program_run *p, const struct program_request *r)
{
	return !p->request->untraced_ns || p->traced_at == INT64_MAX || r->from >= p->traced_at;
}

/* All requests that are wanted, into the columns of a folder. Returns their number, or a negative errno. */
static long write_requests(const struct program_run *p, const char *dir, request_filter *wanted, struct err *e)
{
	int64_t *values = large_alloc(p->requests.count + 1, sizeof(*values));
	size_t count = 0;
	int rc = values ? fs_mkdirs(dir, e) : err_sys(e, -ENOMEM, dir, "write");

	for (size_t column = 0; !rc && column < sizeof(request_columns) / sizeof(request_columns[0]); column++) {
		char *path = fs_path("%s/%s.npy", dir, request_columns[column]);

		count = 0;
		for (size_t i = 0; i < p->requests.count; i++)
			if (wanted(p, &p->requests.list[i]))
				values[count++] = request_value(&p->requests.list[i], column);
		rc = npy_write(path, values, count, e);
		free(path);
	}
	free(values);
	return rc ? rc : (long)count;
}

/* Of one function, both ends miss the same. */
static size_t places_missing(const struct program_run *p)
{
	const size_t from = p->places[PROBE_FROM].sites.missing, to = p->places[PROBE_TO].sites.missing;

	return (probes_share_frames(p->places) ? (from > to ? from : to) : from + to) + are_several(p);
}

static json_t *count_requests(const struct program_run *p, size_t written)
{
	return json_pack("{s:i, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:i}, s:{}}", "schema", 1, "source", "posted",
			 (json_int_t)written, "requests_open", (json_int_t)p->requests.open, "requests_strange",
			 (json_int_t)p->requests.strange, "stamps_lost", (json_int_t)(p->stamps_lost + p->stamps.left),
			 "threads_lost", (json_int_t)p->threads_lost, "places_missing", (json_int_t)places_missing(p),
			 "program_failures", p->is_ended && p->status, "sink");
}

static int write_events(struct program_run *p, const char *dir, struct err *e)
{
	char *words = fs_path("%s/trace-source.npy", dir), *about = fs_path("%s/trace-source.json", dir);
	int rc;

	if (!p->about)
		p->about = json_object();
	trace_names_resolve(&p->names);
	json_object_set_new(p->about, "schema", json_integer(1));
	json_object_set_new(p->about, "why", json_string(p->why));
	json_object_set(p->about, "names", p->names.list);
	rc = npy_write(words, p->words.data, p->words.count * TRACE_WORDS, e) ?: json_write(about, p->about, e);
	free(words);
	free(about);
	return rc;
}

static json_t *describe_parameters(const struct program_run *p)
{
	const struct program_run_request *q = p->request;

	return json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s*, s:I, s:s}", "kernel", KERNEL, "transport", "foreign",
			 "stamps",
			 q->stamps ? "header"
			 : q->file ? "file"
				   : "probes",
			 "from", q->from, "to", q->to, "request_id", q->id, "limit_ns", (json_int_t)q->limit_ns,
			 "explain", *p->why ? "no" : "yes");
}

static json_t *describe_requests(const struct program_run *p)
{
	json_t *columns = json_array();

	for (size_t i = 0; i < sizeof(request_columns) / sizeof(request_columns[0]); i++)
		json_array_append_new(columns, json_pack("{s:s, s:s}", "name", request_columns[i], "side", "source"));
	return json_pack("{s:i, s:s, s:s, s:s, s:{s:{s:o, s:[{s:s, s:s, s:s, s:s}]}}, s:[{s:i, s:o, s:{s:b, s:b, s:b, "
			 "s:{s:b}}}], s:[], s:[], s:[], s:{}}",
			 "schema", 1, "name", p->request->name, "title", "requests of a program", "variant", "full",
			 "kernels", KERNEL, "columns", columns, "series", "name", "lat_ns", "label", "latency",
			 "column", "t_end", "minus", "t_begin", "points", "id", 0, "params", describe_parameters(p),
			 "traits", "reliable", 0, "own_clock", 0, "device", 0, "rules", "traced", 1, "named", "claims",
			 "bookkeeping", "defaults");
}

static void find_host(struct program_run *p)
{
	snprintf(p->boot, sizeof(p->boot), "unknown");
	machine_identify(p->host, p->boot);
	if (p->request->mask)
		snprintf(p->host, sizeof(p->host), "host");
	machine_name_folder(p->host);
}

static int create_trace_directory(struct program_run *p, struct err *e)
{
	static const char text[] = "# The requests of a program, as kblat trace recorded them.\n"
				   "# They were not measured by a spec.\n";
	const struct rundir_head head = {
	    .name = p->request->name, .title = "", .text = text, .length = sizeof(text) - 1, .imported = true};
	struct run_record record = describe_run(p->request->name, "requests of a program", "kblat trace", false,
						p->request->argc, p->request->argv);
	int64_t ticks;

	find_host(p);
	clock_calibrate(CALIBRATION_MS, &p->clock);
	ticks = describe_start(&record, p->host, p->boot, "source", &p->clock);
	record.points = json_pack("{s:i, s:i}", "completed", 1, "total", 1);
	p->conversion = clock_conversion_from(ticks, p->clock.hz);
	return rundir_create(&p->dir, p->request->out, &head, json_object(), &record, e);
}

/* A state that cannot be captured is a warning, as elsewhere. */
static void keep_program_state(struct program_run *p, const char *when)
{
	struct err e = ERR_INIT;

	if (p->request->keeps_state && machine_state_keep(p->dir.path, p->host, when, p->request->mask, &e))
		rundir_log(&p->dir, "state", json_pack("{s:s, s:s}", "when", when, "error", e.text));
}

static int write_program_point(struct program_run *p, struct err *e)
{
	char *dir = layout_rep_dir(p->dir.path, 0, 0, ""), *untraced = layout_part_dir(p->dir.path, 0, "untraced", "");
	json_t *counters;
	const long written = write_requests(p, dir, is_measured, e);
	char *path = fs_path("%s/counters.json", dir);
	int rc = written < 0 ? (int)written : 0;

	if (!rc && !written)
		rc = err_set(e, -ENODATA, STATUS_FAILED, "kblat trace", NULL,
			     "all requests ended before events were recorded; choose a shorter --untraced");
	counters = count_requests(p, (size_t)(written > 0 ? written : 0));
	if (!rc)
		rc = json_write(path, counters, e);
	if (!rc && p->request->untraced_ns && p->traced_at != INT64_MAX)
		rc = (int)(write_requests(p, untraced, is_before_events, e) < 0);
	if (!rc && p->request->explain != PROGRAM_EXPLAIN_NO)
		rc = write_events(p, dir, e);
	if (!rc)
		rc = rundir_write_point(&p->dir, "completed", "", e);
	json_decref(counters);
	free(path);
	free(dir);
	free(untraced);
	return rc;
}

static void keep_state_changes(const struct program_run *p)
{
	json_t *no_environments = json_array();

	machine_state_keep_changes(p->dir.path, p->host, no_environments, NULL);
	json_decref(no_environments);
}

static int finish_directory(struct program_run *p, struct program_run_result *result, struct err *e)
{
	struct summary *summary = NULL;
	int rc;

	json_decref(p->dir.resolved);
	p->dir.resolved = describe_requests(p);
	rc = rundir_write(&p->dir, "resolved.json", p->dir.resolved, e) ?: write_program_point(p, e);
	if (rc)
		return rc;
	keep_program_state(p, "after");
	if (p->request->keeps_state)
		keep_state_changes(p);
	rc = seal_repetition(p->dir.path, p->dir.resolved, 0, 0, e)
		 ?: seal_run(&p->dir, *p->request->interrupted ? "INTERRUPTED" : "COMPLETED", &summary, e);
	if (rc)
		return rc;
	*result = (struct program_run_result){.path = or_abort(strdup(p->dir.path)),
					      .valid = summary->valid,
					      .requests = p->requests.count,
					      .status = p->is_ended ? p->status : 0};
	say_of_death(p, result->died, sizeof(result->died));
	seal_free_summary(summary);
	return 0;
}

static void program_run_free(struct program_run *p)
{
	close_traces(p);
	probes_remove(&p->probes);
	for (enum probe_end end = PROBE_FROM; end < PROBE_ENDS; end++)
		probe_place_free(&p->places[end]);
	stamp_memory_close(p->memory);
	free(p->stamps.list);
	free(p->requests.list);
	trace_words_free(&p->words);
	trace_names_free(&p->names);
	json_decref(p->about);
	free(p->group);
	rundir_close(&p->dir);
}

int program_run(const struct program_run_request *request, struct program_run_result *result, struct err *e)
{
	struct program_run p = {.request = request, .traced_at = INT64_MAX};
	int rc = request->command ? check_command(request, e) : check_pid(request->pid, e);

	*result = (struct program_run_result){.path = NULL};
	trace_names_init(&p.names);
	p.names.mask = request->mask;
	if (!rc)
		rc = rundir_check_name("--name", request->name, e) ?: check_requests_file(request->file, e);
	if (!rc)
		rc = find_probes(&p, e);
	if (!rc)
		rc = create_trace_directory(&p, e);
	if (!rc) {
		keep_program_state(&p, "before");
		rc = measure_program(&p, e) ?: find_requests(&p, e) ?: finish_directory(&p, result, e);
		if (!rc) {
			warn_of_probes(&p);
			warn_of_chosen(&p);
		}
	}
	if (rc && p.dir.path)
		fs_remove_tree(p.dir.path, NULL);
	program_run_free(&p);
	return rc;
}
