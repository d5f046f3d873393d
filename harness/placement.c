#include <errno.h>
#include <stdio.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/sysroot.h"
#include "instrument/memory.h"
#include "placement.h"

static void siblings(int cpu, struct cpulist *out)
{
	struct sysroot root;
	char path[128], line[1024];

	cpulist_clear(out);
	if (cpu < 0 || sysroot_open(&root, NULL, NULL))
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	if (sysroot_line(&root, path, line, sizeof(line)) == 0)
		cpulist_parse(line, out, NULL, 0);
	sysroot_close(&root);
}

/* The last of the set: the first CPUs are where kernels put their own work. */
static int last_cpu(const struct cpulist *set)
{
	int last = -1;

	for (int cpu = cpulist_first(set); cpu >= 0; cpu = cpulist_next(set, cpu))
		last = cpu;
	return last;
}

/* The last CPU that is neither `other` nor on its core, if there is such a one. */
static int choose_apart(const struct cpulist *allowed, int other)
{
	struct cpulist set = *allowed, near;
	int cpu;

	if (other < 0)
		return last_cpu(&set);
	siblings(other, &near);
	for (cpu = cpulist_first(&near); cpu >= 0; cpu = cpulist_next(&near, cpu))
		cpulist_remove(&set, (unsigned)cpu);
	cpulist_remove(&set, (unsigned)other);
	cpu = last_cpu(&set);
	if (cpu >= 0)
		return cpu;
	set = *allowed;
	cpulist_remove(&set, (unsigned)other);
	cpu = last_cpu(&set);
	return cpu >= 0 ? cpu : other;
}

static int choose_spare(const struct cpulist *allowed, int source, int sink)
{
	struct cpulist set = *allowed;

	if (source >= 0)
		cpulist_remove(&set, (unsigned)source);
	if (sink >= 0)
		cpulist_remove(&set, (unsigned)sink);
	return last_cpu(&set);
}

static int check_told(const struct cpulist *allowed, const char *name, int64_t cpu, struct err *e)
{
	char list[256];

	if (cpu < 0 || cpulist_has(allowed, (unsigned)cpu))
		return 0;
	return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, name, NULL,
		       "CPU %lld is not among those that this process may run on (%s)", (long long)cpu,
		       cpulist_format(allowed, list, sizeof(list)));
}

void placement_pair(const struct cpulist allowed[2], const struct common_settings *s, bool duplex, int cpu[2])
{
	int source = (int)s->source_cpu, sink = (int)s->sink_cpu;

	if (s->poll != POLL_EVENT && sink < 0)
		sink = choose_apart(&allowed[ROLE_SINK], source);
	if ((duplex ? (enum poll_mode)s->poll : settings_poll_send(s)) != POLL_EVENT && source < 0)
		source = choose_apart(&allowed[ROLE_SOURCE], sink);
	cpu[ROLE_SOURCE] = source;
	cpu[ROLE_SINK] = sink;
}

int placement_choose(enum role role, const struct common_settings *s, bool duplex, struct placement *out, struct err *e)
{
	struct cpulist allowed[2], near;
	int rc = cpulist_allowed(&allowed[0]), cpu[2];

	*out = (struct placement){-1, -1, -1, false, false};
	if (rc)
		return err_sys(e, rc, "this process", "read the CPU mask of");
	allowed[1] = allowed[0];
	/* The other side checks its own: it may run in another cpuset. */
	rc = check_told(&allowed[0], role == ROLE_SOURCE ? "source_cpu" : "sink_cpu",
			role == ROLE_SOURCE ? s->source_cpu : s->sink_cpu, e);
	if (rc)
		return rc;
	placement_pair(allowed, s, duplex, cpu);
	out->spare_cpu = choose_spare(&allowed[0], cpu[ROLE_SOURCE], cpu[ROLE_SINK]);
	out->cpu = cpu[role];
	out->numa_node = memory_node_of_cpu(out->cpu);
	if (cpu[ROLE_SOURCE] >= 0 && cpu[ROLE_SINK] >= 0) {
		siblings(cpu[ROLE_SOURCE], &near);
		out->shared_cpu = cpu[ROLE_SOURCE] == cpu[ROLE_SINK];
		out->shared_smt = cpu[ROLE_SOURCE] != cpu[ROLE_SINK] && cpulist_has(&near, (unsigned)cpu[ROLE_SINK]);
	}
	return 0;
}

json_t *placement_json(const struct placement *p)
{
	return json_pack("{s:o, s:i, s:b, s:b}", "cpu", p->cpu < 0 ? json_null() : json_integer(p->cpu), "numa_node",
			 p->numa_node, "shared_smt", p->shared_smt, "shared_cpu", p->shared_cpu);
}
