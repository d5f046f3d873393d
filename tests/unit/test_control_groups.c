/* What the control groups of a process have taken from it: both versions, containers, and what cannot be seen. */
#include <string.h>

#include "common/fs.h"
#include "common/sysroot.h"
#include "measure/instrument/control_groups.h"
#include "tap.h"

static char *root;

static void put(const char *name, const char *text)
{
	char *path = fs_path("%s%s", root, name), *slash = strrchr(path, '/');

	*slash = '\0';
	fs_mkdirs(path, NULL);
	*slash = '/';
	tap_file(path, text, strlen(text));
	free(path);
}

static void is_now(long long throttled, long long throttled_ns, long long memory_limited, const char *what)
{
	struct control_group_limits l;
	struct sysroot r;

	ok(!sysroot_open(&r, root, NULL), "%s", what);
	l = control_groups_now(&r);
	sysroot_close(&r);
	is_int(l.throttled, throttled, "periods");
	is_int(l.throttled_ns, throttled_ns, "time");
	is_int(l.memory_limited, memory_limited, "limits of memory");
}

static void test_version_2(void)
{
	root = tap_dir();
	is_now(0, 0, 0, "nothing is to be seen");
	put("/proc/self/cgroup", "0::/kubepods.slice/pod.slice/a.scope\n");
	put("/proc/self/mountinfo",
	    "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n31 1 0:26 / /mnt rw - cgroup2 cgroup2 rw\n");
	is_now(0, 0, 0, "groups without the controllers");
	put("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n");
	put("/sys/fs/cgroup/kubepods.slice/pod.slice/a.scope/cpu.stat",
	    "usage_usec 988930037\nnr_periods 1197\nnr_throttled 496\nthrottled_usec 395384834\nnr_bursts 0\n");
	put("/sys/fs/cgroup/kubepods.slice/pod.slice/cpu.stat",
	    "nr_periods 7607\nnr_throttled 4174\nthrottled_usec 3322148518\n");
	is_now(4670, 3717533352000, 0, "those above it count: a pod may have the quota");
	put("/sys/fs/cgroup/kubepods.slice/pod.slice/a.scope/memory.events",
	    "low 1\nhigh 2\nmax 3\noom 9\noom_kill 1\n");
	put("/sys/fs/cgroup/kubepods.slice/pod.slice/memory.events", "low 0\nhigh 100\nmax 100\noom 0\n");
	put("/sys/fs/cgroup/kubepods.slice/pod.slice/memory.events.local", "low 0\nhigh 10\nmax 0\noom 0\n");
	is_now(4670, 3717533352000, 15, "limits of memory: its own, and those above by themselves");
	put("/proc/self/cgroup", "0::/../../other\n");
	is_now(0, 0, 0, "a group outside of what is mounted");
	tap_dir_remove(root);
}

static void test_container(void)
{
	root = tap_dir();
	put("/proc/self/cgroup", "0::/\n");
	put("/proc/self/mountinfo", "30 1 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/cpu.stat", "nr_throttled 309\nthrottled_usec 7\n");
	put("/sys/fs/cgroup/memory.events", "high 0\nmax 4\n");
	is_now(309, 7000, 4, "a container sees its own group as the root");
	put("/proc/self/cgroup", "0::/docker/1/inner\n");
	put("/sys/fs/cgroup/inner/cpu.stat", "nr_throttled 1\nthrottled_usec 1\n");
	is_now(310, 8000, 0, "and without a namespace the names of its host");
	tap_dir_remove(root);
}

static void test_version_1(void)
{
	root = tap_dir();
	put("/proc/self/cgroup", "9:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/docker/1\n0::/\n");
	put("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
				    "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
				    "32 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 127918677\n");
	put("/sys/fs/cgroup/memory/docker/1/memory.failcnt", "5\n");
	is_now(3, 127918677, 5, "version 1");
	tap_dir_remove(root);
}

int main(void)
{
	test_version_2();
	test_container();
	test_version_1();
	return done_testing();
}
