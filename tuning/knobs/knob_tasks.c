#include "tuning/knobs/knob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/ops/ops.h"

struct collection {
	struct planner *p;
	bool programs;	 /* also those with the default affinity, because no partition moves them */
	bool own;	 /* only those with an affinity of their own */
	json_t *threads; /* for op_affinity */
	struct cpulist offline, present;
	size_t kernel, user, pinned;
	char pinned_name[64];
};

static bool is_alone_on(const struct cpulist *cpus, const struct cpulist *shielded)
{
	return cpulist_is_subset(cpus, shielded);
}

/* RCU's own threads of several CPUs: it takes CPUs that go offline from them, and gives them those that come online. */
static bool is_of_rcu(const struct thread *t)
{
	return t->is_kernel && (!strncmp(t->name, "rcu_exp_par_gp", 14) || !strncmp(t->name, "rcub/", 5));
}

/* Has it every CPU but those that are offline, because its cpuset has no others, or RCU has taken them from it? */
static bool is_made_by_kernel(const struct collection *c, const struct thread *t)
{
	char cpuset[256];

	return cpulist_is_subset(&c->p->topo.online, &t->cpus) && !cpulist_intersects(&t->cpus, &c->offline) &&
	       (strcmp(tasks_cpuset(c->p->m, t->pid, cpuset, sizeof(cpuset)), "/") || is_of_rcu(t));
}

/* A thread with an affinity of its own is recorded even if it need not move, because cpusets reset its affinity; so is one
 * that may run on a CPU that is offline, which a kernel may take from it. */
static int collect_thread(const struct thread *t, void *context)
{
	struct collection *c = context;
	char cpus[CPULIST_TEXT_MAX];
	const bool any_offline = cpulist_first(&c->offline) >= 0, wide = any_offline && is_made_by_kernel(c, t);
	bool own = !wide && (any_offline || !cpulist_is_subset(&c->present, &t->cpus)),
	     in_way = cpulist_intersects(&t->cpus, &c->p->shielded);
	json_t *one;

	if (t->is_bound || (!own && (c->own || !in_way || (!t->is_kernel && !c->programs))))
		return 0;
	c->kernel += t->is_kernel && in_way;
	c->user += !t->is_kernel && in_way;
	if (!t->is_kernel && is_alone_on(&t->cpus, &c->p->shielded)) {
		c->pinned++;
		snprintf(c->pinned_name, sizeof(c->pinned_name), "%s (%d)", t->name, t->tid);
	}
	one = json_pack("{s:i, s:I, s:s+, s:s}", "tid", t->tid, "start", (json_int_t)t->start, "name", t->name, "",
			"cpus", cpulist_format(&t->cpus, cpus, sizeof(cpus)));
	if (wide)
		json_object_set_new(one, "wide", json_true());
	json_array_append_new(c->threads, one);
	return 0;
}

/* All that `c` wants. */
static void collect_all_threads(struct collection *c)
{
	topology_offline(c->p->m, &c->offline);
	if (topology_present(c->p->m, &c->present))
		c->present = c->p->topo.online;
	tasks_each(c->p->m, collect_thread, c);
}

static bool has_member_shield(const struct plan *p)
{
	for (size_t i = 0; i < p->shield_count; i++)
		if (!strcmp(p->shields[i].partition, "member"))
			return true;
	return false;
}

static json_t *shield_names(const struct plan *p)
{
	json_t *names = json_array();

	for (size_t i = 0; i < p->shield_count; i++)
		json_array_append_new(names, json_string(p->shields[i].name));
	return names;
}

/* `off`: the CPUs that threads must leave. */
static json_t *make_data(struct planner *p, const struct cpulist *off, json_t *threads, bool programs, bool again)
{
	char list[CPULIST_TEXT_MAX], housekeeping[CPULIST_TEXT_MAX];

	return json_pack("{s:s, s:s, s:O, s:b, s:b, s:b, s:b, s:o}", "off", cpulist_format(off, list, sizeof(list)),
			 "housekeeping", cpulist_format(&p->plan->housekeeping, housekeeping, sizeof(housekeeping)),
			 "threads", threads, "kernel", true, "programs", programs, "again", again, "last", again,
			 "shields", shield_names(p->plan));
}

/* After the cpusets, which have wiped the pins of threads: these once more, as far as the shields leave CPUs of them. */
void knob_tasks_plan_pins(struct planner *p, const char *knob)
{
	for (size_t i = 0; i < p->plan->step_count; i++) {
		const struct step *first = &p->plan->steps[i];
		char off[CPULIST_TEXT_MAX], after[CPULIST_TEXT_MAX + 64];
		json_t *data;

		if (first->op != &op_affinity || strcmp(first->knob, knob) != 0)
			continue;
		data = make_data(p, &p->shielded, json_object_get(first->data, "threads"), false, true);
		json_object_set_new(data, "last", json_false());
		json_object_set_new(data, "pins", json_true());
		snprintf(after, sizeof(after), "as before, off CPUs %s",
			 cpulist_format(&p->shielded, off, sizeof(off)));
		plan_step(p->plan, knob, &op_affinity, "pinned threads", "as the cpusets make them", after, data);
		return;
	}
}

static bool is_away(const struct setting *s)
{
	if (setting_is_word(s->value, "away"))
		return true;
	if (!setting_is_word(s->value, "leave"))
		setting_must_be(s, s->value, s->key, "away or leave");
	return false;
}

void knob_tasks_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	struct collection c = {
	    .p = p, .threads = json_array(), .programs = !p->cg.version || has_member_shield(p->plan)};
	char off[CPULIST_TEXT_MAX], after[CPULIST_TEXT_MAX + 64], before[128];

	if (!is_away(s) || cpulist_first(&p->shielded) < 0) {
		json_decref(c.threads);
		return;
	}
	collect_all_threads(&c);
	snprintf(before, sizeof(before), "%zu of the kernel and %zu of programs may use the shields", c.kernel, c.user);
	snprintf(after, sizeof(after), "off CPUs %s", cpulist_format(&p->shielded, off, sizeof(off)));
	plan_step(p->plan, k->key, &op_affinity, "threads", before, after,
		  make_data(p, &p->shielded, c.threads, true, false));
	if (c.pinned)
		plan_warn(p->plan, "%zu threads are pinned to the shields' CPUs and will be moved, among them %s",
			  c.pinned, c.pinned_name);
	json_decref(c.threads);
}

static bool has_affinity_step(const struct plan *p)
{
	for (size_t i = 0; i < p->step_count; i++)
		if (p->steps[i].op == &op_affinity)
			return true;
	return false;
}

void knob_tasks_plan_to_keep(struct planner *p, const char *knob)
{
	struct collection c = {.p = p, .own = true, .threads = json_array()};
	const struct cpulist none = {{0}};
	char before[64];

	if (!has_affinity_step(p->plan))
		collect_all_threads(&c);
	if (json_array_size(c.threads)) {
		snprintf(before, sizeof(before), "%zu with an affinity of their own", json_array_size(c.threads));
		plan_step(p->plan, knob, &op_affinity, "threads", before, "as the cpusets make them",
			  make_data(p, &none, c.threads, false, false));
	}
	json_decref(c.threads);
}

void knob_tasks_plan_smt(struct planner *p, const struct setting *s, const struct knob *k)
{
	if (!setting_is_on(s, s->value, s->key))
		knob_tasks_plan_to_keep(p, k->key);
}

void knob_tasks_plan_again(struct planner *p, const struct setting *s, const struct knob *k)
{
	(void)s;
	for (size_t i = 0; i < p->plan->step_count; i++) {
		const struct step *first = &p->plan->steps[i];

		if (first->op != &op_affinity || strcmp(first->knob, k->key) != 0)
			continue;
		plan_step(p->plan, first->knob, &op_affinity, "threads, again", "masks widened by the cpusets",
			  first->after,
			  make_data(p, &p->shielded, json_object_get(first->data, "threads"), true, true));
		return;
	}
}
