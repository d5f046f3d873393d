/* What is read of a machine: control groups, interrupts, threads, devices; and that nothing leads outside. */
#include <errno.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "tap.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/irqs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/topology.h"

static char *root;
static struct machine m;

static void put(const char *name, const char *text)
{
	char *path = fs_path("%s%s", root, name), *slash = strrchr(path, '/');

	*slash = '\0';
	fs_mkdirs(path, NULL);
	*slash = '/';
	tap_file(path, text, strlen(text));
	free(path);
}

static void begin(void)
{
	root = tap_dir();
	ok(!machine_open(&m, root, NULL), "a machine");
}

static void end(void)
{
	machine_close(&m);
	tap_dir_remove(root);
}

static const struct {
	const char *mounts, *root, *prefix;
	int version;
	bool read_only;
} mounts[] = {
    {"30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup", "cpuset.", 2, false},
    {"30 1 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup", "cpuset.", 2, true},
    {"40 1 0:30 / /dev/cpuset rw - cpuset none rw,cpuset,noprefix\n", "/dev/cpuset", "", 1, false},
    {"40 1 0:30 / /dev/cpuset rw - cgroup none rw,cpuset,noprefix\n", "/dev/cpuset", "", 1, false},
    {"34 1 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n41 1 0:38 / /sys/fs/cgroup rw - cgroup2 x rw\n",
     "/sys/fs/cgroup/cpuset", "cpuset.", 1, false},
    {"41 1 0:38 / /sys/fs/cgroup/unified rw - cgroup2 x rw\n", "", "", 0, false},
    {"nonsense\n", "", "", 0, false},
};

static void test_cgroups(void)
{
	struct cgroups cg;

	begin();
	put("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n");
	put("/sys/fs/cgroup/unified/cgroup.controllers", "cpu io\n");
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		put("/proc/self/mountinfo", mounts[i].mounts);
		cgroups_find(&m, &cg);
		is_int(cg.version, mounts[i].version, "version of case %zu", i);
		is_str(cg.root, mounts[i].root, "where case %zu is mounted", i);
		is_str(cg.prefix, mounts[i].prefix, "the prefix of case %zu", i);
		is_int(cg.read_only, mounts[i].read_only, "whether case %zu is read-only", i);
		ok(!cg.lib, "libcpuset is for live machines");
	}
	end();
}

static void test_irqs(void)
{
	struct irq_table t;
	char list[64];

	begin();
	put("/proc/interrupts",
	    "            CPU0       CPU2       \n   0:         86          0   IO-APIC   2-edge      timer\n"
	    "  27:          3      26217   PCI-MSI 49153-edge      virtio1-requests\n"
	    "  44:          0          0  xen-dyn -event   eth0-q0\n NMI:          0          0   x\n ERR:          "
	    "0\n");
	put("/proc/irq/27/smp_affinity_list", "0,2\n");
	put("/proc/irq/27/effective_affinity_list", "2\n");
	put("/proc/irq/27/node", "1\n");
	ok(!irqs_read(&m, &t, false), "the table is read");
	is_int((long long)t.count, 3, "interrupts with a number alone");
	is_int(t.cpus[1], 2, "columns have CPUs' numbers, which may have gaps");
	is_int((long long)t.irqs[1].total, 26220, "fired so often");
	is_int((long long)t.irqs[1].counts[1], 26217, "there");
	is_str(t.irqs[1].name, "virtio1-requests", "its handler");
	is_str(cpulist_format(&t.irqs[1].allowed, list, sizeof(list)), "0,2", "allowed");
	is_str(cpulist_format(&t.irqs[1].effective, list, sizeof(list)), "2", "effective");
	is_int(t.irqs[1].node, 1, "its node");
	contains(t.irqs[2].name, "eth0-q0", "a handler behind an unusual chip");
	irqs_free(&t);
	end();
}

static void test_threads(void)
{
	struct thread t;

	begin();
	put("/proc/9/task/9/stat", "9 (a) (b) c) S 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 25 0 0\n");
	put("/proc/9/stat", "9 (a) (b) c) S 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 25 0 0\n");
	put("/proc/9/task/9/status", "Name:\tx\nCpus_allowed_list:\t1-2\n");
	ok(!tasks_read(&m, 9, 9, &t), "a thread with brackets in its name");
	is_str(t.name, "a) (b) c", "its name");
	ok(t.is_kernel && t.is_bound, "its flags");
	is_int((long long)t.start, 25, "its start");
	ok(cpulist_has(&t.cpus, 1) && !cpulist_has(&t.cpus, 3), "its CPUs");
	is_int(tasks_read(&m, 10, 10, &t), -ESRCH, "no such thread");
	end();
}

static void test_topology(void)
{
	struct topology t;
	struct err e = ERR_INIT;
	struct cpulist cpus;

	begin();
	ok(topology_read(&m, &t, &e) < 0 && e.status == STATUS_IMPOSSIBLE, "a machine without CPUs");
	put("/sys/devices/system/cpu/online", "0-3\n");
	for (int i = 0; i < 4; i++) {
		char *path = fs_path("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);

		put(path, i % 2 ? "1,3\n" : "0,2\n");
		free(path);
	}
	ok(!topology_read(&m, &t, NULL), "one without nodes");
	is_int((long long)t.node_count, 1, "is one node");
	is_int(t.core[3], 1, "a thread's core is its first thread");
	topology_without_smt(&t);
	is_int(cpulist_count(&t.online), 2, "two cores");
	ok(!topology_device(&m, "../x") && !topology_device(&m, "mlx5_0"), "no device");
	topology_free(&t);
	ok(!topology_read(&m, &t, NULL), "again");
	put("/sys/class/net/e0/device/local_cpulist", "2-3,8\n");
	ok(!topology_near(&m, &t, "/sys/class/net/e0", &cpus) && cpulist_count(&cpus) == 2,
	   "near are those that are online");
	topology_free(&t);
	end();
}

static void test_outside(void)
{
	char *link, *target = tap_dir(), *path;
	char *text = NULL;

	begin();
	path = fs_path("%s/file", target);
	tap_file(path, "mine\n", 5);
	link = fs_path("%s/out", root);
	ok(!symlink(target, link), "a link to outside");
	ok(machine_write(&m, "/out/file", "x", 1) < 0, "is not written through");
	ok(machine_mkdir(&m, "/out/new") < 0 && machine_create(&m, "/out/new", "x", 1, 0600) < 0, "nor made through");
	ok(machine_unlink(&m, "/out/file") < 0, "nor removed through");
	ok(!fs_read(path, 100, &text, NULL, NULL) && !strcmp(text, "mine\n"), "what is outside is as it was");
	free(text);
	free(path);
	free(link);
	tap_dir_remove(target);
	end();
}

int main(void)
{
	test_cgroups();
	test_irqs();
	test_threads();
	test_topology();
	test_outside();
	return done_testing();
}
