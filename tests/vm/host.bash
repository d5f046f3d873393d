# What tests that change the guest share: a snapshot of what kbtune changes, before each of them, to compare with.
# shellcheck shell=bash

setup_file() {
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	export ROOT KBTUNE=${KBTUNE:-$ROOT/build/kbtune} KBTUNE_PROFILES=$ROOT/profiles
	grep -q kblat-guest /proc/sys/kernel/hostname || {
		echo "this changes the machine: it runs in the guest alone" >&2
		return 1
	}
	mkdir -p /run/dbus
}

host_setup() {
	T=$(mktemp -d)
	snapshot >"$T/before"
}

setup() {
	host_setup
}

teardown() {
	"$KBTUNE" restore || true
	rm -rf "$T"
}

# NAME CPUS, of threads that outlive a test.
threads() {
	"$BATS_TEST_DIRNAME/threads" | grep -vE '^(kworker|khugepaged|bats|bash|sort|grep|cat|tee|threads|awk|ls|sh)' | sort
}

files() {
	grep -r . /proc/irq/*/smp_affinity_list /proc/irq/default_smp_affinity /proc/sys/vm/{swappiness,stat_interval,dirty_ratio} \
		/proc/sys/kernel/{timer_migration,numa_balancing,watchdog_cpumask,sched_rt_runtime_us} \
		/sys/kernel/mm/transparent_hugepage/enabled /sys/devices/virtual/workqueue/cpumask \
		/sys/fs/cgroup/cgroup.subtree_control /dev/cpuset/sched_load_balance 2>/dev/null || true
	ls -d /sys/fs/cgroup/*/ /dev/cpuset/*/ 2>/dev/null || true
	[ ! -e /etc/tuned/active_profile ] || cat /etc/tuned/active_profile
}

snapshot() {
	files
	threads
	latency
}

# The kernel's own file: kbtune would look for the holder in all processes, too.
latency() {
	echo "$(($(od -An -td4 /dev/cpu_dma_latency))) us"
}

as_before() {
	snapshot >"$T/after"
	diff "$T/before" "$T/after"
}

is_v1() {
	[ -e /dev/cpuset/tasks ]
}
