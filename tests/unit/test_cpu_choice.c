/* What a text says of CPUs, on a machine that is made up: two nodes, an adapter on the second, a device in software. */
#include "measure/placement/survey.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"
#include "tap.h"

static const struct {
	const char *path, *text;
} machine[] = {
    {"/sys/devices/system/node/node0/cpulist", "0-3\n"},
    {"/sys/devices/system/node/node1/cpulist", "4-7\n"},
    {"/sys/class/infiniband/mlx5_1/device/numa_node", "1\n"},
    {"/sys/class/infiniband/mlx5_0/device/numa_node", "-1\n"},
    {"/sys/class/infiniband/rxe0/parent", "eth0\n"},
    {"/sys/class/net/eth0/device/numa_node", "0\n"},
    {"/sys/class/infiniband/rxe1/parent", "d0\n"},
    {"/sys/class/net/d0/mtu", "1500\n"},
    {"/sys/fs/cgroup/real-time-0/cpuset.cpus.effective", "2,6\n"},
    {"/sys/fs/cgroup/away/cpuset.cpus.effective", "12-13\n"},
    {"/dev/cpuset/old/inner/effective_cpus", "5\n"},
    {"/secret/cpuset.cpus.effective", "1\n"},
};

static const struct row {
	const char *text, *device;
	const char *cpus; /* NULL: refused, with `why` and */
	const char *why;
	enum status status;
} rows[] = {
    {"auto", NULL, "0-7", NULL, 0},
    {"3", NULL, "3", NULL, 0},
    {"2-5", NULL, "2-5", NULL, 0},
    {"6-20", NULL, "6-7", NULL, 0},
    {"20", NULL, NULL, "this process may not run on CPU 20, only on 0-7", STATUS_IMPOSSIBLE},
    {"near:mlx5_1", NULL, "4-7", NULL, 0},
    {"near", "mlx5_1", "4-7", NULL, 0},
    {"near:rxe0", "mlx5_1", "0-3", NULL, 0},
    {"near:eth0", NULL, "0-3", NULL, 0},
    {"near:mlx5_0", NULL, NULL, "the kernel does not know the NUMA node of mlx5_0; name CPUs", STATUS_IMPOSSIBLE},
    {"near:rxe1", NULL, NULL, "the kernel does not know the NUMA node of rxe1", STATUS_IMPOSSIBLE},
    {"near:d0", NULL, NULL, "the kernel does not know the NUMA node of d0", STATUS_IMPOSSIBLE},
    {"near:mlx5_9", NULL, NULL, "there is no RDMA device or network interface 'mlx5_9'", STATUS_IMPOSSIBLE},
    {"near:../rxe0", NULL, NULL, "there is no RDMA device or network interface", STATUS_IMPOSSIBLE},
    {"near", NULL, NULL, "'near' is ambiguous with several RDMA devices", STATUS_USAGE},
    {"near", "auto", NULL, "is ambiguous with several RDMA devices", STATUS_USAGE},
    {"cpuset:real-time-0", NULL, "2,6", NULL, 0},
    {"cpuset:old/inner", NULL, "5", NULL, 0},
    {"cpuset:nowhere", NULL, NULL, "there is no cpuset 'nowhere'; `kbtune cpuset list`", STATUS_IMPOSSIBLE},
    {"cpuset:../../../secret", NULL, NULL, "there is no cpuset", STATUS_IMPOSSIBLE},
    {"cpuset:away", NULL, NULL, "this process may not run on CPU 12-13, only on 0-7; start kblat inside",
     STATUS_IMPOSSIBLE},
};

static void put(const char *dir, const char *path, const char *text)
{
	char *p = fs_path("%s%s", dir, path), *slash = strrchr(p, '/');

	*slash = '\0';
	fs_mkdirs(p, NULL);
	*slash = '/';
	tap_file(p, text, strlen(text));
	free(p);
}

static void try(const struct sysroot *root, const struct row *r)
{
	struct err e = ERR_INIT;
	struct cpulist allowed;
	struct cpu_choice c;
	char list[128];
	int rc;

	cpulist_parse("0-7", &allowed, NULL, 0);
	rc = cpu_choice_read(root, "sink_cpu", r->text, r->device, &allowed, &c, &e);
	if (r->cpus) {
		is_int(rc, 0, "%s: %s", r->text, e.text);
		is_str(cpulist_format(&c.cpus, list, sizeof(list)), r->cpus, "%s", r->text);
		is_int(c.is_told, strcmp(r->text, "auto") != 0, "%s: told", r->text);
		return;
	}
	ok(rc < 0, "%s is refused", r->text);
	contains(e.text, r->why, "why");
	contains(e.text, "sink_cpu", "and whose");
	is_int(e.status, r->status, "the status");
}

int main(void)
{
	char *dir = tap_dir();
	struct sysroot root;

	for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++)
		put(dir, machine[i].path, machine[i].text);
	is_int(sysroot_open(&root, dir, NULL), 0, "the machine");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try(&root, &rows[i]);
	sysroot_close(&root);
	tap_dir_remove(dir);
	return done_testing();
}
