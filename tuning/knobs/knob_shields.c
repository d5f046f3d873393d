/* shields: one cpuset each, by version 1 or 2 of the controller, whichever has it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "tuning/knobs/knob.h"
#include "tuning/machine/machine.h"

#define LIST_TEXT 512

/* The root has every CPU; its mates must not have ours. */
static int check_overlap(struct planner *p, const struct shield *shield, char *const *names)
{
	char ours[LIST_TEXT], theirs[LIST_TEXT];
	struct cpulist cpus;

	for (; *names; names++) {
		if (cgroups_cpus(p->m, &p->cg, *names, &cpus) || !cpulist_intersects(&cpus, &shield->cpus))
			continue;
		return err_set(
		    p->e, -EBUSY, STATUS_FAILED, shield->name, "make the shield",
		    "its CPUs %s overlap with CPUs %s of the cpuset %s/%s; take other CPUs, or remove that first",
		    cpulist_format(&shield->cpus, ours, sizeof(ours)), cpulist_format(&cpus, theirs, sizeof(theirs)),
		    p->cg.root, *names);
	}
	return 0;
}

static int check_name(struct planner *p, const char *name)
{
	char *path = fs_path("%s/%s", p->cg.root, name);
	bool exists = sysroot_exists(&p->m->root, path);
	int tasks = exists ? cgroups_tasks(p->m, &p->cg, name) : 0;

	if (exists)
		err_set(
		    p->e, -EEXIST, STATUS_FAILED, path, "make the cpuset",
		    "there is one of that name, with %d tasks in it; 'kbtune cpuset destroy %s' removes an empty one",
		    tasks < 0 ? 0 : tasks, name);
	free(path);
	return exists ? -EEXIST : 0;
}

static json_t *set_data(const struct planner *p, const char *name, const char *cpus, const char *memory,
			const char *partition)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "version", p->cg.version, "root", p->cg.root,
			 "prefix", p->cg.prefix, "name", name, "cpus", cpus, "memory", memory, "partition", partition,
			 "lib", p->cg.lib);
}

static void plan_set(struct planner *p, const char *knob, const char *name, const struct cpulist *cpus,
		     const struct cpulist *memory, const char *partition)
{
	char list[LIST_TEXT], nodes[LIST_TEXT], after[LIST_TEXT * 2 + 64];
	char *path = fs_path("%s/%s", p->cg.root, name);

	cpulist_format(cpus, list, sizeof(list));
	cpulist_format(memory, nodes, sizeof(nodes));
	snprintf(after, sizeof(after), "CPUs %s, memory %s, %s", list, nodes, partition);
	plan_step(p->plan, knob, &op_cpuset, path, "absent", after, set_data(p, name, list, nodes, partition));
	free(path);
}

/* Children have the controller if the root's subtree_control says so. */
static void plan_controller(struct planner *p, const char *knob)
{
	char *path = cgroups_file(&p->cg, "", "cgroup.subtree_control");

	plan_value(p, knob, path, FORM_CONTROLLER, "+cpuset", "the root of the control groups is not there");
	free(path);
}

static bool has_exclusive(const struct plan *p)
{
	for (size_t i = 0; i < p->shield_count; i++)
		if (strcmp(p->shields[i].partition, "member"))
			return true;
	return false;
}

/* Version 1 has no partitions: programs live in a set of the remaining CPUs, and scheduling domains follow the sets once
 * the root's is no longer one. */
static void plan_rest_v1(struct planner *p, const char *knob)
{
	struct cpulist memory;
	char *path, *file;

	if (!has_exclusive(p->plan))
		return;
	topology_memory_of(&p->topo, &p->topo.online, &memory);
	plan_set(p, knob, "housekeeping", &p->plan->housekeeping, &memory, "root");
	path = fs_path("%s/tasks", p->cg.root);
	plan_step(p->plan, knob, &op_drain, path, "programs in the root cpuset", "programs in housekeeping",
		  set_data(p, "housekeeping", "", "", ""));
	free(path);
	file = cgroups_file(&p->cg, "", "sched_load_balance");
	plan_value(p, knob, file, FORM_TEXT, "0", "this kernel does not balance by cpusets");
	free(file);
}

static int check_all(struct planner *p)
{
	char **names;
	int n = cgroups_all(p->m, &p->cg, &names), rc = 0;

	for (size_t i = 0; i < p->plan->shield_count && !rc; i++)
		rc = check_name(p, p->plan->shields[i].name);
	if (!rc && p->cg.version == 1 && has_exclusive(p->plan))
		rc = check_name(p, "housekeeping");
	for (size_t i = 0; i < p->plan->shield_count && !rc && n > 0; i++)
		if (strcmp(p->plan->shields[i].partition, "member"))
			rc = check_overlap(p, &p->plan->shields[i], names);
	if (n >= 0)
		sysroot_names_free(names);
	return rc;
}

void plan_shields(struct planner *p, const struct setting *s, const struct knob *k)
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
		plan_controller(p, k->key);
	for (size_t i = 0; i < p->plan->shield_count; i++) {
		const struct shield *one = &p->plan->shields[i];

		plan_set(p, k->key, one->name, &one->cpus, &one->memory, one->partition);
	}
	if (p->cg.version == 1)
		plan_rest_v1(p, k->key);
}
