#include "measure/placement/survey.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu_kinds.h"
#include "common/err.h"
#include "common/opt.h"
#include "common/sysroot.h"
#include "common/text.h"

#define RDMA	  "/sys/class/infiniband"
#define PATH_SIZE 512
#define LIST_SIZE 4096
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

/* Read a file that contains a list of CPUs. */
static int read_list(const struct sysroot *root, const char *path, struct cpulist *out)
{
	char line[LIST_SIZE];
	int rc = sysroot_line(root, path, line, sizeof(line));

	return rc < 0 ? rc : cpulist_parse(line, out, NULL, 0);
}

/* --- near a device --- */

/* Find the only RDMA device of the machine. */
static int only_device(const struct sysroot *root, const char *name, char *device, size_t size, struct err *e)
{
	char **names;
	int n = sysroot_list(root, RDMA, NULL, &names);

	if (n == 1)
		snprintf(device, size, "%s", names[0]);
	if (n >= 0)
		sysroot_names_free(names);
	if (n == 1)
		return 0;
	return err_set(
	    e, -EINVAL, n > 1 ? STATUS_USAGE : STATUS_IMPOSSIBLE, name, NULL,
	    n > 1 ? "'near' is ambiguous with several RDMA devices: write near:DEVICE, or set `device`"
		  : "'near' needs an RDMA device, and there is none; near:DEVICE also accepts network interfaces");
}

/* The interface below a software device, from an attribute that only such devices have. */
static void interface_below(const struct sysroot *root, const char *device, char *netdev, size_t size)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), RDMA "/%s/parent", device);
	if (sysroot_line(root, path, netdev, size) < 0)
		snprintf(netdev, size, "%s", device);
}

/* -1: unknown node. -ENOENT: no such device. */
static int node_of(const struct sysroot *root, const char *device, int64_t *node)
{
	char netdev[64], path[PATH_SIZE];

	*node = -1;
	snprintf(path, sizeof(path), RDMA "/%s/device/numa_node", device);
	if (sysroot_int(root, path, node) == 0)
		return 0;
	interface_below(root, device, netdev, sizeof(netdev));
	snprintf(path, sizeof(path), "/sys/class/net/%s/device/numa_node", netdev);
	if (sysroot_int(root, path, node) == 0)
		return 0;
	snprintf(path, sizeof(path), RDMA "/%s", device);
	if (sysroot_exists(root, path))
		return 0;
	snprintf(path, sizeof(path), "/sys/class/net/%s", device);
	return sysroot_exists(root, path) ? 0 : -ENOENT;
}

static int read_near(const struct sysroot *root, const char *name, const char *text, const char *device,
		     struct cpulist *out, struct err *e)
{
	char only[64], path[PATH_SIZE], quoted[TEXT_QUOTE_MAX];
	const char *colon = strchr(text, ':');
	int64_t node;
	int rc;

	if (colon)
		device = colon + 1;
	if (!device || !*device || !strcmp(device, "auto")) {
		rc = only_device(root, name, only, sizeof(only), e);
		if (rc)
			return rc;
		device = only;
	}
	if (strchr(device, '/') || node_of(root, device, &node))
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, name, NULL,
			       "there is no RDMA device or network interface %s",
			       text_quote(device, quoted, sizeof(quoted)));
	if (node < 0)
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, name, NULL,
			       "the kernel does not know the NUMA node of %s; name CPUs instead", device);
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%lld/cpulist", (long long)node);
	rc = read_list(root, path, out);
	return rc ? err_sys(e, rc, path, "read the CPUs near a device from") : 0;
}

/* --- of a cpuset --- */

/* Where systemd, cgroupfs-mount and cpuset(7) mount the hierarchies. The effective CPUs come before
 * the configured ones. */
static const struct {
	const char *mount, *file;
} cpuset_files[] = {
    {"/sys/fs/cgroup", "cpuset.cpus.effective"},	{"/sys/fs/cgroup/unified", "cpuset.cpus.effective"},
    {"/sys/fs/cgroup/cpuset", "cpuset.effective_cpus"}, {"/dev/cpuset", "effective_cpus"},
    {"/dev/cpuset", "cpuset.effective_cpus"},
};

static int read_cpuset(const struct sysroot *root, const char *name, const char *cpuset, struct cpulist *out,
		       struct err *e)
{
	char path[PATH_SIZE], quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < COUNT(cpuset_files) && !strstr(cpuset, ".."); i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", cpuset_files[i].mount, cpuset, cpuset_files[i].file);
		if (read_list(root, path, out) == 0)
			return 0;
	}
	return err_set(e, -ENOENT, STATUS_IMPOSSIBLE, name, NULL,
		       "there is no cpuset %s; `kbtune cpuset list` shows them",
		       text_quote(cpuset, quoted, sizeof(quoted)));
}

/* --- all values of source_cpu and sink_cpu --- */

static int read_named(const struct sysroot *root, const char *name, const char *text, const char *device,
		      struct cpulist *out, struct err *e)
{
	size_t cpuset = strlen(OPT_CPU_CPUSET);
	char quoted[TEXT_QUOTE_MAX];

	if (!strncmp(text, OPT_CPU_NEAR, strlen(OPT_CPU_NEAR)))
		return read_near(root, name, text, device, out, e);
	if (!strncmp(text, OPT_CPU_CPUSET, cpuset))
		return read_cpuset(root, name, text + cpuset, out, e);
	if (!cpulist_parse(text, out, NULL, 0))
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, name, NULL, "expected CPUs such as 2-5,8, found %s",
		       text_quote(text, quoted, sizeof(quoted)));
}

void cpu_choice_narrow(struct cpu_choice *c, const struct cpulist *to)
{
	for (size_t i = 0; i < COUNT(to->bits); i++)
		c->cpus.bits[i] &= to->bits[i];
}

int cpu_choice_read(const struct sysroot *root, const char *name, const char *text, const char *device,
		    const struct cpulist *allowed, struct cpu_choice *out, struct err *e)
{
	char named[256], may[256];
	int rc;

	*out = (struct cpu_choice){.cpus = *allowed, .is_told = strcmp(text, "auto") != 0};
	if (!out->is_told)
		return 0;
	rc = read_named(root, name, text, device, &out->cpus, e);
	if (rc)
		return rc;
	cpulist_format(&out->cpus, named, sizeof(named));
	cpulist_format(allowed, may, sizeof(may));
	cpu_choice_narrow(out, allowed);
	if (cpulist_count(&out->cpus))
		return 0;
	return err_set(e, -EINVAL, STATUS_IMPOSSIBLE, name, NULL, "this process may not run on CPU %s, only on %s%s",
		       *named ? named : "(none)", may,
		       strncmp(text, OPT_CPU_CPUSET, strlen(OPT_CPU_CPUSET))
			   ? ""
			   : "; start kblat inside the cpuset: `kbtune cpuset exec`");
}

/* --- survey --- */

static void survey_read_core(const struct sysroot *root, int cpu, uint16_t core[CPULIST_MAX])
{
	char path[128], line[LIST_SIZE];
	struct cpulist siblings;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	if (sysroot_line(root, path, line, sizeof(line)) < 0 || cpulist_parse(line, &siblings, NULL, 0))
		return;
	for (int c = cpulist_first(&siblings); c >= 0; c = cpulist_next(&siblings, c))
		core[c] = (uint16_t)cpulist_first(&siblings);
}

/* Of all that are online, also where this process may run on slow ones only. */
static void survey_kinds(const struct sysroot *root, struct survey *s)
{
	struct cpulist online, fast;

	s->slow = s->allowed;
	if (read_list(root, "/sys/devices/system/cpu/online", &online))
		online = s->allowed;
	cpu_kinds_fast(root, &online, &fast);
	cpulist_subtract(&s->slow, &fast);
}

void survey_machine(struct survey *s)
{
	struct sysroot root;

	for (unsigned cpu = 0; cpu < CPULIST_MAX; cpu++)
		s->core[cpu] = (uint16_t)cpu;
	if (sysroot_open(&root, NULL, NULL))
		return;
	for (int cpu = cpulist_first(&s->allowed); cpu >= 0; cpu = cpulist_next(&s->allowed, cpu))
		if (s->core[cpu] == cpu)
			survey_read_core(&root, cpu, s->core);
	survey_kinds(&root, s);
	sysroot_close(&root);
}

int survey_take(const char *setting, const char *text, const char *device, struct survey *out, struct err *e)
{
	struct sysroot root;
	int rc = cpulist_allowed(&out->allowed);

	if (rc)
		return err_sys(e, rc, "this process", "read the CPU mask of");
	rc = sysroot_open(&root, NULL, e);
	if (rc)
		return rc;
	rc = cpu_choice_read(&root, setting, text, device, &out->allowed, &out->choice, e);
	sysroot_close(&root);
	if (!rc)
		survey_machine(out);
	return rc;
}

/* --- JSON --- */

static json_t *survey_list_json(const struct cpulist *set)
{
	char text[LIST_SIZE];

	return json_string(cpulist_format(set, text, sizeof(text)));
}

/* Only cores with several CPUs. */
static json_t *cores_json(const struct survey *s)
{
	json_t *cores = json_array();

	for (int first = cpulist_first(&s->allowed); first >= 0; first = cpulist_next(&s->allowed, first)) {
		struct cpulist core;

		cpulist_clear(&core);
		for (int cpu = first; cpu >= 0; cpu = cpulist_next(&s->allowed, cpu))
			if (s->core[cpu] == s->core[first])
				cpulist_add(&core, (unsigned)cpu);
		for (int cpu = cpulist_first(&s->allowed); cpu >= 0 && cpu < first;
		     cpu = cpulist_next(&s->allowed, cpu))
			if (s->core[cpu] == s->core[first])
				cpulist_clear(&core); /* it was listed at its first CPU */
		if (cpulist_count(&core) > 1)
			json_array_append_new(cores, survey_list_json(&core));
	}
	return cores;
}

json_t *survey_json(const struct survey *s)
{
	return json_pack("{s:o, s:b, s:o, s:o, s:o*}", "cpus", survey_list_json(&s->choice.cpus), "told",
			 s->choice.is_told, "allowed", survey_list_json(&s->allowed), "cores", cores_json(s), "slow",
			 cpulist_count(&s->slow) ? survey_list_json(&s->slow) : NULL);
}

static int survey_read_list(const json_t *j, struct cpulist *out)
{
	return json_is_string(j) ? cpulist_parse(json_string_value(j), out, NULL, 0) : -EINVAL;
}

int survey_from_json(const json_t *j, struct survey *out, struct err *e)
{
	const json_t *core;
	struct cpulist cpus;
	size_t i;
	int rc = survey_read_list(json_object_get(j, "cpus"), &out->choice.cpus);

	if (!rc)
		rc = survey_read_list(json_object_get(j, "allowed"), &out->allowed);
	if (rc || !cpulist_count(&out->choice.cpus))
		return err_set(e, -EPROTO, STATUS_FAILED, "survey", NULL, "the endpoint's list of CPUs cannot be read");
	out->choice.is_told = json_is_true(json_object_get(j, "told"));
	if (survey_read_list(json_object_get(j, "slow"), &out->slow))
		cpulist_clear(&out->slow);
	for (unsigned cpu = 0; cpu < CPULIST_MAX; cpu++)
		out->core[cpu] = (uint16_t)cpu;
	json_array_foreach (json_object_get(j, "cores"), i, core)
		if (!survey_read_list(core, &cpus))
			for (int cpu = cpulist_first(&cpus); cpu >= 0; cpu = cpulist_next(&cpus, cpu))
				out->core[cpu] = (uint16_t)cpulist_first(&cpus);
	return 0;
}
