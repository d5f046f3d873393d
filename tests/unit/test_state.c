/* The capture and its differences, on a small machine made here, parts of which want to do harm. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"
#include "files/state/capture.h"
#include "files/state/diff.h"
#include "files/state/sources.h"
#include "tap.h"

static char *base; /* of everything this test writes */

static char *below(const char *folder, const char *path)
{
	return fs_path("%s/%s%s", base, folder, path);
}

static void make_parents(char *path)
{
	struct err e = ERR_INIT;
	char *slash = strrchr(path, '/');

	*slash = '\0';
	if (fs_mkdirs(path, &e))
		printf("Bail out! %s\n", e.text);
	*slash = '/';
}

static void put_bytes(const char *folder, const char *path, const void *data, size_t size)
{
	char *full = below(folder, path);

	make_parents(full);
	tap_file(full, data, size);
	free(full);
}

static void put(const char *folder, const char *path, const char *text)
{
	put_bytes(folder, path, text, strlen(text));
}

static void put_link(const char *folder, const char *path, const char *target)
{
	char *full = below(folder, path);

	make_parents(full);
	if (symlink(target, full))
		printf("Bail out! cannot link %s\n", full);
	free(full);
}

static const struct {
	const char *path, *text;
} machine[] = {
    {"/proc/sys/kernel/osrelease", "6.1.0-test\n"},
    {"/proc/cmdline", "isolcpus=2-3 console=tty0 quiet x.y=\"a b\" console=ttyS0 -- z\n"},
    {"/proc/sys/kernel/sched_rt_runtime_us", "950000\n"},
    {"/etc/os-release", "# what it is\nNAME=\"A System\"\nVERSION_ID=\"12\"\nSMALL=7\n"},
    {"/proc/modules", "rdma_rxe 176128 0 - Live 0x0000000000000000\nib_core 401408 1 rdma_rxe, Live 0x0\n"},
    {"/proc/cpuinfo", "processor\t: 0\nmodel name\t: A CPU\nmicrocode\t: 0x1\nflags\t\t: fpu tsc\n\n"
		      "processor\t: 1\nmodel name\t: A CPU\nmicrocode\t: 0x2\nflags\t\t: fpu tsc\n"},
    {"/proc/interrupts", "           CPU0       CPU2\n  8:         12          0  IO-APIC 8-edge rtc0\n"
			 "LOC:        100        200   Local timer interrupts\nERR:          3\n"},
    {"/proc/stat", "cpu  10 0 5 1 0 0 0 0 0 0\ncpu0 10 0 5 1 0 0 0 7 0 0\nintr 55 1 2 3\nctxt 4711\n"},
    {"/proc/pressure/cpu", "some avg10=0.00 avg60=0.10 avg300=0.00 total=99\nfull avg10=0.00 total=5\n"},
    {"/proc/meminfo", "MemTotal:       24684084 kB\nHugePages_Total:       4\n"},
    {"/sys/devices/system/cpu/online", "0,1,2-3\n"},
    {"/sys/devices/system/cpu/isolated", "\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1 \n"},
    {"/sys/devices/system/cpu/cpu10/cpuidle/state0/usage", "123\n"},
    {"/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"},
    {"/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
    {"/sys/kernel/debug/sched/preempt", "none (voluntary) full\n"},
    {"/proc/irq/default_smp_affinity", "f\n"},
    {"/proc/irq/24/smp_affinity_list", "0-1\n"},
    {"/proc/irq/24/effective_affinity_list", "1\n"},
    {"/proc/self/mountinfo", "22 1 0:20 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
    {"/proc/self/cgroup", "0::/lab.slice/inner\n"},
    {"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n"},
    {"/sys/fs/cgroup/cpuset.cpus.effective", "0\n"},
    {"/sys/fs/cgroup/lab.slice/cpuset.cpus.partition", "isolated\n"},
    {"/sys/fs/cgroup/lab.slice/inner/cpuset.cpus", "2-3\n"},
    {"/sys/fs/cgroup/lab.slice/inner/cpu.max", "max\n"},
    {"/sys/devices/pci0/0000:01:00.0/infiniband/mlx5_0/fw_ver", "20.31.1014\n"},
    {"/sys/devices/pci0/0000:01:00.0/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"},
    {"/sys/devices/pci0/0000:01:00.0/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "18446744073709551615\n"},
    {"/sys/devices/pci0/0000:01:00.0/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "5\n"},
    {"/sys/devices/pci0/0000:01:00.0/numa_node", "1\n"},
    {"/sys/bus/pci/drivers/mlx5_core/module/version", "1\n"},
    {"/proc/77/comm", "tuned\n"},
    {"/proc/12/task/12/stat",
     "12 (rcu (x) y) S 2 0 0 0 -1 2129984 0 0 0 0 16 653 0 0 -2 0 1 0 25 0 0 0 0 0 0 0 0 0 0 0 0 "
     "0 0 0 0 3 1 1 0\n"},
    {"/proc/12/task/12/status", "Name:\tx\nCpus_allowed_list:\t0-3\n"},
    {"/proc/90/task/90/stat",
     "90 (irqbalance) S 1 0 0 0 -1 4194560 0 0 0 0 16 653 0 0 20 -5 1 0 25 0 0 0 0 0 0 0 0 0 0 0 0 "
     "0 0 0 0 1 0 0 0\n"},
    {"/proc/90/task/90/status", "Cpus_allowed_list:\t0\n"},
    {"/proc/90/task/91/stat",
     "91 (irqbalance) S 1 0 0 0 -1 4194560 0 0 0 0 16 653 0 0 20 0 1 0 25 0 0 0 0 0 0 0 0 0 0 0 0 "
     "0 0 0 0 1 0 0 0\n"},
    {"/proc/90/task/91/status", "Cpus_allowed_list:\t0\n"},
    {"/proc/92/task/92/stat", "92 no name\n"},
    {"/proc/93/task/93/stat",
     "93 (without) S 1 0 0 0 -1 4194560 0 0 0 0 16 653 0 0 20 0 1 0 25 0 0 0 0 0 0 0 0 0 0 0 0 "
     "0 0 0 0 1 0 0 0\n"},
    {"/proc/93/task/93/status", "Cpus_allowed_list:"},
    {"/proc/94/task/94/stat", "94 (close) S 1 0 0 0 -1 4194560 0 0 0 0 16 653 0 0 20 0 1 0 25 0 0 0 0 0 0 0 0 0 0 0 0 "
			      "0 0 0 0 1 0 0 0\n"},
    {"/proc/94/task/94/status", "Cpus_allowed_list:5-6"},
    {"/boot/config-6.1.0-test", "# a comment\nCONFIG_HZ=250\n# CONFIG_KASAN is not set\nCONFIG_X=\"a\"\n"},
    {"/proc/sys/vm/swappiness", "60\n"},
    {"/proc/sys/vm/dirty_ratio", "20\n"},
    {"/proc/sys/vm/stat_refresh", "must not be read\n"},
    {"/proc/sys/kernel/printk", "4\t4\t1\t7\n"},
    {"/proc/sys/kernel/lines", "a\nb  c\n"},
    {"/proc/sys/net/ipv4/conf/default/forwarding", "0\n"},
    {"/proc/sys/net/ipv4/conf/eth0/forwarding", "0\n"},
    {"/proc/sys/net/ipv4/conf/eth1/forwarding", "1\n"},
    {"/proc/sys/net/ipv6/conf/default/stable_secret", "secret\n"},
    {"/proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n"
			  "Max locked memory         65536                unlimited            bytes     \n"},
    {"/proc/net/dev", "Inter-| Receive\n face |bytes\n  eth0: 2412 19 1 2 0 0 0 0 1590 15 0 0 0 0 0 0\n"},
    {"/sys/module/mlx5_core/parameters/prof_sel", "2\n"},
    {"/sys/class/net/eth0/address", "02:fc:00:00:00:05\n"},
    {"/etc/tuned/active_profile", "lab\n"},
    {"/etc/tuned/lab/tuned.conf", "[main]\ninclude = quiet, ../escape\n"},
    {"/usr/lib/tuned/quiet/tuned.conf", "[main]\ninclude=lab\n"},
};

/* A header whose list of capabilities begins at 0x40 with power management, and has PCI Express at 0x50. */
static void make_pci_config(const char *folder)
{
	unsigned char config[256] = {[0x34] = 0x40, [0x40] = 0x01, [0x41] = 0x50, [0x50] = 0x10};

	config[0x58] = 0x30; /* device control: payload 256, relaxed ordering */
	config[0x59] = 0x20; /* read request 512 */
	config[0x60] = 0x02; /* link control: L1 */
	config[0x62] = 0x04; /* link status: fourth generation ... */
	config[0x63] = 0x01; /* ... 16 lanes */
	put_bytes(folder, "/sys/devices/pci0/0000:01:00.0/config", config, sizeof(config));
}

static void make_machine(const char *folder)
{
	char *managed = below(folder, "/proc/irq/24/smp_affinity");
	int32_t latency = 3;

	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); i++)
		put(folder, machine[i].path, machine[i].text);
	make_pci_config(folder);
	put(folder, "/proc/irq/24/smp_affinity", "3\n");
	chmod(managed, 0444);
	free(managed);
	put_bytes(folder, "/dev/cpu_dma_latency", &latency, sizeof(latency));
	put_link(folder, "/sys/class/infiniband/mlx5_0", "../../devices/pci0/0000:01:00.0/infiniband/mlx5_0");
	put_link(folder, "/sys/devices/pci0/0000:01:00.0/infiniband/mlx5_0/device", "../../../0000:01:00.0");
	put_link(folder, "/sys/devices/pci0/0000:01:00.0/driver", "../../../bus/pci/drivers/mlx5_core");
	put_link(folder, "/proc/77/fd/3", "/dev/cpu_dma_latency");
	put_link(folder, "/proc/78/fd/0", "/dev/null");
}

/* Capture `folder` into `name`; its keys (a new reference), NULL if that failed. */
static json_t *capture(const char *folder, const char *name)
{
	char *machine_path = below(folder, ""), *dir = below(name, ""), *file = below(name, "/state.json");
	struct err e = ERR_INIT;
	struct sysroot root;
	json_t *state = NULL, *keys = NULL;

	if (ok(!sysroot_open(&root, machine_path, &e), "open %s as a root %s", folder, e.text)) {
		if (ok(!state_capture(&root, dir, NULL, &e), "capture %s %s", folder, e.text))
			state = json_load_file(file, JSON_REJECT_DUPLICATES, NULL);
		sysroot_close(&root);
	}
	is_int(json_integer_value(json_object_get(state, "schema")), 1, "schema");
	ok(json_integer_value(json_object_get(state, "cost_ns")) > 0, "its own cost is told");
	keys = json_incref(json_object_get(state, "keys"));
	json_decref(state);
	free(machine_path);
	free(dir);
	free(file);
	return keys;
}

static void key_is(const json_t *keys, const char *key, const char *want)
{
	const json_t *value = json_object_get(keys, key);
	char number[32];

	snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
	is_str(json_is_integer(value) ? number : json_string_value(value), want, "%s", key);
}

static void test_keys(const json_t *keys)
{
	static const char *const rows[][2] = {
	    {"identity.kernel", "6.1.0-test"},
	    {"identity.os.NAME", "A System"},
	    {"identity.os.SMALL", "7"},
	    {"identity.cmdline", "isolcpus=2-3 console=tty0 quiet x.y=\"a b\" console=ttyS0 -- z"},
	    {"boot.isolcpus", "2-3"},
	    {"boot.console", "tty0 ttyS0"},
	    {"boot.quiet", ""},
	    {"boot.x.y", "\"a b\""},
	    {"boot.--", "z"},
	    {"config.HZ", "250"},
	    {"config.X", "\"a\""},
	    {"parameter.mlx5_core.prof_sel", "2"},
	    {"memory.swappiness", "60"},
	    {"sysctl.vm.dirty_ratio", "20"},
	    {"sysctl.kernel.printk", "4 4 1 7"},
	    {"sysctl.kernel.lines", "a b c"},
	    {"sysctl.net.ipv4.conf.default.forwarding", "0"},
	    {"sysctl.net.ipv4.conf.eth1.forwarding", "1"},
	    {"thread.kernel.rcu (x) y", "fifo:1:0-3"},
	    {"thread.user.irqbalance", "other:-5:0 other:0:0"},
	    {"thread.user.without", "other:0:"},
	    {"thread.user.close", "other:0:5-6"},
	    {"irq.irqbalance_runs", "yes"},
	    {"irq.24.mode", "444"},
	    {"limits.locked_memory", "65536 unlimited"},
	    {"net.eth0.counter.rx_errors", "1"},
	    {"net.eth0.counter.tx_packets", "15"},
	    {"net.eth0.address", "02:fc:00:00:00:05"},
	    {"rdma.mlx5_0.pcie.max_payload_bytes", "256"},
	    {"rdma.mlx5_0.pcie.max_read_request_bytes", "512"},
	    {"rdma.mlx5_0.pcie.aspm", "L1"},
	    {"rdma.mlx5_0.pcie.relaxed_ordering", "yes"},
	    {"rdma.mlx5_0.pcie.link_generation", "4"},
	    {"rdma.mlx5_0.pcie.link_width", "16"},
	    {"module.rdma_rxe", "176128"},
	    {"cpu.model", "A CPU"},
	    {"cpu.microcode", "0x1 | 0x2"},
	    {"cpu.virtual_machine", "no"},
	    {"cpu.features", "!ENODATA"},
	    {"cpu.online", "0-3"},
	    {"cpu.isolated", ""},
	    {"cpu.nohz_full", "!ENOENT"},
	    {"idle.cpu0.state0.name", "POLL"},
	    {"idle.cpu0.state1.name", "C1"},
	    {"idle.cpu10.state0.usage", "123"},
	    {"idle.*.*.disable", "!ENOENT"},
	    {"frequency.policy0.governor", "powersave"},
	    {"mitigation.meltdown", "Not affected"},
	    {"memory.transparent_hugepages", "madvise"},
	    {"scheduling.preemption", "voluntary"},
	    {"memory.info.MemTotal_kB", "24684084"},
	    {"memory.info.HugePages_Total", "4"},
	    {"scheduling.rt_runtime_us", "950000"},
	    {"irq.count.8.cpu0", "12"},
	    {"irq.count.LOC.cpu2", "200"},
	    {"irq.count.ERR.cpu0", "3"},
	    {"irq.default_affinity", "0-3"},
	    {"irq.24.affinity", "0-1"},
	    {"irq.24.effective", "1"},
	    {"load.stat.cpu0.steal_ticks", "7"},
	    {"load.stat.intr", "55"},
	    {"load.stat.ctxt", "4711"},
	    {"load.pressure.cpu.some_us", "99"},
	    {"pm_qos.cpu_dma_latency_us", "3"},
	    {"pm_qos.cpu_dma_latency_holders", "tuned"},
	    {"pm_qos.cpu_dma_latency_holders_hidden", "0"},
	    {"cpuset.version", "v2"},
	    {"cpuset.own", "/lab.slice/inner"},
	    {"cpuset.tree./.cpus.effective", "0"},
	    {"cpuset.tree./lab.slice.cpus.partition", "isolated"},
	    {"cpuset.tree./lab.slice/inner.cpus", "2-3"},
	    {"cpuset.tree_is_whole", "yes"},
	    {"rdma.mlx5_0.firmware", "20.31.1014"},
	    {"rdma.mlx5_0.driver", "mlx5_core"},
	    {"rdma.mlx5_0.pci_slot", "0000:01:00.0"},
	    {"rdma.mlx5_0.numa_node", "1"},
	    {"rdma.mlx5_0.port1.state", "4: ACTIVE"},
	    {"rdma.mlx5_0.port1.counter.port_xmit_data", "18446744073709551615"}, /* over 63 bits: kept as text */
	    {"rdma.mlx5_0.port1.hw_counter.out_of_sequence", "5"},
	};
	const char *key, *last = "";
	int unsorted = 0;
	json_t *value;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		key_is(keys, rows[i][0], rows[i][1]);
	ok(!json_object_get(keys, "sysctl.vm.stat_refresh"), "what works when it is read is not read");
	ok(!json_object_get(keys, "sysctl.vm.swappiness"), "what has a row of its own is told there");
	ok(!json_object_get(keys, "sysctl.net.ipv6.conf.default.stable_secret"), "secrets are not read");
	ok(!json_object_get(keys, "sysctl.net.ipv4.conf.eth0.forwarding"),
	   "an interface that is as the default is left out");
	ok(!json_object_get(keys, "irq.count.8.cpu2"), "a zero in /proc/interrupts is left out");
	ok(!json_object_get(keys, "cpuset.tree./lab.slice/inner.max"), "other controllers' files are left out");
	ok(json_is_string(json_object_get(keys, "cpuset.tree./.cpus.effective")), "a list of one CPU is a list");
	ok(json_is_string(json_object_get(keys, "identity.os.VERSION_ID")), "what is quoted is text");
	json_object_foreach ((json_t *)keys, key, value) {
		unsorted += strcmp(last, key) > 0;
		last = key;
	}
	is_int(unsorted, 0, "keys are sorted");
}

/* Every raw file is what the machine had at the same path, and there is nothing but plain files. */
static void test_raw(const char *name)
{
	char *dir = below(name, ""), **files = NULL;
	struct err e = ERR_INIT;
	size_t count = 0, different = 0;

	is_int(fs_files(dir, &files, &count, &e), 0, "plain files only %s", e.text);
	ok(count > 30, "%zu files", count);
	for (size_t i = 0; i < count; i++) {
		char *kept = fs_path("%s/%s", dir, files[i]), *original = fs_path("%s/machine/%s", base, files[i]);
		char *a = NULL, *b = NULL;
		size_t a_size = 0, b_size = 0;

		if (strcmp(files[i], "state.json") && strncmp(files[i], "made/", 5)) {
			fs_read(kept, 1 << 20, &a, &a_size, NULL);
			fs_read_followed(original, 1 << 20, &b, &b_size, NULL);
			different += !a || !b || a_size != b_size || memcmp(a, b, a_size);
		}
		free(a);
		free(b);
		free(kept);
		free(original);
	}
	is_int((long long)different, 0, "raw files are what was read, under their own paths");
	fs_files_free(files);
	free(dir);
}

/* A capture is a recorded machine itself. */
static void test_recapture(const json_t *keys)
{
	json_t *again = capture("first", "again"), *value;
	const char *key;
	int different = 0;

	json_object_foreach ((json_t *)keys, key, value) {
		/* Links are not kept, and so neither is who held a device; nor modes; of threads only a table. */
		static const char *const lost[] = {".driver", ".pci_slot",   "holders",	  "capture.",
						   "thread",  "irq.24.mode", "irqbalance"};
		bool is_lost = false;

		for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++)
			is_lost |= strstr(key, lost[i]) != NULL;
		if (!is_lost && !json_equal(value, json_object_get(again, key)) && ++different)
			note("%s", key);
	}
	is_int(different, 0, "a capture of a capture says the same");
	json_decref(again);
}

static void test_hostile(void)
{
	char *fifo = below("hostile", "/proc/cmdline"), *big = below("hostile", "/proc/meminfo"), *outside, *escaped;
	json_t *keys;
	int fd;

	put("hostile", "/proc/version", "x\xff\x1b[31m\xc3\xa9\n");
	put("hostile", "/secret", "outside\n");
	mkfifo(fifo, 0600);
	put_link("hostile", "/proc/sys/kernel/osrelease", "../../../../../../../../../etc/hostname");
	put_link("hostile", "/proc/sys/kernel/version", "version");
	put_link("hostile", "/sys/devices/system/cpu/online", "/proc/version");
	put("hostile", "/proc/modules/here", "a directory\n");
	put("hostile", "/sys/devices/system/cpu/vulnerabilities/new\nline", "harm\n");
	put("hostile", "/sys/devices/system/cpu/vulnerabilities/st*r", "harm\n");
	put("hostile", "/proc/interrupts", "CPU0 CPU99999999999 CPU1\n1: 5 6 7\nno colon\n:\n2:\n3: x\n");
	put("hostile", "/proc/self/mountinfo", "1 2 3 4 /../../outside rw - cgroup cgroup rw,cpuset\n - cgroup\n");
	put("hostile", "/proc/self/cgroup", "\n:\n::\n4:cpuset:/a\n");
	put("hostile", "/dev/cpu_dma_latency", "123");
	put("hostile", "/proc/stat", "cpu\ncpu0 x\nintr\n\n");
	put("hostile", "/proc/uptime", "");
	put("hostile", "/outside/cpuset.cpus", "0\n");
	fd = open(big, O_WRONLY | O_CREAT, 0600);
	ok(fd >= 0 && !ftruncate(fd, 1L << 40), "a file of a tebibyte");
	close(fd);

	keys = capture("hostile", "harmed");
	key_is(keys, "identity.cmdline", "!EINVAL"); /* a FIFO: not waited for */
	key_is(keys, "identity.kernel", "!ENOENT");  /* a link out of the root stays inside */
	key_is(keys, "identity.build", "!ELOOP");
	key_is(keys, "module.*", "!EISDIR");
	key_is(keys, "memory.info.*", "!EFBIG");
	key_is(keys, "mitigation.st?r", "harm");
	key_is(keys, "mitigation.new?line", "!EINVAL");
	key_is(keys, "irq.count.1.cpu0", "5");
	key_is(keys, "cpuset.own", "/a");
	key_is(keys, "cpuset.tree./.cpus", "!EINVAL"); /* ".." in a mount's path */
	key_is(keys, "pm_qos.cpu_dma_latency_us", "!EINVAL");
	like(json_string_value(json_object_get(keys, "identity.version")), "^x[?][?]\\[31m",
	     "unprintable bytes are shown as ?");
	json_decref(keys);

	test_raw("first");
	outside = below("outside", "");
	escaped = below("harmed", "/../outside");
	ok(access(outside, F_OK) && access(escaped, F_OK), "nothing was written outside of the capture");
	free(outside);
	free(escaped);
	free(fifo);
	free(big);
}

/* Version 1, its files without a prefix, deeper than anybody nests them. */
static void test_old_cpusets(void)
{
	char path[256] = "/dev/cpuset/lab set";
	json_t *keys;

	put("old", "/proc/self/mountinfo",
	    "20 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n21 1 0:2 / /dev/cpuset rw - cpuset none rw,noprefix\n");
	put("old", "/sys/fs/cgroup/cgroup.controllers", "io\n");
	put("old", "/proc/self/cgroup", "3:cpuset:/lab set\n0::/elsewhere\n");
	put("old", "/dev/cpuset/cpus", "0-3\n");
	put("old", "/dev/cpuset/tasks", "1\n");
	for (int depth = 0; depth < 12; depth++) {
		char *file = fs_path("%s/sched_load_balance", path);

		put("old", file, "0\n");
		strcat(path, "/d");
		free(file);
	}
	keys = capture("old", "older");
	key_is(keys, "cpuset.version", "v1");
	key_is(keys, "cpuset.mount", "/dev/cpuset");
	key_is(keys, "cpuset.own", "/lab set");
	key_is(keys, "cpuset.tree./.cpus", "0-3");
	key_is(keys, "cpuset.tree./lab set.sched_load_balance", "0");
	ok(!json_object_get(keys, "cpuset.tree./.tasks"), "files of no cpuset are left out");
	key_is(keys, "cpuset.tree_is_whole", "no");
	json_decref(keys);
}

static const json_t *find(const json_t *changes, const char *key)
{
	const json_t *change;
	size_t i;

	json_array_foreach (json_object_get(changes, "changed"), i, change)
		if (!strcmp(json_string_value(json_object_get(change, "key")), key))
			return change;
	return NULL;
}

static json_t *compare(const char *a, const char *b, struct err *e)
{
	char *before = below(a, ""), *after = below(b, "");
	json_t *changes = before_after_changes(before, after, e);

	free(before);
	free(after);
	return changes;
}

static void class_is(const json_t *changes, const char *key, const char *class)
{
	is_str(json_string_value(json_object_get(find(changes, key), "class")), class, "%s is %s", key, class);
}

static void test_changes(void)
{
	struct err e = ERR_INIT;
	json_t *keys, *changes;
	const json_t *change;

	put("machine", "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
	put("machine", "/proc/irq/24/smp_affinity_list", "0\n");
	put("machine", "/proc/interrupts",
	    "           CPU0       CPU2\n  8:         12          4  IO-APIC\n"
	    "LOC:        150        200   Local timer interrupts\nERR:          3\n");
	put("machine", "/proc/sys/kernel/hostname", "other\n");
	keys = capture("machine", "second");
	json_decref(keys);

	changes = compare("first", "second", &e);
	if (!ok(changes, "compare two captures %s", e.text))
		return;
	class_is(changes, "frequency.policy0.governor", "fatal");
	class_is(changes, "irq.24.affinity", "warn");
	class_is(changes, "identity.hostname", "informative");
	class_is(changes, "irq.count.LOC.cpu0", "volatile");
	is_str(json_string_value(json_object_get(find(changes, "frequency.policy0.governor"), "before")), "powersave",
	       "what it was");
	is_int(json_integer_value(json_object_get(find(changes, "irq.count.LOC.cpu0"), "delta")), 50,
	       "a counter's delta");
	change = find(changes, "irq.count.8.cpu2");
	ok(json_is_null(json_object_get(change, "before")), "a counter that was not there");
	is_int(json_integer_value(json_object_get(change, "delta")), 4, "began at zero");
	ok(!find(changes, "idle.cpu0.state0.name"), "what is the same is not told");
	is_str(json_string_value(json_object_get(json_array_get(json_object_get(changes, "changed"), 0), "class")),
	       "fatal", "what is fatal comes first");
	json_decref(changes);

	changes = compare("first", "first", &e);
	is_int((long long)json_array_size(json_object_get(changes, "changed")), 0, "a capture is like itself");
	json_decref(changes);
}

static void test_refused(void)
{
	struct err e = ERR_INIT;
	json_t *changes;

	put("may", "/state.json",
	    "{\"schema\": 1, \"cost_ns\": 1, \"keys\": {\"pm_qos.cpu_dma_latency_us\": 0, \"idle.driver\": \"a\"}}");
	put("may_not", "/state.json",
	    "{\"schema\": 1, \"cost_ns\": 1, \"keys\": {\"pm_qos.cpu_dma_latency_us\": \"!EACCES\", \"idle.driver\": "
	    "\"b\"}}");
	changes = compare("may", "may_not", &e);
	class_is(changes, "pm_qos.cpu_dma_latency_us", "warn");
	class_is(changes, "idle.driver", "fatal");
	json_decref(changes);
}

static void test_bad_captures(void)
{
	static const char *const bad[][2] = {
	    {"{\"schema\": 2, \"keys\": {}}", "schema is 2"},
	    {"{\"keys\": {}}", "schema"},
	    {"{\"schema\": 1}", "keys"},
	    {"{\"schema\": 1, \"keys\": []}", "keys"},
	    {"{\"schema\": 1, \"keys\": {\"a\": [1]}}", "neither"},
	    {"[", "JSON"},
	    {"", "JSON"},
	    {"3", "JSON"},
	};
	struct err e = ERR_INIT;

	ok(!compare("first", "nowhere", &e), "no such capture: %s", e.text);
	is_int(e.status, STATUS_USAGE, "is bad input");
	contains(e.text, "no such file", "and told so");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put("bad", "/state.json", bad[i][0]);
		err_clear(&e);
		ok(!compare("bad", "first", &e), "refused: %s", bad[i][0]);
		contains(e.text, bad[i][1], "and told why");
		is_int(e.status, STATUS_USAGE, "as bad input");
	}
}

static void test_bad_targets(void)
{
	char *machine_path = below("machine", ""), *taken = below("first", ""),
	     *file = below("machine", "/etc/os-release");
	struct err e = ERR_INIT;
	struct sysroot root;

	if (!ok(!sysroot_open(&root, machine_path, &e), "open the machine"))
		return;
	is_int(state_capture(&root, taken, NULL, &e), -ENOTEMPTY, "a directory that holds something is refused");
	contains(e.text, "not empty", "and told why");
	err_clear(&e);
	is_int(state_capture(&root, file, NULL, &e), -ENOTDIR, "so is a file");
	err_clear(&e);
	sysroot_close(&root);
	free(machine_path);
	free(taken);
	free(file);
}

/* The table itself: no row may hide another one, and every key has the class of its own row. */
static void test_table(void)
{
	int hidden = 0;

	for (const struct state_source *s = state_sources; s->group; s++) {
		char *key = fs_path("%s.%s", s->group, s->key);

		for (char *p = key; (p = strchr(p, '*'));)
			*p = 'x';
		if (state_class_of(key) != s->class && ++hidden)
			note("%s", key);
		free(key);
	}
	is_int(hidden, 0, "no row is hidden by one above it");
	is_int(state_class_of("no.such.group"), STATE_INFORMATIVE, "a key of no row is informative");
}

/* This machine: whatever it is, a capture works and finds the kernel. */
static void test_live(void)
{
	char *dir = below("live", ""), *file = below("live", "/state.json");
	struct err e = ERR_INIT;
	struct sysroot root;
	json_t *state;

	if (!ok(!sysroot_open(&root, NULL, &e), "open /"))
		return;
	is_int(state_capture(&root, dir, NULL, &e), 0, "capture this machine %s", e.text);
	sysroot_close(&root);
	state = json_load_file(file, 0, NULL);
	like(json_string_value(json_object_get(json_object_get(state, "keys"), "identity.kernel")), "^[0-9]+\\.",
	     "its kernel's release");
	json_decref(state);
	free(dir);
	free(file);
}

int main(void)
{
	json_t *keys;

	base = tap_dir();
	make_machine("machine");
	keys = capture("machine", "first");
	test_keys(keys);
	test_raw("first");
	test_recapture(keys);
	test_hostile();
	test_old_cpusets();
	test_changes();
	test_refused();
	test_bad_captures();
	test_bad_targets();
	test_table();
	test_live();
	json_decref(keys);
	tap_dir_remove(base);
	return done_testing();
}
