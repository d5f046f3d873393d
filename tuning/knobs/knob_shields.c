#include "tuning/knobs/knob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/topology.h"
#include "tuning/ops/op_cpuset.h"
#include "tuning/ops/op_drain.h"
#include "tuning/ops/op_file.h"

/* The root has every CPU; other cpusets must not have the shield's CPUs. */
static int check_overlap(struct planner *p, const struct shield *shield, char *const *names)
{
	char ours[CPULIST_TEXT_MAX], theirs[CPULIST_TEXT_MAX];
	struct cpulist cpus;

	for (; *names; names++) {
		cgroups_claimed(p->m, &p->cg, *names, &cpus);
		if (!cpulist_intersects(&cpus, &shield->cpus))
			continue;
		return err_set(
		    p->e, -EBUSY, STATUS_FAILED, shield->name, "make the shield",
		    "its CPUs %s overlap with CPUs %s of the cpuset %s/%s; take other CPUs, or remove that first",
		    cpulist_format(&shield->cpus, ours, sizeof(ours)), cpulist_format(&cpus, theirs, sizeof(theirs)),
		    p->cg.root, *names);
	}
	return 0;
}

static int check_cpuset_name(struct planner *p, const char *name)
{
	char *path = fs_path("%s/%s", p->cg.root, name);
	bool exists = sysroot_exists(&p->m->root, path);
	int tasks = exists ? cgroups_tasks(p->m, &p->cg, name) : 0;

	if (exists)
		err_set(p->e, -EEXIST, STATUS_FAILED, path, "make the cpuset",
			"a cpuset of that name exists, with %d tasks in it; 'kbtune cpuset destroy %s' removes it when "
			"it is empty",
			tasks < 0 ? 0 : tasks, name);
	free(path);
	return exists ? -EEXIST : 0;
}

/* Children have the controller if it is in the root's subtree_control. */
static void plan_controller(struct planner *p, const char *knob)
{
	char *path = cgroups_file(&p->cg, "", "cgroup.subtree_control");

	op_file_plan(p->plan, p->m, knob, path, FORM_CONTROLLER, "+cpuset",
		     "the root of the control groups does not exist");
	free(path);
}

static bool has_exclusive(const struct plan *p)
{
	for (size_t i = 0; i < p->shield_count; i++)
		if (strcmp(p->shields[i].partition, "member"))
			return true;
	return false;
}

/* Version 1 has no partitions: programs move to a cpuset with the remaining CPUs, and scheduling
 * domains follow the cpusets once the root is not a single domain any more. */
static void plan_rest_v1(struct planner *p, const char *knob)
{
	struct cpulist memory;
	char *file;

	if (!has_exclusive(p->plan))
		return;
	topology_memory_of(&p->topo, &p->topo.online, &memory);
	op_cpuset_plan(p->plan, knob, &p->cg, "housekeeping", &p->plan->housekeeping, &memory, "root");
	op_drain_plan(p->plan, knob, &p->cg, "housekeeping");
	file = cgroups_file(&p->cg, "", "sched_load_balance");
	op_file_plan(p->plan, p->m, knob, file, FORM_TEXT, "0", "this kernel does not balance load by cpusets");
	free(file);
}

static int check_all(struct planner *p)
{
	char **names;
	int n = cgroups_all(p->m, &p->cg, &names), rc = n == -E2BIG ? n : 0;

	if (rc)
		err_sys(p->e, rc, p->cg.root, "look for other cpusets");
	for (size_t i = 0; i < p->plan->shield_count && !rc; i++)
		rc = check_cpuset_name(p, p->plan->shields[i].name);
	if (!rc && p->cg.version == 1 && has_exclusive(p->plan))
		rc = check_cpuset_name(p, "housekeeping");
	for (size_t i = 0; i < p->plan->shield_count && !rc && n > 0; i++)
		if (strcmp(p->plan->shields[i].partition, "member"))
			rc = check_overlap(p, &p->plan->shields[i], names);
	if (n >= 0)
		sysroot_names_free(names);
	return rc;
}

struct bound {
	const struct cpulist *online;
	struct cpulist offline;
	size_t count;
	char name[32];
};

static int count_bound(const struct thread *t, void *context)
{
	struct bound *b = context;

	if (!t->is_kernel || !t->is_bound ||
	    (!cpulist_intersects(&t->cpus, &b->offline) &&
	     (cpulist_count(&t->cpus) < 2 || cpulist_is_subset(b->online, &t->cpus))))
		return 0;
	if (!b->count++)
		snprintf(b->name, sizeof(b->name), "%s", t->name);
	return 0;
}

/* Many kernels take a CPU that is offline from threads that are not in a cpuset of their own (op_cpuset.c). */
static void warn_of_offline(struct planner *p)
{
	char list[CPULIST_TEXT_MAX];
	struct cpulist offline;

	if (has_exclusive(p->plan) && !topology_offline(p->m, &offline) && cpulist_first(&offline) >= 0)
		plan_warn(
		    p->plan,
		    "CPU %s is offline, and stays so: this kernel may take it from threads with an affinity of their "
		    "own; once it is online again, 'kbtune restore' gives it back to them",
		    cpulist_format(&offline, list, sizeof(list)));
}

/* A partition changes the masks even of threads that nobody may move: unbound workers and rescuers of work queues. */
static void state_bound_threads(struct planner *p, struct step *s)
{
	struct bound b = {.online = &p->topo.online};

	if (!has_exclusive(p->plan))
		return;
	topology_offline(p->m, &b.offline);
	tasks_each(p->m, count_bound, &b);
	if (b.count)
		step_cannot_undo(
		    s, false, "threads",
		    "the partition may change the masks of %zu threads that the kernel lets nobody place, such as %s",
		    b.count, b.name);
}

void knob_shields_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	(void)s;
	if (!p->plan->shield_count)
		return;
	if (!p->cg.version || p->cg.read_only) {
		for (size_t i = 0; i < p->plan->shield_count; i++)
			plan_missing(p->plan, k->key, p->plan->shields[i].name, "%s",
				     p->cg.version ? "the control groups are mounted read-only (a container?)"
						   : "no mounted control groups have the cpuset controller");
		return;
	}
	if (check_all(p))
		return;
	if (p->cg.version == 2)
		warn_of_offline(p);
	knob_tasks_plan_to_keep(p, k->key);
	if (p->cg.version == 2)
		plan_controller(p, k->key);
	for (size_t i = 0; i < p->plan->shield_count; i++) {
		const struct shield *one = &p->plan->shields[i];

		op_cpuset_plan(p->plan, k->key, &p->cg, one->name, &one->cpus, &one->memory, one->partition);
	}
	if (p->cg.version == 2)
		state_bound_threads(p, &p->plan->steps[p->plan->step_count - 1]);
	if (p->cg.version == 1)
		plan_rest_v1(p, k->key);
	knob_tasks_plan_pins(p, k->key);
}
