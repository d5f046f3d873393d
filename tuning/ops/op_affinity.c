/*
 * Moves threads away from some CPUs. data: "off", the CPUs; "kernel", "programs": which threads;
 * "threads", those that had an affinity of their own or have to move, as they were: [{"tid",
 * "start", "name", "cpus"}]; "again": the second of two such steps, which sets what the first has
 * written down once more, after cpusets have widened it. With "policy" and "priority", the scheduling
 * of a thread is restored, too. Threads that have been started since inherit from one of these where
 * they may run, and get back what that one gets back, and are then recorded like it.
 * "pins": also that, of threads that stay; `verify` compares their masks.
 * Of threads, "wide": its cpuset or the kernel makes its mask, and gives it also
 * CPUs that come online; "as_left": its mask when a CPU that was offline could not be given back to it. "left": only such
 * threads are restored, and only those that nobody has placed since.
 */
#include "tuning/ops/ops.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/topology.h"

static int read_cpus(const struct step *s, const char *key, struct cpulist *out)
{
	return cpulist_parse(step_text(s, key), out, NULL, 0);
}

static bool is_ended(int rc)
{
	return rc == -ESRCH;
}

/* CapEff of /proc/self/status. */
static bool may_place_others(const struct machine *m)
{
	char *text, *line;
	bool may = true;

	if (!m->root.live || machine_read(m, "/proc/self/status", &text))
		return true;
	line = strstr(text, "CapEff:");
	if (line)
		may = strtoull(line + 7, NULL, 16) >> CAP_SYS_NICE & 1;
	free(text);
	return may;
}

static int affinity_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	(void)s;
	if (may_place_others(m))
		return 0;
	err_cause(-EPERM, why, size);
	return -EPERM;
}

static int move_one(struct machine *m, const struct step *s, const json_t *one)
{
	int tid = (int)json_integer_value(json_object_get(one, "tid"));
	unsigned long long start = (unsigned long long)json_integer_value(json_object_get(one, "start"));
	const char *text = json_string_value(json_object_get(one, "cpus"));
	struct cpulist off, want;
	struct thread t;

	if (!text || read_cpus(s, "off", &off) || cpulist_parse(text, &want, NULL, 0))
		return -EINVAL;
	if (tasks_read(m, tid, tid, &t) || t.start != start)
		return 0;
	cpulist_subtract(&want, &off);
	if (cpulist_first(&want) < 0 && read_cpus(s, "housekeeping", &want))
		return -EINVAL;
	return memcmp(&want, &t.cpus, sizeof(want)) ? tasks_place(m, tid, &want) : 0;
}

static int affinity_apply(struct machine *m, struct step *s, struct err *e)
{
	const json_t *threads = json_object_get(s->data, "threads"), *one;
	size_t i, stuck = 0;

	if (!m->root.live) {
		step_note(s, "simulated: the threads of a recorded machine stay where they are");
		return 0;
	}
	json_array_foreach (threads, i, one) {
		int rc = move_one(m, s, one);

		if (rc == -EINVAL || rc == -EBUSY)
			stuck++;
		else if (rc && !is_ended(rc))
			return err_sys(e, rc, json_string_value(json_object_get(one, "name")),
				       "move threads off the shield");
	}
	if (stuck)
		step_note(s, "%zu threads could not be moved", stuck);
	return 0;
}

struct look {
	const struct machine *m;
	const struct step *s;
	struct cpulist off;
	size_t count;
	char names[200];
};

/* Threads in a shield's cpuset are there intentionally. */
static bool is_in_shield(const struct look *l, const struct thread *t)
{
	const json_t *shields = json_object_get(l->s->data, "shields"), *one;
	char where[256];
	size_t i;

	tasks_cpuset(l->m, t->pid, where, sizeof(where));
	json_array_foreach (shields, i, one)
		if (where[0] == '/' && !strcmp(where + 1, json_string_value(one)))
			return true;
	return false;
}

static int visit_thread(const struct thread *t, void *context)
{
	struct look *l = context;
	bool wanted = json_is_true(json_object_get(l->s->data, t->is_kernel ? "kernel" : "programs"));

	if (!wanted || t->is_bound || !cpulist_intersects(&t->cpus, &l->off) || is_in_shield(l, t))
		return 0;
	if (l->count++ < 5)
		snprintf(l->names + strlen(l->names), sizeof(l->names) - strlen(l->names), "%s%s (%d)",
			 l->count > 1 ? ", " : "", t->name, t->tid);
	return 0;
}

/* Are programs still pinned as they were, off the shields? Those that were pinned to nothing else are not. */
static enum check check_pins(struct machine *m, const struct step *s, char *now, size_t size)
{
	const json_t *threads = json_object_get(s->data, "threads"), *one;
	struct look l = {.m = m, .s = s};
	char cpus[CPULIST_TEXT_MAX];
	struct cpulist want;
	struct thread t;
	size_t i;

	if (!m->root.live || read_cpus(s, "off", &l.off))
		return CHECK_SAME;
	json_array_foreach (threads, i, one) {
		int tid = (int)json_integer_value(json_object_get(one, "tid"));
		const char *text = json_string_value(json_object_get(one, "cpus"));

		if (!text || cpulist_parse(text, &want, NULL, 0) || tasks_read(m, tid, tid, &t) || t.is_kernel ||
		    t.start != (unsigned long long)json_integer_value(json_object_get(one, "start")) ||
		    json_is_true(json_object_get(one, "wide")))
			continue;
		cpulist_subtract(&want, &l.off);
		if (cpulist_first(&want) >= 0 && memcmp(&want, &t.cpus, sizeof(want)) && !is_in_shield(&l, &t) &&
		    l.count++ < 5)
			snprintf(l.names + strlen(l.names), sizeof(l.names) - strlen(l.names), "%s%s (%d) on %.40s",
				 l.count > 1 ? ", " : "", t.name, tid, cpulist_format(&t.cpus, cpus, sizeof(cpus)));
	}
	if (!l.count)
		return CHECK_SAME;
	snprintf(now, size, "%zu threads are pinned to other CPUs: %s", l.count, l.names);
	return CHECK_DRIFT;
}

/* Finds all threads that may run on the shield, including new ones and those moved by others. */
static enum check affinity_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	struct look l = {.m = m, .s = s};

	if (json_is_true(json_object_get(s->data, "pins")))
		return check_pins(m, s, now, size);
	/* The second one of the two steps sees what cpusets have done. */
	if (!m->root.live || !json_is_true(json_object_get(s->data, "last")) || read_cpus(s, "off", &l.off))
		return CHECK_SAME;
	tasks_each(m, visit_thread, &l);
	if (!l.count)
		return CHECK_SAME;
	snprintf(now, size, "%zu threads may run on CPUs %s: %s", l.count, step_text(s, "off"), l.names);
	return CHECK_DRIFT;
}

static bool is_as_left(const json_t *one, const struct thread *t)
{
	const char *text = json_string_value(json_object_get(one, "as_left"));
	struct cpulist then;

	return text && !cpulist_parse(text, &then, NULL, 0) && !memcmp(&then, &t->cpus, sizeof(then));
}

/* Has the kernel given it all of these CPUs, and no others instead? 0 or STEP_LEFT. */
static int compare_mask(const struct machine *m, json_t *one, struct thread *t, const struct cpulist *want)
{
	char cpus[CPULIST_TEXT_MAX];

	if (tasks_read(m, t->tid, t->tid, t) || !memcmp(want, &t->cpus, sizeof(*want)))
		return 0;
	json_object_set_new(one, "as_left", json_string(cpulist_format(&t->cpus, cpus, sizeof(cpus))));
	return STEP_LEFT;
}

/* Many kernels take CPUs that are offline out of what is set, for ever: the rest is restored, and the thread waits for
 * them, unless they were offline before. `t` gets the thread. */
static int restore_one(struct machine *m, const struct step *s, json_t *one, struct thread *t, struct err *e)
{
	int tid = (int)json_integer_value(json_object_get(one, "tid")), rc;
	unsigned long long start = (unsigned long long)json_integer_value(json_object_get(one, "start"));
	const char *text = json_string_value(json_object_get(one, "cpus"));
	struct cpulist had, want, offline;

	if (!text || cpulist_parse(text, &had, NULL, 0))
		return -EINVAL;
	if (read_cpus(s, STEP_OFFLINE, &offline))
		cpulist_clear(&offline);
	want = had;
	if (json_is_true(json_object_get(one, "wide")))
		cpulist_unite(&want, &offline);
	if (tasks_read(m, tid, tid, t) || t->start != start || !memcmp(&want, &t->cpus, sizeof(want)) ||
	    (json_is_true(json_object_get(s->data, "left")) && !is_as_left(one, t)))
		return 0;
	rc = tasks_place(m, tid, &want);
	if (rc && rc != -EINVAL)
		return rc;
	if (topology_waits_for_any(m, &had, step_text(s, STEP_OFFLINE), t->name, e))
		return -EAGAIN;
	topology_offline(m, &offline);
	return cpulist_intersects(&offline, &had) && compare_mask(m, one, t, &had) ? STEP_LEFT : rc;
}

static void add_thread_name(const struct thread *t, size_t count, char *names, size_t size)
{
	size_t used = strlen(names);

	if (count <= 5)
		snprintf(names + used, size - used, "%s%s (%d)", count > 1 ? ", " : "", t->name, t->tid);
}

static int restore_policy(struct machine *m, const json_t *one)
{
	const json_t *policy = json_object_get(one, "policy");
	const int tid = (int)json_integer_value(json_object_get(one, "tid")), want = (int)json_integer_value(policy);
	const int priority = (int)json_integer_value(json_object_get(one, "priority"));
	struct thread t;

	/* A deadline has more parameters. */
	if (!policy || want < 0 || want == SCHED_DEADLINE || tasks_read(m, tid, tid, &t) ||
	    t.start != (unsigned long long)json_integer_value(json_object_get(one, "start")) ||
	    (t.policy == want && t.priority == priority))
		return 0;
	return tasks_schedule(m, tid, want, priority);
}

/* --- threads that were started since --- */

#define GENERATIONS 64

struct heirs {
	struct machine *m;
	json_t *masks; /* of the recorded threads: "tid": {"was", "is"}, before any is restored */
	json_t *found; /* as the recorded ones: {"tid", "start", "name", "cpus"} */
};

static const json_t *mask_of(const struct heirs *h, int tid)
{
	char key[16];

	snprintf(key, sizeof(key), "%d", tid);
	return json_object_get(h->masks, key);
}

/* Whom it has its mask from: its process, or the nearest process above that is recorded. A kernel thread has it from
 * kthreadd: the kernel keeps what was set for that beside the mask itself, and hands it on. */
static const json_t *ancestor_of(const struct heirs *h, const struct thread *t)
{
	struct thread above = *t;
	const json_t *found = t->tid != t->pid ? mask_of(h, t->pid) : NULL;

	for (int i = 0; !found && i < GENERATIONS && above.parent > 0; i++) {
		const int parent = above.parent;

		found = mask_of(h, parent);
		if (!found && tasks_read(h->m, parent, parent, &above))
			break;
	}
	return found;
}

static int find_heir(const struct thread *t, void *context)
{
	struct heirs *h = context;
	char now[CPULIST_TEXT_MAX];
	const json_t *from;
	const char *was;

	if (t->is_bound || mask_of(h, t->tid))
		return 0;
	from = ancestor_of(h, t);
	was = json_string_value(json_object_get(from, "was"));
	cpulist_format(&t->cpus, now, sizeof(now));
	if (was && strcmp(was, now) && !strcmp(now, json_string_value(json_object_get(from, "is"))))
		json_array_append_new(h->found, json_pack("{s:i, s:I, s:s, s:s}", "tid", t->tid, "start",
							  (json_int_t)t->start, "name", t->name, "cpus", was));
	return 0;
}

/* A new list of them. */
static json_t *find_heirs(struct machine *m, const json_t *threads)
{
	struct heirs h = {.m = m, .masks = json_object(), .found = json_array()};
	const json_t *one;
	size_t i;

	json_array_foreach (threads, i, one) {
		const int tid = (int)json_integer_value(json_object_get(one, "tid"));
		const char *was = json_string_value(json_object_get(one, "cpus"));
		char key[16], is[CPULIST_TEXT_MAX];
		struct thread t;

		snprintf(key, sizeof(key), "%d", tid);
		if (was && !tasks_read(m, tid, tid, &t) &&
		    t.start == (unsigned long long)json_integer_value(json_object_get(one, "start")))
			json_object_set_new(
			    h.masks, key,
			    json_pack("{s:s, s:s}", "was", was, "is", cpulist_format(&t.cpus, is, sizeof(is))));
	}
	tasks_each(m, find_heir, &h);
	json_decref(h.masks);
	return h.found;
}

static int undo_threads(struct machine *m, const struct step *s, struct err *e)
{
	json_t *threads = json_object_get(s->data, "threads"), *one;
	struct err waits = ERR_INIT;
	size_t i, waiting = 0, left = 0;
	char names[256] = "";
	struct thread t;
	int rc, worst = 0;

	json_array_foreach (threads, i, one) {
		rc = restore_one(m, s, one, &t, &waits);
		if (!rc)
			rc = restore_policy(m, one);
		/* EINVAL: the thread has been bound meanwhile, as kernel threads may be, so it is
		 * left alone. */
		if (rc == -EAGAIN)
			waiting++;
		else if (rc == STEP_LEFT)
			add_thread_name(&t, ++left, names, sizeof(names));
		else if (rc && rc != -EINVAL && !is_ended(rc))
			worst = err_sys(e, rc, json_string_value(json_object_get(one, "name")), "restore its affinity");
	}
	if (!worst && waiting)
		worst = err_set(e, -EAGAIN, STATUS_FAILED, "threads", NULL, "%zu may not run where they could: %s",
				waiting, waits.text);
	if (worst || !left)
		return worst;
	err_set(
	    e, -EAGAIN, STATUS_FAILED, NULL, NULL,
	    "this kernel takes CPU %s, which is offline, from %zu of them (%s%s); once it is online, kbtune restore "
	    "gives it back",
	    step_text(s, STEP_OFFLINE), left, names, left > 5 ? ", ..." : "");
	return STEP_LEFT;
}

static int affinity_undo(struct machine *m, const struct step *s, struct err *e)
{
	json_t *threads = json_object_get(s->data, "threads"), *heirs;

	if (!m->root.live || json_is_true(json_object_get(s->data, "again")))
		return 0;
	if (!json_is_true(json_object_get(s->data, "left"))) {
		heirs = find_heirs(m, threads);
		json_array_extend(threads, heirs);
		json_decref(heirs);
	}
	return undo_threads(m, s, e);
}

const struct op op_affinity = {
    .name = "affinity",
    .right = "CAP_SYS_NICE",
    .probe = affinity_probe,
    .apply = affinity_apply,
    .check = affinity_check,
    .undo = affinity_undo,
};
