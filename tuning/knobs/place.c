#include "tuning/knobs/place.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/text.h"
#include "tuning/machine/machine.h"

static const char *const place_keys[] = {"cpus", "node", "near", "take", "cores", "fast", NULL};

static const struct shield *find_shield(const struct planner *p, const char *name)
{
	for (size_t i = 0; i < p->plan->shield_count; i++)
		if (!strcmp(p->plan->shields[i].name, name))
			return &p->plan->shields[i];
	return NULL;
}

/* Is it the name of a shield that could not be placed? Its own fault is told, and is enough. */
static bool is_faulty_shield(const struct planner *p, const char *name)
{
	const struct setting *s = profile_get(p->profile, "shields");

	for (size_t i = 0; s && s->value->kind == YNODE_SEQUENCE && i < s->value->count; i++) {
		const struct ynode *one = s->value->items[i],
				   *own = one->kind == YNODE_MAPPING ? yaml_get(one, "name") : NULL;

		if (own && own->kind == YNODE_SCALAR && !strcmp(own->scalar, name))
			return true;
	}
	return false;
}

static int place_by_list(struct planner *p, const struct setting *s, const struct ynode *n, struct cpulist *out)
{
	char why[200], there[CPULIST_TEXT_MAX], missing[CPULIST_TEXT_MAX];
	struct cpulist absent;

	if (cpulist_parse(n->scalar, out, why, sizeof(why)) || cpulist_first(out) < 0) {
		char quoted[TEXT_QUOTE_MAX];

		/* It was meant as a list. */
		if (isdigit((unsigned char)*n->scalar))
			setting_fault(s, n, "%s", why);
		else if (!is_faulty_shield(p, n->scalar))
			setting_fault(
			    s, n,
			    "%s is not a place: a list such as 2-3, housekeeping, shields, all, or a shield's name",
			    text_quote(n->scalar, quoted, sizeof(quoted)));
		return -EINVAL;
	}
	if (cpulist_is_subset(out, &p->topo.online))
		return 0;
	absent = *out;
	cpulist_subtract(&absent, &p->topo.online);
	setting_fault(s, n, "there is no CPU %s here; there are %s", cpulist_format(&absent, missing, sizeof(missing)),
		      cpulist_format(&p->topo.online, there, sizeof(there)));
	return -EINVAL;
}

static int place_by_word(struct planner *p, const struct setting *s, const struct ynode *n, struct cpulist *out)
{
	const struct shield *shield = find_shield(p, n->scalar);

	if (shield)
		*out = shield->cpus;
	else if (!strcmp(n->scalar, "all"))
		*out = p->topo.online;
	else if (!strcmp(n->scalar, "housekeeping"))
		*out = p->plan->housekeeping;
	else if (!strcmp(n->scalar, "shields"))
		*out = p->shielded;
	else
		return place_by_list(p, s, n, out);
	return 0;
}

static int place_by_node(struct planner *p, const struct setting *s, const struct ynode *n, struct cpulist *out,
			 char *why, size_t size)
{
	char *end;
	long id = n->kind == YNODE_SCALAR ? strtol(n->scalar, &end, 10) : -1;
	const struct numa_node *node;

	if (n->kind != YNODE_SCALAR || end == n->scalar || *end || id < 0 || id > INT_MAX) {
		setting_must_be(s, n, "node", "the number of a NUMA node");
		return -EINVAL;
	}
	node = topology_node(&p->topo, (int)id);
	if (!node || cpulist_first(&node->cpus) < 0) {
		snprintf(why, size, "there is no NUMA node %ld with CPUs here", id);
		return -ENODEV;
	}
	*out = node->cpus;
	return 0;
}

static int unknown_device(struct planner *p, const struct setting *s, const struct ynode *n)
{
	char **names = topology_device_names(p->m), quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	setting_fault(s, n, "there is no device %s here%s", text_quote(n->scalar, quoted, sizeof(quoted)),
		      suggestion(suggest(n->scalar, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
	return -EINVAL;
}

static int place_by_device(struct planner *p, const struct setting *s, const struct ynode *n, struct cpulist *out)
{
	char *path = n->kind == YNODE_SCALAR ? topology_device(p->m, n->scalar) : NULL;

	if (n->kind != YNODE_SCALAR) {
		setting_must_be(s, n, "near", "a device, such as mlx5_0");
		return -EINVAL;
	}
	if (!path)
		return unknown_device(p, s, n);
	if (topology_near(p->m, &p->topo, path, out)) {
		plan_warn(p->plan, "the NUMA node of %s is not known: any CPU counts as near it", n->scalar);
		*out = p->topo.online;
	}
	free(path);
	return 0;
}

/* "2", "1/3", "all": a number of CPUs out of `have`, at least one and at most CPULIST_MAX. -1: invalid. */
static long count_share(const char *text, long have)
{
	char *end;
	long a = strtol(text, &end, 10), b;

	if (!strcmp(text, "all"))
		return have;
	if (end == text || a < 1)
		return -1;
	if (!*end)
		return a;
	if (*end != '/')
		return -1;
	text = end + 1;
	b = strtol(text, &end, 10);
	if (end == text || *end || b < 1 || a > b || b > LONG_MAX / CPULIST_MAX)
		return -1;
	return have * a / b > 0 ? have * a / b : 1;
}

static bool is_whole(const struct planner *p, const struct cpulist *set, int core)
{
	for (int cpu = 0; cpu < p->topo.cpu_count; cpu++)
		if (cpulist_has(&p->topo.online, (unsigned)cpu) && p->topo.core[cpu] == core &&
		    !cpulist_has(set, (unsigned)cpu))
			return false;
	return true;
}

/* Keep only cores with all of their threads in the set. */
static void only_whole_cores(const struct planner *p, struct cpulist *set)
{
	struct cpulist before = *set;

	for (int cpu = cpulist_first(&before); cpu >= 0; cpu = cpulist_next(&before, cpu))
		if (!is_whole(p, &before, p->topo.core[cpu]))
			cpulist_remove(set, (unsigned)cpu);
}

/* Which is taken sooner, where there are CPUs of several kinds: 0 for one of the fast kind, 1 for a slow one, 2 for the first
 * core, where much happens that cannot be moved. */
static int rank_of(const struct planner *p, int cpu, bool fast)
{
	if (!fast || cpulist_is_subset(&p->topo.online, &p->topo.fast))
		return 0;
	if (p->topo.core[cpu] == cpulist_first(&p->topo.online))
		return 2;
	return !cpulist_has(&p->topo.fast, (unsigned)cpu);
}

/* Keep the fast ones, and of these the last by number, because the first ones are used for booting and housekeeping. */
static void keep_best(const struct planner *p, struct cpulist *set, long count, bool cores, bool fast)
{
	struct cpulist kept;
	long n = 0;

	cpulist_clear(&kept);
	for (int rank = 0; rank < 3; rank++)
		for (int cpu = p->topo.cpu_count - 1; cpu >= 0 && n < count; cpu--) {
			if (!cpulist_has(set, (unsigned)cpu) || (cores && p->topo.core[cpu] != cpu) ||
			    rank_of(p, cpu, fast) != rank)
				continue;
			n++;
			for (int other = 0; other < p->topo.cpu_count; other++)
				if (other == cpu ||
				    (cores && cpulist_has(set, (unsigned)other) && p->topo.core[other] == cpu))
					cpulist_add(&kept, (unsigned)other);
		}
	*set = kept;
}

static long count_units(const struct planner *p, const struct cpulist *set, bool cores)
{
	long n = 0;

	for (int cpu = cpulist_first(set); cpu >= 0; cpu = cpulist_next(set, cpu))
		n += !cores || p->topo.core[cpu] == cpu;
	return n;
}

/* `take` counts the CPUs of the place, and takes from those that no shield has taken yet. */
static int take_share(struct planner *p, const struct setting *s, const struct ynode *place, struct cpulist *out,
		      char *why, size_t size)
{
	const struct ynode *take = yaml_get(place, "take"), *cores = yaml_get(place, "cores"),
			   *fast = yaml_get(place, "fast");
	bool whole = cores && setting_is_on(s, cores, "cores"), best = !fast || setting_is_on(s, fast, "fast");
	long have, want;

	if (whole)
		only_whole_cores(p, out);
	if (!take)
		return 0;
	have = count_units(p, out, whole);
	want = take->kind == YNODE_SCALAR ? count_share(take->scalar, have) : -1;
	if (want < 0) {
		setting_must_be(s, take, "take", "a number, a share such as 1/3, or all");
		return -EINVAL;
	}
	cpulist_subtract(out, &p->shielded);
	if (count_units(p, out, whole) < want) {
		snprintf(why, size, "%ld %s requested, only %ld free there", want, whole ? "cores are" : "CPUs are",
			 count_units(p, out, whole));
		return -ENODEV;
	}
	keep_best(p, out, want, whole, best);
	return 0;
}

static int place_by_mapping(struct planner *p, const struct setting *s, const struct ynode *n, struct cpulist *out,
			    char *why, size_t size)
{
	const struct ynode *cpus = yaml_get(n, "cpus"), *node = yaml_get(n, "node"), *near = yaml_get(n, "near");
	int rc;

	setting_check_keys(s, n, place_keys);
	if (!!cpus + !!node + !!near != 1) {
		setting_fault(s, n, "a place has exactly one of cpus, node and near");
		return -EINVAL;
	}
	if (cpus && cpus->kind != YNODE_SCALAR) {
		setting_must_be(s, cpus, "cpus", "a list such as 2-3");
		return -EINVAL;
	}
	rc = cpus   ? place_by_word(p, s, cpus, out)
	     : node ? place_by_node(p, s, node, out, why, size)
		    : place_by_device(p, s, near, out);
	return rc ? rc : take_share(p, s, n, out, why, size);
}

int place_resolve(struct planner *p, const struct setting *s, const struct ynode *n, const char *object,
		  struct cpulist *out)
{
	char why[300] = "";
	int rc;

	cpulist_clear(out);
	if (n->kind == YNODE_SCALAR)
		return place_by_word(p, s, n, out);
	if (n->kind != YNODE_MAPPING) {
		setting_fault(s, n, "a place is a list such as 2-3, a name, or a mapping with cpus, node or near");
		return -EINVAL;
	}
	rc = place_by_mapping(p, s, n, out, why, sizeof(why));
	if (rc == -ENODEV)
		plan_missing(p->plan, s->key, object, "%s", why);
	return rc;
}

static int check_shield(struct planner *p, const struct setting *s, const struct ynode *one)
{
	static const char *const keys[] = {"name", "place", "partition", NULL};
	static const char *const partitions[] = {"isolated", "root", "member", NULL};
	const struct ynode *name = yaml_get(one, "name"), *partition = yaml_get(one, "partition");
	size_t i = 0;

	if (one->kind != YNODE_MAPPING) {
		setting_fault(s, one, "a shield is a mapping with name and place");
		return -EINVAL;
	}
	setting_check_keys(s, one, keys);
	if (!name || name->kind != YNODE_SCALAR || !cgroups_is_name(name->scalar) ||
	    !strcmp(name->scalar, "housekeeping")) {
		setting_fault(s, name ? name : one,
			      "a shield must have a name of letters, digits, - and _, other than housekeeping");
		return -EINVAL;
	}
	if (find_shield(p, name->scalar)) {
		setting_fault(s, name, "duplicate name: a shield above has it already");
		return -EINVAL;
	}
	while (partition && partitions[i] &&
	       (partition->kind != YNODE_SCALAR || strcmp(partition->scalar, partitions[i])))
		i++;
	if (partition && !partitions[i]) /* its place may be wrong, too */
		setting_must_be(s, partition, "partition", "isolated, root or member");
	if (!yaml_get(one, "place")) {
		setting_fault(s, one, "a shield must have a place");
		return -EINVAL;
	}
	return 0;
}

/* Where there are CPUs of several kinds, the plan says which kind a shield has. */
static void note_speed(struct planner *p, const struct shield *shield)
{
	char slow_text[CPULIST_TEXT_MAX], fast_text[CPULIST_TEXT_MAX];
	struct cpulist slow = p->topo.online, fast = p->topo.fast, slow_here = shield->cpus;

	cpulist_intersect(&fast, &p->topo.online);
	cpulist_subtract(&slow, &fast);
	cpulist_intersect(&slow_here, &slow);
	if (cpulist_first(&slow) < 0)
		return;
	if (cpulist_first(&slow_here) < 0)
		plan_warn(p->plan, "the shield %s has fast CPUs only; the slow ones of this machine are %s",
			  shield->name, cpulist_format(&slow, slow_text, sizeof(slow_text)));
	else
		plan_warn(p->plan, "the shield %s has slow CPUs, %s; the fast ones of this machine are %s",
			  shield->name, cpulist_format(&slow_here, slow_text, sizeof(slow_text)),
			  cpulist_format(&fast, fast_text, sizeof(fast_text)));
}

static int place_one(struct planner *p, const struct setting *s, const struct ynode *one)
{
	const struct ynode *name = yaml_get(one, "name"), *place = yaml_get(one, "place");
	const struct ynode *partition = yaml_get(one, "partition");
	struct shield *shield = &p->plan->shields[p->plan->shield_count];
	char cpus[CPULIST_TEXT_MAX];
	int rc = place_resolve(p, s, place, name->scalar, &shield->cpus);

	if (rc)
		return rc;
	if (cpulist_first(&shield->cpus) < 0) {
		setting_fault(s, place, "no CPU is left for the shield '%s'", name->scalar);
		return -EINVAL;
	}
	if (cpulist_intersects(&shield->cpus, &p->shielded)) {
		setting_fault(s, place, "the shield '%s' (CPUs %s) overlaps with one above", name->scalar,
			      cpulist_format(&shield->cpus, cpus, sizeof(cpus)));
		return -EINVAL;
	}
	snprintf(shield->name, sizeof(shield->name), "%s", name->scalar);
	snprintf(shield->partition, sizeof(shield->partition), "%s",
		 partition && partition->kind == YNODE_SCALAR ? partition->scalar : "isolated");
	topology_memory_of(&p->topo, &shield->cpus, &shield->memory);
	note_speed(p, shield);
	cpulist_unite(&p->shielded, &shield->cpus);
	cpulist_subtract(&p->plan->housekeeping, &shield->cpus);
	p->plan->shield_count++;
	return 0;
}

int place_shields(struct planner *p, const struct setting *s)
{
	char all[CPULIST_TEXT_MAX];

	if (s->value->kind != YNODE_SEQUENCE) {
		setting_must_be(s, s->value, s->key, "a list");
		return -EINVAL;
	}
	for (size_t i = 0; i < s->value->count; i++) {
		const struct ynode *one = s->value->items[i];

		if (p->plan->shield_count == SHIELDS_MAX) {
			setting_fault(s, one, "more than %d shields", SHIELDS_MAX);
			return -EINVAL;
		}
		if (!check_shield(p, s, one))
			place_one(p, s, one);
	}
	if (cpulist_first(&p->plan->housekeeping) < 0)
		setting_fault(s, s->value, "the shields take all CPUs (%s); one must be left for everything else",
			      cpulist_format(&p->topo.online, all, sizeof(all)));
	return profile_has_faults(p->profile) ? -EINVAL : 0;
}
