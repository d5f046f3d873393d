#include "tuning/machine/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu_kinds.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/ranges.h"
#include "tuning/machine/machine.h"

#define CPU  "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"

static void add_node(struct topology *t, int id, const struct cpulist *cpus, bool has_memory)
{
	t->nodes = or_abort(reallocarray(t->nodes, t->node_count + 1, sizeof(*t->nodes)));
	t->nodes[t->node_count] = (struct numa_node){.id = id, .cpus = *cpus, .has_memory = has_memory};
	cpulist_intersect(&t->nodes[t->node_count++].cpus, &t->online);
}

static void read_nodes(const struct machine *m, struct topology *t)
{
	struct cpulist ids, memory, cpus;
	bool known = !machine_read_cpus(m, NODE "/has_memory", &memory);

	if (machine_read_cpus(m, NODE "/online", &ids))
		cpulist_clear(&ids);
	for (int id = cpulist_first(&ids); id >= 0; id = cpulist_next(&ids, id)) {
		char *path = fs_path(NODE "/node%d/cpulist", id);

		if (!machine_read_cpus(m, path, &cpus))
			add_node(t, id, &cpus, !known || cpulist_has(&memory, (unsigned)id));
		free(path);
	}
	/* A kernel without NUMA is one node. */
	if (!t->node_count)
		add_node(t, 0, &t->online, true);
}

static int core_of(const struct machine *m, const struct topology *t, int cpu)
{
	char *path = fs_path(CPU "/cpu%d/topology/thread_siblings_list", cpu);
	struct cpulist siblings;
	int first = cpu;

	if (!machine_read_cpus(m, path, &siblings)) {
		cpulist_intersect(&siblings, &t->online);
		first = cpulist_first(&siblings);
	}
	free(path);
	return first >= 0 ? first : cpu;
}

static void read_cores(const struct machine *m, struct topology *t)
{
	int last = 0;

	for (int cpu = cpulist_first(&t->online); cpu >= 0; cpu = cpulist_next(&t->online, cpu))
		last = cpu;
	t->cpu_count = last + 1;
	t->core = or_abort(calloc((size_t)t->cpu_count, sizeof(*t->core)));
	for (int cpu = cpulist_first(&t->online); cpu >= 0; cpu = cpulist_next(&t->online, cpu))
		t->core[cpu] = core_of(m, t, cpu);
}

int topology_read(const struct machine *m, struct topology *t, struct err *e)
{
	int rc;

	*t = (struct topology){0};
	rc = machine_read_cpus(m, CPU "/online", &t->online);
	if (!rc && cpulist_first(&t->online) < 0)
		rc = -EINVAL;
	if (rc)
		return err_set(e, rc, STATUS_IMPOSSIBLE, CPU "/online", "read",
			       "without the list of CPUs there is nothing to place");
	if (machine_read_cpus(m, CPU "/possible", &t->possible))
		t->possible = t->online;
	read_nodes(m, t);
	read_cores(m, t);
	cpu_kinds_fast(&m->root, &t->online, &t->fast);
	return 0;
}

void topology_free(struct topology *t)
{
	free(t->nodes);
	free(t->core);
	*t = (struct topology){0};
}

const struct numa_node *topology_node(const struct topology *t, int id)
{
	for (size_t i = 0; i < t->node_count; i++)
		if (t->nodes[i].id == id)
			return &t->nodes[i];
	return NULL;
}

void topology_without_smt(struct topology *t)
{
	for (int cpu = 0; cpu < t->cpu_count; cpu++)
		if (cpulist_has(&t->online, (unsigned)cpu) && t->core[cpu] != cpu)
			cpulist_remove(&t->online, (unsigned)cpu);
	for (size_t i = 0; i < t->node_count; i++)
		cpulist_intersect(&t->nodes[i].cpus, &t->online);
}

void topology_memory_of(const struct topology *t, const struct cpulist *cpus, struct cpulist *nodes)
{
	cpulist_clear(nodes);
	for (size_t i = 0; i < t->node_count; i++)
		if (t->nodes[i].has_memory && cpulist_intersects(&t->nodes[i].cpus, cpus))
			cpulist_add(nodes, (unsigned)t->nodes[i].id);
	for (size_t i = 0; i < t->node_count && cpulist_first(nodes) < 0; i++)
		if (t->nodes[i].has_memory)
			cpulist_add(nodes, (unsigned)t->nodes[i].id);
	if (cpulist_first(nodes) < 0)
		cpulist_add(nodes, 0);
}

static const char *const classes[] = {"/sys/class/infiniband", "/sys/class/net",       "/sys/class/nvme",
				      "/sys/class/block",      "/sys/bus/pci/devices", "/sys/bus/virtio/devices"};

char *topology_device(const struct machine *m, const char *name)
{
	if (!*name || strchr(name, '/') || name[0] == '.')
		return NULL;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		char *path = fs_path("%s/%s", classes[i], name);

		if (sysroot_exists(&m->root, path))
			return path;
		free(path);
	}
	return NULL;
}

char **topology_device_names(const struct machine *m)
{
	static const char *const folders[] = {"/sys/class/infiniband", "/sys/class/net", "/sys/class/nvme"};
	char **all = or_abort(calloc(1, sizeof(*all))), **found;
	size_t count = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int n = sysroot_list(&m->root, folders[i], NULL, &found);

		if (n < 0)
			continue;
		all = or_abort(reallocarray(all, count + (size_t)n + 1, sizeof(*all)));
		memcpy(all + count, found, (size_t)n * sizeof(*all));
		count += (size_t)n;
		all[count] = NULL;
		free(found);
	}
	return all;
}

/* A device is its own folder (a PCI function), has a link to it, or sits on a bus below it
 * (virtio). */
static const char *const ways[] = {"", "/device", "/device/..", "/..", "/device/device", "/device/device/.."};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

int topology_near(const struct machine *m, const struct topology *t, const char *device_path, struct cpulist *out)
{
	for (size_t i = 0; i < WAYS; i++) {
		char *path = fs_path("%s%s/local_cpulist", device_path, ways[i]);
		int rc = machine_read_cpus(m, path, out);

		free(path);
		if (rc)
			continue;
		cpulist_intersect(out, &t->online);
		return cpulist_first(out) >= 0 ? 0 : -ENODATA;
	}
	return -ENODATA;
}

static bool add_vectors(const struct machine *m, const char *folder, struct ranges *irqs)
{
	char *path = fs_path("%s/msi_irqs", folder), **found;
	int n = sysroot_list(&m->root, path, "[0-9]*", &found);
	int64_t line = 0;

	free(path);
	for (int i = 0; i < n; i++)
		ranges_parse(found[i], irqs);
	if (n >= 0)
		sysroot_names_free(found);
	if (n > 0)
		return true;
	path = fs_path("%s/irq", folder);
	if (!sysroot_int(&m->root, path, &line) && line > 0)
		ranges_add(irqs, (uint64_t)line, (uint64_t)line);
	free(path);
	return line > 0;
}

int topology_irqs(const struct machine *m, const char *device_path, struct ranges *irqs)
{
	bool found = false;

	for (size_t i = 0; i < WAYS && !found; i++) {
		char *folder = fs_path("%s%s", device_path, ways[i]);

		found = add_vectors(m, folder, irqs);
		free(folder);
	}
	return found ? 0 : -ENODATA;
}

bool topology_are_offline(const struct machine *m, const struct cpulist *cpus)
{
	struct cpulist online;

	return !machine_read_cpus(m, CPU "/online", &online) && !cpulist_intersects(cpus, &online);
}

/* The CPU in whose folder of sysfs the path is. */
static bool cpu_of_path(const char *path, struct cpulist *cpu)
{
	static const char start[] = CPU "/cpu";
	char *end;
	unsigned long number;

	cpulist_clear(cpu);
	if (strncmp(path, start, sizeof(start) - 1))
		return false;
	number = strtoul(path + sizeof(start) - 1, &end, 10);
	if (end == path + sizeof(start) - 1 || *end != '/' || number >= CPULIST_MAX)
		return false;
	cpulist_add(cpu, (unsigned)number);
	return true;
}

bool topology_is_of_offline_cpu(const struct machine *m, const char *path)
{
	struct cpulist cpu;

	return cpu_of_path(path, &cpu) && topology_are_offline(m, &cpu);
}

static bool is_smt_off(const struct machine *m)
{
	char control[32];

	return !sysroot_line(&m->root, CPU "/smt/control", control, sizeof(control)) &&
	       (!strcmp(control, "off") || !strcmp(control, "forceoff"));
}

int topology_present(const struct machine *m, struct cpulist *cpus)
{
	return machine_read_cpus(m, CPU "/present", cpus);
}

int topology_offline(const struct machine *m, struct cpulist *cpus)
{
	struct cpulist online;
	int rc = topology_present(m, cpus);

	if (!rc)
		rc = machine_read_cpus(m, CPU "/online", &online);
	if (rc)
		cpulist_clear(cpus);
	else
		cpulist_subtract(cpus, &online);
	return rc;
}

bool topology_waits_for_any(const struct machine *m, const struct cpulist *cpus, const char *spared, const char *object,
			    struct err *e)
{
	struct cpulist missing, known;
	char list[CPULIST_TEXT_MAX];

	if (is_smt_off(m) || topology_offline(m, &missing))
		return false;
	if (!cpulist_parse(spared, &known, NULL, 0))
		cpulist_subtract(&missing, &known);
	if (cpus)
		cpulist_intersect(&missing, cpus);
	if (cpulist_first(&missing) < 0)
		return false;
	cpulist_format(&missing, list, sizeof(list));
	err_set(e, -EAGAIN, STATUS_FAILED, object, "put back",
		"CPU %s is offline; bring it online (echo 1 >" CPU
		"/cpu%d/online) and run kbtune restore again, or give it up (kbtune restore --give-up %s)",
		list, cpulist_first(&missing), list);
	return true;
}

bool topology_waits_for_cpu_of(const struct machine *m, const char *path, const char *spared, struct err *e)
{
	struct cpulist cpu;

	return cpu_of_path(path, &cpu) && topology_waits_for_any(m, &cpu, spared, path, e);
}

bool topology_is_of_spared_cpu(const struct machine *m, const char *path, const char *spared)
{
	struct cpulist cpu, known;

	return cpu_of_path(path, &cpu) && topology_are_offline(m, &cpu) && !cpulist_parse(spared, &known, NULL, 0) &&
	       cpulist_is_subset(&cpu, &known);
}
