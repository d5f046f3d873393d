#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/sysroot.h"
#include "instrument/memory.h"
#include "placement/cpu_choice.h"
#include "placement/placement.h"

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
static int choose_apart(const struct cpulist *from, int other)
{
	struct cpulist set = *from, near;
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
	set = *from;
	cpulist_remove(&set, (unsigned)other);
	cpu = last_cpu(&set);
	return cpu >= 0 ? cpu : other;
}

static int choose_spare(const struct cpulist *from, int source, int sink)
{
	struct cpulist set = *from;

	if (source >= 0)
		cpulist_remove(&set, (unsigned)source);
	if (sink >= 0)
		cpulist_remove(&set, (unsigned)sink);
	return last_cpu(&set);
}

/* What there is to choose from, by role. The other side's words may be about another host: there they mean nothing. */
static int read_choices(enum role role, const struct common_settings *s, const json_t *params,
			const struct cpulist *allowed, struct cpu_choice choice[2], struct err *e)
{
	const char *device = json_string_value(json_object_get(params, "device"));
	const char *const texts[] = {[ROLE_SOURCE] = s->source_cpu, [ROLE_SINK] = s->sink_cpu};
	static const char *const names[] = {[ROLE_SOURCE] = "source_cpu", [ROLE_SINK] = "sink_cpu"};
	struct cpulist all;
	struct sysroot root;
	int rc = sysroot_open(&root, NULL, e);

	if (rc)
		return rc;
	memset(&all, 0xff, sizeof(all));
	for (enum role side = ROLE_SOURCE; !rc && side <= ROLE_SINK; side++) {
		rc = cpu_choice_read(&root, names[side], texts[side], device, allowed, &choice[side],
				     side == role ? e : NULL);
		/* In another shield, so that we may not run there. */
		if (rc && side != role)
			rc = cpu_choice_read(&root, names[side], texts[side], device, &all, &choice[side], NULL);
		if (rc && side != role) {
			choice[side] = (struct cpu_choice){.cpus = *allowed};
			rc = 0;
		}
	}
	sysroot_close(&root);
	return rc;
}

/* The only CPU that is left to choose, or -1. */
static int the_only(const struct cpu_choice *c)
{
	return c->is_told && cpulist_count(&c->cpus) == 1 ? cpulist_first(&c->cpus) : -1;
}

/* A duplex kernel has no thread of its own for send completions. */
static bool source_is_busy(const struct common_settings *s, const json_t *params)
{
	const char *kernel = json_string_value(json_object_get(params, "kernel"));
	const struct kernel_ops *k = kernel ? kernel_find(kernel) : NULL;

	return (k && k->duplex ? (enum poll_mode)s->poll : settings_poll_send(s)) != POLL_EVENT;
}

void placement_pair(const struct cpu_choice choice[2], const struct common_settings *s, const json_t *params,
		    int cpu[2])
{
	bool source_wants = choice[ROLE_SOURCE].is_told || source_is_busy(s, params);
	bool sink_wants = choice[ROLE_SINK].is_told || s->poll != POLL_EVENT;

	cpu[ROLE_SOURCE] = the_only(&choice[ROLE_SOURCE]);
	cpu[ROLE_SINK] = the_only(&choice[ROLE_SINK]);
	if (sink_wants && cpu[ROLE_SINK] < 0)
		cpu[ROLE_SINK] = choose_apart(&choice[ROLE_SINK].cpus, cpu[ROLE_SOURCE]);
	if (source_wants && cpu[ROLE_SOURCE] < 0)
		cpu[ROLE_SOURCE] = choose_apart(&choice[ROLE_SOURCE].cpus, cpu[ROLE_SINK]);
}

int placement_choose(enum role role, const struct common_settings *s, const json_t *params, struct placement *out,
		     struct err *e)
{
	struct cpu_choice choice[2];
	struct cpulist allowed, near;
	int cpu[2], rc = cpulist_allowed(&allowed);

	*out = (struct placement){-1, -1, -1, false, false};
	if (rc)
		return err_sys(e, rc, "this process", "read the CPU mask of");
	rc = read_choices(role, s, params, &allowed, choice, e);
	if (rc)
		return rc;
	placement_pair(choice, s, params, cpu);
	/* Beside the source, whose memory it shares, if there is room. */
	out->spare_cpu = choose_spare(&choice[ROLE_SOURCE].cpus, cpu[ROLE_SOURCE], cpu[ROLE_SINK]);
	if (out->spare_cpu < 0)
		out->spare_cpu = choose_spare(&allowed, cpu[ROLE_SOURCE], cpu[ROLE_SINK]);
	out->cpu = cpu[role];
	out->numa_node = memory_node_of_cpu(out->cpu);
	if (cpu[ROLE_SOURCE] >= 0 && cpu[ROLE_SINK] >= 0) {
		siblings(cpu[ROLE_SOURCE], &near);
		out->shared_cpu = cpu[ROLE_SOURCE] == cpu[ROLE_SINK];
		out->shared_smt = !out->shared_cpu && cpulist_has(&near, (unsigned)cpu[ROLE_SINK]);
	}
	return 0;
}

json_t *placement_json(const struct placement *p)
{
	return json_pack("{s:o, s:i, s:b, s:b}", "cpu", p->cpu < 0 ? json_null() : json_integer(p->cpu), "numa_node",
			 p->numa_node, "shared_smt", p->shared_smt, "shared_cpu", p->shared_cpu);
}
