/*
 * A cpuset of kbtune: it is created, given CPUs and memory, and made exclusive. Afterwards it is
 * removed, and threads that still run in it are moved to the root. Uses libcpuset if the controller
 * is of version 1 and the library knows its mount; otherwise its files. data: "version", "root"
 * (mount point), "prefix", "name", "cpus", "memory", "partition", "lib"; once it is made, "number", the control group's own.
 *
 * A partition of version 2 that was accepted may read back "isolated invalid (reason)": that is a
 * failure with a reason.
 */
#include "tuning/ops/op_cpuset.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/cpuset_library.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/topology.h"
#include "tuning/steps/plan.h"

#define KTHREADD 2 /* the parent of all kernel threads */

#define REMOVE_TRIES 200 /* 10 ms each: a process that has just ended stays in its cpuset for a moment */

struct cgroups op_cpuset_hierarchy(const struct machine *m, const struct step *s)
{
	struct cgroups cg = {.version = (int)step_number(s, "version")};

	snprintf(cg.root, sizeof(cg.root), "%s", step_text(s, "root"));
	/* A journal may be of a build with the library. */
	cg.lib = m->root.live && json_is_true(json_object_get(s->data, "lib")) && cpuset_library_knows(cg.root);
	snprintf(cg.prefix, sizeof(cg.prefix), "%s", step_text(s, "prefix"));
	return cg;
}

json_t *op_cpuset_data(const struct cgroups *cg, const char *name, const char *cpus, const char *memory,
		       const char *partition)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "version", cg->version, "root", cg->root, "prefix",
			 cg->prefix, "name", name, "cpus", cpus, "memory", memory, "partition", partition, "lib",
			 cg->lib);
}

void op_cpuset_plan(struct plan *plan, const char *knob, const struct cgroups *cg, const char *name,
		    const struct cpulist *cpus, const struct cpulist *memory, const char *partition)
{
	char list[CPULIST_TEXT_MAX], nodes[CPULIST_TEXT_MAX], after[CPULIST_TEXT_MAX * 2 + 64];
	char *path = fs_path("%s/%s", cg->root, name);

	cpulist_format(cpus, list, sizeof(list));
	cpulist_format(memory, nodes, sizeof(nodes));
	snprintf(after, sizeof(after), "CPUs %s, memory %s, %s", list, nodes, partition);
	plan_step(plan, knob, &op_cpuset, path, "absent", after, op_cpuset_data(cg, name, list, nodes, partition));
	free(path);
}

static bool is_exclusive(const struct step *s)
{
	return strcmp(step_text(s, "partition"), "member") != 0;
}

static int cpuset_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	return machine_foresee_write(m, step_text(s, "root"), why, size);
}

/* What the kernel would write to a new cpuset. */
static const struct {
	int version;
	const char *name, *text;
} files[] = {
    {1, "tasks", ""},
    {1, "cgroup.procs", ""},
    {1, "cpus", "\n"},
    {1, "mems", "\n"},
    {1, "cpu_exclusive", "0\n"},
    {1, "mem_exclusive", "0\n"},
    {1, "sched_load_balance", "1\n"},
    {2, "cgroup.procs", ""},
    {2, "cpus", "\n"},
    {2, "mems", "\n"},
    {2, "cpus.effective", "\n"},
    {2, "cpus.partition", "member\n"},
};

static int record_files(struct machine *m, const struct cgroups *cg, const char *name)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !rc; i++) {
		char *path;

		if (files[i].version != cg->version)
			continue;
		path = cgroups_file(cg, name, files[i].name);
		rc = machine_create(m, path, files[i].text, strlen(files[i].text), 0644);
		if (rc == -EEXIST)
			rc = 0;
		free(path);
	}
	return rc;
}

static void remove_records(struct machine *m, const struct cgroups *cg, const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = cgroups_file(cg, name, files[i].name);

		machine_unlink(m, path);
		free(path);
	}
}

static int write_to(struct machine *m, const struct cgroups *cg, const char *name, const char *file, const char *value,
		    struct err *e)
{
	char *path = cgroups_file(cg, name, file), *text = m->root.live ? fs_path("%s", value) : fs_path("%s\n", value);
	int rc = machine_write(m, path, text, strlen(text));

	if (rc)
		err_sys(e, rc, path, "write");
	free(path);
	free(text);
	return rc;
}

static int check_partition(struct machine *m, const struct step *s, const struct cgroups *cg, struct err *e)
{
	char *path = cgroups_file(cg, step_text(s, "name"), "cpus.partition"), line[256];
	int rc = sysroot_line(&m->root, path, line, sizeof(line));

	if (rc)
		err_sys(e, rc, path, "read back");
	else if (strcmp(line, step_text(s, "partition")))
		rc = err_set(e, -EIO, STATUS_FAILED, path, "make a partition", "wrote '%s', but read back '%s'",
			     step_text(s, "partition"), line);
	free(path);
	return rc;
}

static int give(struct machine *m, const struct step *s, const struct cgroups *cg, struct err *e)
{
	const char *name = step_text(s, "name");

	return write_to(m, cg, name, "cpus", step_text(s, "cpus"), e)
		   ?: write_to(m, cg, name, "mems", step_text(s, "memory"), e);
}

/* In version 2, isolated CPUs are only effective inside of the partition; before the cpuset is a
 * partition, its cpus.effective is that of its parent. */
static int fill_v2(struct machine *m, const struct step *s, const struct cgroups *cg, struct err *e)
{
	int rc = give(m, s, cg, e);

	if (!rc && is_exclusive(s))
		rc = write_to(m, cg, step_text(s, "name"), "cpus.partition", step_text(s, "partition"), e);
	if (!rc && is_exclusive(s))
		rc = check_partition(m, s, cg, e);
	return rc;
}

static int balance_v1(struct machine *m, const struct step *s, const struct cgroups *cg, struct err *e)
{
	if (strcmp(step_text(s, "partition"), "isolated"))
		return 0;
	return write_to(m, cg, step_text(s, "name"), "sched_load_balance", "0", e);
}

static int fill_v1(struct machine *m, const struct step *s, const struct cgroups *cg, struct err *e)
{
	int rc = give(m, s, cg, e);

	if (!rc && is_exclusive(s))
		rc = write_to(m, cg, step_text(s, "name"), "cpu_exclusive", "1", e);
	return rc ? rc : balance_v1(m, s, cg, e);
}

static int make_by_lib(struct machine *m, const struct step *s, struct err *e)
{
	const struct cpuset_wanted wanted = {step_text(s, "cpus"), step_text(s, "memory"), is_exclusive(s)};
	char *path = fs_path("/%s", step_text(s, "name")), why[256] = "";
	int rc = cpuset_library_make(path, &wanted, why, sizeof(why));

	if (rc == -EINVAL && *why)
		err_set(e, rc, STATUS_FAILED, path, "describe the cpuset", "libcpuset says: %s", why);
	else if (rc)
		err_sys(e, rc, path, "make the cpuset");
	else
		machine_changed(m);
	free(path);
	return rc;
}

static int make_by_files(struct machine *m, const struct step *s, const struct cgroups *cg, struct err *e)
{
	int rc = machine_mkdir(m, s->path);

	if (!rc && !m->root.live)
		rc = record_files(m, cg, step_text(s, "name"));
	if (rc)
		return err_sys(e, rc, s->path, "make the cpuset");
	return cg->version == 1 ? fill_v1(m, s, cg, e) : fill_v2(m, s, cg, e);
}

static enum check cpuset_check(struct machine *m, const struct step *s, char *now, size_t size);

/* The kernel gives a control group a number that no other gets; those of a recorded machine are plain folders. */
static long long group_number(const struct machine *m, const struct step *s)
{
	int fd = m->root.live ? machine_openat(m, s->path, O_RDONLY | O_DIRECTORY) : -1;
	struct stat st = {0};

	if (fd >= 0) {
		if (fstat(fd, &st))
			st.st_ino = 0;
		close(fd);
	}
	return (long long)st.st_ino;
}

static void identify(const struct machine *m, struct step *s)
{
	long long number = group_number(m, s);

	if (number)
		json_object_set_new(s->data, "number", json_integer((json_int_t)number));
}

/* Was it removed, and another one made in its place? */
static bool is_another(const struct machine *m, const struct step *s)
{
	long long ours = step_number(s, "number"), now = group_number(m, s);

	return ours && now && ours != now;
}

static int cpuset_apply(struct machine *m, struct step *s, struct err *e)
{
	struct cgroups cg = op_cpuset_hierarchy(m, s);
	char now[512];
	int rc;

	if (m->kill_after == 0)
		raise(SIGKILL);
	rc = cg.lib ? make_by_lib(m, s, e) : make_by_files(m, s, &cg, e);
	s->not_begun = rc == -EEXIST;
	if (!rc)
		identify(m, s);
	if (!rc && cg.lib)
		rc = balance_v1(m, s, &cg, e);
	if (!rc && cpuset_check(m, s, now, sizeof(now)) != CHECK_SAME)
		rc = err_set(e, -EIO, STATUS_FAILED, s->path, "make the cpuset", "requested %s, found %s", s->after,
			     now);
	return rc;
}

static enum check cpuset_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	struct cgroups cg = op_cpuset_hierarchy(m, s);
	struct cpulist want, have;
	char list[CPULIST_TEXT_MAX], state[128] = "";
	char *path = cgroups_file(&cg, step_text(s, "name"), "cpus.partition");
	bool same;

	if (cg.version == 2)
		sysroot_line(&m->root, path, state, sizeof(state));
	free(path);
	if (cgroups_cpus(m, &cg, step_text(s, "name"), &have)) {
		snprintf(now, size, "gone");
		return CHECK_DRIFT;
	}
	same = !cpulist_parse(step_text(s, "cpus"), &want, NULL, 0) && !memcmp(&want, &have, sizeof(want));
	if (cg.version == 2)
		same = same && (!is_exclusive(s) || !strcmp(state, step_text(s, "partition")));
	else
		same = same && cgroups_exclusive(m, &cg, step_text(s, "name")) == is_exclusive(s);
	snprintf(now, size, "CPUs %s%s%s", cpulist_format(&have, list, sizeof(list)), *state ? ", " : "", state);
	return same ? CHECK_SAME : CHECK_DRIFT;
}

/* Move everything in it to the root. It is not an error if a process ends meanwhile. */
static void empty(struct machine *m, const struct cgroups *cg, const char *name)
{
	const char *file = cg->version == 1 ? "tasks" : "cgroup.procs";
	char *from = cgroups_file(cg, name, file), *to = cgroups_file(cg, "", file), *text, *rest, *line;

	if (m->root.live && !sysroot_read(&m->root, from, (size_t)4 << 20, &text, NULL)) {
		for (rest = text; (line = strsep(&rest, "\n"));)
			if (*line)
				machine_write(m, to, line, strlen(line));
		free(text);
	}
	free(from);
	free(to);
}

/* Has a kernel thread that nobody places lost CPUs that are offline? */
static bool has_lost_cpus(const struct machine *m)
{
	struct cpulist offline;
	struct thread t;

	return !topology_offline(m, &offline) && cpulist_first(&offline) >= 0 &&
	       !tasks_read(m, KTHREADD, KTHREADD, &t) && t.is_kernel && !cpulist_is_subset(&offline, &t.cpus);
}

static bool is_with_cpu_offline(const struct step *s)
{
	struct cpulist offline;

	return !cpulist_parse(step_text(s, STEP_OFFLINE), &offline, NULL, 0) && cpulist_first(&offline) >= 0;
}

/* A partition takes CPUs that are offline from all threads of the root, until Linux 6.3 for ever; but whatever enters the
 * root gets all CPUs. So what is there enters the cpuset, which has no CPUs or memory of its own any more, and leaves it
 * with all others; those with an affinity of their own get it back later (op_affinity). */
static void gather(struct machine *m, const struct cgroups *cg, const char *name)
{
	char *from = cgroups_file(cg, "", "cgroup.procs"), *to = cgroups_file(cg, name, "cgroup.procs"), *text, *rest,
	     *line;

	if (!write_to(m, cg, name, "cpus", "\n", NULL) && !write_to(m, cg, name, "mems", "\n", NULL) &&
	    !sysroot_read(&m->root, from, (size_t)4 << 20, &text, NULL)) {
		for (rest = text; (line = strsep(&rest, "\n"));)
			if (*line)
				machine_write(m, to, line, strlen(line));
		free(text);
	}
	free(from);
	free(to);
}

static void release(struct machine *m, const struct step *s, const struct cgroups *cg)
{
	write_to(m, cg, step_text(s, "name"), "cpus.partition", "member", NULL);
	if (is_exclusive(s) && is_with_cpu_offline(s) && has_lost_cpus(m))
		gather(m, cg, step_text(s, "name"));
}

static int remove_one(struct machine *m, const struct step *s, const struct cgroups *cg)
{
	char *path;
	int rc;

	if (!m->root.live)
		remove_records(m, cg, step_text(s, "name"));
	if (!cg->lib)
		return machine_rmdir(m, s->path);
	path = fs_path("/%s", step_text(s, "name"));
	rc = cpuset_library_remove(path);
	if (!rc)
		machine_changed(m);
	free(path);
	return rc;
}

static int cpuset_undo(struct machine *m, const struct step *s, struct err *e)
{
	struct cgroups cg = op_cpuset_hierarchy(m, s);
	struct timespec pause = {.tv_nsec = 10000000};
	mode_t mode;
	int rc = machine_mode(m, s->path, &mode);

	if (rc)
		return rc == -ENOENT ? 0 : err_sys(e, rc, s->path, "look for the cpuset");
	if (is_another(m, s))
		return STEP_GONE;
	/* Many kernels give threads back the CPUs that are online, and never again those that are not. */
	if (topology_waits_for_any(m, NULL, step_text(s, STEP_OFFLINE), s->path, e))
		return -EAGAIN;
	rc = -EBUSY;
	/* Release its CPUs before moving threads out of it. */
	if (cg.version == 2 && m->root.live)
		release(m, s, &cg);
	for (int i = 0; i < REMOVE_TRIES && rc == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		empty(m, &cg, step_text(s, "name"));
		rc = remove_one(m, s, &cg);
	}
	return rc && rc != -ENOENT ? err_sys(e, rc, s->path, "remove the cpuset") : 0;
}

const struct op op_cpuset = {
    .name = "cpuset",
    .right = "CAP_SYS_ADMIN",
    .creates = true,
    .probe = cpuset_probe,
    .apply = cpuset_apply,
    .check = cpuset_check,
    .undo = cpuset_undo,
};
